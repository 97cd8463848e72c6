"""The settings of an installation: one table, from the environment (`ANIMASTOR_…`) or the command line.

Settings that determine bytes (voice, size) are not here: they are stored with the book (`media.types.ContentSettings`),
so that a process with another environment never makes other parts by accident. `docs/settings.md` is written from
this class and a test keeps it so.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from animastor.storage.bucket import bucket_of

SCHEMES = {
    "database_url": ("postgresql",),
    "coordination_url": ("redis", "rediss", "unix", "redis+cluster", "rediss+cluster"),
}


def usable_cores() -> int:
    """The cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


class Settings(BaseSettings):
    """Everything that can be set from outside. Each field: default, range, and why somebody needs it."""

    model_config = SettingsConfigDict(env_prefix="ANIMASTOR_", extra="ignore", frozen=True)

    home: Annotated[
        Path, Field(description="The folder of the database, the artifacts and the lock. `--home` overrides it.")
    ] = Path(".animastor")
    database_url: Annotated[
        SecretStr,
        Field(
            description="`postgresql://user:password@host/name`: the database that many machines share. Set it "
            "together with the next two (docs/operating.md); unset: a file in the home."
        ),
    ] = SecretStr("")
    coordination_url: Annotated[
        SecretStr,
        Field(
            description="`redis://host:6379/0`, `rediss://…` or `unix://…`: the Redis or Valkey that they share; "
            "`redis+cluster://host:6379` or `rediss+cluster://…`: a cluster, by one of its servers."
        ),
    ] = SecretStr("")
    artifacts: Annotated[
        str,
        Field(
            description="Where finished parts are: a folder that every machine sees under this path, or "
            "`s3://bucket/prefix` (docs/operating.md). Unset: `artifacts` in the home."
        ),
    ] = ""
    copies_bytes: Annotated[
        int,
        Field(
            ge=0,
            description="With parts in S3: bytes of copies that are kept in the home, about. What was used in the last "
            "six hours stays in any case.",
        ),
    ] = 20 * 1024**3
    jobs: Annotated[
        int, Field(ge=1, le=256, description="Parts made at once: child processes. Default: the usable cores.")
    ] = Field(default_factory=usable_cores)
    ffmpeg: Annotated[
        str, Field(description="The ffmpeg program; empty: the newer of the system's and the packaged one.")
    ] = ""
    ffmpeg_idle_s: Annotated[
        float,
        Field(gt=0, description="Seconds without progress after which ffmpeg is ended; more for very slow disks."),
    ] = 120.0
    piper: Annotated[str, Field(description="The Piper program, for voices that you have installed.")] = "piper"
    piper_voices: Annotated[
        Path | None, Field(description="The folder of Piper's `<language>*.onnx` voices; unset: Piper is not used.")
    ] = None
    disk_low_fraction: Annotated[
        float, Field(ge=0, lt=1, description="Below this share of free disk nothing new is started.")
    ] = 0.02
    disk_low_bytes: Annotated[int, Field(ge=0, description="Below this many free bytes nothing new is started.")] = (
        2 * 1024**3
    )
    keep_unused_days: Annotated[
        float, Field(ge=1, description="Days that an artifact which nothing uses any more is kept.")
    ] = 7.0
    lease_ttl_s: Annotated[
        float, Field(gt=0, description="A lease's length in seconds. Must exceed 2 × keeper_s + silent_s.")
    ] = 60.0
    heartbeat_s: Annotated[float, Field(gt=0, description="Seconds between a busy worker's heartbeats.")] = 5.0
    silent_s: Annotated[float, Field(gt=0, description="A worker silent for so long has lost its claims.")] = 30.0
    keeper_s: Annotated[
        float, Field(gt=0, validate_default=True, description="Seconds between the keeper's rounds.")
    ] = 10.0
    tick_s: Annotated[float, Field(gt=0, description="The longest time between two looks at what is due.")] = 5.0
    reconcile_s: Annotated[float, Field(gt=0, description="Seconds between reconciliations.")] = 60.0
    start_wait_s: Annotated[
        float,
        Field(ge=0, description="Seconds that a starting `serve` waits for stores which do not answer yet."),
    ] = 60.0
    backend_log: Annotated[
        Path | None,
        Field(
            description="A file to which each child appends a JSON line when a backend starts and when it ends: "
            "`event`, `hash`, `kind`, `claim`, `pid`, `time`. For finding out what was made twice."
        ),
    ] = None

    @field_validator("home", mode="before")
    @classmethod
    def _names_a_folder(cls, given: object) -> object:
        if not str(given).strip():
            raise ValueError("should name a folder")
        return given

    @field_validator("database_url", "coordination_url")
    @classmethod
    def _is_such_a_url(cls, url: SecretStr, told: ValidationInfo) -> SecretStr:
        assert told.field_name is not None, "it is a field's validator"
        schemes = SCHEMES[told.field_name]
        if url.get_secret_value() and urlsplit(url.get_secret_value()).scheme not in schemes:
            raise ValueError(f"should be a URL that begins with {' or '.join(f'{one}://' for one in schemes)}")
        if not _is_whole(url.get_secret_value()):
            raise ValueError("is no whole URL: write special characters of the password as %23, %2F, %40 and so on")
        return url

    @field_validator("artifacts")
    @classmethod
    def _is_a_place_for_artifacts(cls, artifacts: str) -> str:
        if "://" in artifacts:
            bucket_of(artifacts)
        return artifacts

    @field_validator("keeper_s")
    @classmethod
    def _leases_outlive_two_rounds(cls, keeper_s: float, told: ValidationInfo) -> float:
        """Else the lease of a job that is alive could run out (CONTRACT 6)."""
        ttl, silent = told.data.get("lease_ttl_s", float("inf")), told.data.get("silent_s", 0.0)
        if 2 * keeper_s + silent >= ttl:
            raise ValueError(
                f"lets leases of {ttl:g} s run out: ANIMASTOR_LEASE_TTL_S must exceed 2 × ANIMASTOR_KEEPER_S + "
                f"ANIMASTOR_SILENT_S ({silent:g} s)"
            )
        return keeper_s

    @model_validator(mode="after")
    def _shared_all_or_nothing(self) -> Self:
        """Machines that share a database share what goes with it: else each would keep its own part of the truth."""
        shared = {"database_url": self.database_url.get_secret_value(), "artifacts": self.artifacts}
        shared["coordination_url"] = self.coordination_url.get_secret_value()
        missing = [f"ANIMASTOR_{name.upper()}" for name, value in shared.items() if not value]
        if self.database_url.get_secret_value() and missing:
            raise ValueError(f"needs {' and '.join(missing)} too, as several machines may work on one database")
        if self.coordination_url.get_secret_value() and not self.database_url.get_secret_value():
            raise ValueError("is not set, though ANIMASTOR_COORDINATION_URL is: a home in a folder needs neither")
        return self

    @property
    def distributed(self) -> bool:
        """Whether many processes may share the work, by way of a database and a coordination store."""
        return bool(self.database_url.get_secret_value())

    @property
    def era_window_s(self) -> float:
        """How long nothing starts in a coordination store that was lost: who lives is heard meanwhile (CONTRACT 11)."""
        return self.silent_s + 2 * self.heartbeat_s

    @property
    def place(self) -> str:
        """Where the truth is, for people: the database without its password, or the home."""
        return without_password(self.database_url.get_secret_value()) if self.distributed else str(self.home)


