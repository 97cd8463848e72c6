"""The entrance of the program `animastor`: from here on signals are answered; the rest comes after.

What the options are is in `commands.line`, what they do in the other modules of `commands`.
"""

from __future__ import annotations

from animastor import signals


def main() -> None:
    """Run the command line and exit."""
    signals.from_the_start()
    from animastor.commands.line import main as line

    line()
