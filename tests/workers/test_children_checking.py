"""Bytes are decoded in a child, many at once, and one that a decoder does not survive harms no other."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from children_kit import HERE, ignore
from PIL import Image

from animastor.media import ffmpeg
from animastor.media.registry import Registry
from animastor.media.types import Facts, MediaType, Planned, Structure
from animastor.protocol import FailureType
from animastor.workers import checking
from animastor.workers.backend import BackendError, Produced, Progress
from animastor.workers.checking import ChildChecker
from animastor.workers.children import Children
from animastor.workers.work import Work


def of_the_ordered_width(structure: Structure, facts: Facts) -> str | None:
    """The check of the test's media type."""
    ordered = structure["width"]
    return None if facts.width == ordered else f"it is {facts.width} wide, ordered was {ordered}"


MEDIA = Registry(
    [
        MediaType(
            name="picture",
            plan=lambda _: Planned((), {}, ""),
            check=of_the_ordered_width,
            facts_of=lambda _parts, _merged: {},
            suffixes={},
        )
    ]
)


class Counting:
    """Children that count the pieces of work."""

    def __init__(self, children: Children) -> None:
        self.children, self.works = children, 0

    @property
    def count(self) -> int:
        return self.children.count

    async def run(self, work: Work, progress: Progress) -> Produced:
        self.works += 1
        return await self.children.run(work, progress)


@pytest.fixture
async def counting(tmp_path: Path) -> AsyncIterator[Counting]:
    """One child for checks."""
    pool = Children(1, tmp_path / "scratch", nice=0, environment={"PYTHONPATH": str(HERE)})
    yield Counting(pool)
    await pool.aclose()


def picture(path: Path, width: int) -> Path:
    """A picture of this width."""
    Image.new("RGB", (width, 8)).save(path, "PNG")
    return path


async def test_many_files_are_looked_at_together_and_each_has_its_own_answer(
    counting: Counting, tmp_path: Path
) -> None:
    checker = ChildChecker(counting, MEDIA, tmp_path / "checks")
    ffmpeg.run(["-f", "lavfi", "-i", "sine=duration=1"], tmp_path / "tone.flac")
    (tmp_path / "broken").write_bytes(b"\x89PNG and nothing more")
    (tmp_path / "empty").touch()
    paths = [picture(tmp_path / f"{width}.png", width) for width in range(1, 31)]
    paths += [tmp_path / name for name in ("tone.flac", "broken", "empty", "absent")]
    answers = await asyncio.gather(*(checker.check("picture", "k", {"width": 7}, path) for path in paths))
    assert [facts.width for facts, _ in answers[:30]] == list(range(1, 31))
    assert [problem for _, problem in answers[5:8]] == [
        "it is 6 wide, ordered was 7",
        None,
        "it is 8 wide, ordered was 7",
    ]
    assert answers[30][0].samples == 44_100
    assert "cannot be decoded" in (answers[31][1] or "")
    assert answers[32][1] == "the file is empty"
    assert answers[33][1] == "the file is not there"
    assert counting.works <= 3


class Deadly(Counting):
    """Children one of which dies whenever it is shown a certain file."""

    async def run(self, work: Work, progress: Progress) -> Produced:
        if any("deadly" in path for path in work.order.structure["paths"]):
            deadly = Work("child_backends:die", work.order, work.folder, limits=work.limits)
            object.__setattr__(deadly.order, "structure", {**work.order.structure, "signal": int(signal.SIGSEGV)})
            return await super().run(deadly, progress)
        return await super().run(work, progress)


async def test_file_that_the_decoder_does_not_survive_is_found_among_many(counting: Counting, tmp_path: Path) -> None:
    checker = ChildChecker(Deadly(counting.children), MEDIA, tmp_path / "checks")
    paths = [picture(tmp_path / f"{name}.png", 7) for name in ("one", "deadly", "two")]
    answers = await asyncio.gather(*(checker.check("picture", "k", {"width": 7}, path) for path in paths))
    assert [problem is None for _, problem in answers] == [True, False, True]
    assert "SIGSEGV" in (answers[1][1] or "")


async def test_child_that_somebody_else_kills_makes_no_file_corrupt(
    counting: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checker = ChildChecker(counting, MEDIA, tmp_path / "checks")
    path = picture(tmp_path / "one.png", 7)
    run = counting.children.run

    async def killed_once(work: Work, progress: Progress) -> Produced:
        monkeypatch.setattr(counting.children, "run", run)
        raise BackendError(FailureType.INFRASTRUCTURE, "child_killed", "the child process was ended by SIGKILL")

    monkeypatch.setattr(counting.children, "run", killed_once)
    assert (await checker.check("picture", "k", {"width": 7}, path))[1] is None


async def test_what_cannot_be_found_out_is_no_corrupt_file(counting: Counting, tmp_path: Path) -> None:
    checker = ChildChecker(counting, MEDIA, tmp_path / "checks")
    (tmp_path / "a-folder").mkdir()
    with pytest.raises(BackendError, match="IsADirectoryError"):
        await checker.check("picture", "k", {"width": 7}, tmp_path / "a-folder")
    assert (await checker.check("picture", "k", {"width": 7}, picture(tmp_path / "a", 7)))[1] is None


async def test_check_that_was_cancelled_disturbs_no_other(counting: Counting, tmp_path: Path) -> None:
    checker = ChildChecker(counting, MEDIA, tmp_path / "checks")
    path = picture(tmp_path / "one.png", 7)
    first, second = (asyncio.create_task(checker.check("picture", "k", {"width": 7}, path)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second)[1] is None


def test_probing_is_a_backend_function_like_any_other() -> None:
    module, _, name = "animastor.workers.checking:probe_all".partition(":")
    assert module == checking.__name__
    assert callable(getattr(checking, name))
    assert ignore(os.getpid()) is None
