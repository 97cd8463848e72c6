"""Puts the Lua scripts together.

Each operation is a file in `lua/`; the pieces that several of them share are in `lua/shared/`. A line `-- uses: a, b`
names the pieces that a file needs. A script is: the limits as a Lua table, `begin.lua`, the pieces (each once, after
those that it needs itself), the operation. Comments and indentation are left out of what the server keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from hashlib import sha1
from importlib.resources import files
from typing import Any

from animastor.coordination.limits import Limits

USES = "-- uses:"


@dataclass(frozen=True, slots=True)
class Script:
    """An operation's text as the server gets it, and the SHA-1 by which it is called."""

    name: str
    text: str
    sha: str


def load_scripts(limits: Limits) -> Mapping[str, Script]:
    """Every operation by its name (`admit`, `renew`, …), with these limits in it."""
    return _scripts(_lua({field.name: getattr(limits, field.name) for field in fields(limits)}))


@lru_cache(maxsize=8)
def _scripts(limits: str) -> Mapping[str, Script]:
    head = f"local LIMITS = {limits}"
    return {name: _script(name, "\n".join([head, *pieces])) for name, pieces in _operations().items()}


def _script(name: str, text: str) -> Script:
    return Script(name, text, sha1(text.encode(), usedforsecurity=False).hexdigest())


@cache
def _operations() -> Mapping[str, Sequence[str]]:
    """What each operation is made of, in order."""
    folder = files(__package__).joinpath("lua")
    shared = {piece.name: piece.read_text("utf-8") for piece in folder.joinpath("shared").iterdir()}
    texts = {file.name: file.read_text("utf-8") for file in folder.iterdir() if file.name.endswith(".lua")}
    return {name.removesuffix(".lua"): _pieces(text, shared) for name, text in sorted(texts.items())}


def _pieces(operation: str, shared: Mapping[str, str]) -> Sequence[str]:
    pieces: dict[str, str] = {}
    for used in ("begin", *_uses(operation)):
        _add(used, shared, pieces)
    return [*map(_bare, pieces.values()), _bare(operation)]


def _add(name: str, shared: Mapping[str, str], pieces: dict[str, str]) -> None:
    """A piece after those that it uses, unless it is there."""
    if name in pieces:
        return
    text = shared[f"{name}.lua"]
    for used in _uses(text):
        _add(used, shared, pieces)
    pieces[name] = text


def _uses(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.startswith(USES):
            yield from (name.strip() for name in line.removeprefix(USES).split(","))


def _bare(text: str) -> str:
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("--"))


def _lua(value: Any) -> str:
    """A number, or a mapping of names to numbers, as Lua reads it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"[{_quoted(name)}] = {_lua(number)}" for name, number in value.items()) + "}"
    return repr(value)


def _quoted(name: str) -> str:
    return '"' + "".join(f"\\{byte:03d}" for byte in name.encode()) + '"'
