"""What is done to a fleet while it works: each fault by its name, drawn in any order from a seed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from chaos_fleet import Fleet, Member, until
from chaos_oracle import check_meanwhile
from toys import plain_book

STEP: Final = 25  # assets that have to become ready between two faults
ENOUGH: Final = 300  # of which a fault finds the fleet at work, however fast the machine is
MEDIA: Final = ("voice", "sketch", "clip")


@dataclass(frozen=True)
class Spans:
    """How long what is away stays away, how long the longest jobs take, which is longer, and how soon the fleet has to
    go on after a fault; in seconds."""

    valkey: float
    schedulers: float
    paused: float
    long: float
    soon: float


@dataclass
class Chaos:
    """Does faults to a fleet whose members are running."""

    fleet: Fleet
    random: Random
    spans: Spans
    more: list[int] = field(default_factory=list)  # requests that were made so that there is enough to do

    def run(self, names: Sequence[str]) -> None:
        """One after the other; before the next one, the fleet has to go on with its work, and nothing to be wrong."""
        for name in names:
            for member in self.fleet.members:  # who begins while a store is away says so and ends, as it should
                member.until_serving()
            if self.fleet.left() < ENOUGH:
                book = plain_book(f"more-{len(self.more)}", scenes=ENOUGH)
                self.more.append(self.fleet.ask(book, MEDIA)[1])
            began, before = time.time(), self.fleet.ready()
            FAULTS[name](self)
            ended, ready = time.time(), self.fleet.ready()
            until(
                lambda before=ready: self.fleet.ready() >= before + STEP or self._over(),  # type: ignore[misc]
                self.spans.soon,
                f"work to go on after {name}",
                self.fleet.state,
            )
            went_on = time.time() - ended
            found = check_meanwhile(self.fleet)
            print(
                f"{name}: {ended - began:.1f} s, {before} to {ready} ready; went on {went_on:.1f} s later; {found}",
                flush=True,
            )

    def kill_one(self) -> None:
        """SIGKILL of a process, which is started again soon."""
        member = self._any()
        member.kill()
        time.sleep(self.random.random())
        member.start()

    def kill_half(self) -> None:
        """SIGKILL of half of them at once; they come back one by one."""
        chosen = self.random.sample(self.fleet.members, len(self.fleet.members) // 2)
        for member in chosen:
            member.kill()
        for member in chosen:
            time.sleep(self.random.random() / 2)
            member.start()

    def empty(self) -> None:
        """FLUSHALL."""
        self.fleet.valkey.empty()

    def empty_after_upload(self) -> None:
        """FLUSHALL between an upload and its finish."""
        self.fleet.emptying.touch()
        until(lambda: not self.fleet.emptying.exists() or self._over(), 300, "an upload", self.fleet.state)
        self.fleet.emptying.unlink(missing_ok=True)

    def valkey_away(self) -> None:
        """The coordination store is gone for a while, and comes back empty."""
        self.fleet.valkey.stop()
        time.sleep(self.spans.valkey)
        self.fleet.valkey.start()

    def postgres_restarted(self) -> None:
        """The database ends all connections, comes back in a second."""
        self.fleet.postgres.restart("fast")

    def postgres_crashed(self) -> None:
        """The database crashes and recovers."""
        self.fleet.postgres.restart("immediate")

    def schedulers_away(self) -> None:
        """No server for a while; workers go on."""
        replicas = [member for member in self.fleet.members if member.name.startswith("replica")]
        for member in replicas:
            member.kill()
        time.sleep(self.spans.schedulers)
        for member in replicas:
            member.start()

    def paused(self) -> None:
        """Two processes stand still past their leases, a worker and a replica, and go on."""
        kinds = ("worker", "replica")
        chosen = [self._any(kind) for kind in kinds]
        for member in chosen:
            member.pause()
        time.sleep(self.spans.paused)
        for member in chosen:
            member.go_on()

    def _any(self, kind: str = "") -> Member:
        return self.random.choice([one for one in self.fleet.members if one.alive and one.name.startswith(kind)])

    def _over(self) -> bool:
        return not self.fleet.rows("SELECT 1 FROM asset WHERE state IN (1, 2) LIMIT 1")


FAULTS: Final[Mapping[str, Callable[[Chaos], None]]] = {
    "kill_one": Chaos.kill_one,
    "kill_half": Chaos.kill_half,
    "empty": Chaos.empty,
    "empty_after_upload": Chaos.empty_after_upload,
    "valkey_away": Chaos.valkey_away,
    "postgres_restarted": Chaos.postgres_restarted,
    "postgres_crashed": Chaos.postgres_crashed,
    "schedulers_away": Chaos.schedulers_away,
    "paused": Chaos.paused,
}
