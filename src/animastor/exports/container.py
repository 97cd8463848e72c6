"""What every export has around its media: chapter marks, tags, a cover, and a file that is whole or not there.

The file is made in a hidden folder beside its place, brought to the disk, and then renamed; whatever happens, the
folder is removed, and one that a killed process left behind is removed by the next export of the same file.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from filecmp import cmp
from io import BytesIO
from pathlib import Path

from animastor.books.model import Cover
from animastor.exports.model import About, ExportError, Mark, SceneMedia
from animastor.flushing import flush
from animastor.media.ffmpeg import Argument

_AS_IS = {"JPEG": ".jpg", "PNG": ".png"}  # what MP4 holds as a cover
# The index comes first, so that a player need not have the whole file. The timescale is named, because ffmpeg would
# take one so fine that chapters overflow it, and leave out their track; 12,000 divides by the usual frame rates.
LAYOUT = ("-movflags", "+faststart", "-movie_timescale", 12_000)
_COVER_PIXELS = 1600  # of the longer side; players show it small

# ISO 639-2/T codes, which MP4 wants, of the languages that books are written in.
_THREE = {
    **{"ar": "ara", "bg": "bul", "bn": "ben", "ca": "cat", "cs": "ces", "da": "dan", "de": "deu", "el": "ell"},
    **{"en": "eng", "es": "spa", "et": "est", "eu": "eus", "fa": "fas", "fi": "fin", "fr": "fra", "ga": "gle"},
    **{"gl": "glg", "gu": "guj", "he": "heb", "hi": "hin", "hr": "hrv", "hu": "hun", "hy": "hye", "id": "ind"},
    **{"is": "isl", "it": "ita", "ja": "jpn", "ka": "kat", "kk": "kaz", "kn": "kan", "ko": "kor", "la": "lat"},
    **{"lt": "lit", "lv": "lav", "mk": "mkd", "ml": "mal", "mr": "mar", "ms": "msa", "nb": "nob", "nl": "nld"},
    **{"nn": "nno", "no": "nor", "pa": "pan", "pl": "pol", "pt": "por", "ro": "ron", "ru": "rus", "sk": "slk"},
    **{"sl": "slv", "sq": "sqi", "sr": "srp", "sv": "swe", "sw": "swa", "ta": "tam", "te": "tel", "th": "tha"},
    **{"tr": "tur", "uk": "ukr", "ur": "urd", "vi": "vie", "zh": "zho"},
}


@contextmanager
def finished(target: Path) -> Iterator[Path]:
    """A folder to make `target` in, under its own name; once the block ends well, it is in its place and on the disk.

    So is every other file in the folder (put beside `target`); what is only of use meanwhile goes into `scraps`. A file
    that is there with the same bytes is left alone, so that what watches or copies it sees no change.

    Raises:
        OSError: the folder of `target` cannot be written.
    """
    folder = target.with_name(f".{target.name}.partial")
    shutil.rmtree(folder, ignore_errors=True)
    scraps(folder).mkdir(parents=True)
    try:
        yield folder
        made = [path for path in folder.iterdir() if path.is_file()]
        for path in sorted(made, key=lambda path: path.name == target.name):  # the target last
            _put(path, target.with_name(path.name))
        flush(target.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _put(made: Path, place: Path) -> None:
    if place.is_file() and cmp(made, place, shallow=False):
        return
    flush(made)
    made.replace(place)


def scraps(folder: Path) -> Path:
    """Where files go that are not part of the export."""
    return folder / "scraps"


def marks(scenes: Sequence[SceneMedia], starts: Sequence[float], end: float) -> tuple[Mark, ...]:
    """The chapters: one begins with each scene whose chapter is another than that of the scene before."""
    found: list[tuple[str, float]] = []
    before = None
    for scene, start in zip(scenes, starts, strict=True):
        if scene.chapter_id != before:
            found.append((scene.chapter_title.strip() or str(len(found) + 1), start))
        before = scene.chapter_id
    ends = [*(start for _, start in found[1:]), end]
    return tuple(Mark(title, start, stop) for (title, start), stop in zip(found, ends, strict=True))


def metadata_file(folder: Path, about: About, chapters: Sequence[Mark]) -> Path:
    """Tags and chapters as ffmpeg reads them."""
    tags = {"title": about.title, "artist": about.author, "album": about.title, "album_artist": about.author}
    lines = [";FFMETADATA1", *(f"{key}={_escaped(value)}" for key, value in tags.items() if value)]
    for mark in chapters:
        start, end = round(mark.start * 1000), round(mark.end * 1000)
        lines += ["[CHAPTER]", "TIMEBASE=1/1000", f"START={start}", f"END={end}", f"title={_escaped(mark.title)}"]
    path = scraps(folder) / "metadata.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def cover_file(folder: Path, cover: Cover | None) -> Path | None:
    """The cover as a JPEG or PNG file, or None when there is none.

    Raises:
        ExportError: it is no picture.
    """
    if cover is None:
        return None
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(BytesIO(cover.data)) as picture:
            if picture.format in _AS_IS and max(picture.size) <= _COVER_PIXELS:
                path = scraps(folder) / f"cover{_AS_IS[picture.format]}"
                path.write_bytes(cover.data)
                return path
            picture.thumbnail((_COVER_PIXELS, _COVER_PIXELS))
            path = scraps(folder) / "cover.jpg"
            picture.convert("RGB").save(path, quality=90)
            return path
    except (UnidentifiedImageError, SyntaxError, ValueError) as error:
        raise ExportError(f"the cover cannot be read: {error}") from error


def cover_arguments(index: int) -> list[Argument]:
    """The output options of a cover that is the video stream with this number."""
    return [f"-c:v:{index}", "copy", f"-disposition:v:{index}", "attached_pic"]


def language_code(language: str) -> str:
    """The three letters by which MP4 names a language; `und` when it is not known."""
    first = language.partition("-")[0].casefold()
    return first if len(first) == 3 else _THREE.get(first, "und")


def _escaped(value: str) -> str:
    """A value of an ffmpeg metadata file, on one line."""
    line = " ".join(value.split())
    return "".join(f"\\{sign}" if sign in "=;#\\" else sign for sign in line)
