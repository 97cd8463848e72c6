"""Exports: what is READY and current in a scope, as a film, an audiobook and subtitles beside them.

What an export is made of is hashed, and the hash recorded with the file that came of it: a file that was made of the
same and is still as it was is left alone. The work is done in a child process, with progress and limits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from animastor.app import Driving, Reading
from animastor.books.codec import scene_from_json
from animastor.books.model import Book, Cover, Scene, SceneType, UnitType
from animastor.commands import messages
from animastor.commands.damage import DamageError, require_whole
from animastor.commands.errors import CommandError, Exit
from animastor.commands.homes import disk_error
from animastor.commands.messages import Tell
from animastor.commands.naming import lacks_text
from animastor.commands.places import Numbers, numbers_of
from animastor.commands.recorded import is_current, record, seen, subtitles_beside
from animastor.engine.ports import AssetExport, BookRow, SceneExport, Scope, ScopeKind
from animastor.engine.states import State
from animastor.exports.kinds import AUDIOBOOK, FILM, SUBTITLES
from animastor.exports.model import About, CoverFile, SceneMedia
from animastor.media.audio_alignment import narrated
from animastor.media.hashing import digest
from animastor.workers.backend import BackendError, Order
from animastor.workers.work import Limits, Runner, Work

FORMAT = 1  # raised when exports of the same scenes come out differently
SUFFIX = {FILM: ".mp4", AUDIOBOOK: ".m4b", SUBTITLES: ".vtt"}
MEDIA = {FILM: "video", AUDIOBOOK: "audio", SUBTITLES: "audio"}
_LIMITS = Limits(idle_s=120.0, hard_s=6 * 3600.0)
_SOUND = "audio"

Exporting = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which files to make of a book, where, and whether gaps are allowed."""

    kinds: tuple[str, ...]
    out: Path
    scope: Scope = field(default_factory=Scope)
    allow_missing: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """The files of an export: `made` now, or found `unchanged`; and by kind of file the scenes that it lacks."""

    made: tuple[Path, ...] = ()
    unchanged: tuple[Path, ...] = ()
    gaps: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def told(self) -> dict[str, Any]:
        """As a message carries it."""
        return {
            "made": [str(path) for path in self.made],
            "unchanged": [str(path) for path in self.unchanged],
            "gaps": {kind: list(missing) for kind, missing in self.gaps.items()},
        }


@dataclass(frozen=True, slots=True)
class _Piece:
    """A scene as an export takes it, as yet without the files of its artifacts."""

    media: SceneMedia
    sound: AssetExport | None
    picture: AssetExport | None

    @property
    def marks(self) -> tuple[Any, ...]:
        """What determines the bytes that come of it, for the hash of an export."""
        checksums = [None if each is None else each.artifact for each in (self.sound, self.picture)]
        one = self.media
        return (one.scene_id, one.chapter_id, one.chapter_title, checksums, one.timings, one.texts)

    async def with_files(self, opened: Reading) -> SceneMedia:
        """With the files of its artifacts, whole. Raises `CommandError` and `DamageError`."""
        media = replace(self.media, audio=await _file(opened, self.sound), video=await _file(opened, self.picture))
        pairs = ((media.audio, self.sound), (media.video, self.picture))
        files = [(path, each.artifact or "") for path, each in pairs if path is not None and each is not None]
        await asyncio.to_thread(require_whole, files)
        return media


class IncompleteError(CommandError):
    """Raised when files lack scenes and may not; `done` are the others, which were written all the same."""

    def __init__(self, lacking: Mapping[str, Sequence[str]], done: Done, how: str = "") -> None:
        many = len({scene for missing in lacking.values() for scene in missing}) > 1
        how = how or f"Make {'them' if many else 'it'} first"
        message = f"{lacks_text(lacking)} {how}, or export what there is with --allow-missing."
        super().__init__(Exit.INCOMPLETE, "export_incomplete", message)
        self.lacking = lacking
        self.done = done

    def after_cancel(self) -> IncompleteError:
        """The same where a `make` was told to leave something out."""
        return IncompleteError(self.lacking, self.done, "Run make again to ask for what was cancelled")


async def exported(drive: Driving, row: BookRow, wanted: Wanted, tell: Tell) -> Done:
    """Make the wanted files of a home that is driven here; other exports wait meanwhile. Raises as `export`.

    Else two that want the same file, as two `make` of one book on one home do, would take it from each other.
    """

    def told(name: str, share: float) -> None:
        tell(messages.exporting(name, share))

    async with drive.exporting:
        return await export(drive.reading, drive.children, drive.scratch, row, wanted, told)


