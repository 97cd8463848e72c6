"""The three displays say the same things, each in its way; and what none of them promises."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import pytest
from rich.console import Console

from animastor.display import (
    JsonDisplay,
    LiveDisplay,
    PlainDisplay,
    aligned,
    count_text,
    duration_text,
    honest,
    left_text,
    listed,
)
from animastor.engine.ports import MediaProgress, RequestProgress, RequestRow, Scope
from animastor.engine.requests import RequestEvent
from animastor.engine.states import RequestState
from animastor.output import OutputGoneError
from animastor.protocol import BookKey


@pytest.fixture(autouse=True)
def _a_persons_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not that of whoever runs the tests, which may be none."""
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def _media(
    name: str = "audio", *, ready: int = 0, planned: int = 0, assets: int = 4, unplanned: int = 0
) -> MediaProgress:
    return MediaProgress(
        media=name,
        assets=assets,
        ready=0,
        failed=0,
        pending=0,
        generating=0,
        dirty=0,
        parts_planned=planned,
        parts_ready=ready,
        parts_lost=0,
        unplanned=unplanned,
        work_planned=0.0,
        work_ready=0.0,
    )


def _event(
    *media: MediaProgress, fraction: float = 0.5, left: float | None = 60.0, expected: dict[str, float] | None = None
) -> RequestEvent:
    names = tuple(one.media for one in media)
    request = RequestRow(1, BookKey(1), Scope(), names, RequestState.OPEN, "make", 0.0)
    return RequestEvent(RequestProgress(request, fraction, media), left, expected or {})


class _Gone(io.StringIO):
    """A pipe that nobody reads."""

    def write(self, _text: str) -> int:
        raise BrokenPipeError(32, "Broken pipe")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (8.4, "8 s"), (59.6, "1 min 00 s"), (200.0, "3 min 20 s"), (7500.0, "2 h 05 min")],
)
def test_durations_are_said_as_people_say_them(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize(
    ("media", "expected", "text"),
    [
        (_media(ready=5, planned=49), {}, "5/49"),
        (_media(ready=5, planned=20, assets=4, unplanned=2), {}, "5/~40"),
        (_media(unplanned=4), {"audio": 2.5}, "0/~10"),
        (_media(unplanned=4), {}, "0/?"),
    ],
    ids=["all planned", "half planned", "none planned but expected", "nobody knows"],
)
def test_parts_that_cannot_be_planned_yet_are_marked_as_an_estimate(
    media: MediaProgress, expected: dict[str, float], text: str
) -> None:
    assert count_text(media, _event(media, expected=expected)) == text


def test_no_time_is_promised_before_something_is_made_or_while_a_media_type_is_unknown() -> None:
    audio = _media(ready=5, planned=49)
    assert honest(_event(audio)) == 60.0
    assert honest(_event(_media(planned=49))) is None
    assert honest(_event(audio, _media("video", unplanned=4))) is None
    assert honest(_event(audio, _media("video", unplanned=4), expected={"video": 2.0})) == 60.0


@pytest.mark.parametrize(
    ("fraction", "left", "text"),
    [
        (0.5, 60.0, "about 1 min 00 s left"),
        (0.9, 0.4, "nearly there"),
        (0.5, None, "measuring the pace"),
        (1.0, 0.0, "complete"),
    ],
)
def test_the_time_left_in_words(fraction: float, left: float | None, text: str) -> None:
    assert left_text(_event(_media(ready=5, planned=49), fraction=fraction, left=left)) == text


def test_while_it_is_paused_no_time_is_promised() -> None:
    event = _event(_media(ready=5, planned=49))
    request = replace(event.progress.request, state=RequestState.PAUSED)
    paused = replace(event, progress=replace(event.progress, request=request))
    assert (left_text(paused), honest(paused)) == ("paused", None)
    out, now = io.StringIO(), [0.0]
    display = PlainDisplay(out, lambda: now[0])
    for at, each in ((0.0, event), (10.0, paused), (20.0, paused), (30.0, paused), (40.0, event), (50.0, event)):
        now[0] = at
        display.progress(each)
    told = [line.rpartition("(")[2] for line in out.getvalue().splitlines()]
    assert told == ["about 1 min 00 s left)", "paused)", "about 1 min 00 s left)", "about 1 min 00 s left)"]


def test_plain_lines_come_with_each_tenth_and_every_five_seconds_only() -> None:
    out, now = io.StringIO(), [0.0]
    display = PlainDisplay(out, lambda: now[0])
    for at, fraction in ((0.0, 0.0), (1.0, 0.05), (2.0, 0.11), (3.0, 0.12), (7.5, 0.13), (8.0, 0.14)):
        now[0] = at
        display.progress(_event(_media(ready=1, planned=9), fraction=fraction))
    assert [line.split()[0] for line in out.getvalue().splitlines()] == ["0%", "11%", "13%"]


def test_plain_exports_are_named_once_and_again_when_they_take_long() -> None:
    out, now = io.StringIO(), [0.0]
    display = PlainDisplay(out, lambda: now[0])
    for at, name, share in ((0.0, "a.mp4", 0.0), (1.0, "a.mp4", 0.5), (6.0, "a.mp4", 0.9), (6.5, "b.m4b", 0.1)):
        now[0] = at
        display.exporting(name, share)
    assert out.getvalue().splitlines() == ["writing a.mp4", "writing a.mp4  90%", "writing b.m4b"]


def test_json_tells_what_is_known_and_null_for_what_is_not() -> None:
    out = io.StringIO()
    JsonDisplay(out).progress(_event(_media(unplanned=4), fraction=0.25))
    told = json.loads(out.getvalue())
    assert (told["event"], told["fraction"], told["left_s"]) == ("progress", 0.25, None)
    assert told["media"]["audio"]["parts_expected"] is None


@pytest.mark.parametrize("width", [30, 59, 60, 100, 200])
def test_live_bars_fit_into_any_terminal(width: int) -> None:
    out = io.StringIO()
    display = LiveDisplay(Console(file=out, force_terminal=True, width=width, color_system=None, legacy_windows=False))
    display.progress(_event(_media(ready=5, planned=49), _media("video", unplanned=4)))
    display.exporting("a-very-long-name-of-a-book-that-somebody-has-written-" * 3 + ".mp4", 0.4)
    display.close()
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out.getvalue()).replace("\r", "\n").splitlines()
    assert max(map(len, drawn)) <= width
    assert [line.split()[0] for line in drawn[-4:]] == ["audio", "video", "all", "file"]
    assert drawn[-1].rstrip().endswith("…")
    assert ("━" in out.getvalue()) == (width >= 60)


