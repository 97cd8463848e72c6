"""The media types of an installation, and what follows from their declarations. The only list of them there is.

A fourth media type is one module and one entry point in the group `animastor.media`, whose value is a `MediaType`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import entry_points

from animastor.media.types import MediaType, Profile


class Registry:
    """Media types by name, in an order in which each stands behind those that it requires or follows."""

    def __init__(self, types: Iterable[MediaType]) -> None:
        """Raises `ValueError` for a name declared twice, an unknown dependency, or a circle."""
        given: dict[str, MediaType] = {}
        for media in types:
            if media.name in given:
                raise ValueError(f"the media type {media.name!r} is declared twice")
            given[media.name] = media
        self._types: dict[str, MediaType] = {}
        for name in given:
            self._place(name, given, ())

    def _place(self, name: str, given: dict[str, MediaType], above: tuple[str, ...]) -> None:
        if name in self._types:
            return
        if name in above:
            raise ValueError(f"media types wait for each other in a circle: {' → '.join((*above, name))}")
        if name not in given:
            raise ValueError(f"the media type {above[-1]!r} needs {name!r}, which is not declared")
        for other in (*given[name].requires, *given[name].follows):
            self._place(other, given, (*above, name))
        self._types[name] = given[name]

    def __getitem__(self, name: str) -> MediaType:
        return self._types[name]

    def __contains__(self, name: object) -> bool:
        return name in self._types

    def __iter__(self) -> Iterator[MediaType]:
        return iter(self._types.values())

    @property
    def names(self) -> tuple[str, ...]:
        """The names, dependencies first."""
        return tuple(self._types)

    @property
    def profiles(self) -> dict[str, Profile]:
        """The profiles of this installation, as new books store them (`ContentSettings.profiles`)."""
        return {key: profile for media in self for key, profile in media.profiles.items()}

    def dependants(self, name: str) -> tuple[str, ...]:
        """The media types whose plans read this one: those that require or follow it."""
        return tuple(other.name for other in self if name in other.requires or name in other.follows)

    def requiring(self, name: str) -> tuple[str, ...]:
        """The media types that cannot be made without this one, at any distance."""
        found: list[str] = []
        for other in self:
            if any(need == name or need in found for need in other.requires):
                found.append(other.name)
        return tuple(found)

    def closed(self, names: Iterable[str]) -> tuple[str, ...]:
        """These media types and all that they require, dependencies first. Raises `KeyError` for an unknown one."""
        wanted: set[str] = set()
        todo = list(names)
        while todo:
            name = todo.pop()
            if name not in wanted:
                wanted.add(name)
                todo.extend(self._types[name].requires)
        return tuple(name for name in self._types if name in wanted)


def installed() -> Registry:
    """The built-in media types and those that installed plugins declare."""
    return Registry(point.load() for point in sorted(entry_points(group="animastor.media"), key=lambda p: p.name))