async def export(opened: Reading, runner: Runner, scratch: Path, row: BookRow, wanted: Wanted, told: Exporting) -> Done:
    """Make the wanted files of what is current; one export at a time, as they share the folder `scratch`.

    Raises `IncompleteError` when scenes are missing that may not be, `CommandError` when a file cannot be made,
    `DamageError` when a finished part is damaged. What is missing is not given up here: an empty disk may be mounted
    in place of the right one, so reconciliation decides that (CONTRACT 11).
    """
    book = await opened.storage.load_book(row.book_key)
    rows = await opened.storage.export_rows(row.book_key, wanted.scope)
    (context,) = await opened.storage.contexts([row.book_key])
    name = file_name(row, await opened.storage.books())
    numbers = await numbers_of(opened.storage, row)
    made, unchanged = list[Path](), list[Path]()
    gaps, lacking = dict[str, list[str]](), dict[str, list[str]]()
    silent = _SOUND in context.disabled
    about, cover = await _about(opened, book, rows, scratch)

    def looked(kind: str) -> tuple[list[_Piece], list[str]]:
        return _pieces(rows, kind, book.head.language, numbers, silent=silent)

    for kind in wanted.kinds:
        pieces, missing = looked(kind)
        if missing and not wanted.allow_missing:
            lacking[kind] = missing
            continue
        if missing:
            gaps[kind] = missing
        if not pieces:
            continue
        target = wanted.out / f"{name}{_place(wanted.scope)}{SUFFIX[kind]}"
        key = _key(kind, about, cover, pieces)
        current = await is_current(opened.storage, target, key)
        if kind == SUBTITLES and not current:
            in_film, not_in_film = looked(FILM)
            if FILM in wanted.kinds or not not_in_film:
                current = await _came_with_film(opened, target, _key(FILM, about, cover, in_film))
        if current:
            unchanged.append(target)
            continue
        media = [await piece.with_files(opened) for piece in pieces]
        before = {file: seen(file) for file in (target, subtitles_beside(target))}
        files = await _make(runner, scratch, kind, media, target, about, cover, told)
        for file in files:
            (unchanged if seen(file) == before[file] else made).append(file)
        await record(opened.storage, files, key)
    unchanged = [file for file in dict.fromkeys(unchanged) if file not in made]
    done = Done(tuple(dict.fromkeys(made)), tuple(unchanged), gaps)
    if lacking:
        raise IncompleteError(lacking, done)
    return done


async def _came_with_film(opened: Reading, subtitles: Path, key: str) -> bool:
    """Whether these are the subtitles of the film beside them, made of `key`: they follow its frames, and stay."""
    film = subtitles.with_suffix(SUFFIX[FILM])
    return await is_current(opened.storage, subtitles, key) and await is_current(opened.storage, film, key)


def kinds_of(media: Sequence[str]) -> tuple[str, ...]:
    """The files that a `make` of these media types ends with."""
    kinds = [FILM] if "video" in media else []
    if _SOUND in media:
        kinds += [AUDIOBOOK] if "video" in media else [AUDIOBOOK, SUBTITLES]
    return tuple(kinds)


def file_name(row: BookRow, books: Sequence[BookRow]) -> str:
    """The book's title as a file name; with its id when an older book of the home has that name already."""
    name = _title_name(row)
    older = {_title_name(other) for other in books if other.book_key < row.book_key}
    return f"{name}-{row.book_id}" if name in older else name


def _title_name(row: BookRow) -> str:
    """The title in characters that can stand in a file name; the id when there are none."""
    kept = "".join(char if char.isalnum() or char in " -_" else " " for char in row.title)
    return "-".join(kept.lower().split())[:80] or row.book_id


def _place(scope: Scope) -> str:
    """What a file of a part of the book adds to its name, so that it never replaces that of the whole."""
    start = "-from" if scope.kind is ScopeKind.FROM_SCENE else ""
    return start + "".join(f"-{each}" for each in (scope.chapter_id, scope.scene_id) if each)


def _pieces(
    rows: Sequence[SceneExport], kind: str, language: str, numbers: Numbers, *, silent: bool
) -> tuple[list[_Piece], list[str]]:
    """What there is of each scene, and what is missing. `silent`: the sound of this book is switched off."""
    pieces, missing = [], []
    for row in rows:
        scene = scene_from_json(row.scene)
        main = row.media.get(MEDIA[kind])
        if main is not None and main.current and main.artifact is None:
            continue  # empty: nothing is to be made of it
        if main is None or not main.current:
            stale = " (stale)" if main is not None and main.made else ""
            missing.append(f"{numbers.scene(row.chapter_id, row.scene_id)}{stale}")
            continue
        if kind == FILM and not silent and _lacks_sound(row.media.get(_SOUND)):
            missing.append(f"{numbers.scene(row.chapter_id, row.scene_id)} (its sound)")
        pieces.append(_piece(row, scene, kind, language))
    return pieces, missing


def _lacks_sound(sound: AssetExport | None) -> bool:
    """Whether a scene of a film should be heard, and cannot be: its sound is old, on its way, or failed.

    A scene whose sound was never asked for, or given up before there was any, is silent.
    """
    if sound is None or sound.current or sound.state is State.NEW:
        return False
    return sound.state is not State.DIRTY or sound.artifact is not None