def test_after_closing_nothing_is_drawn_over_what_is_said() -> None:
    out = io.StringIO()
    display = LiveDisplay(Console(file=out, force_terminal=True, width=100, color_system=None))
    display.progress(_event(_media(ready=5, planned=49)))
    display.close()
    before = out.getvalue()
    display.progress(_event(_media(ready=6, planned=49)))
    display.close()
    assert out.getvalue() == before
    assert before.endswith("\x1b[?25h")


def test_output_that_is_gone_is_told_by_every_display() -> None:
    for display in (PlainDisplay(_Gone(), lambda: 0.0), JsonDisplay(_Gone())):
        with pytest.raises(OutputGoneError):
            display.note("a sentence")


def test_tables_have_names_to_the_left_and_numbers_to_the_right() -> None:
    assert aligned(("", "parts"), [("audio", "5"), ("all", "1234")]) == ["       parts", "audio      5", "all     1234"]


def test_a_table_that_does_not_fit_is_told_row_by_row() -> None:
    header, rows = ("  scenes", "ready", "in work", "missing"), [("  audio", "7", "·", "1"), ("  video", "·", "8", "·")]
    for columns, shown in (
        (
            40,
            "  scenes  ready  in work  missing\n  audio       7        ·        1\n  video       ·        8        ·\n",
        ),
        (20, "  audio: ready 7,\n    missing 1\n  video: in work 8\n"),
    ):
        out = io.StringIO()
        LiveDisplay(Console(file=out, width=columns, force_terminal=True, color_system=None)).table(header, rows)
        assert re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue()) == shown


def test_a_column_without_a_name_is_told_by_what_it_holds() -> None:
    assert listed(("", "", "default"), [("  window", "4", "0")]) == ["  window: 4, default 0"]
