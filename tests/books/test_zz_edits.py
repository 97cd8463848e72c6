import test_books_align as m
from hypothesis import given, settings

f = m.test_any_edits_keep_the_text_the_ids_and_are_stable.hypothesis.inner_test


@settings(max_examples=4000, deadline=None, print_blob=True)
@given(m.edits)
def test_more(changes):
    f(changes)
