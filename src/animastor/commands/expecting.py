"""How much there will be of a media type of which nothing can be planned yet: for the time left, from the start on."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from animastor.books.codec import scene_from_json
from animastor.engine.estimate import Expected
from animastor.engine.ports import BookContext, NewRequest, SceneExport
from animastor.media.registry import Registry
from animastor.media.types import PlanInput

if TYPE_CHECKING:
    from animastor.app import Reading

SAMPLE = 100  # scenes, drawn evenly: a mean of so many is near enough, and costs the same for every book


async def expected_of(opened: Reading, asked: NewRequest) -> Mapping[str, Expected]:
    """By media type, of those that declare an estimate."""
    if not any(opened.registry[name].estimate for name in opened.registry.closed(asked.media)):
        return {}
    (context,) = await opened.storage.contexts([asked.book_key])
    rows = await opened.storage.export_rows(asked.book_key, asked.scope)
    sample = rows[:: max(1, len(rows) // SAMPLE)]
    return await asyncio.to_thread(_means, opened.registry, asked.media, context, sample)


def _means(
    registry: Registry, media: Sequence[str], context: BookContext, sample: Sequence[SceneExport]
) -> dict[str, Expected]:
    inputs = [PlanInput(context.head, scene_from_json(row.scene), context.settings) for row in sample]
    return {
        name: Expected(
            registry[name].merges + sum(parts for parts, _ in told) / len(told),
            sum(work for _, work in told) / len(told),
        )
        for name in registry.closed(media)
        if (estimate := registry[name].estimate) is not None and (told := [estimate(each) for each in inputs])
    }
