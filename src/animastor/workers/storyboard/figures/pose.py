"""What a figure does: where it looks, how it stands, what its arms do, what it holds, what its face shows."""

from __future__ import annotations

from dataclasses import dataclass

from animastor.workers.storyboard.colour import RGB


@dataclass(frozen=True, slots=True)
class Pose:
    """`turn` is -1 (looks left) to 1 (right). Arms are named gestures; `holds` is a thing, or empty."""

    turn: float = 0.4
    stance: str = "stand"  # stand, sit, kneel, walk, sleep, leap
    gesture: str = "rest"  # rest, speak, point, hold, knit, think, raise, hips, wave
    holds: str = ""
    face: str = "calm"  # calm, happy, sad, worried, angry, amazed, asleep, curious, shy
    speaking: bool = False
    tone: RGB | None = None  # the colour of what is held, when it is told
    back: bool = False  # seen from behind


# Arms as angles in turns from hanging straight down, outward positive: (upper, lower) for the near and the far arm.
ARMS: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {
    "rest": ((0.035, 0.01), (0.035, 0.01)),
    "speak": ((0.09, 0.33), (0.04, 0.02)),
    "point": ((0.185, 0.085), (0.04, 0.01)),
    "hold": ((0.085, -0.44), (0.06, -0.34)),
    "knit": ((0.10, -0.37), (0.10, -0.37)),
    "think": ((0.06, -0.40), (0.03, -0.24)),
    "raise": ((0.27, 0.14), (0.04, 0.02)),
    "hips": ((0.13, -0.24), (0.13, -0.24)),
    "wave": ((0.20, 0.27), (0.03, 0.01)),
}
