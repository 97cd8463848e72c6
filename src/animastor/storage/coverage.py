"""Which request covers an asset, as text inside statements (CONTRACT 10, covers).

A request covers an asset when it is unfinished, its scope and media types include it, and no exclusion of it does. Of
several, the asset carries the one that lets it run soonest: not paused, priority, oldest. The fragments speak of the
table `asset` by its name.
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

COVERED_BY: Final = f"""(
    SELECT r.id FROM request r JOIN request_media rm ON rm.request_id = r.id AND rm.media = asset.media
    WHERE r.book_key = asset.book_key AND r.state IN ('preparing', 'open', 'paused')
      AND {in_scope("r")} AND NOT {EXCLUDED}
    ORDER BY CASE r.state WHEN 'paused' THEN 1 ELSE 0 END, r.priority DESC, r.id LIMIT 1
)"""
"""The request that an asset carries, or NULL."""

CARRIED: Final = f"""EXISTS (
    SELECT 1 FROM request r WHERE r.id = asset.request_id AND r.state IN ('preparing', 'open')
      AND {in_scope("r")} AND NOT {EXCLUDED}
)"""
"""A condition: the request that an asset carries covers it still (an edit may not have been swept yet), and lets it
start."""
