"""A whole novel as an audiobook, timed and checked: what `make novel` runs.

Prints one table: import, first part, whole run, peak memory of the process tree (PSS), and then what was checked of
the result: chapters, words, speed and silence of each chunk. Exits with 1 when a check fails.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import psutil

from animastor.books.importers import load

NOVEL = "love-among-the-chickens.epub"
PROGRAM = (sys.executable, "-m", "animastor")
LONGEST_SILENCE_S = 1.5
SILENT = 10 ** (-50 / 20)  # of full scale


class Memory(threading.Thread):
    """The highest PSS of a process tree, sampled."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._root = psutil.Process(pid)
        self.peak = 0

    def run(self) -> None:
        while self._root.is_running() and self._root.status() != psutil.STATUS_ZOMBIE:
            total = 0
            for process in [self._root, *self._root.children(recursive=True)]:
                try:
                    total += process.memory_full_info().pss
                except psutil.Error:
                    continue
            self.peak = max(self.peak, total)
            time.sleep(0.3)


def timed_import(novel: Path, home: Path) -> float:
    """Seconds of `animastor import`, the start of the program included."""
    started = time.monotonic()
    subprocess.run([*PROGRAM, "import", str(novel), "--home", str(home)], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - started


def make(novel: Path, home: Path, out: Path) -> dict[str, float]:
    """Run `animastor make` and read its events."""
    command = [*PROGRAM, "make", str(novel), "--media", "audio", "--home", str(home), "--out", str(out), "--json"]
    started = time.monotonic()
    first = parts_done = 0.0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        memory = Memory(process.pid)
        memory.start()
        assert process.stdout is not None
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "progress":
                ready = event["media"].get("audio", {}).get("parts_ready", 0)
                if ready and not first:
                    first = time.monotonic() - started
                if event["fraction"] >= 0.99 and not parts_done:
                    parts_done = time.monotonic() - started
            elif event["event"] == "note":
                print("   ", event["message"])
    if process.returncode:
        sys.exit(f"make ended with exit code {process.returncode}")
    return {
        "first part": first,
        "all parts": parts_done,
        "whole run": time.monotonic() - started,
        "peak PSS MiB": memory.peak / 2**20,
    }


def chunks(home: Path) -> Iterator[dict[str, Any]]:
    """Every wanted chunk of speech in reading order: its text and file."""
    database = sqlite3.connect(f"file:{home / 'animastor.db'}?mode=ro", uri=True)
    rows = database.execute(
        "SELECT p.params, p.artifact, p.kind, p.places, a.reading_order FROM part p JOIN asset a ON a.id = p.asset"
        " WHERE a.media = 'audio' AND p.wanted = 1 AND p.kind <> 'merge'"
    )
    found = []
    for params, artifact, kind, places, order in rows:
        told = json.loads(params)
        for ordinal, units in json.loads(places):
            found.append((order, ordinal, units, kind, told, artifact))
    for _, _, units, kind, told, artifact in sorted(found, key=lambda row: row[:2]):
        path = next((home / "artifacts" / artifact[:2]).glob(f"{artifact}*"))
        yield {"kind": kind, "text": told.get("text", ""), "path": path, "units": units}


def samples(path: Path) -> tuple[np.ndarray[Any, Any], int]:
    """The decoded samples of a sound file, mono, and their rate."""
    with av.open(str(path)) as container:
        rate = container.streams.audio[0].rate
        blocks = [frame.to_ndarray() for frame in container.decode(audio=0)]
    data = np.concatenate(blocks, axis=1)[0]
    scale = np.iinfo(data.dtype).max if np.issubdtype(data.dtype, np.integer) else 1.0
    return data.astype(np.float32) / scale, rate


def longest_silence(sound: np.ndarray[Any, Any], rate: int) -> float:
    """Seconds of the longest stretch below -50 dBFS that has sound on both sides."""
    block = rate // 100
    loud = np.flatnonzero(np.abs(sound[: len(sound) // block * block]).reshape(-1, block).max(axis=1) > SILENT)
    return float(np.diff(loud).max() - 1) / 100 if len(loud) > 1 else 0.0


def squeezed(text: str) -> str:
    """Text without white space."""
    return "".join(text.split())


def check_words(novel: Path, found: list[dict[str, Any]]) -> str:
    """Every word of the text is spoken once, in order."""
    book = load(novel)
    wanted = squeezed("".join(unit.text for unit in book.units()))
    spoken = squeezed("".join(chunk["text"] for chunk in found))
    return f"{len(spoken)} characters, as in the book" if wanted == spoken else "FAILED: the texts differ"


def check_chunks(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Speed and silence of each chunk of speech."""
    speeds, silences, slow = [], [], []
    for chunk in found:
        if chunk["kind"] != "speech":
            continue
        sound, rate = samples(chunk["path"])
        speed = len(chunk["text"]) / (len(sound) / rate)
        speeds.append(speed)
        silences.append(longest_silence(sound, rate))
        if not 8 <= speed <= 28:
            slow.append(f"{speed:.1f}/s {chunk['text'][:40]!r}")
    speed_text = f"{min(speeds):.1f} to {max(speeds):.1f} characters a second in {len(speeds)} chunks"
    silence_text = f"{max(silences):.2f} s at most"
    return [
        ("speed", speed_text if not slow else f"FAILED for {len(slow)}: {'; '.join(slow[:8])} ({speed_text})"),
        ("silence inside", silence_text if max(silences) <= LONGEST_SILENCE_S else f"FAILED: {silence_text}"),
    ]


def check_chapters(home: Path, book: Path) -> list[tuple[str, str]]:
    """Chapters of the M4B against the sum of the scenes' measured durations."""
    database = sqlite3.connect(f"file:{home / 'animastor.db'}?mode=ro", uri=True)
    rows = database.execute(
        "SELECT c.position, f.facts FROM asset a JOIN asset_facts f ON f.asset = a.id"
        " JOIN chapter c ON c.chapter_key = a.chapter_key WHERE a.media = 'audio' ORDER BY a.reading_order, a.id"
    )
    starts: dict[int, float] = {}
    at = 0.0
    for position, facts in rows:
        starts.setdefault(position, at)
        at += json.loads(facts)["duration"]
    with av.open(str(book)) as container:
        chapters = [each["start"] * float(each["time_base"]) for each in container.chapters()]
        duration = float(container.duration or 0) / av.time_base
    worst = max(abs(a - b) for a, b in zip(sorted(starts.values()), chapters, strict=True))
    text = f"{len(chapters)}, at most {worst * 1000:.0f} ms off"
    return [
        ("length", f"{duration / 3600:.2f} h ({book.stat().st_size / 1e6:.0f} MB)"),
        ("chapters", text if worst < 0.1 else f"FAILED: {text}"),
    ]


def main() -> None:
    """Measure, check, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--books", type=Path, default=Path("../shared/books"))
    parser.add_argument("--home", type=Path, help="keep the home here (default: a folder that is removed)")
    parser.add_argument("--draw", type=int, default=20, help="how many chunks to draw for listening")
    parser.add_argument("--seed", type=int, default=20)
    asked = parser.parse_args()
    novel = asked.books / NOVEL
    if not novel.exists():
        sys.exit(f"{novel} is not there; name the folder of the real books with --books (or BOOKS=… make novel)")
    with tempfile.TemporaryDirectory() as folder:
        home = asked.home or Path(folder) / "home"
        out = Path(folder) / "out"
        table = [("import", f"{timed_import(novel, Path(folder) / 'import'):.2f} s")]
        measured = make(novel, home, out)
        table += [(name, f"{value:.0f}" if "MiB" in name else f"{value:.1f} s") for name, value in measured.items()]
        found = list(chunks(home))
        table += [("words", check_words(novel, found)), *check_chunks(found)]
        table += check_chapters(home, next(out.glob("*.m4b")))
        width = max(len(name) for name, _ in table)
        for name, value in table:
            print(f"{name:<{width}}  {value}")
        drawn = random.Random(asked.seed).sample([chunk for chunk in found if chunk["kind"] == "speech"], asked.draw)
        print(f"\ndrawn with seed {asked.seed}:")
        for chunk in drawn:
            print(f"  {chunk['path'].name[:12]}  {chunk['text'][:90]}")
        if any("FAILED" in value for _, value in table):
            sys.exit(1)


if __name__ == "__main__":
    main()
