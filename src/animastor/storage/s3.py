"""The artifact store on S3 and what speaks its protocol: immutable objects under their SHA-256 (CONTRACT 11).

An object exists whole or not at all: small files go up in one request, large ones in parts that become an object only
when all are there and are the bytes that were named. A sentinel object tells a bucket that is there from one that is
not, or is another one: without it nothing is believed to be missing. Readers get a local copy (`copies`).

Endpoint, region and credentials are the usual ones (`AWS_ENDPOINT_URL`, `AWS_REGION`, `AWS_ACCESS_KEY_ID`,
`AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, or the machine's role). What a server says in its errors is not
repeated anywhere, as it may quote them.

Calls run in threads of their own: a slow store holds up nobody but those who wait for it.
"""

from __future__ import annotations

import asyncio
import errno
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

import obstore
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
from obstore.store import S3Store as Client

from animastor.engine.ports import ArtifactStoreUnavailableError, StorageFullError
from animastor.engine.reasons import Reason
from animastor.storage.bucket import bucket_of
from animastor.storage.copies import Copies
from animastor.storage.failures import Fate, fate_of
from animastor.storage.folder import FRESH_S, MOST_FRESH
from animastor.storage.sentinel import (
    SENTINEL,
    UNNUMBERED,
    WrongStoreError,
    new_sentinel,
    number_in,
    require_number,
)

P = ParamSpec("P")
R = TypeVar("R")

PART: Final = 8 << 20  # bytes: a larger file goes up in parts of this size
BLOCK: Final = 1 << 20
AT_ONCE: Final = 4  # parts of one file on their way
THREADS: Final = 16
LISTED: Final = 64  # of more artifacts than this, the names are listed instead of asked for one by one
PAGE: Final = 1000  # names in an answer
RETRIES: Final = 3
CONNECT_S: Final = 5.0
REQUEST_S: Final = 120.0  # the longest that one request (a part at most) may take
_FULL_CODES: Final = ("QuotaExceeded", "StorageFull", "InsufficientStorage", "507 ")


class NoObjectError(FileNotFoundError):
    """Raised when there is no such object, or no such bucket: the sentinel tells these apart."""


