"""What a fault is: text of the program that is replaced, and who must notice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A fault: what it is called, and what it makes of a file under `src/animastor`.

    `tests`: paths under `tests`, as pytest takes them, of which one must fail with it. Without any, the simulator must
    find a seed. `also`: what is replaced in other files, as (file, old, new).
    """

    name: str
    file: str
    changes: tuple[tuple[str, str], ...]
    tests: tuple[str, ...] = ()
    also: tuple[tuple[str, str, str], ...] = ()


def fault(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    """A fault of one replacement."""
    return Mutant(name, file, ((old, new),), tests)
