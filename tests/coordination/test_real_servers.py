"""Which real servers the tests beside this file run on."""

from __future__ import annotations

import pytest

from coordination_servers import KINDS, missing


@pytest.mark.parametrize("kind", KINDS)
def test_the_store_is_tested_on_a_real_server(kind: str):
    if reason := missing(kind):
        pytest.skip(f"no test of the coordination store runs on {kind}: {reason}")
