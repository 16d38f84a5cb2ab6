import pytest

from cli.owners import TOML, contents
from gramlink.records.schema import load_schema

LEFT = """\
id,first_name,dob,sex,clinic
7,Ann,31/12/1980,F,A
3,Bob,01/02/1990,M,A
5,Zoe,14/07/1975,F,A
"""
RIGHT = """\
pid;Forename;Date of Birth;Gender
x;Ann;1980-12-31;female
y;Bob;1990-02-01;male
z;Zoe;1975-07-14;unknown
"""


@pytest.fixture
def two(folder):
    """A folder with the files of two owners who call things by other names, and no schema."""
    (folder / "linkage.toml").unlink()
    (folder / "left.csv").write_text(LEFT)
    (folder / "right.csv").write_text(RIGHT)
    return folder


def test_a_proposal_is_told_line_by_line(run, two):
    lines = run("init", "left.csv").out.splitlines()
    assert lines == [
        "left.csv: ids in id",
        "  given_name     text      first_name",
        "  date_of_birth  date      dob",
        "  sex            category  sex",
        "  left out: clinic: it has only one value",
        "wrote linkage.toml: read it, then try `gramlink check left.csv`",
    ]
    assert "3 records" in run("check", "left.csv").out
    assert load_schema(two / "linkage.toml").edits == 2


def test_a_proposal_that_mine_refuses_is_warned_of(run, refused, two):
    assert "warning" not in run("init", "left.csv", "right.csv").out
    out = run("init", "left.csv", "right.csv", "--field", "dob", "--force").out
    said = "the linkage unit could know all grams, because no field is mined"
    assert out.count(f"  warning: between organisations, {said}; all owners: add a field") == 2
    assert (two / "linkage.toml").exists()
    refused("mine", "left.csv", says=said)


def test_both_owners_get_a_schema_of_their_own_that_agrees(run, two):
    out = run("init", "left.csv", "right.csv").out
    assert "check: words in `missing` count as not known" in out
    assert "`gramlink check right.csv --schema linkage-right.toml`" in out
    ours, theirs = (load_schema(two / name) for name in ("linkage.toml", "linkage-right.toml"))
    assert ours.agreed == theirs.agreed
    assert [field.column for field in theirs.fields] == ["Forename", "Date of Birth", "Gender"]
    run("check", "right.csv", "--schema", "linkage-right.toml")


def test_each_output_can_be_named(run, two):
    run("init", "left.csv", "right.csv", "-o", "a.toml", "-o2", "b.toml")
    run("init", "left.csv", "right.csv", "--output", "c.toml", "--second-output", "d.toml")
    assert (two / "b.toml").read_bytes() == (two / "d.toml").read_bytes()
    assert not (two / "linkage.toml").exists()


def test_the_fields_and_ids_that_are_asked_for(run, two):
    run("init", "left.csv", "--field", "clinic", "--field", "dob", "--id", "first_name")
    schema = load_schema(two / "linkage.toml")
    assert schema.id == "first_name"
    assert [field.name for field in schema.fields] == ["clinic", "date_of_birth"]
    run("init", "left.csv", "--field", "first_name", "--force")
    assert load_schema(two / "linkage.toml").edits == 1
    ids = ("--id", "first_name", "--second-id", "Forename")
    run("init", "left.csv", "right.csv", "--field", "sex", *ids, "--force")
    schema = load_schema(two / "linkage-right.toml")
    assert (schema.id, schema.fields[0].column) == ("Forename", "Gender")


@pytest.mark.parametrize(
    ("name", "data", "args"),
    [
        ("a byte order mark", b"\xef\xbb\xbfid,surname\n1,A\n2,B\n", []),
        ("semicolons", b"id;surname\n1;A\n2;B\n", []),
        ("another separator", b"id^surname\n1^A\n2^B\n", ["--separator", "^"]),
        ("latin-1", "id,surname\n1,MÜLLER\n2,B\n".encode("latin-1"), ["--encoding", "latin-1"]),
        ("utf-16", "id,surname\n1,MÜLLER\n2,B\n".encode("utf-16"), []),
        ("blanks", b" id , surname \n 1 , A\n 2 , B\n", []),
        ("a column without a name", b"id,,surname\n1,,A\n2,,B\n", []),
        ("one record", b"id,surname\n1,A\n", []),
        ("Windows", b"id,surname\r\n1,A\r\n2,B\r\n", []),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_files_as_they_come(run, two, name, data, args):  # noqa: ARG001
    (two / "x.csv").write_bytes(data)
    run("init", "x.csv", *args)
    schema = load_schema(two / "linkage.toml")
    assert (schema.id, [field.column for field in schema.fields]) == ("id", ["surname"])
    run("check", "x.csv", *args)


@pytest.mark.parametrize(
    ("data", "args", "says"),
    [
        ("x,y\n1,A\n1,A\n", [], "no column of x.csv looks like ids"),
        (",y\n1,A\n2,A\n", [], ["looks like ids", "(column 1): it has no name"]),
        ("id,y\n1,A\n2,A\n", [], ["x.csv has no column to link on", "y: it has only one value"]),
        ("id\n1\n", [], "x.csv has too few columns"),
        ("id,surname\n", [], "x.csv has no records"),
        ("id,surname\n1,A\n", ["--field", "name"], "x.csv has no column 'name'"),
        ("id,surname\n1,A\n", ["--id", "nr"], "x.csv has no column 'nr'"),
        ("id,a,a\n1,A,B\n", ["--field", "a"], "column 'a' cannot be used: another column has"),
        ("1,MILLER\n2,SMITH\n", [], "the first row of x.csv looks like a record"),
        ("id,shoe\n1,left\n2,right\n", ["registry.csv"], "has no column like shoe"),
        ("id,surname\n1,A\n", ["--second-id", "nr"], "there is no second file"),
        ("id,surname\n1,A\n", ["-o2", "b.toml"], "there is no second file"),
    ],
)
def test_what_no_schema_can_be_proposed_for(refused, folder, data, args, says):
    (folder / "x.csv").write_text(data)
    refused("init", "x.csv", *args, "-o", "new.toml", says=says)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("left.csv right.csv -o right.csv", "the output would replace right.csv"),
        ("left.csv right.csv -o2 left.csv", "the output would replace left.csv"),
        ("left.csv right.csv -o2 ./right.csv", "the output would replace right.csv"),
        ("left.csv right.csv -o linkage-right.toml", "the output would replace linkage-right.toml"),
        ("left.csv right.csv -o2 nowhere/b.toml", "nowhere/b.toml cannot be written"),
    ],
)
def test_two_outputs_replace_neither_an_input_nor_each_other(refused, two, args, says):
    refused("init", *args.split(), "--force", says=says)
    assert not (two / "linkage.toml").exists()


def test_a_second_schema_is_not_overwritten_unless_asked(refused, run, two):
    (two / "linkage-right.toml").write_text(TOML)
    refused("init", "left.csv", "right.csv", says=["linkage-right.toml exists already", "--force"])
    run("init", "left.csv", "right.csv", "--force")
    assert (two / "linkage-right.toml").read_text() != TOML


def test_a_proposal_says_nothing_of_a_record(run, two):
    out = run("init", "left.csv", "right.csv").out
    written = contents(two)
    texts = [out, *(written[name].decode() for name in ("linkage.toml", "linkage-right.toml"))]
    for value in ("Ann", "Bob", "Zoe", "31/12", "1980", "1990", "1975", "12-31"):
        assert not any(value in text for text in texts), value
