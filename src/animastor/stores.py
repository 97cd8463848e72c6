"""The stores of an installation, by its settings: database, coordination, artifacts (DESIGN, embedded and distributed).

Embedded they are a file, this process's memory and a folder of the home; with `ANIMASTOR_DATABASE_URL` and
`ANIMASTOR_COORDINATION_URL` they are PostgreSQL, Redis or Valkey, and what all machines see as `ANIMASTOR_ARTIFACTS`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from animastor.config import Settings, without_password
from animastor.coordination.limits import Limits
from animastor.coordination.memory import MemoryCoordination
from animastor.engine.ports import (
    ArtifactStore,
    Coordination,
    CoordinationUnavailableError,
    StorageUnavailableError,
)
from animastor.media.registry import Registry
from animastor.protocol import Clock
from animastor.storage import versions
from animastor.storage.belonging import NumberedStore, OwnStore
from animastor.storage.bucket import SCHEME
from animastor.storage.copies import Copies
from animastor.storage.database import Database, SqliteDatabase
from animastor.storage.folder import FolderStore
from animastor.storage.sql import SqlStorage, open_home, open_shared

if TYPE_CHECKING:
    from animastor.coordination.redis.server import Server

DATABASE = "animastor.db"
REPLACED = f"{DATABASE}.replaced"
RESTORING = f"{DATABASE}.restoring"
ENDINGS = ("", "-wal", "-shm")  # the files of an SQLite database
ARTIFACTS = "artifacts"
COPIES = "copies"  # of artifacts that are in S3
DAY_S = 86_400.0


class PackageMissingError(Exception):
    """Raised when a store needs a package that is not installed; the text says which."""


async def storage_of(settings: Settings, registry: Registry, clock: Clock, *, writable: bool) -> SqlStorage:
    """The database. `writable` makes an empty one, and migrates that of a home; only a home's holder may say so there.

    Raises `PackageMissingError`, `StorageUnavailableError`, `VersionError`, and `LookupError` for an empty one.
    """
    kept_s = settings.keep_unused_days * DAY_S
    if not settings.distributed:
        if restore_interrupted(settings):
            raise StorageUnavailableError(
                f"a restore of {settings.home} was interrupted between the old database and the new one: run "
                f"`animastor restore` again, or give {REPLACED} its name {DATABASE} back"
            )
        return await open_home(settings.home / DATABASE, registry, clock, writable=writable, kept_s=kept_s)
    return await open_shared(_postgres(settings), registry, create=writable, kept_s=kept_s)


async def upgraded(settings: Settings) -> tuple[int, int]:
    """Upgrade the shared database; the schema and planner that it had. Raises as `storage_of` does."""
    database = _postgres(settings)
    try:
        return await database.write(versions.upgrade)
    finally:
        await database.close()


def _postgres(settings: Settings) -> Database:
    try:
        import asyncpg  # noqa: F401
    except ImportError as error:
        raise PackageMissingError("PostgreSQL needs the package asyncpg: install animastor[postgresql]") from error
    from animastor.storage.postgres import PostgresDatabase

    return PostgresDatabase(settings.database_url.get_secret_value())


async def installation_of(settings: Settings) -> int | None:
    """The number of a shared database; None for an empty one. Raises `StorageUnavailableError`."""
    database = _postgres(settings)
    try:
        held = await database.read(versions.numbers)
        return None if held is None else held.get("installation", 0)
    finally:
        await database.close()


@asynccontextmanager
async def restoring(settings: Settings, clock: Clock) -> AsyncIterator[Database]:
    """The database that a backup is loaded into; that of a home comes into its place when all of it is there.

    What was in its place stays beside it, under the name REPLACED.
    """
    if settings.distributed:
        database: Database = _postgres(settings)
        try:
            yield database
        finally:
            await database.close()
        return
    path = settings.home / DATABASE
    new = path.with_name(RESTORING)
    _remove_database(new)
    database = SqliteDatabase(new, clock.now)
    try:
        yield database
    except BaseException:
        await database.close()
        _remove_database(new)
        raise
    await database.close()
    for ending in ENDINGS:
        if (old := path.with_name(f"{DATABASE}{ending}")).exists():
            old.replace(path.with_name(f"{REPLACED}{ending}"))
    new.replace(path)


def restore_interrupted(settings: Settings) -> bool:
    """Whether a home is without a database as a restore was killed when it had just put the old one aside."""
    there = {name: (settings.home / name).exists() for name in (DATABASE, RESTORING, REPLACED)}
    return there[RESTORING] and there[REPLACED] and not there[DATABASE]


def _remove_database(path: Path) -> None:
    for ending in ENDINGS:
        path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)


async def coordination_of(
    settings: Settings, registry: Registry, clock: Clock, stack: AsyncExitStack, installation: int = 0
) -> Coordination:
    """The coordination store of an installation, by its database's number; `stack` closes it.

    Installations that share a server have keys of their own. Raises `PackageMissingError`.
    """
    limits = coordination_limits(registry, settings)
    if not settings.distributed:
        return MemoryCoordination(clock, limits)
    try:
        import redis  # noqa: F401
    except ImportError as error:
        raise PackageMissingError("a coordination store needs the package redis: install animastor[redis]") from error
    from animastor.coordination.redis import RedisCoordination, root_of

    url = settings.coordination_url.get_secret_value()
    made = RedisCoordination.connect(url, clock, limits, root=root_of(installation))
    stack.push_async_callback(made.close)
    return made


async def require_coordination(settings: Settings, registry: Registry, clock: Clock) -> None:
    """Raises `CoordinationUnavailableError` when the coordination store does not answer, and `PackageMissingError`."""
    async with AsyncExitStack() as stack:
        await (await coordination_of(settings, registry, clock, stack)).era()


async def coordination_server(settings: Settings) -> Server | None:
    """What server the coordination store is, or None when it is this process's memory.

    Raises `CoordinationUnavailableError`.
    """
    if not settings.distributed:
        return None
    from redis.exceptions import RedisError

    from animastor.coordination.redis.link import connect
    from animastor.coordination.redis.server import server_of

    client = connect(settings.coordination_url.get_secret_value(), connections=1)
    try:
        return await server_of(client.execute_command)
    except (RedisError, OSError) as error:
        raise CoordinationUnavailableError(f"the coordination store cannot be reached: {error}") from error
    finally:
        await client.aclose()


def coordination_limits(registry: Registry, settings: Settings) -> Limits:
    """The limits of a coordination store, by the settings and the declarations of this installation."""
    return Limits.of(
        registry,
        lease_ttl=settings.lease_ttl_s,
        silence=settings.silent_s,
        keeper=settings.keeper_s,
        era_window=settings.era_window_s,
    )


async def own_artifacts(settings: Settings, storage: SqlStorage, *, makes: bool) -> ArtifactStore:
    """The artifact store of a database, and no other. `makes`: a new database's is made, or taken as it is found.

    Raises `PackageMissingError` and `StorageUnavailableError`."""
    # Where parts are known and kept elsewhere, a store that is not there was not mounted: an empty one hides that.
    shared = settings.distributed or bool(settings.artifacts)
    known = shared and bool(await storage.artifact_store() or await storage.artifacts_after("", 1))
    store = artifact_store(settings, create=makes and not known)
    return OwnStore(store, storage, keeps=makes, shared=shared)


def artifact_store(settings: Settings, *, create: bool, copies: Path | None = None) -> NumberedStore:
    """Where finished parts are. `create`: make it when it is not there at all. Raises `PackageMissingError`.

    `copies`: a folder for copies of what is in S3, other than that of the home.
    """
    if not settings.artifacts.startswith(SCHEME):
        return FolderStore(
            Path(settings.artifacts) if settings.artifacts else settings.home / ARTIFACTS,
            low_fraction=settings.disk_low_fraction,
            low_bytes=settings.disk_low_bytes,
            create=create,
        )
    try:
        from animastor.storage.s3 import ObjectStore
    except ImportError as error:
        raise PackageMissingError("artifacts in S3 need the package obstore: install animastor[s3]") from error
    return ObjectStore(
        settings.artifacts,
        Copies(copies or settings.home / COPIES, settings.copies_bytes),
        low_fraction=settings.disk_low_fraction,
        low_bytes=settings.disk_low_bytes,
        create=create,
    )


def names_of(settings: Settings) -> tuple[str, str]:
    """The database and the coordination store, as they may be shown."""
    return settings.place, without_password(settings.coordination_url.get_secret_value())
