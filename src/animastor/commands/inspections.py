"""The errands of the commands that look into a home or put it in order (`commands.inspecting`), by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from animastor.app import Driving
from animastor.commands import deleting, explaining, space, taking
from animastor.commands.deleting import Removing
from animastor.commands.doctor import Examining
from animastor.commands.explaining import Explaining
from animastor.commands.messages import Tell
from animastor.commands.space import Collecting
from animastor.commands.taking import Taking

Inspection: TypeAlias = Explaining | Removing | Taking | Collecting

NAMES: Mapping[type[Any], str] = {
    Explaining: "errand:explain",
    Removing: "errand:delete",
    Taking: "errand:take",
    Collecting: "errand:gc",
}
ERRANDS: Mapping[str, Callable[[Driving, Mapping[str, Any], Tell], Awaitable[None]]] = {
    "errand:explain": explaining.explain,
    "errand:delete": deleting.delete,
    "errand:take": taking.take,
    "errand:gc": space.collect,
}
BRIEF: tuple[type[Any], ...] = (
    Removing,
    Taking,
    Collecting,
    Examining,
)  # done without a worker, when nobody works on the home
