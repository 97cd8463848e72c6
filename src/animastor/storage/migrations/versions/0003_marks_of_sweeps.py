"""The mark of a sweep that is over stays, negative, so that no later one of its request is taken for it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Only what is to be swept is in the index; a sweep that was going on goes on."""
    op.drop_index("request_sweeping", "request")
    where = sa.text("sweeping > 0")
    op.create_index("request_sweeping", "request", ["id"], sqlite_where=where, postgresql_where=where)
