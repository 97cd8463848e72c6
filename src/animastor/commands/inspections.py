"""The errands of the commands that look into a home or put it in order (`commands.inspecting`), by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from animastor.app import Driving
from animastor.commands import deleting, explaining
from animastor.commands.deleting import Removing
from animastor.commands.explaining import Explaining
from animastor.commands.messages import Tell

Inspection: TypeAlias = Explaining | Removing

NAMES: Mapping[type[Any], str] = {
    Explaining: "errand:explain",
    Removing: "errand:delete",
}
ERRANDS: Mapping[str, Callable[[Driving, Mapping[str, Any], Tell], Awaitable[None]]] = {
    "errand:explain": explaining.explain,
    "errand:delete": deleting.delete,
}
BRIEF: tuple[type[Any], ...] = (Removing,)  # done without a worker, when nobody works on the home
