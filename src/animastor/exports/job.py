"""An export as an order to a child process: what `film` and `audiobook` need, as JSON values and back.

The child runs `make` (the form of `workers.backend.Backend`); the structure is made by `order_of`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from animastor.books.model import Cover
from animastor.exports.audiobook import audiobook
from animastor.exports.film import film
from animastor.exports.kinds import AUDIOBOOK, FILM
from animastor.exports.model import About, CoverFile, ExportError, SceneMedia
from animastor.protocol import FailureType
from animastor.workers.backend import BackendError, Order, Produced, Progress

FUNCTION = "animastor.exports.job:make"


def order_of(
    kind: str, scenes: Sequence[SceneMedia], target: Path, about: About, cover: CoverFile | None
) -> dict[str, Any]:
    """The structure of an export's order. `about.cover` is left out: a child reads it from `cover`."""
    return {
        "kind": kind,
        "target": str(target.absolute()),
        "title": about.title,
        "author": about.author,
        "language": about.language,
        "cover": None if cover is None else [str(cover.path), cover.media_type],
        "scenes": [_scene_json(scene) for scene in scenes],
    }


def make(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Make a film or an audiobook. Raises `BackendError`, which says what was wrong, `FfmpegError` and `OSError`."""
    told = order.structure
    cover = None if told["cover"] is None else Cover(told["cover"][1], Path(told["cover"][0]).read_bytes())
    about = About(told["title"], told["author"], told["language"], cover)
    scenes = [_scene(each) for each in told["scenes"]]
    export = {FILM: film, AUDIOBOOK: audiobook}[told["kind"]]
    try:
        made = export(scenes, Path(told["target"]), about, progress)
    except ExportError as error:
        raise BackendError(FailureType.PERMANENT, "export_failed", str(error)) from error
    notes = {"duration": made.duration, "chapters": len(made.chapters), "subtitles": made.subtitles is not None}
    return Produced(made.path, notes)


def _scene_json(scene: SceneMedia) -> dict[str, Any]:
    return {
        "scene_id": scene.scene_id,
        "chapter_id": scene.chapter_id,
        "chapter_title": scene.chapter_title,
        "audio": None if scene.audio is None else str(scene.audio),
        "video": None if scene.video is None else str(scene.video),
        "timings": [list(each) for each in scene.timings],
        "texts": dict(scene.texts),
    }


def _scene(told: dict[str, Any]) -> SceneMedia:
    return SceneMedia(
        scene_id=told["scene_id"],
        chapter_id=told["chapter_id"],
        chapter_title=told["chapter_title"],
        audio=None if told["audio"] is None else Path(told["audio"]),
        video=None if told["video"] is None else Path(told["video"]),
        timings=tuple((unit, start, end) for unit, start, end in told["timings"]),
        texts=told["texts"],
    )
