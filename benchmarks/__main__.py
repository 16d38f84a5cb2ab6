"""All measurements as Markdown tables: `make bench`, or `make bench ARGS="speed"`.

ARGS: any of speed, join, linkage, persons, attack, audit, privacy, load (default: these); crowd,
the last part of load alone; or matrix, which takes a quarter of an hour on two cores. `--output
FILE` keeps the page.
"""

import argparse
import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from benchmarks import attack, audit, crowd, join, linkage, load, matrix, persons, privacy, speed

PARTS = {
    "speed": speed.table,
    "join": join.table,
    "linkage": linkage.table,
    "persons": persons.table,
    "attack": attack.table,
    "audit": audit.table,
    "privacy": privacy.table,
    "load": load.table,
    "crowd": crowd.table,
    "matrix": matrix.table,
}
APART = ("crowd", "matrix")

HEAD = """\
# Measurements

Written by `make bench ARGS="{arguments}"` on {date}: Python {python}, gramlink {gramlink}, numba
{numba}, OpenDP {opendp}, {cores} cores ({machine}). Times on a shared machine mean little on
their own; compare the ratios within one table.
"""


def main() -> None:
    """Print the chosen tables, and keep them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS])
    parser.add_argument("--output", type=Path)
    chosen = parser.parse_args()
    parts = chosen.parts or [part for part in PARTS if part not in APART]
    page = HEAD.format(
        arguments=" ".join(
            [*chosen.parts, f"--output {chosen.output}"] if chosen.output else parts
        ),
        date=datetime.now(UTC).date(),
        python=platform.python_version(),
        cores=os.cpu_count(),
        machine=platform.machine(),
        **{name: metadata.version(name) for name in ("gramlink", "numba", "opendp")},
    )
    print(page, flush=True)
    for part in parts:
        table = PARTS[part]()
        print(table, flush=True)
        page += "\n" + table
    if chosen.output:
        chosen.output.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
