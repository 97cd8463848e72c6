"""A book that is made in seconds, and what of it is in a home."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SIZE = "128x72"
TEXTS = (  # chapters, scenes, units
    (("El sol sale.", "Ana despierta."), ("Ella sale.", "Hace frío.")),
    (("La colina es verde.", "Ana canta."),),
)

SHORT = ((("El sol sale.", "Ana despierta."),),)


def write_book(folder: Path, texts: Sequence[Sequence[Sequence[str]]] = TEXTS, *, language: str = "es") -> Path:
    """A vbook of these texts in `folder`. Spanish, as its voice needs no model to be loaded."""
    chapters = [f"c{number}" for number in range(1, len(texts) + 1)]
    _write(
        folder / "manifest.json", {"format": "vbook", "version": 1, "book_id": "tiny", "build_id": "1", "title": "Tiny"}
    )
    _write(
        folder / "book.json",
        {"title": "Tiny", "structure": {"chapters_order": chapters}, "defaults": {"language": language}},
    )
    _write(folder / "characters.json", {"characters": []})
    _write(folder / "voices.json", {})
    _write(folder / "locations.json", {"locations": [{"id": "hill", "description": "a green hill"}]})
    _write(folder / "bible.json", {})
    for chapter, scenes in zip(chapters, texts, strict=True):
        told = [_scene(f"{chapter}-s{number}", units) for number, units in enumerate(scenes, 1)]
        _write(
            folder / "chapters" / f"{chapter}.json", {"chapter_id": chapter, "chapter_title": chapter, "scenes": told}
        )
    return folder


def _scene(scene_id: str, texts: Sequence[str]) -> Mapping[str, Any]:
    units = [
        {"id": f"{scene_id}-u{number}", "type": "narration", "text": text, "image": {"shot": "wide", "prompt": text}}
        for number, text in enumerate(texts, 1)
    ]
    return {"scene_id": scene_id, "type": "narration", "location": {"id": "hill"}, "units": units}


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def read(home: Path, statement: str) -> list[tuple[Any, ...]]:
    """Rows of a home's database, which nobody need hold."""
    database = sqlite3.connect(f"file:{home / 'animastor.db'}?mode=ro", uri=True)
    try:
        return database.execute(statement).fetchall()
    finally:
        database.close()


def artifacts_of(home: Path) -> set[tuple[str, str, str]]:
    """(scene, media type, input hash) of all that is READY."""
    return set(
        read(
            home,
            "SELECT s.scene_id, a.media, a.artifact_hash FROM asset a JOIN scene s ON s.scene_key = a.scene_key"
            " WHERE a.state = 4",
        )
    )


def parts_of(home: Path) -> set[tuple[str, str]]:
    """(kind, input hash) of all wanted parts that are there."""
    return set(read(home, "SELECT kind, hash FROM part WHERE wanted = 1 AND artifact IS NOT NULL"))


def stored_file(home: Path, media: str) -> Path:
    """A finished artifact of a media type, in the store."""
    (checksum,) = next(
        iter(read(home, f"SELECT artifact FROM asset WHERE media = '{media}' AND state = 4 ORDER BY id"))
    )
    (found,) = (home / "artifacts").rglob(f"{checksum}.*")
    return found
