"""What parent and child say to each other arrives whole, however it is cut on the way."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from animastor.media.types import Facts
from animastor.workers.frames import LONGEST, FrameError, Unpacker, pack

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(messages=st.lists(JSON, max_size=5), sizes=st.lists(st.integers(1, 50), min_size=1))
def test_messages_arrive_as_they_were_however_they_are_cut(messages: list[Any], sizes: list[int]) -> None:
    data, unpacker, heard = b"".join(map(pack, messages)), Unpacker(), []
    while data:
        size = sizes[len(data) % len(sizes)]
        heard += unpacker.feed(data[:size])
        data = data[size:]
    assert heard == messages


def test_values_of_backends_are_told_as_plain_ones() -> None:
    (told,) = Unpacker().feed(
        pack(
            {
                "numbers": [np.float32(0.5), np.int64(7), np.bool_(True), np.arange(3)],
                "path": Path("/a/b"),
                "facts": Facts(duration=1.5),
                "mapping": MappingProxyType({"k": {2, 1}}),
            }
        )
    )
    assert told["numbers"] == [0.5, 7, True, [0, 1, 2]]
    assert (told["path"], told["facts"]["duration"], told["mapping"]) == ("/a/b", 1.5, {"k": [1, 2]})


def test_value_that_cannot_be_told_is_named() -> None:
    with pytest.raises(TypeError, match=r"not JSON serializable|cannot be told"):
        pack({"what": object()})


@pytest.mark.parametrize("noise", [b"Traceback (most recent call last):", b"\x00\x00\x00\x03abc"])
def test_what_is_no_message_is_refused(noise: bytes) -> None:
    with pytest.raises(FrameError):
        list(Unpacker().feed(noise))


def test_length_beyond_the_limit_is_refused_before_it_is_waited_for() -> None:
    with pytest.raises(FrameError):
        list(Unpacker().feed((LONGEST + 1).to_bytes(4, "big")))
