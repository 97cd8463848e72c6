"""Signed tickets: who claimed what, proven without any store but the keys (CONTRACT 12).

A ticket is text: key id, fields as JSON in base64, HMAC-SHA256 of both in base64, joined by dots. Keys live in the
database; the newest signs for a day, each verifies for nine, and a ticket is valid for seven.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import orjson

from animastor.engine.reasons import Reason
from animastor.protocol import AssetId, Clock, DispatchId, HubRefusedError, JobId, Ticket

DAY = 86_400.0  # seconds
SIGNS_S, VERIFIES_S, VALID_S = 1 * DAY, 9 * DAY, 7 * DAY
SKEW_S = 300.0  # a clock further off the database's than this signs nothing
LOOKED_S = 600.0  # how long the two clocks, once compared, are taken to agree
SECRET_BYTES = 32


class KeyStore(Protocol):
    """Where the keys are; the database (`engine.ports.Storage`)."""

    async def ticket_keys(self) -> tuple[float, Mapping[str, tuple[bytes, float]]]:
        """The database's time, and key id → (secret, when the database got it)."""
        ...

    async def add_ticket_key(self, key_id: str, secret: bytes) -> None:
        """Store a new key."""
        ...


class ClockSkewError(Exception):
    """Raised when this process's clock is more than 5 min off the database's: set the clock of this machine."""


class Tickets:
    """Signs and verifies. Keys are read when they are needed; `random` gives secrets."""

    def __init__(self, keys: KeyStore, clock: Clock, random: Callable[[int], bytes] = secrets.token_bytes) -> None:
        self._store, self._clock, self._random = keys, clock, random
        self._keys: Mapping[str, tuple[bytes, float]] = {}
        self._signing: tuple[str, bytes, float] | None = None  # key id, secret, when it was made
        self._reading: asyncio.Task[None] | None = None
        self._renewing = asyncio.Lock()
        self._skew = 0.0  # seconds that this clock was ahead of the database's, at least, when they were last compared
        self._compared_at = float("-inf")

    async def ready(self) -> None:
        """Have a key that signs now. Raises `ClockSkewError`."""
        if not self._may_sign():
            async with self._renewing:  # whoever comes second finds what the first one made
                await self._renew()
        if not self._may_sign():
            raise ClockSkewError(
                f"the clock of this machine is {self._skew:+.0f} s off the database's, so no tickets are signed: set it"
            )

    def sign(self, ticket: Ticket) -> str:
        """The ticket as signed text; `ready` must have been awaited just before. About 5 µs."""
        assert self._signing is not None
        key_id, secret, _ = self._signing
        signed = f"{key_id}.{_text(orjson.dumps(_fields(ticket)))}"
        return f"{signed}.{_mac(secret, signed)}"

    async def verify(self, text: str) -> Ticket:
        """What a ticket says. Raises `HubRefusedError` (`not_claimer`) for anything that was not signed, or is too old.

        An unknown key id makes the keys be read again before it is refused.
        """
        signed, _, mac = text.rpartition(".")
        key_id, _, body = signed.partition(".")
        now = self._clock.now()
        if key_id not in self._keys:
            await self._reread()
        secret, made = self._keys.get(key_id, (b"", 0.0))
        if not secret or now - made > VERIFIES_S:
            raise _refusal("its key is unknown")
        if not hmac.compare_digest(_mac(secret, signed).encode(), mac.encode("utf-8", "replace")):
            raise _refusal("its signature does not fit")
        ticket = _ticket(orjson.loads(urlsafe_b64decode(f"{body}==")))
        if not -SKEW_S <= now - ticket.issued_at <= VALID_S:
            raise _refusal("it is not valid any more")
        return ticket

    async def _renew(self) -> None:
        if not self._may_sign():
            await self._reread()
        if not self._may_sign() and not self._skewed:
            await self._add_key()

    async def _add_key(self) -> None:
        """Make a new key."""
        await self._store.add_ticket_key(self._random(8).hex(), self._random(SECRET_BYTES))
        while self._reading is not None:  # it may have begun before the key was there
            await asyncio.shield(self._reading)
        await self._reread()

    @property
    def _skewed(self) -> bool:
        return abs(self._skew) > SKEW_S

    def _may_sign(self) -> bool:
        """Whether this clock was found right lately, by itself, and the signing key is not too old."""
        now = self._clock.now()
        if self._skewed or not 0 <= now - self._compared_at <= LOOKED_S:
            return False
        return self._signing is not None and now - self._signing[2] <= SIGNS_S

    async def _reread(self) -> None:
        """Read the keys; callers that come while they are read share the reading."""
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        await asyncio.shield(self._reading)

    async def _read(self) -> None:
        asked = self._clock.now()
        try:
            told, keys = await self._store.ticket_keys()
        finally:
            self._reading = None
        self._compared_at = self._clock.now()
        self._skew = max(0.0, asked - told) + min(0.0, self._compared_at - told)
        self._keys = dict(keys)
        latest = told + SKEW_S  # one of the future was made while the database's clock was wrong
        usable = [(key, secret, made) for key, (secret, made) in self._keys.items() if made <= latest]
        self._signing = max(usable, key=lambda one: one[2], default=None)


def _mac(secret: bytes, signed: str) -> str:
    return _text(hmac.digest(secret, signed.encode("utf-8", "replace"), "sha256"))


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _fields(ticket: Ticket) -> list[Any]:
    return [
        ticket.job_id,
        ticket.asset,
        ticket.claim_no,
        ticket.dispatch_id,
        ticket.fence,
        ticket.input_hash,
        ticket.kind,
        ticket.media,
        ticket.worker,
        ticket.issued_at,
    ]


def _ticket(fields: list[Any]) -> Ticket:
    job_id, asset, claim_no, dispatch_id, fence, input_hash, kind, media, worker, issued_at = fields
    return Ticket(
        job_id=JobId(job_id),
        asset=AssetId(asset),
        claim_no=claim_no,
        dispatch_id=DispatchId(dispatch_id),
        fence=fence,
        input_hash=input_hash,
        kind=kind,
        media=media,
        worker=worker,
        issued_at=issued_at,
    )


def _refusal(why: str) -> HubRefusedError:
    return HubRefusedError(Reason.NOT_CLAIMER, f"the ticket is refused: {why}")
