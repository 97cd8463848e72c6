"""What an errand tells whoever waits for it, as messages that can also cross a socket (CONTRACT 11).

`note` with `event` and `fields`; `progress`; `exporting`; at its end `result`, or `failed`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import orjson

from animastor.commands.errors import CommandError
from animastor.engine.home import Message

Tell: TypeAlias = Callable[[Message], None]


def note(message: str, event: str = "note", **fields: Any) -> Message:
    """One sentence."""
    return {"note": message, "event": event, "fields": fields}


def progress(event: object) -> Message:
    """A `engine.requests.RequestEvent`."""
    return {"progress": orjson.loads(orjson.dumps(event))}


def exporting(name: str, share: float) -> Message:
    """A file is written this far."""
    return {"exporting": [name, share]}


def result(**fields: Any) -> Message:
    """The end."""
    return {"result": fields}


def failed(error: CommandError) -> Message:
    """The other end."""
    return {"failed": {"code": int(error.exit_code), "reason": error.reason, "message": error.message}}
