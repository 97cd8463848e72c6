"""Standard output that cannot be written any more: what display and signals both have to say to whoever runs them."""

from __future__ import annotations


class OutputGoneError(Exception):
    """Raised when standard output cannot be written: nobody reads it any more, or its disk is full."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause
