"""The errors of the engine.

EngineError
├── EngineFailedError     the engine had to end: the sentence says why
├── EngineStoppedError    a call came while, or after, the engine was stopped; repeat it with another one
└── UnknownMediaError     a request names a media type that is not installed
"""

from __future__ import annotations


class EngineError(Exception):
    """Raised by the engine. The text is one sentence for a person."""


class EngineFailedError(EngineError):
    """Raised by a running engine that cannot go on, such as with a full disk under its database."""


class EngineStoppedError(EngineError):
    """Raised to callers whose call an ending engine did not answer; nothing is lost, it may be repeated."""

    def __init__(self) -> None:
        super().__init__("the engine was stopped before it could answer; the same call may be repeated")


class UnknownMediaError(EngineError):
    """Raised for a media type that is not installed."""
