"""Who may import whom, where import-linter cannot tell when."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gramlink as gl

PACKAGE = Path(gl.__file__).parent
COMMANDS = sorted(PACKAGE.joinpath("cli").rglob("*.py"))


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_a_command_imports_the_lab_only_when_it_runs(path):
    module = ast.parse(path.read_text("utf-8"))
    within = {
        node
        for function in ast.walk(module)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
    }
    for node in set(ast.walk(module)) - within:
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
        assert not any(name.startswith("gramlink.lab") for name in names)


def test_help_needs_nothing_of_the_lab_nor_anything_heavy():
    shown = subprocess.run(
        [sys.executable, "-c", "import gramlink.cli, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert "gramlink.cli" in shown
    heavy = {"numpy", "polars", "numba", "pydantic", "cryptography", "opendp", "fastapi"}
    assert not [one for one in shown if one in heavy or one.startswith("gramlink.lab")]


@pytest.mark.parametrize("package", ["kernels", "lab/rivals/kernels"])
def test_the_kernels_introduction_names_each_of_their_modules(package):
    introduction = PACKAGE.joinpath(package, "__init__.py").read_text("utf-8")
    table = introduction.partition("module        what it has")[2].partition("\n\n")[0]
    listed = [line.split()[0] for line in table.strip().splitlines() if not line.startswith('"')]
    files = {path.stem for path in PACKAGE.joinpath(package).glob("*.py")} - {"__init__"}
    assert set(listed) == files
    assert len(listed) == len(files)


def test_nothing_imports_a_compiler_before_it_computes():
    modules = [
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for path in PACKAGE.rglob("*.py")
        if "kernels" not in path.relative_to(PACKAGE).parts[:-1]
        and path.stem not in ("__init__", "__main__")
        and path != PACKAGE / "matching" / "join.py"  # which computes, and is imported late itself
    ]
    assert len(modules) > 150
    shown = subprocess.run(
        [sys.executable, "-c", f"import sys, {', '.join(modules)}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert set(modules) <= set(shown)
    assert "numba" not in shown
