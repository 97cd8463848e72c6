"""A scene's one text, divided among its units."""

from hypothesis import given
from hypothesis import strategies as st

from animastor.books.model import Scene, SceneId, Unit, UnitAudio, UnitId, UnitType
from animastor.media.audio_alignment import divided, narrated

STORY = "The man went out. It rained. Then he came back, tired. “Hello,” she said. And all slept."
WORDS = "the man went out it rained then he came back hello she said"
some_words = st.lists(st.sampled_from(WORDS.split()), max_size=12)


def units(*texts: str) -> tuple[Unit, ...]:
    return tuple(Unit(UnitId(f"u{at}"), text) for at, text in enumerate(texts))


@given(st.lists(some_words, min_size=1, max_size=5), some_words)
def test_the_shares_are_the_whole_text_in_order(given_units: list[list[str]], words: list[str]) -> None:
    text = " ".join(words).capitalize() + "."
    assert "".join(divided(text, [" ".join(unit) for unit in given_units], "en")) == text


def test_each_unit_gets_what_its_words_align_with() -> None:
    assert divided(STORY, ["the man went", "hello she said"], "en") == [
        "The man went out. It rained. Then he came back, tired. ",
        "“Hello,” she said. And all slept.",
    ]


def test_a_text_that_aligns_with_none_joins_the_one_before() -> None:
    assert divided(STORY, ["the man", "nothing of this", "hello"], "en") == [
        "The man went out. It rained. Then he came back, tired. ",
        "",
        "“Hello,” she said. And all slept.",
    ]


def test_without_a_word_in_any_unit_sentences_are_dealt_out_evenly() -> None:
    shares = divided(STORY, ["", ""], "en")
    assert "".join(shares) == STORY
    assert all(len(share) > 25 for share in shares)


def test_only_a_scene_whose_text_says_more_than_its_units_is_divided() -> None:
    scene = Scene(SceneId("s"), units("the man went", "hello she said"), full_text=STORY)
    assert "".join(unit.text for unit in narrated(scene, "en")) == STORY
    copy = Scene(
        SceneId("s"), units("The man went out. It rained a bit.", "Then he came back, tired."), full_text=STORY[:54]
    )
    assert narrated(copy, "en") == copy.units


def test_units_that_have_their_own_speech_keep_it() -> None:
    unit = Unit(UnitId("u"), "Hi.", audio=UnitAudio("anna", "Hi."))
    assert narrated(Scene(SceneId("s"), (unit,), full_text=STORY), "en") == (unit,)


def test_typography_gets_no_share() -> None:
    title = Unit(UnitId("t"), "THE MAN", UnitType.TYPOGRAPHY)
    scene = Scene(SceneId("s"), (title, *units("the man")), full_text=STORY)
    assert narrated(scene, "en")[0] == title
    assert narrated(scene, "en")[1].text == STORY
