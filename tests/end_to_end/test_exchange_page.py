"""The page on exchanges over the network says what works, command by command."""

import re
import subprocess
import sys
from pathlib import Path

from cli.owners import typed
from end_to_end.processes import PATIENCE, free_port, until
from systems import posix

PAGE = Path(__file__).parents[2] / "docs" / "exchange.md"


@posix
def test_every_command_of_an_exchange_over_the_network_works(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text("utf-8").partition("## A party that only has a browser")[0]
    lines = [
        re.fullmatch(r"(\w*)\$ (.+)", line).groups()
        for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL)
        for line in block.splitlines()
    ]
    assert len(lines) > 10
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "LANG": "C.UTF-8"}
    port, started, said = free_port(), {}, tmp_path / "said.txt"

    def start(who, line):
        with said.open("ab") as file:
            options = {"cwd": tmp_path, "env": env, "stdout": file, "stderr": file}
            started[who] = subprocess.Popen(
                f"exec {line}", shell=True, stdin=subprocess.DEVNULL, **options
            )

    printed = ""
    try:
        for who, written in lines:
            line = written.replace("8440", str(port)).replace("persons(2000,", "persons(600,")
            if line.startswith("pip "):
                continue
            if " serve " in line:
                start(who, f"{line} --port {port}")
                until(lambda: "listens at" in said.read_text(), "the server", started[who])
            elif " exchange " in line and who not in started:
                other = {"hospital": "registry", "registry": "hospital"}[who]
                start(who, f"{line} --yes --epsilon 1 --peer stroke-2026-{other}/recipient")
            else:
                for owner in started.keys() & {"hospital", "registry"}:
                    assert started[owner].wait(PATIENCE) == 0, said.read_text()
                printed += typed(capsys, monkeypatch, line)
    finally:
        for process in started.values():
            if process.poll() is None:
                process.terminate()
                process.wait()
    assert float(re.search(r"F1 +([\d.]+)", printed)[1]) > 0.9
    assert "this exchange is finished" in printed
