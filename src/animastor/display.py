"""How progress is shown: live bars on a terminal, plain lines in a pipe, one JSON event a line with `--json`.

A display is told numbers and sentences and writes them; it decides nothing. All three say the same things. What draws
on a terminal is imported only for one. Whatever cannot be written raises `output.OutputGoneError`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TextIO

import orjson

from animastor.engine.ports import MediaProgress
from animastor.engine.requests import RequestEvent
from animastor.engine.states import RequestState
from animastor.output import OutputGoneError
from animastor.wrapping import width, wrapped

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

PLAIN_EVERY_S = 5.0  # a line in a log every so often, and whenever a tenth is passed
NARROW = 60  # columns; below this the bar gives way to the numbers
LONGEST_BAR = 40
BESIDE_BAR = 44  # columns for the name before a bar and the numbers behind it
NAME_WIDTH = 5
ECHO = 3  # columns left free, as a terminal writes `^C` behind what stands there, and must not begin a line for it
SOON_S = 1.0
NOTHING = "·"  # in a cell of a table
SHOW_CURSOR = "\x1b[?25h"


class Display(Protocol):
    """Where a running command says how far it is."""

    wants_tables: bool  # whether a person reads this, and not a program

    def note(self, message: str, event: str = "note", **fields: Any) -> None:
        """One sentence for the person; `event` and `fields` are for programs."""
        ...

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Rows of words and numbers, in columns. Programs are told in events instead."""
        ...

    def progress(self, event: RequestEvent) -> None:
        """Where the request stands, and the seconds left when they can be told."""
        ...

    def exporting(self, name: str, fraction: float) -> None:
        """An export is this far, 0 to 1."""
        ...

    def close(self) -> None:
        """Leave the terminal as a person expects it. May be called twice."""
        ...

    def restore(self) -> None:
        """The least of it, from another thread and in a hurry."""
        ...


