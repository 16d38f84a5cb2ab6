"""Which connections are closed when there are too many."""

import pytest

from gramlink.server import connections
from gramlink.server.connections import MOST_OF_ONE, MOST_STRANGERS, Connections
from gramlink.server.errors import Refusal


class Crowd:
    """Connections, and which of them were closed."""

    def __init__(self):
        self.connections, self.closed = Connections(), []

    def enter(self, name, host="192.0.2.1", idle=True):
        return self.connections.enter(host, lambda: idle, lambda: self.closed.append(name))


@pytest.fixture
def crowd():
    return Crowd()


def test_of_too_many_strangers_the_oldest_goes_first(crowd):
    for number in range(MOST_STRANGERS + 2):
        crowd.enter(number)
    assert crowd.closed == [0, 1]


def test_who_has_shown_a_token_stays(crowd):
    crowd.enter("hospital").show(1)
    for number in range(3 * MOST_STRANGERS):
        crowd.enter(number)
    assert len(crowd.closed) == 2 * MOST_STRANGERS
    assert "hospital" not in crowd.closed


def test_strangers_of_one_address_do_not_keep_out_those_of_another(crowd):
    crowd.enter("alone", "198.51.100.7")
    for number in range(2 * MOST_STRANGERS):
        crowd.enter(number, "2001:db8::1" if number % 2 else "2001:db8::ffff")
    assert "alone" not in crowd.closed
    assert crowd.closed[:3] == [0, 1, 2]


def test_who_waits_for_an_answer_goes_after_who_asks_nothing(crowd):
    crowd.enter("asking", idle=False)
    for number in range(MOST_STRANGERS):
        crowd.enter(number)
    assert crowd.closed == [0]
    busy = Crowd()
    for number in range(MOST_STRANGERS + 1):
        busy.enter(number, idle=False)
    assert busy.closed == [0]


def test_a_token_has_a_limited_number_of_connections(crowd):
    places = [crowd.enter(number) for number in range(MOST_OF_ONE + 1)]
    for place in places[:-1]:
        place.show(1)
        place.show(1)
    with pytest.raises(Refusal, match="16 connections open") as refused:
        places[-1].show(1)
    assert refused.value.status == 429
    places[-1].show(2)
    places[0].leave()
    crowd.enter("next").show(1)


def test_a_connection_that_a_proxy_uses_for_several_counts_for_the_last(crowd):
    place = crowd.enter("proxy")
    for party in range(100):
        place.show(party)
    for _ in range(MOST_OF_ONE):
        crowd.enter("other").show(0)


def test_all_tokens_together_have_a_limited_number_too(crowd, monkeypatch):
    monkeypatch.setattr(connections, "MOST_KNOWN", 3)
    places = [crowd.enter(number) for number in range(4)]
    for number, place in enumerate(places[:3]):
        place.show(number)
    with pytest.raises(Refusal, match="too many connections"):
        places[3].show(3)
    places[2].leave()
    places[3].show(3)


def test_places_of_connections_that_are_closed_are_free(crowd):
    for number in range(3 * MOST_STRANGERS):
        crowd.enter(number).leave()
    place = crowd.enter("last")
    place.show(1)
    place.leave()
    assert crowd.closed == []
    assert not crowd.connections._strangers
    assert not crowd.connections._known
