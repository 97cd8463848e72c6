"""Keeps a `make` at work for as long as a test likes."""

from __future__ import annotations

from place import Place

from animastor.media.ffmpeg import program


class Gate:
    """An ffmpeg that waits until it is let go: so a `make` stays at work for as long as a test likes."""

    def __init__(self, place: Place) -> None:
        self._go = place.folder / "go"
        wrapper = place.folder / "ffmpeg"
        waiting = f'while [ ! -e "{self._go}" ]; do sleep 0.05; done'
        wrapper.write_text(f'#!/bin/sh\n{waiting}\nexec "{program()}" "$@"\n')
        wrapper.chmod(0o755)
        self.environment = {"ANIMASTOR_FFMPEG": str(wrapper)}

    def open(self) -> None:
        """Let it go."""
        self._go.touch()
