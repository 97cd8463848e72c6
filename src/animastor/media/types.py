"""What a media type is, what a plan is made from, and what a plan says. Values only: no I/O, no clock, no state.

A media type is declared once, as a `MediaType`; scheduling, quotas, progress and exports read that declaration
(DESIGN, layout). Planning is pure: `plan(PlanInput) -> Planned | Waiting`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, TypeAlias

from animastor.books.model import BookHead, Scene
from animastor.frozen import quick

Structure: TypeAlias = Mapping[str, Any]  # JSON values; what is hashed is what the worker receives


@dataclass(frozen=True, slots=True)
class Profile:
    """A named configuration of a backend. `revision` is declared: raising it makes every part of it new."""

    name: str
    revision: int = 1


@dataclass(frozen=True, slots=True)
class ContentSettings:
    """The settings that determine bytes; stored with the book, so that a plan reads only the database (CONTRACT 4).

    `narrator` overrides the book's narrator voice when not empty. `profiles` maps a kind of part, or
    `speech:<language>`, to the profile that makes it.
    """

    width: int = 1280
    height: int = 720
    fps: int = 24
    narrator: str = ""
    profiles: Mapping[str, Profile] = field(default_factory=dict)


@quick
@dataclass(frozen=True, slots=True)
class PartPlan:
    """One independently generated piece of an asset.

    `structure` is the whole of what is hashed and of what the worker receives, `hash` its digest. `unit_ids` are the
    units that it serves, in order; they and the part's position are never in the hash. `estimate_s` is the expected
    length of what is played (0 for pictures); `work` is the expected effort relative to the other parts of its kind
    (characters to speak, frames to render), for the time left.
    """

    kind: str
    hash: str
    unit_ids: tuple[str, ...]
    structure: Structure
    inputs: tuple[str, ...] = ()  # checksums of artifacts that the worker needs
    profile: str = ""
    estimate_s: float = 0.0
    work: float = 1.0
    own_hash: str = ""  # of a given part: the hash that it would have had


@dataclass(frozen=True, slots=True)
class Planned:
    """What has to exist for an asset: its parts in order, and the merge. No parts: the asset is empty (READY at once).

    `merge` is the structure of the merge job (it covers the ordered part hashes), or of the manifest for a media type
    without a merge step; `wanted_hash` is its digest.
    """

    parts: tuple[PartPlan, ...]
    merge: Structure
    wanted_hash: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """Nothing can be planned until these media types of the same scene are there."""

    on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dependency:
    """Another media type of the same scene, as the plan may see it.

    `ready`: READY and current, `facts` are its own. `awaited`: PENDING or GENERATING, so it will come. `absent`:
    disabled, FAILED or never asked for; `facts` are then the last measured ones, or empty.
    """

    status: Literal["ready", "awaited", "absent"]
    facts: Structure = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Previous:
    """A part that is wanted by the plan before this one (borders of groups are kept where they can be).

    `given`: the structure of a part that a person has fixed (`media.giving`), which is one whether it was wanted
    before or not.
    """

    kind: str
    hash: str
    unit_ids: tuple[str, ...]
    pinned: bool = False
    given: Structure | None = None


@quick
@dataclass(frozen=True, slots=True)
class PlanInput:
    """Everything that a plan reads. All of it comes from the database."""

    head: BookHead
    scene: Scene
    settings: ContentSettings
    takes: Mapping[str, int] = field(default_factory=dict)  # unit id -> take; absent is 0
    dependencies: Mapping[str, Dependency] = field(default_factory=dict)  # media type -> state
    previous: tuple[Previous, ...] = ()


@quick
@dataclass(frozen=True, slots=True)
class Facts:
    """What probing found in an artifact. Durations in seconds, sizes in pixels; 0 where it does not apply."""

    duration: float = 0.0
    samples: int = 0
    sample_rate: int = 0
    width: int = 0
    height: int = 0
    frames: int = 0
    fps: float = 0.0
    codec: str = ""


@dataclass(frozen=True, slots=True)
class MadePart:
    """A part that is there: its place in the plan, its artifact's checksum and its probed facts."""

    plan: PartPlan
    artifact: str
    facts: Facts


@dataclass(frozen=True, slots=True)
class MediaType:
    """The declaration of a kind of thing that is produced for a scene.

    `requires`: other media types that must be READY first. `follows`: waited for unless disabled, FAILED or never
    asked for. `retry_limit` counts attempts of a part. `job_timeout` bounds the time without progress. `min_quota` is
    the least number of assets in work at once per pair; more when the workers' capacity allows (CONTRACT 6).
    `check` says in one sentence why bytes are not as ordered, or None; `check_merge`, where there is one, says the same
    of a merge beside the facts of its parts, in order. `facts_of` makes the asset's facts (unit
    timings, manifest) from its parts and, with a merge step, the merged artifact; `facts_of_structures` says whether
    it looks at their structures, which are then read for it. `covers` lists the unit ids whose picture or sound a
    request for these units needs.
    """

    name: str
    plan: Callable[[PlanInput], Planned | Waiting]
    check: Callable[[Structure, Facts], str | None]
    facts_of: Callable[[Sequence[MadePart], Facts | None], dict[str, Any]]
    suffixes: Mapping[str, str]  # kind of part, and "merge" -> file suffix
    requires: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    profiles: Mapping[str, Profile] = field(default_factory=dict)  # of this installation; stored with each new book
    merges: bool = True
    facts_of_structures: bool = True
    part_name: str = "part"  # what people call one of its parts
    retry_limit: int = 10
    min_quota: int = 2
    lease_ttl: timedelta | None = None  # None: as long as the installation's
    job_timeout: timedelta = timedelta(minutes=30)
    timeout_minutes: tuple[int, int, int] = (30, 5, 120)  # default, least, most (CONTRACT 15)
    check_merge: Callable[[Structure, Sequence[Facts], Facts], str | None] | None = None
    estimate: Callable[[PlanInput], tuple[int, float]] | None = None  # (parts, work) before a plan can be made
