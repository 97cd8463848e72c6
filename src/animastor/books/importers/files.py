"""Reading the files of a source: a folder, or a zip whose names and sizes are not trusted.

Nothing is unpacked: members are read into memory one by one, each up to a limit.
"""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Protocol

from animastor.books.errors import BookError, Reason

MOST_FILES = 20_000
FILE_LIMIT = 64 * 2**20  # bytes of one file inside a source
READ_LIMIT = 512 * 2**20  # bytes read from one source
TEXT_LIMIT = 64 * 2**20  # bytes of a text file; the longest novels have 6 MB
RATIO_LIMIT = 200  # unpacked to packed; text reaches 10, a zip bomb 1000
RATIO_FROM = 2**20  # bytes; smaller files may be packed as well as they like


class Files(Protocol):
    """The files of a source by their names, with forward slashes, relative to its root."""

    def names(self) -> frozenset[str]:
        """Every file's name."""

    def read(self, name: str) -> bytes:
        """A file's bytes. Raises BookError when it is absent, damaged or too large."""

    def where(self, name: str) -> str:
        """How a message calls this file."""


class Folder:
    """The files of a folder; links that lead out of it are refused when read."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def names(self) -> frozenset[str]:
        """The files of the folder and the folders in it."""
        found = (path for path in self._root.rglob("*") if path.is_file())
        return frozenset(path.relative_to(self._root).as_posix() for path in found)

    def read(self, name: str) -> bytes:
        """A file's bytes. Raises BookError (`file_missing`, `path_escapes`, `file_too_large`, `source_unreadable`)."""
        path = self._root / name
        if not path.is_file():
            raise BookError(Reason.FILE_MISSING, f"{self._root.name} has no file {name}.")
        if not path.resolve().is_relative_to(self._root.resolve()):
            raise BookError(Reason.PATH_ESCAPES, f"{self.where(name)} is a link that leads out of the folder.")
        return read_file(path, FILE_LIMIT, self.where(name), Reason.FILE_TOO_LARGE)

    def where(self, name: str) -> str:
        """The folder's name and the file's."""
        return f"{self._root.name}/{name}"


class Archive:
    """The files of a zip. Opening checks every name and the declared sizes; reading checks again what comes out."""

    def __init__(self, path: Path, zipped: zipfile.ZipFile) -> None:
        self._name = path.name
        self._zip = zipped
        self._left = READ_LIMIT
        self._infos = self._checked()

    def names(self) -> frozenset[str]:
        """The files of the archive."""
        return frozenset(self._infos)

    def read(self, name: str) -> bytes:
        """A member's bytes. Raises BookError (`file_missing`, `zip_encrypted`, `zip_damaged`, `zip_bomb`)."""
        info = self._infos.get(name)
        if info is None:
            raise BookError(Reason.FILE_MISSING, f"{self._name} has no file {name}.")
        if info.flag_bits & 0x1:
            raise BookError(Reason.ZIP_ENCRYPTED, f"{self.where(name)} is encrypted with a password.")
        limit = min(info.file_size, FILE_LIMIT, self._left)
        try:
            with self._zip.open(info) as member:
                data = member.read(limit + 1)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            NotImplementedError,
            OSError,
            RuntimeError,
            ValueError,
        ) as error:
            raise BookError(Reason.ZIP_DAMAGED, f"{self.where(name)} is damaged: {error or 'it ends early'}.") from None
        self._left -= len(data)
        if len(data) > limit or self._left < 0:
            raise BookError(Reason.ZIP_BOMB, f"{self.where(name)} unpacks to more than the {limit} bytes allowed.")
        return data

    def where(self, name: str) -> str:
        """The archive's name and the member's."""
        return f"{self._name}/{name}"

    def _checked(self) -> dict[str, zipfile.ZipInfo]:
        """The members by name, directories left out. Raises BookError for names and sizes that no book has."""
        members = self._zip.infolist()
        if len(members) > MOST_FILES:
            message = f"{self._name} holds {len(members)} files; a book has at most {MOST_FILES}."
            raise BookError(Reason.ZIP_TOO_MANY_FILES, message)
        infos: dict[str, zipfile.ZipInfo] = {}
        for info in members:
            self._check(info)
            if info.is_dir():
                continue
            if info.filename in infos:
                raise BookError(Reason.ZIP_DUPLICATE, f"{self._name} holds the file {info.filename} twice.")
            infos[info.filename] = info
        return infos

    def _check(self, info: zipfile.ZipInfo) -> None:
        name = info.filename
        path = PurePosixPath(name)
        # orig_filename still has the backslashes that zipfile may have turned into slashes
        if path.is_absolute() or ".." in path.parts or "\\" in info.orig_filename or name[1:2] == ":":
            raise BookError(Reason.ZIP_SLIP, f"{self._name} holds a file named {name}, which leads out of the archive.")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise BookError(Reason.PATH_ESCAPES, f"{self.where(name)} is a link; a book holds files only.")
        packed = max(info.compress_size, 1)
        if info.file_size > RATIO_FROM and info.file_size / packed > RATIO_LIMIT:
            message = f"{self.where(name)} unpacks to more than {RATIO_LIMIT} times its size."
            raise BookError(Reason.ZIP_BOMB, message)


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """The zip at this path, closed at the end. Raises BookError (`zip_invalid`, and what its names and sizes break)."""
    try:
        zipped = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError, RuntimeError):
        message = f"{path.name} is no zip file, or its end is missing."
        raise BookError(Reason.ZIP_INVALID, message) from None
    except OSError as error:
        raise unreadable(path, error) from None
    with zipped:
        yield Archive(path, zipped)


def read_file(path: Path, limit: int, where: str, too_large: Reason = Reason.SOURCE_TOO_LARGE) -> bytes:
    """The bytes of a file that is not longer than `limit`. Raises BookError (`too_large`, `source_unreadable`)."""
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise unreadable(path, error) from None
    if len(data) > limit:
        raise BookError(too_large, f"{where} is longer than the {limit // 2**20} MiB that are read.")
    return data


def unreadable(path: Path, error: OSError) -> BookError:
    """The error for a file that the system does not let us read."""
    return BookError(Reason.SOURCE_UNREADABLE, f"{path.name} cannot be read: {error.strerror or error}.")
