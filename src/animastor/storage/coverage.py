"""Which request covers an asset, and how it lets it run, as text inside statements (CONTRACT 10, covers and window).

A request covers an asset when it is unfinished, its scope and media types include it, and no exclusion of it does. Of
several, the asset carries the one that lets it run soonest: not paused, with the asset in its window, priority, widest
window, oldest. The fragments speak of the table `asset` by its name, and of a request as `r`.
"""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from typing import Final


def in_scope(of: str) -> str:
    """A condition: the asset lies in the scope of a row of `request` or `request_exclusion`."""
    return f"""(
        {of}.scope = 'whole_book'
        OR ({of}.scope = 'chapter' AND {of}.chapter_key = asset.chapter_key)
        OR ({of}.scope IN ('scene', 'units') AND {of}.scene_key = asset.scene_key)
        OR ({of}.scope = 'from_scene' AND asset.reading_order >=
            (SELECT first.position FROM scene first WHERE first.scene_key = {of}.scene_key))
    )"""


EXCLUDED: Final = f"""EXISTS (
    SELECT 1 FROM request_exclusion x
    WHERE x.request_id = r.id AND x.media = asset.media AND {in_scope("x")}
)"""

_BEYOND: Final = "(r.reach > 0 AND asset.reading_order NOT BETWEEN r.position AND r.horizon)"

COVERED_BY: Final = f"""(
    SELECT c.id FROM (
        SELECT r.id, r.state, r.priority, r.reach, CASE WHEN {_BEYOND} THEN 1 ELSE 0 END AS beyond
        FROM request r JOIN request_media rm ON rm.request_id = r.id AND rm.media = asset.media
        WHERE r.book_key = asset.book_key AND r.state IN ('preparing', 'open', 'paused')
          AND {in_scope("r")} AND NOT {EXCLUDED}
    ) AS c
    ORDER BY CASE c.state WHEN 'paused' THEN 1 ELSE 0 END, c.beyond, c.priority DESC,
        CASE c.reach WHEN 0 THEN 0 ELSE 1 END, c.reach DESC, c.id LIMIT 1
)"""
"""The request that an asset carries, or NULL."""

CARRIED: Final = f"""EXISTS (
    SELECT 1 FROM request r WHERE r.id = asset.request_id AND r.state IN ('preparing', 'open')
      AND {in_scope("r")} AND NOT {EXCLUDED}
)"""
"""A condition: the request that an asset carries covers it still (an edit may not have been swept yet), and lets it
start."""

HELD: Final = f"""(
    CASE r.state WHEN 'paused' THEN {{WAIT_PAUSED}} ELSE 0 END
    | CASE WHEN {_BEYOND} THEN {{WAIT_WINDOW}} ELSE 0 END
)"""
"""The wait bits by which a request holds a PENDING asset that it covers."""

RANK: Final = """(
    CASE WHEN r.now_scene = asset.scene_key THEN -1 WHEN asset.reading_order >= r.position THEN 0 ELSE 1 END
)"""
"""The rank of an asset that a request covers: the scene that is wanted now, what lies ahead of the reader, the rest."""

HOLDS: Final = "({WAIT_PAUSED} | {WAIT_WINDOW})"
"""The bits that are a request's to set."""
