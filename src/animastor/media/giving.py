"""Parts that a person has fixed: pinned takes, and files of one's own, in the place of what would be made (CONTRACT 4).

A given part keeps its hash, `H('given', unit, kind, ordinal, artifact)`, whatever is edited; so neither an edit nor a
rebuild ever makes it again. The hash that the plan would have had in its place is told beside it. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from animastor.media.hashing import digest
from animastor.media.types import PartPlan, Previous, Structure

GIVEN = "given"  # the field of a structure that says that a person gave this part
Fits = Callable[[PartPlan, Structure], bool]


def given_hash(unit_id: str, kind: str, ordinal: int, artifact: str) -> str:
    """The hash of a given part: of its place within its unit, and of its bytes."""
    return digest({GIVEN: [unit_id, kind, ordinal, artifact]})


def given_structure(structure: Structure, ordinal: int, artifact: str, base: str) -> dict[str, Any]:
    """The structure of a given part: what it was made from, or made for, with its place and the hash of that."""
    plain = {name: value for name, value in structure.items() if name != GIVEN}
    return {**plain, GIVEN: {"ordinal": ordinal, "artifact": artifact, "base": base}}


def is_outdated(part: PartPlan) -> bool:
    """Whether a given part was made from, or for, something else than what is wanted in its place by now."""
    return bool(part.own_hash) and part.structure[GIVEN]["base"] != part.own_hash


def with_given(
    parts: Sequence[PartPlan], previous: Sequence[Previous], fits: Fits = lambda part, given: True
) -> tuple[PartPlan, ...]:
    """The parts of a plan with the given ones in their places. `fits` may refuse one for what is wanted now."""
    given = {
        (one.kind, one.unit_ids[0], one.given[GIVEN]["ordinal"]): one for one in previous if one.given and one.unit_ids
    }
    if not given:
        return tuple(parts)
    seen: Counter[tuple[str, str]] = Counter()
    return tuple(_or_given(part, given.get(_place(part, seen)), fits) for part in parts)


def _place(part: PartPlan, seen: Counter[tuple[str, str]]) -> tuple[str, str, int]:
    key = (part.kind, part.unit_ids[0])
    seen[key] += 1
    return (*key, seen[key] - 1)


def _or_given(part: PartPlan, one: Previous | None, fits: Fits) -> PartPlan:
    if one is None or one.given is None or one.unit_ids != part.unit_ids or not fits(part, one.given):
        return part
    return replace(part, hash=one.hash, structure=one.given, inputs=(), own_hash=part.hash)
