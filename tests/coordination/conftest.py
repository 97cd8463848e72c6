"""The same tests on the store in memory and on each real server that starts here. One that does not is named by one
skip, of `test_real_servers.py`, with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import coordination_world
import pytest

from coordination_servers import KINDS, NoServerError, direct_store, missing, serving


class Servers:
    """Those that were asked for, started once for this process."""

    def __init__(self) -> None:
        self._running = ExitStack()
        self._sockets: dict[str, Path | NoServerError] = {}

    def socket(self, kind: str) -> Path:
        """Where a server listens; skips with the reason when there is none."""
        if kind not in self._sockets:
            try:
                self._sockets[kind] = self._running.enter_context(serving(kind))
            except NoServerError as error:
                self._sockets[kind] = error
        found = self._sockets[kind]
        if isinstance(found, NoServerError):
            pytest.skip(str(found))
        return found

    def close(self) -> None:
        """End them."""
        self._running.close()


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """Real servers."""
    made = Servers()
    yield made
    made.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Whatever speaks to a `World` does so once for each kind of store."""
    if hasattr(metafunc.module, "World"):
        found = [kind for kind in KINDS if not missing(kind)]
        metafunc.parametrize("store_kind", ["memory", *found], indirect=True)


@pytest.fixture(autouse=True)
def store_kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The kind of store that a `World` of this test gets."""
    kind = getattr(request, "param", "memory")
    if kind != "memory":
        socket = request.getfixturevalue("servers").socket(kind)
        monkeypatch.setattr(coordination_world, "make_store", partial(direct_store, socket))
    return kind
