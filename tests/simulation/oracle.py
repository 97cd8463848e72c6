"""What was asked and what was made, as those remember it who asked and made it; never read from the engine's tables.

From the books as people last saved them it says what every artifact must be, by text that is written here a second
time and shares nothing with planning, hashing or storing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from animastor.books.model import Book, Scene
from animastor.engine.ports import Scope, ScopeKind
from animastor.engine.reasons import Reason
from animastor.protocol import BookKey, Claim

from .media import RAISES, RUN

NEEDS = {"voice": ("voice",), "sketch": ("sketch",), "clip": ("sketch", "clip")}


@dataclass
class Shelved:
    """A book as its people know it. `saving`: versions on their way, of which nobody knows yet whether they arrived."""

    name: str
    book: Book | None = None
    narrator: str = ""
    key: BookKey | None = None
    saving: int = 0
    resumes: int = 0  # how often
    resuming: int = 0  # what may resume it is on its way: whether a pause holds then, nobody can say
    saved_at: float = 0.0
    layers: dict[str, Any] = field(default_factory=dict)  # as they were set for this book

    @property
    def off(self) -> set[str]:
        """The media types that are switched off: what was set for the book goes before what its file says."""
        head = self.book.head.layer_config if self.book is not None else {}
        return {name.removesuffix("_enabled") for name, on in {**head, **self.layers}.items() if on is False}


@dataclass(eq=False)
class Ask:
    """Something that was asked for. It holds from when it was said; `over`: its cancel, or its successor, returned."""

    book: str
    scope: Scope
    media: frozenset[str]
    key: str
    request_id: int | None = None
    over: bool = False
    answered: bool = False
    kind: str = "make"
    accepts: bool = False  # that something is paid for twice
    replaced: bool = False  # by a later one: what it ran is let go soon, but nobody waits for that
    paused: bool = False  # its pause has returned
    without: list[tuple[Scope, frozenset[str]]] = field(default_factory=list)  # what a cancel has taken out of it

    def includes(self, place: Place, *, moved: bool) -> bool:
        """Whether an asset at this place is meant; `moved`: it may be on its way out of a chapter that was
        edited, or out of what was replaced."""
        over = self.over and not (moved and self.replaced)
        if over or place.book != self.book or place.media not in self.media:
            return False
        if any(place.media in media and _lies_in(place, scope, moved=moved) for scope, media in self.without):
            return False
        kind = self.scope.kind
        if kind is ScopeKind.WHOLE_BOOK:
            return True
        if kind is ScopeKind.CHAPTER:
            return moved or place.chapter == self.scope.chapter_id
        if kind is ScopeKind.FROM_SCENE:
            return True  # reading order is the book's, which may be edited meanwhile: whoever asks for less is stricter
        return place.scene == self.scope.scene_id


@dataclass(frozen=True)
class Place:
    """Where an asset belongs, by the ids that people use."""

    book: str
    chapter: str
    scene: str
    media: str


@dataclass
class Oracle:
    """The memory of one run."""

    books: dict[str, Shelved] = field(default_factory=dict)
    asks: list[Ask] = field(default_factory=list)
    cursed: set[int] = field(default_factory=set)  # assets that the database chokes on
    runs: int = 0
    run_of: dict[tuple[str, int], int] = field(default_factory=dict)  # (job, claim number) → run
    contents: Counter[bytes] = field(default_factory=Counter)  # what was made, without the numbers of runs
    claims: defaultdict[tuple[int, str], set[int]] = field(default_factory=lambda: defaultdict(set))
    accepted: dict[tuple[int, str], str] = field(default_factory=dict)  # (asset, hash) → checksum
    made: set[str] = field(default_factory=set)  # hashes of what was accepted, for whatever asset
    answers: Counter[str] = field(default_factory=Counter)
    uncertain: dict[tuple[int, str], str] = field(default_factory=dict)  # (asset, hash) that may be paid for → job
    charges: set[tuple[str, int]] = field(default_factory=set)  # (job, claim number) whose charge nobody has accepted
    gone: set[str] = field(default_factory=set)  # worker instances that were killed

    # --- what backends and workers say ---

    def started(self, claim: Claim) -> int:
        """A backend was given a job; the number of the run."""
        self.runs += 1
        self.run_of[claim.job.job_id, claim.claim_no] = self.runs
        return self.runs

    def produced(self, claim: Claim, content: bytes) -> None:
        """A backend made something."""
        self.contents[RUN.sub(b"", content)] += 1

    def claimed(self, claim: Claim) -> None:
        """A claim was given: only from one may a failure come."""
        self.claims[claim.job.asset, claim.job.input_hash].add(claim.claim_no)

    def was_tried(self, claim: Claim) -> bool:
        """Whether its part was claimed before."""
        return len(self.claims[claim.job.asset, claim.job.input_hash]) > 1

    def answered(self, claim: Claim, uploaded: Any, answer: str) -> None:
        """A worker was told what became of its result."""
        self.answers[answer] += 1
        if answer in ("accepted", "late_accept", "already_accepted"):
            self.accepted[claim.job.asset, claim.job.input_hash] = uploaded.checksum
            self.made.add(claim.job.input_hash)

    def failed(self, claim: Claim, code: str, answer: str) -> None:
        """A worker was answered: what may have been paid for is not paid for again, whatever its claim is by now. When
        somebody has accepted charges meanwhile, it may be among them.
        """
        heard = answer in (Reason.COUNTED, Reason.STALE_CLAIM)
        if code == Reason.UNCERTAIN and heard and (claim.job.job_id, claim.claim_no) in self.charges:
            self.uncertain[claim.job.asset, claim.job.input_hash] = claim.job.job_id

    def charged(self, claim: Claim) -> None:
        """A backend may have been paid; its answer was lost."""
        self.charges.add((claim.job.job_id, claim.claim_no))

    def may_be_charged_again(self, asset: int, hash_: str) -> bool:
        """Whether a job may be paid for twice. What was made once, for whatever asset, may be used for all; when it is
        claimed after that, its bytes are lost, and it is ordered anew."""
        return (asset, hash_) in self.uncertain and hash_ not in self.made

    def accept_charge(self, key: str) -> None:
        """A request is said, answered or open. Where a person accepts that something is paid twice, that holds for all
        that it finds until all of it has been entered; what that is, only the engine knows.
        """
        if any(ask.key == key and ask.accepts for ask in self.asks):
            self.uncertain.clear()
            self.charges.clear()

    def worker_gone(self, key: str) -> None:
        """A worker was killed."""
        self.gone.add(key)

    # --- what people say ---

    def resume(self, name: str) -> None:
        """Whatever is paused of a book may go on from now on; the caller says when that is no longer on its way."""
        self.books[name].resumes += 1
        self.books[name].resuming += 1
        for ask in self.asks:
            ask.paused = ask.paused and ask.book != name

    def forget_what_left(self, name: str, book: Book) -> None:
        """A scene or chapter that leaves a book takes along what was cancelled of it: one that comes later is
        another."""
        chapters = {chapter.chapter_id for chapter in book.chapters}
        scenes = {(chapter.chapter_id, scene.scene_id) for chapter, scene in book.scenes()}

        def is_there(scope: Scope) -> bool:
            if scope.kind is ScopeKind.SCENE:
                return (scope.chapter_id, scope.scene_id) in scenes
            return scope.kind is not ScopeKind.CHAPTER or scope.chapter_id in chapters

        for ask in self.asks:
            if ask.book == name:
                ask.without = [(scope, media) for scope, media in ask.without if is_there(scope)]

    def covers(self, place: Place, *, moved: bool = False) -> bool:
        """Whether somebody wants this asset now."""
        return any(ask.includes(place, moved=moved) for ask in self.asks)

    def may_begin(self, place: Place) -> bool:
        """Whether somebody wants this asset now, and does not hold it back."""
        shelved = self.books.get(place.book)
        if shelved is not None and not shelved.saving and self._is_off(shelved, place.media):
            return False
        return any(ask.includes(place, moved=False) and not ask.paused for ask in self.asks)

    def _is_off(self, shelved: Shelved, media: str) -> bool:
        return any(shelved.layers.get(f"{need}_enabled") is False for need in NEEDS[media])

    # --- what must be there ---

    def expected(self, shelved: Shelved) -> dict[Place, list[bytes] | bytes | None]:
        """What each asset of a book must be: merged bytes, or the pictures in order; None for nothing at all.

        Media types that are switched off, or cannot be planned, are left out, as is what requires them.
        """
        found: dict[Place, list[bytes] | bytes | None] = {}
        assert shelved.book is not None
        off = shelved.off
        for chapter, scene in shelved.book.scenes():
            for media, needs in NEEDS.items():
                if not off & set(needs) and not (media == "voice" and _hopeless(scene)):
                    place = Place(shelved.name, chapter.chapter_id, scene.scene_id, media)
                    found[place] = _expected(media, scene, shelved.narrator, voice="voice" not in off)
        return found


def _lies_in(place: Place, scope: Scope, *, moved: bool) -> bool:
    """Whether a place is surely in a scope; `moved`: nothing is sure of a chapter that was edited."""
    if scope.kind is ScopeKind.WHOLE_BOOK:
        return True
    if scope.kind is ScopeKind.CHAPTER:
        return not moved and place.chapter == scope.chapter_id
    return scope.kind is ScopeKind.SCENE and place.scene == scope.scene_id and place.chapter == scope.chapter_id


def _hopeless(scene: Scene) -> bool:
    return any(unit.text == RAISES for unit in scene.units)


def _said(scene: Scene, narrator: str) -> list[bytes]:
    return [f"say({unit.text}|{narrator})".encode() for unit in scene.units if unit.text]


def _drawn(scene: Scene) -> list[bytes]:
    return [f"draw({unit.image.prompt})".encode() for unit in scene.units]


def _expected(media: str, scene: Scene, narrator: str, *, voice: bool) -> list[bytes] | bytes | None:
    if media == "sketch":
        return _drawn(scene)
    if media == "voice":
        said = _said(scene, narrator)
        return b"[" + b"+".join(said) + b"]" if said else None
    if not scene.units:
        return None
    length = b"*" if not voice or _hopeless(scene) else b"%d" % sum(map(len, _said(scene, narrator)))
    return b"[" + b"+".join(b"shoot(" + one + b"|" + length + b")" for one in _drawn(scene)) + b"]"
