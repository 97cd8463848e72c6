"""What makes interleavings exact: something is done just before a call, or between its end and its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

Action = Callable[[], Awaitable[None]]


def once_before(target: Any, name: str, action: Action, when: Callable[..., bool] = lambda *_: True) -> None:
    """Do something just before the next call of a method (for which `when` holds); all other calls go through."""
    _once(target, name, action, when, before=True)


def once_after(target: Any, name: str, action: Action, when: Callable[..., bool] = lambda *_: True) -> None:
    """The same between the end of that call and its answer."""
    _once(target, name, action, when, before=False)


@dataclass
class Hook:
    """Something to be done at one call."""

    name: str
    has_come: bool = False
    error: Exception | None = None

    async def do(self, action: Action) -> None:
        """Do it; what goes wrong is kept, as the code that is called may catch it."""
        self.has_come = True
        try:
            await action()
        except Exception as error:
            self.error = error
            raise


HOOKS: list[Hook] = []  # of the test that runs: each must come, and none may fail


def _once(target: Any, name: str, action: Action, when: Callable[..., bool], *, before: bool) -> None:
    call, hook = getattr(target, name), Hook(name)
    HOOKS.append(hook)

    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        comes = not hook.has_come and when(*args)
        if comes and before:
            await hook.do(action)
        hook.has_come = hook.has_come or comes
        answer = await call(*args, **kwargs)
        if comes and not before:
            await hook.do(action)
        return answer

    setattr(target, name, wrapped)


def of_kind(kind: str) -> Callable[[Sequence[Any]], bool]:
    """Whether a batch of jobs or results holds one of a kind."""
    return lambda batch: any(one.kind == kind for one in batch)
