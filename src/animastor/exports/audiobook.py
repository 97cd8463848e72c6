"""The audiobook: the sound of all scenes, encoded once over the whole, with chapters, cover and tags (M4B).

Scenes follow each other without a gap: what pause there is between them is in their sound. Runs in a child process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path

from animastor.exports.container import (
    LAYOUT,
    cover_arguments,
    cover_file,
    finished,
    language_code,
    marks,
    metadata_file,
)
from animastor.exports.film import CODER, bit_rate, sound_arguments
from animastor.exports.model import About, Exported, ExportError, Mark, SceneMedia
from animastor.exports.sound import Format, Piece, common_format, length, look, stream
from animastor.media import ffmpeg
from animastor.media.ffmpeg import Argument


def audiobook(
    scenes: Sequence[SceneMedia], target: Path, about: About, progress: Callable[[float], None] = lambda _: None
) -> Exported:
    """Make `target` (an M4B) of the scenes that have sound. `progress` is told the share that is done.

    Raises:
        ExportError: no scene has sound, or one cannot be used.
        ffmpeg.FfmpegError: it could not be made. Nothing is left behind by either.
    """
    heard = [scene for scene in scenes if scene.audio is not None]
    if not heard:
        raise ExportError("there is no sound to make an audiobook of")
    sources = [look(scene) for scene in heard]
    form = common_format(sources)
    pieces = [Piece(source, length(source, form)) for source in sources]
    starts = [samples / form.rate for samples in accumulate((piece.samples for piece in pieces), initial=0)]
    chapters = marks(heard, starts[:-1], starts[-1])
    with finished(target) as folder:
        arguments = _arguments(folder, form, about, chapters)
        ffmpeg.run(arguments, folder / target.name, feed=stream(pieces, form, progress))
    return Exported(target, starts[-1], chapters)


def _arguments(folder: Path, form: Format, about: About, chapters: Sequence[Mark]) -> list[Argument]:
    cover = cover_file(folder, about.cover)
    return [
        *sound_arguments(form),
        *("-f", "ffmetadata", "-i", metadata_file(folder, about, chapters)),
        *(("-i", cover) if cover else ()),
        *("-map", "0:a", *(("-map", "2:v") if cover else ())),
        *("-map_metadata", 1, "-map_chapters", 1),
        *(*CODER, "-b:a", bit_rate(form), "-metadata:s:a:0", f"language={language_code(about.language)}"),
        *(cover_arguments(0) if cover else ()),
        *("-metadata", "genre=Audiobook", "-metadata", "media_type=2"),  # 2: audiobook, in the tags of iTunes
        *(*LAYOUT, "-brand", "M4B ", "-f", "ipod"),
    ]
