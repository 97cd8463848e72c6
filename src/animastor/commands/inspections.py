"""The errands of the commands that look into a home or put it in order (`commands.inspecting`), by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from animastor.app import Driving
from animastor.commands import explaining
from animastor.commands.explaining import Explaining
from animastor.commands.messages import Tell

Inspection: TypeAlias = Explaining

NAMES: Mapping[type[Any], str] = {
    Explaining: "errand:explain",
}
ERRANDS: Mapping[str, Callable[[Driving, Mapping[str, Any], Tell], Awaitable[None]]] = {
    "errand:explain": explaining.explain,
}
