"""The stores of an installation, by its settings: database, coordination, artifacts (DESIGN, embedded and distributed).

Embedded they are a file, this process's memory and a folder of the home; with `ANIMASTOR_DATABASE_URL` and
`ANIMASTOR_COORDINATION_URL` they are PostgreSQL, Redis or Valkey, and what all machines see as `ANIMASTOR_ARTIFACTS`.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

from animastor.config import Settings, without_password
from animastor.coordination.limits import Limits
from animastor.coordination.memory import MemoryCoordination
from animastor.engine.ports import ArtifactStore, Coordination
from animastor.media.registry import Registry
from animastor.protocol import Clock
from animastor.storage.bucket import SCHEME
from animastor.storage.copies import Copies
from animastor.storage.folder import FolderStore
from animastor.storage.sql import SqlStorage, open_home, open_shared

DATABASE = "animastor.db"
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
        return await open_home(settings.home / DATABASE, registry, clock, writable=writable, kept_s=kept_s)
    try:
        import asyncpg  # noqa: F401
    except ImportError as error:
        raise PackageMissingError("PostgreSQL needs the package asyncpg: install animastor[postgresql]") from error
    from animastor.storage.postgres import PostgresDatabase

    database = PostgresDatabase(settings.database_url.get_secret_value())
    return await open_shared(database, registry, create=writable, kept_s=kept_s)


async def coordination_of(settings: Settings, registry: Registry, clock: Clock, stack: AsyncExitStack) -> Coordination:
    """The coordination store; `stack` closes it. Raises `PackageMissingError`."""
    limits = coordination_limits(registry, settings)
    if not settings.distributed:
        return MemoryCoordination(clock, limits)
    try:
        import redis  # noqa: F401
    except ImportError as error:
        raise PackageMissingError("a coordination store needs the package redis: install animastor[redis]") from error
    from animastor.coordination.redis import RedisCoordination

    made = RedisCoordination.connect(settings.coordination_url.get_secret_value(), clock, limits)
    stack.push_async_callback(made.close)
    return made


def coordination_limits(registry: Registry, settings: Settings) -> Limits:
    """The limits of a coordination store, by the settings and the declarations of this installation."""
    return Limits.of(
        registry,
        lease_ttl=settings.lease_ttl_s,
        silence=settings.silent_s,
        keeper=settings.keeper_s,
        era_window=settings.era_window_s,
    )


def artifact_store(settings: Settings, *, create: bool) -> ArtifactStore:
    """Where finished parts are. `create`: make it when it is not there at all. Raises `PackageMissingError`."""
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
        Copies(settings.home / COPIES, settings.copies_bytes),
        low_fraction=settings.disk_low_fraction,
        low_bytes=settings.disk_low_bytes,
        create=create,
    )


def names_of(settings: Settings) -> tuple[str, str]:
    """The database and the coordination store, as they may be shown."""
    return settings.place, without_password(settings.coordination_url.get_secret_value())
