"""The light of a picture: sky, sun or moon, the colour that light gives to things, haze, from time, weather and mood.

Everything painted asks the light for its colour: `seen(colour, depth)` is how a thing of that colour looks at that
depth (0 at hand, 1 at the horizon).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from animastor.workers.storyboard.colour import RGB, darker, greyer, lighter, mix, rgb, times

TIMES = ("dawn", "day", "golden", "dusk", "night")
WEATHERS = ("clear", "cloudy", "rain", "storm", "snow", "fog", "mist", "wind")
FOGS = {"fog": 0.78, "mist": 0.45}  # how dense each is when nothing more is said
MOODS = ("calm", "warm", "hopeful", "gloomy", "tense", "magic")


@dataclass(frozen=True, slots=True)
class Fog:
    """How dense fog is, 0..1, and whether it is breaking up."""

    density: float
    torn: bool = False


@dataclass(frozen=True, slots=True)
class Light:
    """How a picture is lit. `sky` goes from the zenith to the horizon; `tint` multiplies the colours of things."""

    time: str
    weather: str
    mood: str
    sky: tuple[RGB, RGB, RGB]
    tint: tuple[float, float, float]
    key: RGB  # the colour of the sun, the moon or the lamp that models figures
    haze: RGB
    thickness: float  # how much haze there is at the horizon, 0..1
    disc: str  # "sun", "moon" or ""
    height: float  # of the disc above the horizon, as a share of the sky
    stars: float  # how many there are, 0..1
    lamps: bool  # are lamps and windows lit?
    shade: float  # darkness of the vignette and of shadows, 0..1
    fog: float = 0.0  # thickness of the drifts that lie in front of things, 0..1
    bank: float = 0.0  # how dense a bank of fog hides what is far: 1 leaves only what is at hand
    torn: bool = False  # the bank is breaking up: it has holes

    @property
    def dark(self) -> bool:
        """Whether bright things stand out and dark text does not."""
        return self.time in ("night", "dusk")

    def seen(self, colour: RGB, depth: float = 0.0) -> RGB:
        """How a thing of this colour looks at this depth."""
        return mix(times(colour, self.tint), self.haze, self.hidden(depth))

    def hidden(self, depth: float) -> float:
        """The share of a thing at this depth that haze or fog takes away; fog takes it by the law of extinction."""
        far = max(0.0, depth)
        swallowed = 1.0 - math.exp(-3.2 * math.pow(self.bank, 1.4) * far)
        return min(0.97, max(self.thickness * math.pow(far, 0.85), swallowed))

    def figure(self, colour: RGB) -> RGB:
        """How a thing looks that the eye is meant to find: lit a little better than what is around it."""
        return times(colour, tuple(0.42 + 0.58 * part for part in self.tint))  # type: ignore[arg-type]


def _sky(zenith: str, middle: str, horizon: str) -> tuple[RGB, RGB, RGB]:
    return rgb(zenith), rgb(middle), rgb(horizon)


_BY_TIME = {
    "dawn": Light(
        "dawn", "clear", "calm", _sky("#5579bd", "#f0a48e", "#ffd67f"), (0.97, 0.85, 0.78), rgb("#ffcf8a"),
        rgb("#f3bd94"), 0.62, "sun", 0.10, 0.0, False, 0.25,
    ),
    "day": Light(
        "day", "clear", "calm", _sky("#4a97d6", "#86c3e8", "#dff0f0"), (1.0, 1.0, 0.98), rgb("#fff4d6"),
        rgb("#cfe4ea"), 0.75, "sun", 0.72, 0.0, False, 0.18,
    ),
    "golden": Light(
        "golden", "clear", "calm", _sky("#5b7fb6", "#f0b27a", "#ffd98c"), (1.0, 0.86, 0.70), rgb("#ffc069"),
        rgb("#f4c48e"), 0.78, "sun", 0.22, 0.0, False, 0.28,
    ),
    "dusk": Light(
        "dusk", "clear", "calm", _sky("#252a5e", "#7d5590", "#f08a62"), (0.66, 0.56, 0.74), rgb("#ffa372"),
        rgb("#94698f"), 0.78, "sun", 0.02, 0.35, True, 0.40,
    ),
    "night": Light(
        "night", "clear", "calm", _sky("#0a1030", "#182a58", "#38528a"), (0.36, 0.42, 0.64), rgb("#bcd0ff"),
        rgb("#2c4070"), 0.80, "moon", 0.62, 1.0, True, 0.50,
    ),
}  # fmt: skip


def light_of(time: str, weather: str = "clear", mood: str = "calm", fog: Fog | None = None) -> Light:
    """The light of a time of day, changed by weather and then by mood. Unknown words change nothing.

    `fog` says how dense fog or mist is; by default as the word alone means it.
    """
    light = _WEATHERS.get(weather, _same)(_BY_TIME.get(time, _BY_TIME["day"]))
    if weather in FOGS:
        light = _banked(light, fog or Fog(FOGS[weather]))
    return _MOODS.get(mood, _same)(light)


def _same(light: Light) -> Light:
    return light


def _scaled(light: Light, factor: tuple[float, float, float]) -> tuple[float, float, float]:
    return light.tint[0] * factor[0], light.tint[1] * factor[1], light.tint[2] * factor[2]


def _overcast(light: Light, share: float) -> Light:
    """A covered sky: less colour, no disc, no stars, an even light."""
    grey = greyer(mix(light.sky[1], light.sky[0], 0.4), 0.75)
    sky = tuple(mix(greyer(colour, share * 0.8), grey, share * 0.6) for colour in light.sky)
    return replace(
        light,
        sky=sky,  # type: ignore[arg-type]
        disc="",
        stars=light.stars * (1 - share),
        haze=mix(light.haze, grey, 0.6),
        thickness=min(0.95, light.thickness + 0.1),
    )


def _cloudy(light: Light) -> Light:
    return replace(_overcast(light, 0.5), weather="cloudy", tint=_scaled(light, (0.95, 0.96, 0.98)))


def _rain(light: Light) -> Light:
    wet = _overcast(light, 0.85)
    sky = tuple(darker(colour, 0.16) for colour in wet.sky)
    return replace(wet, weather="rain", sky=sky, tint=_scaled(light, (0.80, 0.86, 0.92)), fog=0.12)  # type: ignore[arg-type]


def _storm(light: Light) -> Light:
    wild = _rain(light)
    sky = tuple(darker(colour, 0.26) for colour in wild.sky)
    tint = _scaled(light, (0.72, 0.78, 0.88))
    return replace(wild, weather="storm", sky=sky, tint=tint, shade=min(0.55, light.shade + 0.15), lamps=True)  # type: ignore[arg-type]


def _snow(light: Light) -> Light:
    cold = _overcast(light, 0.55)
    sky = tuple(mix(colour, light.haze if light.dark else rgb("#e6edf4"), 0.35) for colour in cold.sky)
    return replace(cold, weather="snow", sky=sky, tint=_scaled(light, (0.96, 1.0, 1.06)), fog=0.10)  # type: ignore[arg-type]


def _fog(light: Light) -> Light:
    """Fog has a pale grey of its own, in which something of the sky's colour is left."""
    grey = mix(lighter(greyer(light.haze, 0.45), 0.20 if light.dark else 0.42), light.sky[2], 0.15)
    return replace(light, weather="fog", haze=grey, thickness=0.97)


