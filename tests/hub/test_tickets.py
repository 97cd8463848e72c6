"""A ticket proves who claimed what: nothing in it can be changed, and it ends with its key and its time."""

from __future__ import annotations

import asyncio
import re
import string
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import orjson
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from animastor.hub.tickets import DAY, LOOKED_S, SKEW_S, ClockSkewError, Tickets
from animastor.protocol import AssetId, DispatchId, HubRefusedError, JobId, Ticket
from virtual_clock import VirtualClock, now


class Keys:
    """Ticket keys as the database keeps them, by its own clock."""

    def __init__(self, clock: VirtualClock, *, off: float = 0.0) -> None:
        self.clock, self.off = clock, off
        self.keys: dict[str, tuple[bytes, float]] = {}
        self.reads = 0

    async def ticket_keys(self) -> tuple[float, Mapping[str, tuple[bytes, float]]]:
        self.reads += 1
        await asyncio.sleep(0)
        return self.clock.now() + self.off, dict(self.keys)

    async def add_ticket_key(self, key_id: str, secret: bytes) -> None:
        self.keys[key_id] = (secret, self.clock.now() + self.off)


def a_ticket(clock: VirtualClock) -> Ticket:
    """Some ticket, issued now."""
    return Ticket(
        job_id=JobId("a" * 32),
        asset=AssetId(7),
        claim_no=(3 << 40) + 5,
        dispatch_id=DispatchId("d" * 32),
        fence=9,
        input_hash="e" * 64,
        kind="speech",
        media="audio",
        worker="local/one",
        issued_at=clock.now(),
    )


def signed(tickets: Tickets, ticket: Ticket) -> str:
    """A ticket as text."""

    async def sign() -> str:
        await tickets.ready()
        return tickets.sign(ticket)

    return asyncio.run(sign())


def verified(tickets: Tickets, text: str) -> Ticket:
    """What it says."""
    return asyncio.run(tickets.verify(text))


@pytest.fixture(scope="module")
def clock() -> VirtualClock:
    """Time that stands still."""
    return VirtualClock()


@pytest.fixture(scope="module")
def tickets(clock: VirtualClock) -> Tickets:
    """With a key."""
    one = Tickets(Keys(clock), clock)
    signed(one, a_ticket(clock))
    return one


TEXT = st.text(max_size=40)
NUMBER = st.integers(0, 2**62)
TICKETS = st.builds(
    Ticket,
    job_id=TEXT.map(JobId),
    asset=NUMBER.map(AssetId),
    claim_no=NUMBER,
    dispatch_id=TEXT.map(DispatchId),
    fence=NUMBER,
    input_hash=TEXT,
    kind=TEXT,
    media=TEXT,
    worker=TEXT,
    issued_at=st.floats(-SKEW_S, 7 * DAY).map(lambda age: VirtualClock().now() - age),
)


@given(ticket=TICKETS)
def test_what_was_signed_is_what_is_read(tickets: Tickets, ticket: Ticket) -> None:
    assert now(tickets.verify(tickets.sign(ticket))) == ticket


@given(name=st.sampled_from([field.name for field in fields(Ticket)]), text=TEXT, number=NUMBER)
def test_ticket_with_any_field_changed_is_refused(
    tickets: Tickets, clock: VirtualClock, name: str, text: str, number: int
) -> None:
    ticket = a_ticket(clock)
    value: Any = text if isinstance(getattr(ticket, name), str) else number
    assume(value != getattr(ticket, name))
    key_id, _, mac = tickets.sign(ticket).split(".")
    _, body, _ = tickets.sign(replace(ticket, **{name: value})).split(".")
    with pytest.raises(HubRefusedError, match="signature"):
        now(tickets.verify(f"{key_id}.{body}.{mac}"))


@given(place=st.integers(0, 10_000), letter=st.sampled_from(string.ascii_letters + string.digits + "-_=.é"))
def test_ticket_with_any_letter_changed_is_refused(
    tickets: Tickets, clock: VirtualClock, place: int, letter: str
) -> None:
    text = tickets.sign(a_ticket(clock))
    place %= len(text)
    assume(text[place] != letter)
    with pytest.raises(HubRefusedError) as caught:
        verified(tickets, text[:place] + letter + text[place + 1 :])
    assert caught.value.reason == "not_claimer"


@given(text=st.one_of(st.text(max_size=200), st.sampled_from(["", ".", "..", "a.b.c", "\ud800.\ud800.\ud800"])))
def test_nonsense_is_refused_and_nothing_else(tickets: Tickets, text: str) -> None:
    with pytest.raises(HubRefusedError, match="refused"):
        verified(tickets, text)


def test_body_signed_with_another_key_is_refused(tickets: Tickets, clock: VirtualClock) -> None:
    other = Tickets(Keys(clock), clock)
    key_id, _, _ = tickets.sign(a_ticket(clock)).split(".")
    _, body, mac = signed(other, a_ticket(clock)).split(".")
    with pytest.raises(HubRefusedError, match="signature"):
        verified(tickets, f"{key_id}.{body}.{mac}")


def test_body_is_plain_to_read_so_that_nothing_secret_may_be_in_it(tickets: Tickets, clock: VirtualClock) -> None:
    _, body, _ = tickets.sign(a_ticket(clock)).split(".")
    assert urlsafe_b64encode(urlsafe_b64decode(f"{body}==")).decode().rstrip("=") == body
    assert orjson.loads(urlsafe_b64decode(f"{body}=="))[-1] == clock.now()


