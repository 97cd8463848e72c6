"""What server there is: one that is too old is refused before anything is asked of it; how it evicts is told.

`INFO` says both, also where a managed server allows no `CONFIG`. A server that does not say what it is, is taken as
new enough: its commands will tell.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from redis.exceptions import ResponseError

OLDEST: Final = (6, 2)  # of Redis; every Valkey says that it is compatible with a newer one
NO_EVICTION: Final = "noeviction"


@dataclass(frozen=True, slots=True)
class Server:
    """`name` and `version` for people; `compatible` as which Redis it behaves, when it says; `policy` of eviction."""

    name: str
    version: str
    compatible: tuple[int, int] | None
    policy: str

    @property
    def too_old(self) -> bool:
        """Whether it lacks commands that are needed."""
        return self.compatible is not None and self.compatible < OLDEST

    @property
    def evicts(self) -> bool:
        """Whether it may remove what is not a cache: queued jobs and leases."""
        return self.policy not in ("", NO_EVICTION)


async def server_of(execute: Callable[..., Awaitable[Any]]) -> Server:
    """Ask a server what it is. Raises what redis-py raises for a server that cannot be reached."""
    try:
        said = await execute("INFO")
    except ResponseError:  # not allowed to this user
        said = {}
    facts: Mapping[str, Any] = said if isinstance(said, Mapping) else {}
    told = str(facts.get("redis_version", ""))
    numbers = re.match(r"(\d+)\.(\d+)", told)
    name = "Valkey" if facts.get("server_name") == "valkey" else "Redis"
    return Server(
        name,
        str(facts.get("valkey_version", told)),
        (int(numbers[1]), int(numbers[2])) if numbers else None,
        str(facts.get("maxmemory_policy", "")),
    )
