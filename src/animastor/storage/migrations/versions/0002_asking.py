"""What people change while a book is made: windows and positions of requests, takes raised, layers of a book."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

BEFORE_ALL = -(2**62)  # a place in reading order


def upgrade() -> None:
    """Add columns; a request that is unfinished goes on as it was."""
    for name in ("position_scene", "horizon", "reach", "now_scene"):
        op.add_column("request", _int(name, sa.BigInteger()))
    op.add_column("request", _int("accept_charge", sa.SmallInteger()))
    op.add_column("request_media", _int("rebuild", sa.SmallInteger()))
    op.add_column("unit_take", _int("highest", sa.BigInteger()))
    op.add_column("book", sa.Column("layers", sa.Text(), nullable=False, server_default=""))
    op.execute(f"UPDATE request SET position = {BEFORE_ALL}, horizon = {-BEFORE_ALL}")  # noqa: S608 - numbers of ours
    op.drop_index("request_sweeping", "request")
    _index("request_sweeping", "id", "sweeping <> 0")
    _index("request_weighted", "book_key", "priority <> 0 AND state IN ('preparing', 'open', 'paused')")


def _index(name: str, column: str, condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, "request", [column], sqlite_where=where, postgresql_where=where)


def _int(name: str, kind: sa.types.TypeEngine[int]) -> sa.Column[int]:
    return sa.Column(name, kind, nullable=False, server_default="0")
