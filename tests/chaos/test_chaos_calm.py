"""A fleet to which nothing happens."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from chaos_fleet import FAST, Fleet
from chaos_oracle import check
from toys import plain_book

CALM = {**FAST, "ANIMASTOR_SILENT_S": "50", "ANIMASTOR_LEASE_TTL_S": "100"}  # a busy machine is taken for no dead one


def test_a_fleet_makes_everything_once(make_fleet: Callable[[Mapping[str, str]], Fleet]) -> None:
    fleet = make_fleet(CALM)
    for kind in ("replica", "replica", "worker", "worker"):
        fleet.member(kind).start()
    for member in fleet.members:
        member.until_serving()
    _, request = fleet.ask(plain_book("calm", scenes=40), ("voice", "sketch", "clip"))
    fleet.until_done(request, 600)
    found = check(fleet)
    print(found)
    assert found["repeated"] == 0
    assert found["ready"] == 120
