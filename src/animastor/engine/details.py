"""Everything that is stored of the assets of one scene, as `explain` reads it: the very bits that decide. Values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from animastor.engine.states import PartState, RequestState, Standing, State, Wait
from animastor.protocol import MERGE, AssetId, BookKey


@dataclass(frozen=True, slots=True)
class PartDetail:
    """A wanted part, or the merge. `failure` is the last failure's type, `tries` how many were counted since."""

    hash: str
    kind: str
    unit_ids: tuple[str, ...]
    state: PartState
    profile: str
    tries: int = 0
    not_before: float = 0.0
    failure: str = ""
    message: str = ""

    @property
    def is_merge(self) -> bool:
        """Whether it puts the others together."""
        return self.kind == MERGE


@dataclass(frozen=True, slots=True)
class AssetDetail:
    """An asset. `seen_as` is what plans that read it are told of it. `carried`: its request lets it start.

    `made`: a version of it is there, the current one or an older one.

    `ahead`: how many of its book are due before it, at most `MOST_AHEAD`; 0 when it is not due itself.
    """

    asset: AssetId
    media: str
    lane: str
    state: State
    waits: Wait
    due_at: float | None
    planned: bool
    current: bool
    made: bool
    reason: str
    error: str
    carried: bool
    request_id: int
    request_state: RequestState | None
    dispatch_id: str
    begun_at: float
    seen_as: Literal["ready", "awaited", "absent"]
    disabled: bool
    ahead: int
    parts: tuple[PartDetail, ...] = ()


@dataclass(frozen=True, slots=True)
class SceneDetail:
    """A scene with its assets. `place` is CHAPTER/SCENE, counted from 1; `units`: the ids of its units, in order.

    `now` is the database's time.
    """

    book_key: BookKey
    book_id: str
    chapter_id: str
    scene_id: str
    place: str
    units: tuple[str, ...]
    now: float
    assets: Mapping[str, AssetDetail]


@dataclass(frozen=True, slots=True)
class MediaCount:
    """How many assets of a media type stand so, and the first scene in reading order that has one."""

    media: str
    standing: Standing
    assets: int
    chapter_id: str
    scene_id: str
