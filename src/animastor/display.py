"""How progress is shown: live bars on a terminal, plain lines in a pipe, one JSON event a line with `--json`.

A display is told numbers and sentences and writes them; it decides nothing. All three say the same things.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TextIO

import orjson
from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from animastor.engine.ports import MediaProgress, RequestProgress

PLAIN_EVERY_S = 5.0  # a line in a log every so often, and whenever a tenth is passed
NARROW = 70  # columns; below this the bar gives way to the numbers


class Display(Protocol):
    """Where a running command says how far it is."""

    wants_tables: bool  # whether a person reads this, and not a program

    def note(self, message: str, **fields: Any) -> None:
        """One sentence for the person; `fields` go into the JSON event."""
        ...

    def progress(self, progress: RequestProgress, left_s: float | None) -> None:
        """The state of the request, and the expected seconds left when they can be told."""
        ...

    def exporting(self, name: str, fraction: float) -> None:
        """An export is this far, 0 to 1."""
        ...

    def close(self) -> None:
        """Leave the terminal as a person expects it. May be called twice."""
        ...


def duration_text(seconds: float) -> str:
    """Seconds as people say them: `8 s`, `3 min 20 s`, `2 h 05 min`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def left_text(left_s: float | None) -> str:
    """The time left in a few words; nothing is promised before there is something to measure."""
    return "measuring the pace" if left_s is None else f"about {duration_text(left_s)} left"


def media_done(media: MediaProgress) -> tuple[int, int]:
    """(parts that are there, parts known or estimated)."""
    return media.parts_ready, max(media.parts_planned, media.parts_ready)


class LiveDisplay:
    """Bars that are redrawn in place, one for each media type."""

    wants_tables = True

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None

    def note(self, message: str, **fields: Any) -> None:
        self._console.print(message, highlight=False, soft_wrap=True, markup=False)

    def progress(self, progress: RequestProgress, left_s: float | None) -> None:
        self._show(self._table(progress, left_s))

    def exporting(self, name: str, fraction: float) -> None:
        table = Table.grid(padding=(0, 1))
        table.add_row("export", *self._bar(fraction, 1.0), Text(f"{name}  {fraction:4.0%}"))
        self._show(table)

    def close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _show(self, table: Table) -> None:
        if self._live is None:
            self._live = Live(table, console=self._console, refresh_per_second=5, transient=True)
            self._live.start()
        self._live.update(table, refresh=True)

    def _bar(self, done: float, total: float) -> list[Any]:
        if self._console.width < NARROW:
            return []
        width = min(40, self._console.width - 40)
        return [ProgressBar(total=max(total, 1e-9), completed=done, width=width)]

    def _table(self, progress: RequestProgress, left_s: float | None) -> Table:
        table = Table.grid(padding=(0, 1))
        for media in progress.media:
            done, planned = media_done(media)
            lost = f"  {media.failed} failed" if media.failed else ""
            count = Text(f"{done:>5} of {planned} parts{lost}")
            table.add_row(media.media, *self._bar(done, planned), count)
        table.add_row("all", *self._bar(progress.fraction, 1.0), Text(f"{progress.fraction:5.0%}, {left_text(left_s)}"))
        return table


class PlainDisplay:
    """Lines for a log or a pipe: what a person may want to find there later, and no more."""

    wants_tables = True

    def __init__(self, out: TextIO, now: Callable[[], float]) -> None:
        self._out = out
        self._now = now
        self._last = (-1, 0.0)
        self._export = ("", -1)

    def note(self, message: str, **fields: Any) -> None:
        self._write(message)

    def progress(self, progress: RequestProgress, left_s: float | None) -> None:
        tenth, now = int(progress.fraction * 10), self._now()
        if tenth == self._last[0] and now - self._last[1] < PLAIN_EVERY_S:
            return
        self._last = (tenth, now)
        counts = ", ".join("{} {}/{}".format(media.media, *media_done(media)) for media in progress.media)
        self._write(f"{progress.fraction:4.0%}  {counts}  ({left_text(left_s)})")

    def exporting(self, name: str, fraction: float) -> None:
        fifth = int(fraction * 5)
        if (name, fifth) != self._export:
            self._export = (name, fifth)
            self._write(f"export {name} {fraction:4.0%}")

    def close(self) -> None:
        return

    def _write(self, line: str) -> None:
        print(line, file=self._out, flush=True)


class JsonDisplay:
    """One JSON object a line, for programs. Every event has `event`; see docs/commands.md."""

    wants_tables = False

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def note(self, message: str, **fields: Any) -> None:
        self._write({"event": "note", "message": message, **fields})

    def progress(self, progress: RequestProgress, left_s: float | None) -> None:
        media = {
            each.media: {
                "parts_ready": each.parts_ready,
                "parts_planned": each.parts_planned,
                "assets": each.assets,
                "assets_ready": each.ready,
                "assets_failed": each.failed,
            }
            for each in progress.media
        }
        self._write(
            {
                "event": "progress",
                "fraction": round(progress.fraction, 4),
                "left_s": None if left_s is None else round(left_s, 1),
                "media": media,
            }
        )

    def exporting(self, name: str, fraction: float) -> None:
        self._write({"event": "exporting", "name": name, "fraction": round(fraction, 3)})

    def close(self) -> None:
        return

    def _write(self, event: Mapping[str, Any]) -> None:
        print(orjson.dumps(event).decode(), file=self._out, flush=True)


def choose(*, json: bool, now: Callable[[], float]) -> Display:
    """The display that fits where standard output goes."""
    if json:
        return JsonDisplay(sys.stdout)
    console = Console()
    if console.is_terminal and not console.is_dumb_terminal:
        return LiveDisplay(console)
    return PlainDisplay(sys.stdout, now)
