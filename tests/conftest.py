"""How hypothesis runs in every test: unhurried, and with what is needed to repeat a failure; what takes long, first.

Modules that tests of several layers share (`virtual_clock`) lie beside this file, which is on the import path.
"""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of processes would each compile the whole program

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as of a command that a script starts in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what tests start would ignore it too

settings.register_profile(  # a busy machine draws slowly
    "animastor", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("animastor")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long begins first, so that at the end no process works alone on something long."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