def test_a_ticket_is_valid_for_seven_days_and_a_key_signs_for_one() -> None:
    clock = VirtualClock()
    keys = Keys(clock)
    tickets = Tickets(keys, clock)
    text = signed(tickets, a_ticket(clock))
    clock.jump(DAY - 1)
    assert signed(tickets, a_ticket(clock)).split(".")[0] == text.split(".")[0]
    clock.jump(2)
    assert signed(tickets, a_ticket(clock)).split(".")[0] != text.split(".")[0]
    assert len(keys.keys) == 2
    clock.jump(6 * DAY - 2)
    assert verified(tickets, text).claim_no == (3 << 40) + 5
    clock.jump(2)
    with pytest.raises(HubRefusedError, match="not valid any more"):
        verified(tickets, text)


def test_a_key_verifies_for_nine_days() -> None:
    clock = VirtualClock()
    tickets = Tickets(Keys(clock), clock)
    signed(tickets, a_ticket(clock))
    clock.jump(9 * DAY + 1)
    late = tickets.sign(a_ticket(clock))  # with a key that must not sign any more
    with pytest.raises(HubRefusedError, match="key is unknown"):
        verified(tickets, late)


def test_key_that_another_replica_made_is_read_before_anything_is_refused() -> None:
    clock = VirtualClock()
    keys = Keys(clock)
    here, there = Tickets(keys, clock), Tickets(keys, clock)
    signed(here, a_ticket(clock))
    clock.jump(DAY + 1)
    text = signed(there, a_ticket(clock))
    assert verified(here, text) == a_ticket(clock)


def test_unknown_keys_that_come_together_cost_one_reading() -> None:
    clock = VirtualClock()
    keys = Keys(clock)
    tickets = Tickets(keys, clock)

    async def flood() -> None:
        answers = await asyncio.gather(*(tickets.verify(f"k{n}.b.c") for n in range(50)), return_exceptions=True)
        assert all(isinstance(answer, HubRefusedError) for answer in answers)

    asyncio.run(flood())
    assert keys.reads == 1


def test_a_key_is_made_once_and_known_however_readings_and_askers_overlap() -> None:
    """Each reading answers what was there when it began; some began before the key was stored."""

    class Slow(Keys):
        async def ticket_keys(self) -> tuple[float, Mapping[str, tuple[bytes, float]]]:
            found = self.clock.now(), dict(self.keys)
            await self.clock.sleep(1.0)
            return found

        async def add_ticket_key(self, key_id: str, secret: bytes) -> None:
            await self.clock.sleep(0.5)
            await super().add_ticket_key(key_id, secret)

    async def play() -> None:
        tickets = Tickets(keys, clock)
        asking = [asyncio.create_task(tickets.ready()) for _ in range(3)]
        await clock.sleep(1.2)
        looking = asyncio.create_task(tickets.verify("unknown.body.mac"))
        await asyncio.gather(*asking)
        with pytest.raises(HubRefusedError):
            await looking
        assert await tickets.verify(tickets.sign(a_ticket(clock))) == a_ticket(clock)

    clock = VirtualClock()
    keys = Slow(clock)
    clock.run(play())
    assert len(keys.keys) == 1


def test_ticket_from_the_future_is_refused(tickets: Tickets, clock: VirtualClock) -> None:
    future = replace(a_ticket(clock), issued_at=clock.now() + SKEW_S + 1)
    with pytest.raises(HubRefusedError, match="not valid"):
        verified(tickets, tickets.sign(future))


@pytest.mark.parametrize("off", [-DAY / 2, -SKEW_S - 1, SKEW_S + 1, 400 * DAY])
@pytest.mark.parametrize("with_key", [False, True])
def test_clock_that_is_off_the_databases_signs_nothing_and_says_so(off: float, with_key: bool) -> None:
    """Also with a key that a right clock has made: what it signed would be refused elsewhere."""
    clock = VirtualClock()
    keys = Keys(clock, off=off)
    if with_key:
        asyncio.run(keys.add_ticket_key("k", b"secret"))
    tickets = Tickets(keys, clock)
    for _ in range(3):
        with pytest.raises(ClockSkewError, match=re.escape(f"{-off:+.0f} s off")):
            signed(tickets, a_ticket(clock))
    assert len(keys.keys) == with_key
    keys.off = 0.0
    assert verified(tickets, signed(tickets, a_ticket(clock))) == a_ticket(clock)


def test_clock_that_goes_wrong_while_it_signs_is_found_out() -> None:
    clock = VirtualClock()
    keys = Keys(clock)
    tickets = Tickets(keys, clock)
    signed(tickets, a_ticket(clock))
    clock.jump(LOOKED_S + 1)
    keys.off = -LOOKED_S - 1
    with pytest.raises(ClockSkewError):
        signed(tickets, a_ticket(clock))


@pytest.mark.parametrize("off", [-SKEW_S + 1, SKEW_S - 1])
def test_clock_that_is_nearly_right_signs(off: float) -> None:
    clock = VirtualClock()
    tickets = Tickets(Keys(clock, off=off), clock)
    assert verified(tickets, signed(tickets, a_ticket(clock))) == a_ticket(clock)


def test_a_key_that_a_wrong_clock_made_keeps_nobody_from_working_once_the_clock_is_right() -> None:
    clock = VirtualClock()
    keys = Keys(clock, off=400 * DAY)
    asyncio.run(keys.add_ticket_key("k", b"secret"))
    keys.off = 0.0
    tickets = Tickets(keys, clock)
    text = [signed(tickets, a_ticket(clock)) for _ in range(3)]
    assert verified(tickets, text[0]) == a_ticket(clock)
    assert len(keys.keys) == 2