def duration_text(seconds: float) -> str:
    """Seconds as people say them: `8 s`, `3 min 20 s`, `2 h 05 min`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def size_text(size: float) -> str:
    """Bytes as people say them: `12 KB`, `3.4 MB`."""
    for unit in ("bytes", "KB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.2f} GB"


def left_text(event: RequestEvent) -> str:
    """The time left in a few words; nothing is promised before there is something to measure."""
    if event.progress.fraction >= 1:
        return "complete"
    if event.progress.request.state is RequestState.PAUSED:
        return "paused"
    left_s = honest(event)
    if left_s is None:
        return "measuring the pace"
    return "nearly there" if left_s < SOON_S else f"about {duration_text(left_s)} left"


def honest(event: RequestEvent) -> float | None:
    """The seconds left; None before anything is made, while it is paused, and while nobody knows how much there is."""
    media = event.progress.media
    if event.progress.request.state is RequestState.PAUSED:
        return None
    known = all(parts_expected(one, event) is not None for one in media)
    return event.seconds_left if known and any(one.parts_ready for one in media) else None


def parts_expected(media: MediaProgress, event: RequestEvent) -> int | None:
    """How many parts there will be: what is planned, and as much again for each scene that cannot be planned yet.

    While none is planned, what was expected of them; None when nobody knows.
    """
    planned, known = media.assets - media.unplanned, max(media.parts_planned, media.parts_ready)
    if media.unplanned <= 0:
        return known
    if planned > 0 and known:
        return round(known * media.assets / planned)
    each = event.expected_parts.get(media.media)
    return None if each is None else round(each * media.assets)


def count_text(media: MediaProgress, event: RequestEvent) -> str:
    """The parts that are there, of how many: `5/49`, `5/~60` where that is an estimate, `0/?` where it is unknown."""
    expected = parts_expected(media, event)
    of = "?" if expected is None else f"{'~' if media.unplanned > 0 else ''}{expected}"
    return f"{media.parts_ready}/{of}"


@contextmanager
def _written() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputGoneError(error) from error


class LiveDisplay:
    """Bars that are redrawn in place: one for each media type, one for all, one for each file that is written."""

    wants_tables = True

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._closed = False
        self._event: RequestEvent | None = None
        self._exports: dict[str, float] = {}

    def note(self, message: str, event: str = "note", **fields: Any) -> None:
        style = {"done": "green", "alarm": "yellow"}.get(event)
        with _written():
            told = wrapped(message, self._console.width)
            self._console.print(told, style=style, highlight=False, soft_wrap=True, markup=False)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        lines, wide = aligned(header, rows), self._console.width
        headed = max(map(width, lines)) <= wide
        if not headed:
            lines = [wrapped(line, wide) for line in listed(header, rows)]
        with _written():
            for number, line in enumerate(lines):
                style = "dim" if headed and not number else None
                self._console.print(line, style=style, highlight=False, soft_wrap=True, markup=False)

    def progress(self, event: RequestEvent) -> None:
        self._event = event
        self._show()

    def exporting(self, name: str, fraction: float) -> None:
        self._exports = {**dict.fromkeys(self._exports, 1.0), name: fraction}
        self._show()

    def close(self) -> None:
        self._closed = True
        if self._live is not None:
            live, self._live = self._live, None
            with _written():
                live.stop()

    def restore(self) -> None:
        if self._live is not None:
            print(SHOW_CURSOR, file=sys.stdout, flush=True)

    def _show(self) -> None:
        from rich.live import Live

        if self._closed:
            return
        with _written():
            if self._live is None:
                self._live = Live(
                    console=self._console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
                )
                self._live.start()
            self._live.update(self._table(), refresh=True)

    def _table(self) -> Table:
        from rich.table import Table

        table, room = Table.grid(padding=(0, 1)), self._console.width - NAME_WIDTH - 2 - ECHO
        table.add_column(width=NAME_WIDTH, no_wrap=True, overflow="ellipsis")
        if self._bar_width:
            table.add_column(width=self._bar_width, no_wrap=True)
            room -= self._bar_width + 1
        table.add_column(width=max(1, room), no_wrap=True, overflow="ellipsis")
        if self._event is not None:
            self._rows(table, self._event)
        for name, fraction in self._exports.items():
            self._row(table, "file", fraction, 1.0, f"{fraction:.0%} of {name}")
        return table

    @property
    def _bar_width(self) -> int:
        wide = self._console.width
        return 0 if wide < NARROW else max(10, min(LONGEST_BAR, wide - BESIDE_BAR))

    def _rows(self, table: Table, event: RequestEvent) -> None:
        for media in event.progress.media:
            lost = f", [red]{media.failed} failed[/red]" if media.failed else ""
            count = f"{count_text(media, event)} parts{lost}"
            self._row(table, media.media, media.parts_ready, parts_expected(media, event) or 0, count)
        fraction = event.progress.fraction
        self._row(table, "all", fraction, 1.0, f"{fraction:.0%}, {left_text(event)}")

    def _row(self, table: Table, name: str, done: float, total: float, said: str) -> None:
        from rich.progress_bar import ProgressBar

        bar = ProgressBar(
            total=max(total, 1e-9),
            completed=done if total else 0.0,
            width=self._bar_width,
            complete_style="cyan",
            finished_style="green",
        )
        table.add_row(name, *([bar] if self._bar_width else []), said)


class PlainDisplay:
    """Lines for a log or a pipe: what a person may want to find there later, and no more."""

    wants_tables = True

    def __init__(self, out: TextIO, now: Callable[[], float]) -> None:
        self._out = out
        self._now = now
        self._last = (-1, 0.0)
        self._line = ""  # a pause may last for days, and is said once
        self._export = ("", 0.0)

    def note(self, message: str, event: str = "note", **fields: Any) -> None:
        self._write(message)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        for line in aligned(header, rows):
            self._write(line)

    def progress(self, event: RequestEvent) -> None:
        progress = event.progress
        tenth, now = int(progress.fraction * 10), self._now()
        if tenth == self._last[0] and now - self._last[1] < PLAIN_EVERY_S:
            return
        self._last = (tenth, now)
        counts = ", ".join(f"{media.media} {count_text(media, event)}{_lost(media)}" for media in progress.media)
        line = f"{progress.fraction:4.0%}  {counts}  ({left_text(event)})"
        if line != self._line or progress.request.state is not RequestState.PAUSED:
            self._write(line)
        self._line = line

    def exporting(self, name: str, fraction: float) -> None:
        now = self._now()
        if name != self._export[0]:
            self._write(f"writing {name}")
        elif now - self._export[1] < PLAIN_EVERY_S:
            return
        else:
            self._write(f"writing {name} {fraction:4.0%}")
        self._export = (name, now)

    def close(self) -> None:
        return

    def restore(self) -> None:
        return

    def _write(self, line: str) -> None:
        with _written():
            print(line, file=self._out, flush=True)


class JsonDisplay:
    """One JSON object a line, for programs. Every event has `event`; see docs/commands.md."""

    wants_tables = False

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def note(self, message: str, event: str = "note", **fields: Any) -> None:
        self._write({"event": event, "message": message, **fields})

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        return

    def progress(self, event: RequestEvent) -> None:
        left_s = honest(event)
        self._write(
            {
                "event": "progress",
                "fraction": round(event.progress.fraction, 4),
                "left_s": None if left_s is None else round(left_s, 1),
                "media": {each.media: _counts(each, event) for each in event.progress.media},
            }
        )

    def exporting(self, name: str, fraction: float) -> None:
        self._write({"event": "exporting", "name": name, "fraction": round(fraction, 3)})

    def close(self) -> None:
        return

    def restore(self) -> None:
        return

    def _write(self, event: Mapping[str, Any]) -> None:
        with _written():
            print(orjson.dumps(event).decode(), file=self._out, flush=True)


def _counts(media: MediaProgress, event: RequestEvent) -> dict[str, int | None]:
    return {
        "parts_ready": media.parts_ready,
        "parts_planned": media.parts_planned,
        "parts_expected": parts_expected(media, event),
        "assets": media.assets,
        "assets_ready": media.ready,
        "assets_failed": media.failed,
    }


def _lost(media: MediaProgress) -> str:
    return f" ({media.failed} failed)" if media.failed else ""


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table as lines: words to the left, columns of numbers to the right."""
    columns = [_column(name, cells) for name, *cells in zip(header, *rows, strict=True)]
    return ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]


def listed(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The same where it is too wide: a line for each row, with the names of what it holds."""
    lines = []
    for first, *cells in rows:
        named = [f"{name} {cell}".strip() for name, cell in zip(header[1:], cells, strict=True) if told(cell)]
        lines.append(f"{first}: {', '.join(named)}")
    return lines


def told(cell: str) -> bool:
    """Whether a cell says anything."""
    return cell not in ("", NOTHING)


def _column(name: str, cells: Sequence[str]) -> list[str]:
    """The cells of a column, header first, each as wide as the widest."""
    longest = max(map(len, (name, *cells)))
    numbers = all(cell[:1].isdigit() or not told(cell) for cell in cells)
    return [cell.rjust(longest) if numbers else cell.ljust(longest) for cell in (name, *cells)]


def choose(*, json: bool, now: Callable[[], float]) -> Display:
    """The display that fits where standard output goes."""
    if json:
        return JsonDisplay(sys.stdout)
    if not sys.stdout.isatty() or os.environ.get("TERM", "dumb").lower() in ("dumb", "unknown"):
        return PlainDisplay(sys.stdout, now)
    from rich.console import Console

    return LiveDisplay(Console())
