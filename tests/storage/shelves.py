"""The artifact store of each kind, with a way to look into it and to do it harm behind its back."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from animastor.engine.ports import ArtifactStore
from animastor.storage.copies import Copies
from animastor.storage.folder import FolderStore
from animastor.storage.s3 import ObjectStore
from animastor.storage.sentinel import SENTINEL
from s3_server import Bucket


class Shelf(Protocol):
    """A place for artifacts."""

    def open(self, *, low_fraction: float = 0, low_bytes: int = 0, create: bool = False) -> ArtifactStore:
        """The store, as another process would open it: with nothing remembered and no copies."""
        ...

    def contents(self) -> dict[str, bytes]:
        """Everything under a checksum: name → bytes."""
        ...

    def spoil(self, name: str, data: bytes) -> None:
        """Put other bytes under a name."""
        ...

    def remove(self, name: str) -> None:
        """Take what is under a name away."""
        ...

    def lose(self) -> None:
        """The whole place is gone, as if it were not mounted."""
        ...


@dataclass
class FolderShelf:
    """A folder."""

    root: Path

    def open(self, *, low_fraction: float = 0, low_bytes: int = 0, create: bool = False) -> ArtifactStore:
        return FolderStore(self.root, low_fraction=low_fraction, low_bytes=low_bytes, create=create)

    def contents(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.root.glob("??/*")}

    def spoil(self, name: str, data: bytes) -> None:
        self._place(name).write_bytes(data)

    def remove(self, name: str) -> None:
        self._place(name).unlink()

    def lose(self) -> None:
        shutil.rmtree(self.root)

    def _place(self, name: str) -> Path:
        return self.root / name if name == SENTINEL else self.root / name[:2] / name


@dataclass
class BucketShelf:
    """A prefix of a bucket, beside which others lie; each opening has a folder of copies of its own."""

    bucket: Bucket
    copies: Path
    prefix: str = "some/where"
    opened: int = 0

    @property
    def url(self) -> str:
        """As it is set."""
        return f"s3://{self.bucket.name}/{self.prefix}"

    def open(self, *, low_fraction: float = 0, low_bytes: int = 0, create: bool = False) -> ArtifactStore:
        self.opened += 1
        copies = Copies(self.copies / str(self.opened), 1 << 30)
        return ObjectStore(self.url, copies, low_fraction=low_fraction, low_bytes=low_bytes, create=create)

    def contents(self) -> dict[str, bytes]:
        names = [name for name in self.bucket.names() if name.startswith(f"{self.prefix}/")]
        return {name.split("/")[-1]: self.bucket.read(name) for name in names if not name.endswith(SENTINEL)}

    def spoil(self, name: str, data: bytes) -> None:
        self.bucket.write(self._place(name), data)

    def remove(self, name: str) -> None:
        self.bucket.remove(self._place(name))

    def lose(self) -> None:
        for name in self.bucket.names():
            self.bucket.remove(name)

    def _place(self, name: str) -> str:
        return f"{self.prefix}/{name}" if name == SENTINEL else f"{self.prefix}/{name[:2]}/{name}"
