"""Shared stores for each test: a database of a real PostgreSQL, a Valkey of its own, a folder of artifacts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import coordination_servers
import postgres_server
from fleet import Fleet, Valkey
from postgres_server import PostgresServer


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A running server; skips with the reason where there is none."""
    try:
        with postgres_server.serving() as server:
            yield server
    except postgres_server.NoServerError as error:
        pytest.skip(str(error))


@pytest.fixture
def fleet(postgres: PostgresServer, tmp_path: Path) -> Iterator[Fleet]:
    """Stores with nothing in them, and what tests start on them; nothing of it outlives the test."""
    try:
        valkey = Valkey()
    except coordination_servers.NoServerError as error:
        pytest.skip(str(error))
    with valkey, Fleet(postgres.database("fleet"), valkey, tmp_path) as made:
        yield made
