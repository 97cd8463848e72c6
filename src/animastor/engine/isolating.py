"""Steps that must not stop one another: a failing one is reported, and the next runs."""

from __future__ import annotations

from collections.abc import Awaitable

from animastor.engine.alarms import Alarm, Report, sentence_of
from animastor.engine.gate import Gate
from animastor.engine.ports import (
    ArtifactStoreUnavailableError,
    CoordinationUnavailableError,
    StorageUnavailableError,
)
from animastor.engine.reaching import Reach
from animastor.engine.reasons import Reason
from animastor.engine.turns import TurnLostError


class Isolation:
    """Runs steps. Only the loss of the database itself passes through: without it there is nothing to go on with."""

    def __init__(self, gate: Gate, reach: Reach, report: Report) -> None:
        self._gate = gate
        self._reach = reach
        self._report = report

    async def step(self, name: str, work: Awaitable[object]) -> bool:
        """Whether the step ran to its end. Raises `StorageUnavailableError`."""
        try:
            await work
        except StorageUnavailableError:
            raise
        except ArtifactStoreUnavailableError:
            self._gate.unavailable()
            await self._gate.look()
            return False
        except CoordinationUnavailableError as error:
            self._reach.lost(error)
            return False
        except TurnLostError:  # another engine does this now
            return False
        except Exception as error:  # noqa: BLE001 - reported; the next round tries again
            self._report(Alarm(Reason.ORCHESTRATION, f"{name}: {sentence_of(error)}"))
            return False
        return True
