"""Frozen values that are made as quickly as mutable ones.

The `__init__` that `dataclass(frozen=True)` writes goes through `object.__setattr__` for each field. An asset's life
makes some two hundred such fields anew, and that was an eighth of all the engine's Python.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

T = TypeVar("T")


def quick(cls: type[T]) -> type[T]:
    """Give a frozen dataclass with slots an `__init__` that fills them while the value still is of a mutable twin.

    The twin has the same slots, so that a value may change from one class to the other; nobody ever sees one. Worth it
    from five fields on. Raises `TypeError` for a class that this does not suit: `__post_init__`, keyword-only fields,
    or fields that are not its own.
    """
    told = fields(cls)  # type: ignore[arg-type]  # a dataclass, as the slots below show
    names = tuple(field.name for field in told)
    if getattr(cls, "__slots__", None) != names or hasattr(cls, "__post_init__") or any(one.kw_only for one in told):
        raise TypeError(f"{cls.__qualname__} is no plain frozen dataclass with slots")
    known: dict[str, Any] = {
        "_as": object.__setattr__,
        "_twin": type(cls.__name__, (), {"__slots__": names, "__module__": cls.__module__}),
        "_cls": cls,
        "_missing": MISSING,
    }
    given = [_parameter(field, known) for field in told]
    filled = [f"    self.{field.name} = {_value(field)}" for field in told]
    lines = [
        f"def __init__(self, {', '.join(given)}):",
        "    _as(self, '__class__', _twin)",
        *filled,
        "    self.__class__ = _cls",
    ]
    made: dict[str, Any] = {}
    exec("\n".join(lines), known, made)  # noqa: S102 - as `dataclass` itself does it, from the names of fields
    init = made["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = dict(getattr(cls.__init__, "__annotations__", {}))
    cls.__init__ = init  # type: ignore[method-assign]  # what this decorator is for
    return cls


def _parameter(field: Field[Any], known: dict[str, Any]) -> str:
    if field.default is not MISSING:
        known[f"_default_{field.name}"] = field.default
        return f"{field.name}=_default_{field.name}"
    if field.default_factory is not MISSING:
        known[f"_make_{field.name}"] = field.default_factory
        return f"{field.name}=_missing"
    return field.name


def _value(field: Field[Any]) -> str:
    if field.default_factory is MISSING:
        return field.name
    return f"_make_{field.name}() if {field.name} is _missing else {field.name}"
