"""A picture from its board: setting, figures, things, weather, light, text, in this order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from PIL import Image

from animastor.workers.storyboard.board import Board
from animastor.workers.storyboard.canvas import Canvas, View
from animastor.workers.storyboard.cast import Drawn, draw_figures
from animastor.workers.storyboard.finish import finished
from animastor.workers.storyboard.lettering.bubble import Speaker, bubble
from animastor.workers.storyboard.lettering.card import Box, Card, draw_card, lay_out
from animastor.workers.storyboard.light import Light, light_of
from animastor.workers.storyboard.scenery import Setting, setting_of
from animastor.workers.storyboard.scenery.rooms import indoors
from animastor.workers.storyboard.sky import Scene
from animastor.workers.storyboard.staging import Framing, Stage, framing_of, place, view_of
from animastor.workers.storyboard.still import draw_detail
from animastor.workers.storyboard.thread import draw_thread
from animastor.workers.storyboard.weather import paint_air, roll_in


@dataclass(frozen=True, slots=True)
class Composition:
    """A finished picture, its text, and what the text keeps clear of: faces and named things, in pixels."""

    image: Image.Image
    card: Card | None
    subjects: tuple[Box, ...]
    drawn: tuple[Drawn, ...]


def paint(board: Board) -> Image.Image:
    """The finished picture, of the board's size, in RGB."""
    return composed(board).image


def composed(board: Board) -> Composition:
    """Paint a board, the panel of a caption or title first laid out, a bubble when it is known where heads are."""
    unit = min(board.size)
    spoken = board.lettering == "speech"
    card = None
    if board.text and not spoken:
        card = lay_out(board.text, board.lettering, board.size, board.speaker, board.byline)
    stage = _stage(board, card, unit)
    framing = framing_of(board)
    scene = _scene(board, stage, framing, unit)
    setting = setting_of(board.setting)
    drawn = _fill(board, stage, framing, scene, setting)
    image = scene.canvas.image.resize(board.size, Image.Resampling.BOX)
    image = finished(image, unit, scene.light, scene.glows, board.place_seed, scene.cover)
    subjects = tuple(Box(*(edge * unit for edge in area)) for area in scene.subjects)
    speaker = next((one for one in drawn if one.speaking), None)
    voice = Speaker((speaker.mouth[0] * unit, speaker.mouth[1] * unit), speaker.head * unit) if speaker else None
    if board.text and spoken:
        card = bubble(board.text, board.size, board.speaker, voice, subjects)
    if card:
        colour = speaker.colour if speaker else None
        mouth, face = (voice.mouth, voice.face) if voice else (None, 0.0)
        draw_card(image, card, board.light.dark, mouth, colour, face)
    return Composition(image, card, subjects, tuple(drawn))


def _stage(board: Board, card: Card | None, unit: int) -> Stage:
    width, height = board.size[0] / unit, board.size[1] / unit
    if card and card.role == "title":
        return Stage(width, height, height * 0.94, ceiling=card.box.bottom / unit)
    if board.lettering == "speech":
        return Stage(width, height, height * 0.90, aside=0.17)
    return Stage(width, height, card.box.top / unit if card else height * 0.86)


def _density(size: tuple[int, int]) -> int:
    """Painted pixels for each pixel of the picture, along a side."""
    return 3 if size[0] * size[1] <= 200_000 else 2


def _scene(board: Board, stage: Stage, framing: Framing, unit: int) -> Scene:
    """The canvas with its view, and where sky and ground meet in it."""
    setting = setting_of(board.setting)
    horizon = stage.floor * setting.horizon
    ground = stage.floor - 0.03 if framing.feet else max(stage.floor - 0.02, horizon + 0.16)
    density = 1 if framing.blur else _density(board.size)
    canvas = Canvas(stage.width, stage.height, unit * density, view_of(board, stage, framing, horizon))
    return Scene(canvas, _light(board), Random(board.place_seed), horizon, ground)


def _light(board: Board) -> Light:
    light = board.light
    if board.setting == "night sky" and not light.dark:
        light = light_of("night", light.weather, light.mood)
    return indoors(light) if board.inside and board.setting != "cave" else light


def _fill(board: Board, stage: Stage, framing: Framing, scene: Scene, setting: Setting) -> list[Drawn]:
    """Everything between the sky and the air before it; returns the figures that were drawn."""
    chance = Random(board.seed)
    setting.back(scene)
    seen = _seen(scene)
    _use_front_view(scene, stage, framing, board)
    weather = replace(scene.light, weather="clear", fog=0.0, bank=0.0) if board.inside else scene.light
    roll_in(scene.canvas, weather, chance, *seen)
    paint_air(scene.canvas, weather, chance, before=False)
    if framing.head == 0.0 and not board.actors:
        draw_detail(board, stage, scene)
        drawn: list[Drawn] = []
    else:
        placed = place(board, stage, framing, scene.ground, scene.uprights)
        drawn = draw_figures(board, stage, framing, scene, placed, setting.afloat)
        draw_thread(board, stage, framing, scene, placed)
    if setting.front and framing.feet:
        setting.front(scene)
    close = framing.zoom > 1.2 and bool(drawn)
    paint_air(scene.canvas, replace(weather, fog=weather.fog * (0.35 if close else 0.65)), chance, before=True)
    return drawn


def _seen(scene: Scene) -> tuple[float, float]:
    """Where horizon and ground are in the picture, units."""
    canvas = scene.canvas
    return canvas.pixel(0, scene.horizon)[1] / canvas.unit, canvas.pixel(0, scene.ground)[1] / canvas.unit


def _use_front_view(scene: Scene, stage: Stage, framing: Framing, board: Board) -> None:
    """From the zoomed, softened setting to the picture's own measure, in which figures are placed."""
    canvas = scene.canvas
    unit = min(board.size) * _density(board.size)
    if framing.blur:
        canvas.soften(framing.blur)
    if canvas.unit != unit:
        sharp = Canvas(stage.width, stage.height, unit)
        sharp.image = canvas.image.resize(sharp.image.size, Image.Resampling.BILINEAR)
        sharp.reset()
        scene.canvas = sharp
    else:
        canvas.view = View()
