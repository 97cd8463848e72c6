"""The reasons and journal types of the program are those that the contract tells of: none more, none fewer."""

from __future__ import annotations

import re
from pathlib import Path

from animastor.engine.reasons import JournalType, Reason

DOCS = Path(__file__).parents[2] / "docs"
CONTRACT = (DOCS / "contract.md").read_text(encoding="utf-8")
# Words of that shape that are no reasons: fields, types, settings.
OTHERS = frozenset(
    {
        *("book_id", "chapter_id", "scene_id", "unit_id", "dispatch_id", "idempotency_key", "filename_prefix"),
        *("input_hash", "wanted_hash", "plan_seq", "planned_seq", "made_by", "released_at", "unused_since"),
        *("timeout_s", "max_cost", "max_calls", "chapters_order", "chapter_intro", "extra_data", "node_errors"),
    }
)


def test_each_reason_stands_in_the_table_and_the_table_names_no_other() -> None:
    table = CONTRACT.partition("### Reasons")[2].partition("\n## ")[0]
    named = [
        word
        for line in table.splitlines()
        if line.startswith("| `")
        for word in re.findall(r"`(\w+)(?::<media>)?`", line.split("|")[1])
    ]
    assert sorted(named) == sorted(map(str, Reason))


def test_what_the_contract_calls_a_reason_exists() -> None:
    words = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)(?::<media>)?`", CONTRACT))
    assert words - OTHERS <= set(map(str, Reason))
    assert words >= OTHERS, "this list names what the contract does not"


def test_each_type_of_journal_row_is_named() -> None:
    (told,) = re.findall(r"Types: `([A-Z_, ]+)`", CONTRACT)
    assert sorted(told.split(", ")) == sorted(map(str, JournalType))
