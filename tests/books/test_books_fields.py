"""Single fields of a book by the names of the vbook."""

from __future__ import annotations

import pytest

from animastor.books.fields import CHARACTER, SCENE, UNIT, FieldError, split_field, with_field
from animastor.books.model import Character, Scene, SceneId, SceneType, Unit, UnitId, UnitType

ONE = Unit(UnitId("u"), "said")


def test_a_place_may_hold_dots_and_a_value_anything() -> None:
    assert split_field("c.1/s.2/u.3.image.prompt=a = b.c") == ("c.1/s.2/u.3", "image.prompt", "a = b.c")
    assert split_field("1/2.location.id=") == ("1/2", "location.id", "")


@pytest.mark.parametrize("text", ["1/2/3.text", "1/2/3.colour=red", "text=x"])
def test_what_names_no_field_is_refused_with_those_that_there_are(text: str) -> None:
    with pytest.raises(FieldError):
        split_field(text)


@pytest.mark.parametrize(
    ("owner", "fields"), [(ONE, UNIT), (Scene(SceneId("s"), ()), SCENE), (Character("c"), CHARACTER)]
)
def test_each_field_changes_exactly_itself(owner: object, fields: dict[str, object]) -> None:
    seen = set()
    for field in fields:
        value = {"type": "dialogue"}.get(field, "other")
        changed = with_field(owner, field, value)
        assert changed != owner
        seen.add(repr(changed))
    assert len(seen) == len(fields)


def test_values_are_read_as_their_fields_want_them() -> None:
    assert with_field(ONE, "type", "dialogue").type is UnitType.DIALOGUE
    assert with_field(ONE, "image.text_render", "true").image.text_render is True
    assert with_field(Scene(SceneId("s"), ()), "participants", "ana, tom").participants == ("ana", "tom")
    assert with_field(Scene(SceneId("s"), ()), "type", "cover").type is SceneType.COVER
    with pytest.raises(FieldError, match="'loud' is none of typography"):
        with_field(ONE, "type", "loud")
    with pytest.raises(FieldError, match=r"a unit has no field 'location\.id'"):
        with_field(ONE, "location.id", "x")
