"""The first schema.

Times are seconds since the epoch. States and bits are the integers of `engine.states`. Flags are 0 or 1. Columns that
nothing writes yet (pinned, supplied, outdated, max_cost, …) are there for what is announced in the contract, so that
no home has to be rewritten for it.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TIME: sa.Double[float] = sa.Double()
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # a rowid on SQLite
# Room for new row versions on their own page; and the index of what is due holds an entry for each asset that was due,
# until a vacuum removes it, so that is not left until a fifth of the table has changed.
HOT = {"fillfactor": 80, "autovacuum_vacuum_scale_factor": 0.02}


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False, server_default="")


def _int(name: str, default: int = 0) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=False, server_default=str(default))


def _small(name: str, default: int = 0) -> sa.Column[int]:
    return sa.Column(name, sa.SmallInteger(), nullable=False, server_default=str(default))


def _real(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Double(), nullable=False, server_default="0")


def _time(name: str) -> sa.Column[float]:
    return sa.Column(name, TIME, nullable=True)


def _key(name: str) -> sa.Column[int]:
    return sa.Column(name, KEY, primary_key=True, autoincrement=False)


def _workspace() -> sa.Column[str]:
    return sa.Column("workspace", sa.Text(), nullable=False, server_default="default")


def upgrade() -> None:
    """Make every table and index."""
    _numbers()
    _content()
    _assets()
    _parts()
    _requests()
    _journal()
    _exports()


def _numbers() -> None:
    op.create_table("meta", sa.Column("name", sa.Text(), primary_key=True), _int("value"))
    op.execute(
        "INSERT INTO meta (name, value) VALUES ('schema', 1), ('planner', 1), ('layout', 1), ('era', 0),"
        " ('book', 0), ('chapter', 0), ('scene', 0), ('asset', 0), ('request', 0)"
    )
    op.create_table("ticket_key", sa.Column("id", sa.Text(), primary_key=True), _text("secret"), _time("created_at"))


def _content() -> None:
    op.create_table(
        "book",
        _key("book_key"),
        _workspace(),
        _text("book_id"),
        _text("title"),
        _text("language"),
        _text("identifier"),
        _text("source"),
        _text("source_key"),
        _text("source_sha256"),
        _text("kind"),
        _int("revision", 1),
        _text("head"),
        _text("head_hash"),
        _text("settings"),
        _text("disabled"),
        _int("ahead"),
        _time("created_at"),
        _time("deleted_at"),
    )
    op.create_index("book_name", "book", ["workspace", "book_id"], unique=True)
    op.create_index("book_source", "book", ["workspace", "source_key"])
    op.create_table(
        "book_cover", _key("book_key"), _text("media_type"), sa.Column("data", sa.LargeBinary(), nullable=False)
    )
    op.create_table(
        "chapter",
        _key("chapter_key"),
        _int("book_key"),
        _text("chapter_id"),
        _int("position"),
        _text("content_hash"),
        _text("content"),
    )
    op.create_index("chapter_name", "chapter", ["book_key", "chapter_id"], unique=True)
    op.create_table(
        "scene",
        _key("scene_key"),
        _int("book_key"),
        _int("chapter_key"),
        _text("scene_id"),
        _int("position"),
        _text("content_hash"),
        _text("content"),
    )
    op.create_index("scene_name", "scene", ["chapter_key", "scene_id"])
    op.create_index("scene_order", "scene", ["book_key", "position"])
    op.create_table(
        "unit_take",
        sa.Column("book_key", KEY, primary_key=True),
        sa.Column("media", sa.Text(), primary_key=True),
        sa.Column("unit_id", sa.Text(), primary_key=True),
        _int("take"),
    )


def _assets() -> None:
    op.create_table(
        "asset",
        _key("id"),
        _int("book_key"),
        _int("chapter_key"),
        _int("scene_key"),
        _text("media"),
        sa.Column("lane", sa.Text(), nullable=False, server_default="system"),
        _workspace(),
        _small("rank"),
        _int("reading_order"),
        _small("state"),
        _small("waits"),
        _time("due_at"),
        _int("request_id"),
        _small("priority"),
        _int("plan_seq", 1),
        _int("planned_seq"),
        _int("fence"),
        _text("dispatch_id"),
        _text("made_by"),
        _text("wanted_hash"),
        _text("artifact_hash"),
        _text("artifact"),
        _text("reason"),
        _text("error"),
        postgresql_with=HOT,
    )
    op.create_index("asset_scene", "asset", ["scene_key", "media"], unique=True)
    op.create_index("asset_order", "asset", ["book_key", "reading_order", "id"])
    _index(
        "asset_due", "asset", ["media", "lane", "book_key", "rank", "reading_order", "id"], "state = 1 AND waits = 0"
    )
    _index("asset_later", "asset", ["due_at"], "state = 1 AND due_at IS NOT NULL")
    _index("asset_active", "asset", ["id"], "state = 2")
    _index("asset_busy", "asset", ["book_key", "media", "id"], "state IN (1, 2)")
    _index("asset_idle", "asset", ["book_key", "media", "state"], "state IN (0, 3, 5)")
    _index("asset_unplanned", "asset", ["book_key", "id"], "planned_seq < plan_seq AND state IN (2, 3, 4, 5)")
    _index("asset_no_worker", "asset", ["id"], "state = 1 AND (waits & 16) <> 0")
    op.create_table("asset_facts", _key("asset"), _text("facts"))
    op.create_table(
        "tally",
        sa.Column("book_key", KEY, primary_key=True),
        sa.Column("media", sa.Text(), primary_key=True),
        sa.Column("asset", KEY, primary_key=True),
        _int("parts"),
        _int("parts_ready"),
        _int("parts_lost"),
        _real("work"),
        _real("work_ready"),
        sqlite_with_rowid=False,
        postgresql_with=HOT,
    )
    op.create_table(
        "dispatch",
        sa.Column("asset", KEY, primary_key=True, autoincrement=False),
        sa.Column("fence", sa.BigInteger(), primary_key=True, autoincrement=False),
        _text("id"),
        _int("request_id"),
        _time("begun_at"),
        sa.Column("outcome", sa.Text(), nullable=True),
        _text("reason"),
        _time("ended_at"),
        _time("released_at"),
        sqlite_with_rowid=False,
        postgresql_with=HOT,
    )
    _index("dispatch_unreleased", "dispatch", ["asset", "fence"], "outcome IS NOT NULL AND released_at IS NULL")


def _parts() -> None:
    op.create_table(
        "part",
        sa.Column("asset", KEY, nullable=False),
        _text("hash"),
        _text("kind"),
        _int("ordinal"),
        _text("unit_id"),  # the first unit that it serves
        _small("wanted", 1),
        _small("state"),
        _int("plan_seq"),
        _workspace(),
        _text("artifact"),
        _int("attempts"),
        _int("infra_attempts"),
        _int("vanished"),
        _int("corrupt"),
        _real("not_before"),
        _int("last_claim"),
        _text("failure"),
        _text("code"),
        _text("message"),
        _text("worker"),
        _real("estimate_s"),
        _real("work"),
        _text("profile"),
        _small("pinned"),
        _small("supplied"),
        _small("outdated"),
        _text("own_hash"),  # of a pinned or supplied part: the hash that it would have had
        _int("take"),
        _time("unwanted_at"),
        _text("places"),  # [[ordinal, [unit id, …]], …]: where in the plan; more than one when two parts are equal
        _text("inputs"),
        _text("facts"),
        _text("params"),
        postgresql_with=HOT,
    )
    op.create_index("part_key", "part", ["asset", "hash"], unique=True)
    _index("part_reuse", "part", [sa.text("substr(hash, 1, 12)")], "state = 1")
    op.create_table(
        "artifact",
        sa.Column("checksum", sa.Text(), primary_key=True),
        _text("suffix"),
        _int("size"),
        _small("collecting"),
        _time("unused_since"),
        sqlite_with_rowid=False,
    )
    _index("artifact_unused", "artifact", ["unused_since"], "unused_since IS NOT NULL")


def _requests() -> None:
    op.create_table(
        "request",
        _key("id"),
        _workspace(),
        _int("book_key"),
        _text("scope"),
        _int("chapter_key"),
        _int("scene_key"),
        _text("chapter_id"),
        _text("scene_id"),
        _text("unit_ids"),
        _text("media"),
        _text("state"),
        _text("kind"),
        _small("priority"),
        _small("rebuild"),
        _int("ahead"),
        _int("position"),
        sa.Column("max_cost", sa.Double(), nullable=True),
        sa.Column("max_calls", sa.BigInteger(), nullable=True),
        _text("idempotency_key"),
        _int("cursor_order"),
        _int("cursor_asset"),
        _real("progress_floor"),
        _small("sweeping"),
        _time("created_at"),
        _time("ended_at"),
    )
    op.create_index("request_once", "request", ["workspace", "idempotency_key"], unique=True)
    _index("request_open", "request", ["book_key"], "state IN ('preparing', 'open', 'paused')")
    _index("request_sweeping", "request", ["id"], "sweeping = 1")
    op.create_table(
        "request_media",
        sa.Column("request_id", KEY, primary_key=True, autoincrement=False),
        sa.Column("media", sa.Text(), primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "request_exclusion",
        sa.Column("id", KEY, sa.Identity(), primary_key=True),
        _int("request_id"),
        _text("scope"),
        _int("chapter_key"),
        _int("scene_key"),
        _text("media"),
    )
    op.create_index("exclusion_of", "request_exclusion", ["request_id"])


def _journal() -> None:
    op.create_table(
        "journal",
        sa.Column("id", KEY, sa.Identity(), primary_key=True),
        _real("at"),
        sa.Column("asset", sa.BigInteger(), nullable=True),
        _text("type"),
        sa.Column("state", sa.SmallInteger(), nullable=True),
        _text("reason"),
        sa.Column("dispatch_id", sa.Text(), nullable=True),
        _text("actor"),
        _small("observed"),
        _text("details"),
    )
    op.create_index("journal_asset", "journal", ["asset", "id"])
    if op.get_bind().dialect.name == "postgresql":
        for statement in _MARK_WRITERS:
            op.execute(statement)


# A transaction that writes the journal says, before it takes its first id, behind which id its rows will stand: by a
# shared lock, which holds nobody up, can be seen by others, and goes when the transaction does (`storage.journal`).
_MARK_WRITERS = (
    """
    CREATE FUNCTION journal_mark() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(
            4611686018427387904 + (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM journal_id_seq)
        );
        RETURN NULL;
    END $$
    """,
    "CREATE TRIGGER journal_mark BEFORE INSERT ON journal FOR EACH STATEMENT EXECUTE FUNCTION journal_mark()",
)


def _index(name: str, table: str, columns: list[str] | list[sa.TextClause], condition: str) -> None:
    """A partial index: its condition stands there in literals, as in the statements that use it."""
    where = sa.text(condition)
    op.create_index(name, table, list(columns), sqlite_where=where, postgresql_where=where)


def _exports() -> None:
    op.create_table(
        "export",
        sa.Column("path", sa.Text(), primary_key=True),
        _text("content_key"),
        _int("size"),
        _int("modified_ns"),
        sqlite_with_rowid=False,
    )
