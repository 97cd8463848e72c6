"""What went wrong in a child, as one of the contract's failures (CONTRACT 9): by type and code, never by text."""

from __future__ import annotations

import errno
import signal
import traceback
from contextlib import suppress

from animastor.media import ffmpeg
from animastor.protocol import FailureType
from animastor.workers.backend import BackendError

JOB_TIMEOUT = "job_timeout"
PROTOCOL_MISMATCH = "protocol_mismatch"
OUTPUT_TOO_LARGE = "output_too_large"
DISK_FULL = "disk_full"
OUT_OF_MEMORY = "out_of_memory"
KILLED = "child_killed"
ENDED = "child_ended"
LONGEST_MESSAGE = 2000  # characters (CONTRACT 12)

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_OF_FFMPEG: tuple[tuple[type[ffmpeg.FfmpegError], FailureType, str], ...] = (
    (ffmpeg.FfmpegMissingError, FailureType.MISCONFIGURED, "ffmpeg_missing"),
    (ffmpeg.FfmpegKilledError, FailureType.INFRASTRUCTURE, "ffmpeg_killed"),
    (ffmpeg.FfmpegHungError, FailureType.TRANSIENT, JOB_TIMEOUT),
    (ffmpeg.OutputTooLargeError, FailureType.TRANSIENT, OUTPUT_TOO_LARGE),
    (ffmpeg.DiskFullError, FailureType.INFRASTRUCTURE, DISK_FULL),
    (ffmpeg.FfmpegError, FailureType.TRANSIENT, "ffmpeg_failed"),
)


def of_exception(error: BaseException) -> BackendError:
    """The failure that an exception of a backend is. What is not known is transient, with class, message and place."""
    if isinstance(error, BackendError):
        message = error.message[:LONGEST_MESSAGE]
        return BackendError(error.type, error.code, message, retry_after_s=error.retry_after_s)
    for kind, type_, code in _OF_FFMPEG:
        if isinstance(error, kind):
            return BackendError(type_, code, str(error)[:LONGEST_MESSAGE])
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        return no_room(str(error))
    if isinstance(error, MemoryError):
        return BackendError(FailureType.INFRASTRUCTURE, OUT_OF_MEMORY, "there is not enough memory for this job")
    return BackendError(FailureType.TRANSIENT, "exception", _one_line(error))


def of_end(code: int, log: str) -> BackendError:
    """The failure that the end of a child in the middle of its work is; `code` as `Popen.returncode`."""
    said = f": {_last_line(log)}" if _last_line(log) else ""
    if code < 0:
        message = f"the child process was ended by {signal_name(-code)}{said}"
        return BackendError(FailureType.INFRASTRUCTURE, KILLED, message[:LONGEST_MESSAGE])
    message = f"the child process ended by itself with exit code {code}{said}"
    return BackendError(FailureType.TRANSIENT, ENDED, message[:LONGEST_MESSAGE])


def no_progress(seconds: float) -> BackendError:
    """Nothing moved for the job's time."""
    return BackendError(FailureType.TRANSIENT, JOB_TIMEOUT, f"there was no progress for {seconds:g} s")


def too_long(seconds: float) -> BackendError:
    """It moved, but did not end within the hard limit."""
    return BackendError(FailureType.TRANSIENT, JOB_TIMEOUT, f"it was not done after {seconds:g} s")


def too_large(limit: int) -> BackendError:
    """It wrote without end."""
    return BackendError(FailureType.TRANSIENT, OUTPUT_TOO_LARGE, f"it wrote more than {limit} bytes and was ended")


def no_room(detail: str) -> BackendError:
    """The disk, a quota or a limit on the size of files."""
    return BackendError(FailureType.INFRASTRUCTURE, DISK_FULL, f"there is no room for the output: {detail}")


def signal_name(number: int) -> str:
    """`SIGKILL` for 9."""
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


def _one_line(error: BaseException) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    places = traceback.extract_tb(error.__traceback__)
    place = f" ({places[-1].filename.rpartition('/')[2]}:{places[-1].lineno})" if places else ""
    return text[: LONGEST_MESSAGE - len(place)] + place


def _last_line(log: str) -> str:
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return lines[-1] if lines else ""
