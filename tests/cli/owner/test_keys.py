"""`gramlink keys`: a pair is never replaced, and one that is not complete is completed."""


def test_a_pair_that_is_there_is_not_replaced(run, folder):
    run("keys", "new", "clinic")
    kept = [(folder / f"clinic.{end}").read_bytes() for end in ("identity", "recipient")]
    assert "exists already" in run("keys", "new", "clinic", ok=False).err
    assert kept == [(folder / f"clinic.{end}").read_bytes() for end in ("identity", "recipient")]


def test_an_identity_that_lost_its_recipient_gets_it_again(run, folder):
    run("keys", "new", "clinic")
    identity, recipient = (folder / f"clinic.{end}" for end in ("identity", "recipient"))
    kept = identity.read_bytes(), recipient.read_bytes()
    recipient.unlink()  # as if the command was killed before it wrote the second file
    assert "stays as it is" in run("keys", "new", "clinic").out
    assert (identity.read_bytes(), recipient.read_bytes()) == kept
