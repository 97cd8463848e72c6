"""What ffmpeg's failures mean to the engine: which are the machine's, which the order's (CONTRACT 9)."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from animastor.media import ffmpeg
from animastor.protocol import FailureType
from animastor.workers.backend import BackendError

_MEANING: tuple[tuple[type[ffmpeg.FfmpegError], FailureType, str], ...] = (
    (ffmpeg.DiskFullError, FailureType.INFRASTRUCTURE, "disk_full"),
    (ffmpeg.FfmpegKilledError, FailureType.INFRASTRUCTURE, "ffmpeg_killed"),
    (ffmpeg.FfmpegMissingError, FailureType.MISCONFIGURED, "ffmpeg_missing"),
    (ffmpeg.FfmpegHungError, FailureType.TRANSIENT, "ffmpeg_hung"),
    (ffmpeg.OutputTooLargeError, FailureType.TRANSIENT, "output_too_large"),
    (ffmpeg.FfmpegError, FailureType.TRANSIENT, "ffmpeg_failed"),
)
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def failures() -> Iterator[None]:
    """Turns what ffmpeg and the disk raise within it into a `BackendError`; everything else passes."""
    try:
        yield
    except ffmpeg.FfmpegError as error:
        type_, code = next((type_, code) for kind, type_, code in _MEANING if isinstance(error, kind))
        raise BackendError(type_, code, str(error)) from error
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise BackendError(FailureType.INFRASTRUCTURE, "disk_full", f"the disk is full: {error}") from error


def bad_input(message: str) -> BackendError:
    """The failure of a job whose input is not what it should be; a merge's is believed only if it does not decode."""
    return BackendError(FailureType.TRANSIENT, "bad_input", message)
