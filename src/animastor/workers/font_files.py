"""Where the fonts of pictures lie: inside three packages. No font is opened here, and no picture library imported."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

FONT_FILES: Final = (
    ("fontpkg_noto_serif", "files/NotoSerif[wdth,wght].ttf"),
    ("fontpkg_noto_sans_arabic", "files/NotoSansArabic[wdth,wght].ttf"),
    ("noto_cjk_sans_jp_regular", "NotoSansCJKjp-Regular.otf"),
)


def font_paths() -> tuple[Path, ...]:
    """The files, in the order in which a character is looked up. Raises `FileNotFoundError` that names the package."""
    found = []
    for package, name in FONT_FILES:
        spec = find_spec(package)
        path = None if spec is None or spec.origin is None else Path(spec.origin).parent / name
        if path is None or not path.exists():
            raise FileNotFoundError(f"the font package {package} is not installed; install Animastor's requirements")
        found.append(path)
    return tuple(found)


def complaint() -> str | None:
    """Why pictures cannot be lettered, or None."""
    try:
        font_paths()
    except FileNotFoundError as error:
        return str(error)
    return None
