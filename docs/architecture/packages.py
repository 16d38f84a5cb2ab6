"""The packages in their layers, as pyproject.toml lists them for import-linter."""

import ast
import tomllib
from pathlib import Path

from docs.architecture.svg import box, line, lines, picture, text

ROOT = Path(__file__).parents[2]
# the method, in the order of its steps
METHOD = ("records", "mining", "embedding", "encodings", "matching", "scoring", "deciding")

WIDTH, LEFT, RIGHT = 960, 150, 936
ROW, GAP = 42, 7


def layers() -> list[list[str]]:
    """The packages of each layer, the top one first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for contract in settings["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "layers":
            return [[name.strip() for name in one.split(":")] for one in contract["layers"]]
    raise ValueError("pyproject.toml lists no layers")


def about(package: str) -> str:
    """What a package says of itself, in the first sentence of its docstring."""
    folder = ROOT / "src" / "gramlink" / package
    path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    said = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition("\n\n")[0]
    first = " ".join(said.split()).partition(". ")[0].rstrip(".")
    head, _, rest = first.partition(": ")
    if head.lower().removeprefix("the ") == package:
        first = rest[:1].upper() + rest[1:]
    return first


def drawing() -> str:
    """The picture."""
    shapes, y = [], 24.0
    begins: dict[str, float] = {}
    ends: dict[str, float] = {}
    rows = layers()
    steps = [place for place, names in enumerate(rows) if set(names) & set(METHOD)]
    for place, names in enumerate(rows):
        group = "around" if place < steps[0] else "method" if place <= steps[-1] else "ground"
        if ends and group not in ends:
            y += 12
        begins.setdefault(group, y)
        width = (RIGHT - LEFT - GAP * (len(names) - 1)) / len(names)
        said = [lines(0, 0, about(name), width - 28, "soft", 13) for name in names]
        height = ROW if len(names) == 1 else 46 + 17.5 * max(map(len, said))
        for number, name in enumerate(names):
            x = LEFT + number * (width + GAP)
            shapes.append(box(x, y, width, height, group))
            if len(names) == 1:
                shapes.append(text(x + 16, y + 27, name, "mono", 15))
                shapes.append(text(x + 128, y + 27, about(name), "soft", 13.5))
            else:
                shapes.append(text(x + 16, y + 26, name, "mono", 15))
                shapes += lines(x + 16, y + 47, about(name), width - 28, "soft", 13)
        y += height + GAP
        ends[group] = y - GAP
    labels = {
        "around": ("acts, carries,", "shows, tests"),
        "method": ("the method,", "read upwards"),
        "ground": ("what all", "stand on"),
    }
    for group, words in labels.items():
        top, bottom = begins[group], ends[group]
        shapes.append(line(LEFT - 14, top + 3, LEFT - 14, bottom - 3))
        middle = (top + bottom) / 2
        shapes += [
            text(24, middle - 3 + 18 * place, word, "bold" if group == "method" else "soft", 13.5)
            for place, word in enumerate(words)
        ]
        if group == "method":
            shapes.append(f'<path d="M{LEFT - 14} {top - 3:g}l-5 10h10z" class="head"/>')
    shapes.append(
        text(
            LEFT,
            y + 22,
            "A package imports only from rows below its own. Only cli imports the lab.",
            "soft",
            13.5,
        )
    )
    return picture(WIDTH, int(y + 42), "The packages of gramlink in their layers", shapes)
