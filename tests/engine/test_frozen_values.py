"""Values that are made quickly are frozen dataclasses like any other."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace

import pytest

from animastor.frozen import quick


@dataclass(frozen=True, slots=True)
class Plain:
    """As `dataclass` makes it."""

    a: int
    b: str = "b"
    c: list[int] = field(default_factory=list)
    d: tuple[int, ...] = ()


@quick
@dataclass(frozen=True, slots=True)
class Quick:
    """The same."""

    a: int
    b: str = "b"
    c: list[int] = field(default_factory=list)
    d: tuple[int, ...] = ()


@pytest.mark.parametrize("given", [{"a": 1}, {"a": 1, "b": "x", "c": [3], "d": (4,)}, {"d": (1,), "a": 0}])
def test_a_quick_value_holds_what_a_plain_one_does(given: dict[str, object]) -> None:
    assert asdict(Quick(**given)) == asdict(Plain(**given))  # type: ignore[arg-type]
    assert repr(Quick(**given)) == repr(Plain(**given)).replace("Plain", "Quick")  # type: ignore[arg-type]


def test_a_quick_value_cannot_be_changed() -> None:
    value = Quick(1)
    with pytest.raises(FrozenInstanceError):
        value.a = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del value.a  # type: ignore[misc]
    with pytest.raises((AttributeError, TypeError)):
        value.e = 3  # type: ignore[attr-defined]


def test_defaults_that_are_made_are_made_anew_each_time() -> None:
    assert Quick(1).c is not Quick(1).c


def test_quick_values_are_compared_hashed_replaced_copied_and_matched() -> None:
    value = Quick(1, d=(2,))
    assert value == Quick(1, "b", [], (2,)) != Quick(2, d=(2,))
    assert type(value) is Quick
    assert replace(value, b="x") == Quick(1, "x", [], (2,))
    assert copy.copy(value) == pickle.loads(pickle.dumps(value)) == value
    assert [one.name for one in fields(value)] == ["a", "b", "c", "d"]  # type: ignore[arg-type]
    match value:
        case Quick(a, b):
            assert (a, b) == (1, "b")


def test_a_missing_or_unknown_argument_is_an_error_as_ever() -> None:
    with pytest.raises(TypeError, match="'a'"):
        Quick()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword"):
        Quick(1, z=2)  # type: ignore[call-arg]


def test_what_it_does_not_suit_is_refused() -> None:
    @dataclass(frozen=True)
    class Slotless:
        a: int

    @dataclass(frozen=True, slots=True)
    class Checked:
        a: int

        def __post_init__(self) -> None:
            """Checks."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Named:
        a: int

    for cls in (Slotless, Checked, Named):
        with pytest.raises(TypeError, match="no plain frozen dataclass"):
            quick(cls)
