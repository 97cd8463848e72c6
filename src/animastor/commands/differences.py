"""Shows what an edit will have made again, by kind, with time and cost, and asks whether to make it."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace

from animastor.app import Reading
from animastor.commands.editing import Editing, touched_by
from animastor.commands.errors import CommandError, Exit
from animastor.commands.forecast import Count, Forecast
from animastor.commands.naming import called, scenes_text
from animastor.display import Display
from animastor.engine.diffing import Diff, Differ
from animastor.engine.ports import BookRow, Touched
from animastor.protocol import MERGE

MANY = 200  # scenes from which on the first counts are told before the rest is counted


async def shown(opened: Reading, row: BookRow, asked: Editing, display: Display) -> bool:
    """Show what an edit would do; whether it would do anything. Raises `BookError` and `CommandError`."""
    touched = await touched_by(opened, row, asked)
    if touched.nothing:
        display.note(f"Nothing changes in {called(row)}.", event="diff", book=row.book_id, parts={}, missing=0)
        return False
    fields = {"changed": len(touched.changed), "added": len(touched.added), "removed": touched.removed,
              "moved": touched.moved, "head": touched.head is not None}  # fmt: skip
    display.note(_touched_text(row, touched), event="touched", book=row.book_id, scenes=touched.scenes, **fields)
    last = Diff(0, 0)
    async for diff in Differ(opened.storage, opened.registry).diff(row.book_key, touched):
        if diff.of > MANY and last.scenes == 0 < diff.scenes:
            text = _forecast(opened, diff).text(opened.settings)
            display.note(
                f"Of the first {diff.scenes} of {diff.of} scenes: {text}; the others are looked at.", event="counting"
            )
        last = replace(diff)
    _show(opened, last, display)
    return True


def _touched_text(row: BookRow, touched: Touched) -> str:
    counts = ((len(touched.changed), "changed"), (len(touched.added), "new"), (touched.removed, "gone"))
    told = [f"{count} {how}" for count, how in counts if count]
    told += [f"{touched.moved} moved or renamed"] if touched.moved else []
    told += ["what all scenes share is changed"] if touched.head is not None else []
    return f"{called(row)}, {scenes_text(touched.scenes)}: {', '.join(told)}."


def _forecast(opened: Reading, diff: Diff) -> Forecast:
    counts = {key: Count(one.parts + one.kept, one.kept, one.work) for key, one in diff.counts.items()}
    order = {name: place for place, name in enumerate(opened.registry.names)}
    return Forecast(dict(sorted(counts.items(), key=lambda item: (order[item[0][0]], item[0][1] == MERGE))))


def _show(opened: Reading, diff: Diff, display: Display) -> None:
    found = _forecast(opened, diff)
    counts = found.counts
    seconds = found.seconds(opened.settings)
    display.table(
        ("", "to make again", "kept"),
        [
            (f"  {media} ({kind})", str(one.missing), str(one.ready) if kind != MERGE else "")
            for (media, kind), one in counts.items()
            if one.parts
        ],
    )
    text = found.text(opened.settings)
    display.note(
        f"{text[:1].upper()}{text[1:]}; it costs no money.",
        event="diff",
        parts={f"{media}.{kind}": [one.missing, one.ready] for (media, kind), one in counts.items()},
        missing=found.missing,
        seconds=round(seconds, 1),
        cost=0.0,
    )


async def agreed(display: Display, *, yes: bool) -> bool:
    """Whether the person wants the edit. Raises `CommandError` where there is nobody to ask."""
    if yes:
        return True
    if not (sys.stdin.isatty() and display.wants_tables):
        message = "An edit is asked for confirmation: --yes makes it at once, --dry-run only shows it."
        raise CommandError(Exit.USAGE, "not_confirmed", message)
    sys.stdout.write("Make this edit? [y/N] ")
    sys.stdout.flush()
    answer = await asyncio.to_thread(sys.stdin.readline)
    return answer.strip().lower() in ("y", "yes")
