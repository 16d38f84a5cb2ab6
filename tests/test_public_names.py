"""What `import gramlink` offers."""

import ast
import re
import rlcompleter
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import gramlink as gl

ROOT = Path(__file__).parent.parent
STUB = Path(gl.__file__).with_name("__init__.pyi")


def test_the_list_names_everything_once_and_in_the_form_type_checkers_take_for_public():
    names = []
    for statement in ast.parse(STUB.read_text("utf-8")).body[1:-1]:
        [alias] = statement.names
        assert ast.unparse(statement) == (
            f"from {statement.module} import {alias.name} as {alias.name}"
        )
        names.append(alias.name)
    assert len(set(names)) == len(names) > 70
    assert gl.__all__ == sorted(names)


@pytest.mark.parametrize("name", gl.__all__)
def test_every_name_leads_to_what_its_module_calls_so(name):
    value = getattr(gl, name)
    home = getattr(value, "__module__", None)
    if isinstance(home, str):  # functions and classes know where they were written
        assert home.startswith("gramlink.")
        assert value.__name__ == name


def test_dir_shows_the_names_and_the_version_and_nothing_that_is_not_for_users():
    shown = [name for name in dir(gl) if not name.startswith("__")]
    assert shown == gl.__all__
    assert "__version__" in dir(gl)
    assert all(hasattr(gl, name) for name in dir(gl))


def test_the_names_complete():
    complete = rlcompleter.Completer({"gl": gl}).complete
    found = [complete("gl.read_", state) for state in range(5)]
    assert [one and one.rstrip("()") for one in found] == [
        "gl.read_again", "gl.read_identity", "gl.read_recipient", "gl.read_records", None
    ]  # fmt: skip


def test_a_star_imports_them_all():
    names = {}
    exec("from gramlink import *", names)
    assert names.keys() - {"__builtins__"} == set(gl.__all__)


def test_the_reference_describes_each_of_them():
    page = (ROOT / "docs" / "reference.md").read_text("utf-8")
    assert sorted(re.findall(r"^### gl\.(\w+)", page, re.MULTILINE)) == gl.__all__


def test_a_name_that_is_not_there_is_said_to_be_missing():
    with pytest.raises(AttributeError, match="module 'gramlink' has no attribute 'nonsense'"):
        _ = gl.nonsense


def test_importing_it_waits_for_nothing_heavy():
    heavy = "{'numpy', 'polars', 'numba', 'pydantic', 'cryptography', 'opendp', 'typer'}"
    told = subprocess.run(
        [sys.executable, "-c", f"import gramlink, sys; print({heavy} & sys.modules.keys())"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert told.strip() == "set()"


def test_the_version_is_that_of_the_package_and_of_its_citation():
    assert gl.__version__ == version("gramlink")
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert f'\nversion = "{gl.__version__}"\n' in project
    assert f"\nversion: {gl.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\n## {gl.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
