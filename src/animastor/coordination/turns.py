"""What one process at a time does: a turn is taken for a while, kept, and ended. Pure (CONTRACT 11, single flight)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class _Turn:
    who: str
    until: float
    asked: bool = False  # somebody wanted it since it was taken


class Turns:
    """Who has which turn. `who` is a word that is used for one turn only, so that it is the fence."""

    def __init__(self) -> None:
        self._turns: dict[str, _Turn] = {}

    def take(self, name: str, who: str, seconds: float, now: float) -> float:
        """0 when it is taken; else the seconds until another's turn is over."""
        turn = self._of(name, now)
        if turn is not None and turn.who != who:
            turn.asked = True
            return turn.until - now
        self._turns[name] = _Turn(who, now + seconds, turn is not None and turn.asked)
        return 0.0

    def keep(self, name: str, who: str, seconds: float, now: float) -> bool:
        """Whether it still is this one's turn; then for so long from now on."""
        turn = self._of(name, now)
        if turn is None or turn.who != who:
            return False
        turn.until = now + seconds
        return True

    def end(self, name: str, who: str, now: float) -> bool:
        """Let go of it; whether somebody asked for it meanwhile. Another's turn is left alone."""
        turn = self._of(name, now)
        if turn is None or turn.who != who:
            return False
        del self._turns[name]
        return turn.asked

    def _of(self, name: str, now: float) -> _Turn | None:
        turn = self._turns.get(name)
        return turn if turn is not None and turn.until > now else None
