"""How sentences name books, and count what is in them."""

from __future__ import annotations

from animastor.engine.ports import BookRow


def called(row: BookRow) -> str:
    """A book as sentences name it."""
    return f"{row.title} ({row.book_id})" if row.title else row.book_id


def scenes_text(count: int) -> str:
    """So many scenes."""
    return "1 scene" if count == 1 else f"{count} scenes"
