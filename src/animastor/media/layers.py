"""The layer config of a book: which media types are made, how long a job may be without progress, the window. Pure.

`<media>_enabled` (true), `<media>_timeout_minutes` (default and range of the media type's declaration), `window` (0:
the whole scope) (CONTRACT 15). A book brings its own with its content (`layer_config`); what a person sets for a book
comes before that, and stays when the book is edited.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from animastor.media.registry import Registry

Value: TypeAlias = "bool | int"
Layers: TypeAlias = Mapping[str, Value]

WINDOW: Final = "window"
MOST_WINDOW: Final = 10_000  # scenes
_WORDS: Final = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


class LayerError(ValueError):
    """Raised for a setting that there is not, or a value out of its range; the text names what there is."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One setting: its default, and the least and most that it may be (none for a switch)."""

    name: str
    default: Value
    least: int = 0
    most: int = 0

    @property
    def is_switch(self) -> bool:
        """Whether it is true or false."""
        return isinstance(self.default, bool)

    @property
    def range_text(self) -> str:
        """What it may be, in words."""
        return "true or false" if self.is_switch else f"{self.least} to {self.most}"

    def admits(self, value: Any) -> bool:
        """Whether it may be this."""
        if self.is_switch or isinstance(value, bool):
            return self.is_switch and isinstance(value, bool)
        return isinstance(value, int) and self.least <= value <= self.most


def table(registry: Registry) -> dict[str, Layer]:
    """All settings of this installation, by name."""
    found = []
    for media in registry:
        default, least, most = media.timeout_minutes
        found += [Layer(f"{media.name}_enabled", True), Layer(f"{media.name}_timeout_minutes", default, least, most)]
    found.append(Layer(WINDOW, 0, 0, MOST_WINDOW))
    return {one.name: one for one in found}


def parse(registry: Registry, text: str) -> tuple[str, Value | None]:
    """`name=value` as a person writes it; None for `default`. Raises `LayerError`."""
    name, equals, said = (one.strip() for one in text.partition("="))
    known = table(registry)
    if not equals:
        raise LayerError(f"{text!r} is not NAME=VALUE")
    if name not in known:
        raise LayerError(f"{name!r} is no setting of layers: there are {', '.join(known)}")
    if said.lower() == "default":
        return name, None
    value: Any = _WORDS.get(said.lower(), said) if known[name].is_switch else int(said) if said.isdigit() else said
    require(registry, name, value)
    return name, value


def require(registry: Registry, name: str, value: Any) -> None:
    """Raises `LayerError` for what is no setting or out of its range."""
    known = table(registry)
    if name not in known:
        raise LayerError(f"{name!r} is no setting of layers: there are {', '.join(known)}")
    if not known[name].admits(value):
        raise LayerError(f"{name} is {known[name].range_text}, not {value}")


def effective(registry: Registry, of_book: Mapping[str, Any], set_: Layers) -> dict[str, Value]:
    """What holds: set by a person, else the book's own where it is within its range, else the default."""
    held: dict[str, Value] = {}
    for layer in table(registry).values():
        said = [value for value in (set_.get(layer.name), of_book.get(layer.name)) if layer.admits(value)]
        held[layer.name] = said[0] if said else layer.default  # type: ignore[assignment]
    return held


def switched_off(layers: Layers, registry: Registry) -> tuple[str, ...]:
    """The media types that are switched off."""
    return tuple(name for name in registry.names if layers.get(f"{name}_enabled") is False)


def timeout_s(layers: Layers, media: str, default: float) -> float:
    """How long a job of a media type may be without progress, in seconds."""
    minutes = layers.get(f"{media}_timeout_minutes")
    return default if minutes is None else 60.0 * minutes
