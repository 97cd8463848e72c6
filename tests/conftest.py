"""How hypothesis runs in every test: unhurried, and with what is needed to repeat a failure.

Modules that tests of several layers share (`virtual_clock`) lie beside this file, which is on the import path.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("animastor", deadline=None, print_blob=True)
settings.load_profile("animastor")
