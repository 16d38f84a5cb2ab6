from gramlink.cli.speaker import Speaker
from gramlink.kernels import compilation_starts


def test_the_first_compilation_is_announced_by_the_command_that_runs(capsys):
    Speaker()
    compilation_starts()
    assert capsys.readouterr().out == "compiling kernels, on first use only ...\n"
    Speaker()  # of a command that compiled nothing
    Speaker(as_json=True)
    compilation_starts()
    assert capsys.readouterr().out == ""