def without_password(url: str) -> str:
    """A URL as it may be shown and logged: no password, and nothing of its query."""
    parts = urlsplit(url)
    if not _is_whole(url):
        return f"{parts.scheme}://…"
    user, at, host = parts.netloc.rpartition("@")
    name, colon, _ = user.partition(":")
    return f"{parts.scheme}://{name}{':***' if colon else ''}{at}{host}{parts.path}"


def _is_whole(url: str) -> bool:
    """Whether nothing of a password can be taken for another part of it, as an unescaped `#` or `@` would make it."""
    try:
        parts = urlsplit(url)
        return parts.port is None or parts.port > 0
    except ValueError:
        return False


def table() -> str:
    """All settings as a Markdown table: name, default, range, and what each is for."""
    rows = ["| variable | default | range | what it is |", "|---|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = "usable cores" if name == "jobs" else _shown(field.default)
        rows.append(f"| `ANIMASTOR_{name.upper()}` | {default} | {_range(field.metadata)} | {field.description} |")
    return "\n".join(rows) + "\n"


def _shown(default: object) -> str:
    if isinstance(default, SecretStr):
        return "–"
    return "–" if default in (None, "") else f"`{default:g}`" if isinstance(default, float) else f"`{default}`"


def _range(limits: list[object]) -> str:
    signs = (("ge", "≥"), ("gt", ">"), ("le", "≤"), ("lt", "<"))
    told = [f"{sign} {getattr(one, name):g}" for one in limits for name, sign in signs if hasattr(one, name)]
    return ", ".join(told) or "–"
