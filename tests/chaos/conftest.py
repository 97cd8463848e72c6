"""A fleet for each test, on a PostgreSQL that keeps what it has committed through a crash of its own."""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "engine"))  # `toys` are what the engine's tests play with

from chaos_fleet import Fleet, fleet_of

import postgres_server
from coordination_servers import NoServerError, binary
from postgres_server import PostgresServer


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes minutes runs when it is asked for (`-m chaos`)."""
    if "chaos" not in config.option.markexpr:
        for item in items:
            if item.get_closest_marker("chaos") is not None:
                item.add_marker(pytest.mark.skip(reason="takes minutes: `make chaos` runs it"))


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A running server; skips with the reason where there is none."""
    try:
        binary("valkey")
        with postgres_server.serving() as server:
            server.run(
                *(
                    f"ALTER SYSTEM SET {name} = on"
                    for name in ("synchronous_commit", "track_commit_timestamp", "autovacuum")
                )
            )
            server.restart("fast")
            yield server
    except (postgres_server.NoServerError, NoServerError) as error:
        pytest.skip(str(error))


@pytest.fixture
def make_fleet(postgres: PostgresServer, tmp_path: Path) -> Iterator[Callable[[Mapping[str, str]], Fleet]]:
    """Makes fleets with these settings."""
    with ExitStack() as stack:

        def make(settings: Mapping[str, str]) -> Fleet:
            sockets = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="animastor-kv-")))
            return stack.enter_context(fleet_of(postgres, tmp_path, sockets, settings))

        yield make


@pytest.fixture
def seed() -> int:
    """What is drawn by chance is drawn from this; it is printed, and `CHAOS_SEED` gives it again."""
    drawn = int(os.environ.get("CHAOS_SEED") or random.SystemRandom().randrange(2**31))
    print(f"\nCHAOS_SEED={drawn}")
    return drawn
