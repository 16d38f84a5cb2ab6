"""How commands are listed and explained: grouped by who uses them, in whole sentences.

A command's help is its docstring: what it does, some details, and a line to copy after `Example:`.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup

from gramlink.cli.groups import flat

Command = Callable[..., None]
Entry = Command | typer.Typer


class Group(TyperGroup):
    """Commands under headings, in the order of use."""

    panels: ClassVar[Mapping[str, tuple[str, ...]]]
    usual: ClassVar[str]  # the command that is meant where none is named

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command's name, or take the usual one."""
        if self.usual and args and args[0] not in (*self.commands, "--help"):
            args = [self.usual, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  # typer's signature
        """The names in the order of the headings."""
        return [name for names in self.panels.values() for name in names]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each command with its whole first sentence, which typer would cut short."""
        width = max(map(len, self.list_commands(ctx)))
        for panel, names in self.panels.items():
            with formatter.section(panel):
                formatter.write_dl(
                    [(name.ljust(width), self.commands[name].short_help) for name in names]
                )


def group(
    name: str,
    about: str,
    panels: Mapping[str, tuple[Entry, ...]],
    epilog: str = "",
    usual: str = "",
) -> typer.Typer:
    """Commands and groups of commands under one name; `usual` is the one that needs no name."""

    class Listed(Group):
        pass

    Listed.usual = usual
    Listed.panels = {panel: tuple(map(name_of, entries)) for panel, entries in panels.items()}
    app = typer.Typer(
        name=name,
        cls=Listed,
        help=about,
        short_help=about.partition("\n\n")[0],
        epilog=epilog,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,  # boxes would cut examples, which are there to be copied
        pretty_exceptions_enable=False,
        context_settings={"max_content_width": 100},
    )
    for entries in panels.values():
        for entry in entries:
            if isinstance(entry, typer.Typer):
                app.add_typer(entry)
            else:
                about, shown = _explained(entry)
                app.command(name_of(entry), help=shown, short_help=about)(flat(entry))
    return app


def name_of(entry: Entry) -> str:
    """The name of a command or group."""
    if isinstance(entry, typer.Typer):
        return str(entry.info.name)
    return entry.__name__.strip("_")  # `list_`, since Python has a `list`


def _explained(command: Command) -> tuple[str, str]:
    """The first sentence of a command's help, and all of it."""
    text, _, example = inspect.cleandoc(command.__doc__ or "").partition("Example: ")
    # \b keeps the example on a line of its own, to be copied
    return text.partition("\n\n")[0], f"{text}\b\nExample:\n  {example}"
