"""`gramlink withdraw`: a bundle taken back from a linkage unit's server."""

from gramlink.cli.connecting import Connecting
from gramlink.cli.speaker import Speaker


def withdraw(*, unit: Connecting, speaker: Speaker) -> None:
    """Take your bundle back from an exchange over the network, before it is linked.

    The unit erases it. `gramlink exchange` sends the same bundle again, if you change your mind.

    Example: gramlink withdraw https://unit.example --token-file token
    """
    from contextlib import closing

    from gramlink.exchange.status import place_of

    with closing(unit.client(speaker)) as client:
        place = place_of(client)
        client.withdraw(place.exchange)
    speaker.say(f"the bundle of {place.party} for {place.exchange} is withdrawn and erased")
    speaker.say("what the unit was shown of it stays counted in your ledger")
    speaker.summary({"exchange": place.exchange, "party": place.party, "withdrawn": True})