class ObjectStore:
    """`engine.ports.ArtifactStore` in a bucket, below a prefix.

    `url`: `s3://bucket/prefix`. `copies`: the local folder of copies; `low_fraction` and `low_bytes` are about its
    disk, as a bucket has no end. `create`: make the sentinel when there is nothing at all below the prefix.
    """

    def __init__(
        self,
        url: str,
        copies: Copies,
        *,
        low_fraction: float = 0.02,
        low_bytes: int = 2 * 1024**3,
        create: bool = False,
    ) -> None:
        """Connects to nothing yet. Raises `ValueError` for a URL that names no bucket, or holds credentials."""
        bucket, prefix = bucket_of(url)
        self._where = f"s3://{bucket}" + (f"/{prefix}" if prefix else "")
        self._client = _client(bucket, prefix)
        self._copies = copies
        self._low_fraction, self._low_bytes = low_fraction, low_bytes
        self._create = create
        self._expected = UNNUMBERED
        self._seen: OrderedDict[str, float] = OrderedDict()  # checksum -> when its object was seen or written
        self._sentinel_seen = float("-inf")
        self._coming: dict[str, threading.Lock] = {}  # one download of an artifact at a time
        self._guard = threading.Lock()
        self._making = threading.Lock()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="animastor-s3")

    @property
    def where(self) -> str:
        """The bucket and prefix."""
        return self._where

    async def number(self) -> int:
        """The number of the store. Raises `ArtifactStoreUnavailableError`."""
        return await self._aside(self._require_sentinel)

    def expect(self, number: int) -> None:
        """Be the store with this number, or none; what was seen until now does not count."""
        self._expected = number
        self._sentinel_seen = float("-inf")

    async def holds_artifacts(self) -> bool:
        """Whether there is any artifact. Raises `ArtifactStoreUnavailableError`."""
        return await self._aside(self._holds_artifacts)

    async def put(self, source: Path, suffix: str) -> tuple[str, int]:
        """Take a finished file in: (checksum, size). The source stays where it is, and must not be written any more.

        It is written in any case, as only that makes sure of its bytes. Raises as the port says, and `OSError` when
        the source cannot be read.
        """
        return await self._aside(self._put, source, suffix)

    async def path(self, checksum: str, suffix: str) -> Path | None:
        """A local copy of these bytes; None when there is no object, or one with other bytes."""
        return await self._aside(self._copy, checksum, suffix)

    async def missing(self, artifacts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Those of which there is no object. What was put or seen just now is not looked for."""
        asked = [one for one in artifacts if not self._is_fresh(one[0])]
        if len(asked) > LISTED:
            return await self._aside(self._not_listed, asked)
        there = await asyncio.gather(*(self._aside(self._exists, *one) for one in asked))
        absent = [one for one, found in zip(asked, there, strict=True) if not found]
        if absent:
            await self._aside(self._require_sentinel)
        return absent

    async def whole(self, checksum: str, suffix: str) -> bool | None:
        """Whether the object has the right bytes, read from the store; None when there is none."""
        return await self._aside(self._whole, checksum, suffix)

    async def delete(self, checksum: str, suffix: str) -> None:
        """Remove the object; absent is fine. Raises `ArtifactStoreUnavailableError`."""
        await self._aside(self._delete, checksum, suffix)

    async def check(self) -> Reason | None:
        """ARTIFACT_STORE_UNAVAILABLE, DISK_LOW (of the disk of the copies), or None when all is well.

        Raises `WrongStoreError`.
        """
        try:
            await self._aside(self._require_sentinel)
        except WrongStoreError:
            raise
        except ArtifactStoreUnavailableError:
            return Reason.ARTIFACT_STORE_UNAVAILABLE
        free, total = self._copies.free()
        return Reason.DISK_LOW if free < self._low_bytes or free < self._low_fraction * total else None

    async def _aside(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._threads, lambda: call(*args, **kwargs))

    def _put(self, source: Path, suffix: str) -> tuple[str, int]:
        if time.monotonic() - self._sentinel_seen >= FRESH_S:
            self._require_sentinel()
        try:
            large = source.stat().st_size > PART
            checksum, size = self._put_in_parts(source, suffix) if large else self._put_at_once(source, suffix)
        except NoObjectError:
            raise ArtifactStoreUnavailableError(f"the artifact store {self._where} is gone") from None
        self._copies.adopt(source, checksum, suffix)
        self._saw(checksum)
        return checksum, size

    def _put_at_once(self, source: Path, suffix: str) -> tuple[str, int]:
        data = source.read_bytes()
        checksum = sha256(data).hexdigest()
        with self._errors():
            obstore.put(self._client, _name(checksum, suffix), data, use_multipart=False)
        return checksum, len(data)

    def _put_in_parts(self, source: Path, suffix: str) -> tuple[str, int]:
        digest, size = sha256(), 0
        for block in _blocks(source):
            digest.update(block)
            size += len(block)
        checksum = digest.hexdigest()
        blocks = _exactly(source, checksum)
        with self._errors():
            obstore.put(self._client, _name(checksum, suffix), blocks, chunk_size=PART, max_concurrency=AT_ONCE)
        return checksum, size

    def _copy(self, checksum: str, suffix: str) -> Path | None:
        with self._one_at_a_time(checksum):
            found = self._copies.find(checksum, suffix)
            if found is not None:
                return found
            try:
                with self._errors():
                    return self._copies.keep(checksum, suffix, self._object(checksum, suffix))
            except NoObjectError:
                self._require_sentinel()
                return None

    def _whole(self, checksum: str, suffix: str) -> bool | None:
        digest = sha256()
        try:
            with self._errors():
                for block in self._object(checksum, suffix):
                    digest.update(block)
        except NoObjectError:
            self._require_sentinel()
            return None
        return digest.hexdigest() == checksum

    def _object(self, checksum: str, suffix: str) -> Iterator[bytes]:
        for block in obstore.get(self._client, _name(checksum, suffix)).stream(min_chunk_size=BLOCK):
            yield bytes(block)

    def _exists(self, checksum: str, suffix: str) -> bool:
        try:
            with self._errors():
                obstore.head(self._client, _name(checksum, suffix))
        except NoObjectError:
            self._seen.pop(checksum, None)
            return False
        self._saw(checksum)
        return True

    def _not_listed(self, artifacts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Those whose names are not between the first and the last of them, which is asked for in pages."""
        names = {_name(*one): one for one in artifacts}
        first, last = min(names), max(names)
        found = set[str]()
        with self._errors():
            if _exists(self._client, first):  # a listing begins behind a name
                found.add(first)
            for page in obstore.list(self._client, offset=first, chunk_size=PAGE):
                listed = [one["path"] for one in page]
                found.update(listed)
                if listed and listed[-1] >= last:
                    break
        absent = [one for name, one in names.items() if name not in found]
        if absent:
            self._require_sentinel()
        return absent

    def _delete(self, checksum: str, suffix: str) -> None:
        self._require_sentinel()
        self._seen.pop(checksum, None)
        self._copies.drop(checksum, suffix)
        try:
            with self._errors():
                obstore.delete(self._client, _name(checksum, suffix))
        except NoObjectError:
            pass  # some servers say so

    def _require_sentinel(self) -> int:
        """The number of the store. Raises `ArtifactStoreUnavailableError` unless it is there; a new one is made."""
        with self._errors():
            text = _sentinel(self._client) or self._made_new()
        if text is None:
            raise ArtifactStoreUnavailableError(
                f"the artifact store {self._where} cannot be read (its object {SENTINEL} is not there); "
                "is it the right bucket?"
            )
        found = number_in(text)
        require_number(self._where, found, self._expected)
        self._create = False
        self._sentinel_seen = time.monotonic()
        return found

    def _made_new(self) -> str | None:
        """What the sentinel says after all: made now, as nothing else was there, or by somebody else just now."""
        with self._making:
            if self._create and not _anything(self._client):
                _make(self._client)
            return _sentinel(self._client)

    def _holds_artifacts(self) -> bool:
        with self._errors():
            return any(one["path"] != SENTINEL for page in obstore.list(self._client, chunk_size=2) for one in page)

    def _is_fresh(self, checksum: str) -> bool:
        at = self._seen.get(checksum)
        return at is not None and time.monotonic() - at < FRESH_S

    def _saw(self, checksum: str) -> None:
        with self._guard:
            self._seen[checksum] = time.monotonic()
            if len(self._seen) > MOST_FRESH:
                self._seen.popitem(last=False)

    @contextmanager
    def _one_at_a_time(self, checksum: str) -> Iterator[None]:
        with self._guard:
            lock = self._coming.setdefault(checksum, threading.Lock())
        try:
            with lock:
                yield
        finally:
            with self._guard:
                if not lock.locked():
                    self._coming.pop(checksum, None)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of the store as ours, without a word of what it said."""
        try:
            yield
        except FileNotFoundError as error:
            if error.filename is not None:  # a file of ours
                raise
            raise NoObjectError(errno.ENOENT, "there is no such object", self._where) from None
        except (PermissionDeniedError, UnauthenticatedError):
            told = "refuses the credentials that it is given (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)"
            raise ArtifactStoreUnavailableError(f"the artifact store {self._where} {told}") from None
        except BaseError as error:
            if any(code in str(error) for code in _FULL_CODES):
                raise StorageFullError(f"no space is left for artifacts in {self._where}: free some") from None
            raise ArtifactStoreUnavailableError(f"the artifact store {self._where} does not answer") from None
        except OSError as error:
            if fate_of(error) is Fate.FULL:
                told = f"no space is left for copies of artifacts in {self._copies.root}: free some"
                raise StorageFullError(told) from error
            raise


def _client(bucket: str, prefix: str) -> Client:
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    return Client(
        bucket,
        prefix=prefix or None,
        config={"checksum_algorithm": "sha256", **({"endpoint": endpoint} if endpoint else {})},
        client_options={
            "allow_http": endpoint.startswith("http://"),
            "connect_timeout": timedelta(seconds=CONNECT_S),
            "timeout": timedelta(seconds=REQUEST_S),
        },
        retry_config={"max_retries": RETRIES},
    )


def _name(checksum: str, suffix: str) -> str:
    return f"{checksum[:2]}/{checksum}{suffix}"


def _exists(client: Client, name: str) -> bool:
    try:
        obstore.head(client, name)
    except FileNotFoundError:
        return False
    return True


def _anything(client: Client) -> bool:
    return any(page for page in obstore.list(client, chunk_size=1))


def _sentinel(client: Client) -> str | None:
    """What the sentinel says; None when there is none."""
    try:
        return bytes(obstore.get(client, SENTINEL).bytes()).decode(errors="replace")
    except FileNotFoundError:
        return None


def _make(client: Client) -> None:
    """Make a sentinel; somebody else may just have done so, or there is no bucket."""
    with suppress(AlreadyExistsError, PreconditionError, FileNotFoundError):
        obstore.put(client, SENTINEL, new_sentinel().encode(), mode="create")


def _blocks(source: Path) -> Iterator[bytes]:
    with source.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


def _exactly(source: Path, checksum: str) -> Iterator[bytes]:
    """The blocks of a file. Raises `OSError` at their end, and so before there is an object, if they changed."""
    digest = sha256()
    for block in _blocks(source):
        digest.update(block)
        yield block
    if digest.hexdigest() != checksum:
        raise OSError(errno.EIO, "it changed while it was stored", str(source))
