"""The client reads whatever the unit says, strictly, as one description is for both."""

from gramlink.exchange.values import read
from gramlink.exchange.wire import ExchangeInfo, LogInfo, TokenInfo, UnitInfo
from gramlink.server import views, worker
from gramlink.server.auth import Viewer
from server.parties import EXCHANGE, bring_to_bundles, sealed_bundle


def test_the_client_reads_an_exchange_in_every_stage(unit, parties, operator):
    seen = []

    def look():
        for one in (operator, *parties):
            seen.append(read(ExchangeInfo, one.get().content).stage)

    def work():
        with unit.store.change() as db:
            job = db.jobs.take()
        look()
        worker.main(unit.folder.path, job.number, 0)
        look()

    look()
    parties[0].join()
    look()
    bring_to_bundles(parties)
    for one in parties:
        one.announce(bytes(100))
        look()
        one.upload(sealed_bundle(one.name, unit.recipient))
        work()
    work()
    assert dict.fromkeys(seen) == dict.fromkeys(("joining", "bundles", "linking", "done"))
    for one in parties:
        one.get("results")
    look()


def test_what_is_built_is_what_is_read(unit, at_bundles, operator):
    del at_bundles
    with unit.store.read() as db:
        built = views.of_exchange(db, unit.folder, EXCHANGE, Viewer("operator", ""))
        log = views.of_log(db)
    assert read(ExchangeInfo, operator.get().content) == built
    assert read(LogInfo, operator.get("/api/log").content) == log
    assert read(UnitInfo, operator.get("/api/unit").content) == views.of_unit(unit)


def test_the_client_reads_whose_a_token_is(operator, hospital):
    assert read(TokenInfo, operator.get("/api/token").content).role == "operator"
    assert read(TokenInfo, hospital.get("/api/token").content).party == "hospital"
