"""Pages made from templates, in which everything is escaped unless its type is markup."""

from functools import cache

from jinja2 import Environment, PackageLoader, PrefixLoader, StrictUndefined

from gramlink.reports.filters import FILTERS


@cache
def templates(package: str) -> Environment:
    """The templates of a package, named `PACKAGE/FILE`, and those of the reports beside them.

    >>> template = templates("reports").from_string("<b>{{ name }}</b> has {{ records | count }}")
    >>> template.render(name="<i>", records=1234)
    '<b>&lt;i&gt;</b> has 1,234'
    """
    names = dict.fromkeys(("reports", package))
    found = Environment(
        loader=PrefixLoader({name: PackageLoader(f"gramlink.{name}") for name in names}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    found.filters.update(FILTERS)
    return found
