"""What an export is made from, and what comes out of it: values only.

Which scenes are exported, and what to do about missing ones, is decided by the caller; an export takes what it gets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from animastor.books.model import Cover
from animastor.media.timing import Timing


class ExportError(Exception):
    """Raised when an export cannot be made; the message names scene and reason, for people."""


@dataclass(frozen=True, slots=True)
class SceneMedia:
    """A scene with its media, in reading order. A chapter mark begins where `chapter_id` changes.

    `timings` are those of its units, in seconds of the scene; `texts` what each unit says (those without have no
    subtitle). A film needs `video`, an audiobook `audio`; a film's scene without sound is silent.
    """

    scene_id: str
    chapter_id: str
    chapter_title: str
    audio: Path | None = None
    video: Path | None = None
    timings: tuple[Timing, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class About:
    """What the file says of itself."""

    title: str = ""
    author: str = ""
    language: str = ""  # BCP 47
    cover: Cover | None = None


@dataclass(frozen=True, slots=True)
class CoverFile:
    """A cover picture in a file, as a child is told of it."""

    path: Path
    media_type: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A chapter of the finished file, in seconds."""

    title: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Exported:
    """A finished export. `subtitles` is the `.vtt` beside it, if it has any."""

    path: Path
    duration: float
    chapters: tuple[Mark, ...]
    subtitles: Path | None = None