def _mist(light: Light) -> Light:
    """Thin mist: it softens what is far and lies low, and lets the colours of the sky through."""
    pale = lighter(greyer(light.haze, 0.20), 0.12 if light.dark else 0.30)
    return replace(light, weather="mist", haze=pale, thickness=min(0.90, light.thickness + 0.08))


def _banked(light: Light, fog: Fog) -> Light:
    """The light in a bank of fog: no star, the less of the sky's colours the denser it is."""
    dense = fog.density
    shares = (0.85 * dense, 0.95 * dense, min(1.0, 0.5 + 0.5 * dense))
    sky = tuple(mix(colour, light.haze, share) for colour, share in zip(light.sky, shares, strict=True))
    return replace(
        light, sky=sky, stars=0.0, fog=0.12 + 0.42 * dense, bank=dense, torn=fog.torn,  # type: ignore[arg-type]
    )  # fmt: skip


def _wind(light: Light) -> Light:
    return replace(light, weather="wind")


_WEATHERS = {
    "cloudy": _cloudy,
    "rain": _rain,
    "storm": _storm,
    "snow": _snow,
    "fog": _fog,
    "mist": _mist,
    "wind": _wind,
}


def _warm(light: Light) -> Light:
    return replace(light, mood="warm", tint=_scaled(light, (1.06, 1.0, 0.92)), key=mix(light.key, rgb("#ffb45e"), 0.3))


def _hopeful(light: Light) -> Light:
    sky = tuple(lighter(colour, 0.05) for colour in light.sky)
    return replace(light, mood="hopeful", sky=sky, tint=_scaled(light, (1.05, 1.03, 0.98)), shade=light.shade * 0.7)  # type: ignore[arg-type]


def _gloomy(light: Light) -> Light:
    sky = tuple(greyer(darker(colour, 0.08), 0.35) for colour in light.sky)
    tint = _scaled(light, (0.86, 0.90, 0.98))
    return replace(light, mood="gloomy", sky=sky, tint=tint, shade=min(0.75, light.shade + 0.12))  # type: ignore[arg-type]


def _tense(light: Light) -> Light:
    sky = (darker(light.sky[0], 0.30), mix(light.sky[1], rgb("#6b3a4a"), 0.30), mix(light.sky[2], rgb("#b4553f"), 0.30))
    return replace(light, mood="tense", sky=sky, tint=_scaled(light, (0.94, 0.84, 0.84)), shade=light.shade + 0.2)


def _magic(light: Light) -> Light:
    sky = (mix(light.sky[0], rgb("#3b2a7a"), 0.4), mix(light.sky[1], rgb("#8a5fc0"), 0.35), light.sky[2])
    stars = 0.0 if light.bank else max(light.stars, 0.25)
    return replace(light, mood="magic", sky=sky, key=mix(light.key, rgb("#b8f0ff"), 0.4), stars=stars)


_MOODS = {
    "warm": _warm,
    "hopeful": _hopeful,
    "gloomy": _gloomy,
    "tense": _tense,
    "magic": _magic,
}