def _piece(row: SceneExport, scene: Scene, kind: str, language: str) -> _Piece:
    sound = row.media.get(_SOUND)
    picture = row.media.get("video") if kind == FILM else None
    timings = tuple(map(tuple, sound.facts.get("timings", ()))) if sound is not None and sound.current else ()
    spoken = (unit for unit in narrated(scene, language) if unit.type is not UnitType.TYPOGRAPHY)
    texts: dict[str, str] = {unit.unit_id: unit.text for unit in spoken}
    media = SceneMedia(
        scene_id=row.scene_id,
        chapter_id=row.chapter_id,
        chapter_title=row.chapter_title,
        audio=None,
        video=None,
        timings=timings,
        texts=texts,
    )
    return _Piece(media, sound, picture)


async def _file(opened: Reading, asset: AssetExport | None) -> Path | None:
    if asset is None or asset.artifact is None or not asset.current:
        return None
    path = await opened.artifacts.path(asset.artifact, asset.suffix)
    if path is None:
        if await opened.artifacts.whole(asset.artifact, asset.suffix) is False:
            raise DamageError(asset.artifact, f"The finished part {asset.artifact}{asset.suffix} is damaged")
        raise CommandError(
            Exit.INCOMPLETE,
            "artifact_missing",
            "Finished parts are not in the artifact store any more: `animastor doctor` says how many; a few are made "
            "again by `animastor make`, many only after `animastor doctor --repair`.",
        )
    return path.absolute()


async def _about(
    opened: Reading, book: Book, rows: Sequence[SceneExport], scratch: Path
) -> tuple[About, CoverFile | None]:
    head = book.head
    cover = await _cover_file(book.cover, scratch) if book.cover is not None else await _cover_scene(opened, rows)
    return About(head.title, head.author, head.language), cover


async def _cover_file(cover: Cover, scratch: Path) -> CoverFile:
    path = scratch / "cover"
    await asyncio.to_thread(_write, path, cover.data)
    return CoverFile(path.absolute(), cover.media_type)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


async def _cover_scene(opened: Reading, rows: Sequence[SceneExport]) -> CoverFile | None:
    """The picture of a cover scene, when the book brings no cover of its own."""
    for row in rows:
        image = row.media.get("image")
        scene = scene_from_json(row.scene)
        if scene.type is not SceneType.COVER or image is None or not image.current or not scene.units:
            continue
        unit = image.facts.get("units", {}).get(scene.units[0].unit_id)
        path = None if unit is None else await opened.artifacts.path(unit["artifact"], ".png")
        if path is not None:
            return CoverFile(path.absolute(), "image/png")
    return None


def _key(kind: str, about: About, cover: CoverFile | None, pieces: Sequence[_Piece]) -> str:
    picture = None if cover is None else sha256(cover.path.read_bytes()).hexdigest()
    return digest(
        {
            "format": FORMAT,
            "kind": kind,
            "about": [about.title, about.author, about.language, picture],
            "scenes": [piece.marks for piece in pieces],
        }
    )


async def _make(
    runner: Runner,
    scratch: Path,
    kind: str,
    scenes: Sequence[SceneMedia],
    target: Path,
    about: About,
    cover: CoverFile | None,
    told: Exporting,
) -> list[Path]:
    """Write one file; a film has its subtitles beside it. The files that were written."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if kind == SUBTITLES:
            await asyncio.to_thread(_write_subtitles, scenes, target, about.language)
            return [target]
        from animastor.exports.job import FUNCTION, order_of

        order = Order("export", kind, order_of(kind, scenes, target, about, cover))
        work = Work(FUNCTION, order, scratch / f"export-{kind}", "export", _LIMITS)
        produced = await runner.run(work, lambda share: told(target.name, share))
        told(target.name, 1.0)
    except BackendError as error:
        code = Exit.DISK_FULL if error.code == "disk_full" else Exit.FAILURES
        raise CommandError(code, error.code, f"{target} could not be made: {error.message.rstrip('.')}.") from error
    except OSError as error:
        raise disk_error(target.parent, error) from error
    return [target, *([subtitles_beside(target)] if produced.notes["subtitles"] else [])]


def _write_subtitles(scenes: Sequence[SceneMedia], target: Path, language: str) -> None:
    from animastor.exports.container import finished
    from animastor.exports.subtitles import Spoken, subtitles, webvtt

    spoken, start = [], 0.0
    for scene in scenes:
        end = start
        for unit_id, unit_start, unit_end in scene.timings:
            end = start + unit_end
            spoken.append(Spoken(start + unit_start, end, scene.texts.get(unit_id, "")))
        start = end
    with finished(target) as folder:
        (folder / target.name).write_text(webvtt(subtitles(spoken, language)), encoding="utf-8")
