"""A finished result on disk: what was claimed and what was made, so that a crash before delivery loses nothing.

The child writes the receipt the moment its file is finished, before it answers; it lies beside the file in the job's
folder and goes with it after delivery (CONTRACT 13). It holds the ticket, which is valid for days.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from animastor.protocol import AssetId, BookKey, Claim, DispatchId, FailureType, Job, JobId
from animastor.workers.frames import pack

NAME = "result.json"
_PLAIN = ("media", "kind", "book", "chapter_id", "scene_id", "fence", "input_hash", "params", "timeout_s", "profile")


@dataclass(frozen=True, slots=True)
class Receipt:
    """A claim and the finished file that answers it."""

    claim: Claim
    path: Path
    notes: Mapping[str, Any] = field(default_factory=dict)


def write(folder: Path, path: Path, notes: Mapping[str, Any], claim: Mapping[str, Any]) -> None:
    """Leave a receipt in `folder`: whole, or not at all. `claim` is a claim as JSON. Raises `OSError`."""
    fresh = folder / f"{NAME}.new"
    fresh.write_bytes(pack({"claim": claim, "path": path.name, "notes": notes})[4:])
    fresh.replace(folder / NAME)


def read(folder: Path) -> Receipt | None:
    """The receipt of a folder; None when there is none, it cannot be read, or its file is gone."""
    try:
        told = orjson.loads((folder / NAME).read_bytes())
        path = folder / Path(told["path"]).name
        receipt = Receipt(_claim(told["claim"]), path, told["notes"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return receipt if path.is_file() else None


def _claim(told: Mapping[str, Any]) -> Claim:
    return Claim(_job(told["job"]), told["claim_no"], told["ticket"])


def _job(told: Mapping[str, Any]) -> Job:
    retry_of = told["retry_of"]
    return Job(
        job_id=JobId(told["job_id"]),
        asset=AssetId(told["asset"]),
        book_key=BookKey(told["book_key"]),
        dispatch_id=DispatchId(told["dispatch_id"]),
        inputs=tuple(told["inputs"]),
        lane=told["lane"],
        not_before=told["not_before"],
        retry_of=None if retry_of is None else FailureType(retry_of),
        protocol=told["protocol"],
        **{name: told[name] for name in _PLAIN},
    )
