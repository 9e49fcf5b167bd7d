"""A scene as a picture, and where in it every clue stands."""

import io
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from geosleuth.atlas.maps.lettering import can_shape
from geosleuth.errors import BadInput
from geosleuth.world.model import Mark, Scene

from .canvas import BACKDROP_M2, Canvas, Painter
from .dice import dice
from .finishing import finish
from .furniture import draw_crossing, draw_fence, draw_stall
from .hanging import hang
from .houses import draw_house
from .lots import MEASURES
from .marking import marks_of
from .panorama import Round
from .people import draw_person
from .plants import draw_plant
from .poles import draw_lamp
from .satellite import draw_satellite
from .scenery import Street, plan_street, view_of
from .shadows import Shadows
from .sky import draw_sky
from .sky_light import Light, light_of
from .sky_window import SkyWindow
from .standing import draw_cover
from .street import draw_street
from .terrain import draw_ground, draw_terrain
from .vehicles import car_size_m, draw_car
from .vehicles_large import draw_bus
from .weather import draw_air, draw_weather

JPEG_QUALITY = 88
_AHEAD_M, _AROUND_M = (-12.0, 88.0), (-80.0, 80.0)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture and where the scene's clues stand in it: whole ones, and every line of those that are written."""

    image: Image.Image
    marks: tuple[Mark, ...]

    def jpeg(self) -> bytes:
        """The picture as a camera would store it."""
        stored = io.BytesIO()
        self.image.save(stored, "JPEG", quality=JPEG_QUALITY)
        return stored.getvalue()


def draw_scene(scene: Scene) -> Drawing:
    """Draw a scene. The same scene gives the same pixels on every machine.

    Raises:
        BadInput: Pillow can't shape letters here, so that they would come out otherwise.
    """
    if not can_shape():
        raise BadInput("drawing scenes needs FriBiDi, which Pillow can't find here: apt install libfribidi0")
    if scene.kind == "satellite":
        return Drawing(*draw_satellite(scene, scene.streets))
    return _panorama(scene) if scene.kind == "panorama" else _street_picture(scene)


def _panorama(scene: Scene) -> Drawing:
    view, main_at = view_of(scene)
    lens = Round(scene.size[0], scene.size[1], view.height_m, view.x_m)
    street = plan_street(scene, lens, min(main_at, 6.0), _AROUND_M)
    light = light_of(scene.sky, scene.camera)
    pixels = np.zeros((scene.size[1], scene.size[0], 3), np.uint8)
    around = SkyWindow(scene.size, scene.size[1] / 2, scene.camera.heading_deg, 360.0, round=True)
    draw_sky(pixels, around, scene.sky, light, dice(f"sky {scene.seed}"))
    for number, seen in enumerate(lens.views()):
        canvas = Canvas(seen)
        empty = draw_on(canvas, scene, street, light)
        lens.lay(pixels, number, canvas.pixels, empty)
    draw_weather(pixels, scene.sky, light, dice(f"weather {scene.seed}"))
    finish(pixels, scene)
    return Drawing(Image.fromarray(pixels), marks_of(scene, lens, street))


def _street_picture(scene: Scene) -> Drawing:
    view, main_at = view_of(scene)
    street = plan_street(scene, view, main_at, _AHEAD_M)
    canvas = Canvas(view)
    light = light_of(scene.sky, scene.camera)
    draw_on(canvas, scene, street, light)
    draw_weather(canvas.pixels, scene.sky, light, dice(f"weather {scene.seed}"))
    finish(canvas.pixels, scene)
    return Drawing(canvas.image(), marks_of(scene, view, street))


def draw_on(canvas: Canvas, scene: Scene, street: Street, light: Light) -> NDArray[np.uint8]:
    """Draw a street as one camera sees it; returns the sky alone, for whoever wants to know what covers it."""
    look, sky, view = scene.look, scene.sky, canvas.view
    window = SkyWindow.of(view, scene.camera.heading_deg)
    draw_sky(canvas.pixels, window, sky, light, dice(f"sky {scene.seed}"))
    alone = canvas.pixels.copy() if scene.kind == "panorama" else canvas.pixels
    draw_ground(canvas.pixels, window, view.height_m, look, sky, light, dice(f"ground {scene.seed}"))
    draw_terrain(canvas.pixels, window, look, sky, light, dice(f"terrain {scene.seed}"))
    draw_street(canvas, look, sky, light, street.lots, dice(f"road {scene.seed}"))
    if street.crossing_m is not None and sky.weather != "snow":
        draw_crossing(canvas, street.crossing_m, MEASURES[look.layout].road_half, light)
    draw_air(canvas, sky, light)
    _shadows(street, light).fall(canvas)
    painter = Painter()
    _queue_still(painter, canvas, scene, street, light)
    _queue_things(painter, canvas, scene, street, light)
    hang(canvas, painter, street, scene, light)
    painter.paint()
    return alone


def _queue_still(painter: Painter, canvas: Canvas, scene: Scene, street: Street, light: Light) -> None:
    """Houses, fences, stalls and plants."""
    look, sky = scene.look, scene.sky
    for lot in street.lots:
        far = _far(canvas, lot.side * lot.front, lot.middle) + BACKDROP_M2
        painter.add(far, partial(draw_house, canvas, lot, look, light))
    street_edge = min((lot.front for lot in street.lots), default=1e9)
    for fence in street.fences:
        painter.add(_far(canvas, fence.x, (fence.start + fence.end) / 2), partial(draw_fence, canvas, fence, light))
    for stall in street.stalls:
        painter.add(_far(canvas, *stall.at), partial(draw_stall, canvas, stall, light))
    for plant in street.plants:
        grow = partial(draw_plant, canvas, plant.at, plant.plant, plant.height_m, sky.season, light, dice(plant.seed))
        # Plants in gardens may be behind a house.
        far = _far(canvas, *plant.at) + (BACKDROP_M2 if abs(plant.at[0]) >= street_edge else 0.0)
        painter.add(far, partial(grow, snow=sky.weather == "snow"))


def _queue_things(painter: Painter, canvas: Canvas, scene: Scene, street: Street, light: Light) -> None:
    """Vehicles, people, lamps, poles, and what hides boards."""
    look = scene.look
    for car in street.cars:
        park = partial(draw_car, canvas, car.at, car.colour, car.facing, light, kind=car.kind, taxi=car.taxi)
        painter.add(_far(canvas, *car.at), park)
    for bus in street.buses:
        stop = partial(draw_bus, canvas, bus.at, bus.colour, bus.facing, light, doors_on=look.drives_on)
        painter.add(_far(canvas, *bus.at), stop)
    for number, spot in enumerate(street.people):
        painter.add(
            _far(canvas, *spot), partial(draw_person, canvas, spot, light, dice(f"person {scene.seed} {number}"))
        )
    for spot in street.lamps:
        painter.add(_far(canvas, *spot), partial(draw_lamp, canvas, spot, -1.2 if spot[0] > 0 else 1.2, light))
    if street.poles is not None and look.poles != "none":
        for ahead, draw in street.poles.things(canvas, look.poles, light, wires=look.wires):
            painter.add(ahead * ahead + 9.0, draw)
    for cover in street.covers:
        painter.add(_far(canvas, *cover.at[:2]), partial(draw_cover, canvas, cover, light))


def _far(canvas: Canvas, x: float, y: float) -> float:
    across = x - canvas.view.x_m
    return across * across + y * y


def _shadows(street: Street, light: Light) -> Shadows:
    shadows = Shadows(light)
    if not shadows.any:
        return shadows
    for lot in street.lots:
        if -40 < lot.middle < 70:
            front, back = lot.side * lot.front, lot.side * (lot.front + 9.0)
            shadows.block(min(front, back), max(front, back), lot.start, lot.end, lot.height)
    for plant in street.plants:
        shadows.plant(plant.at, plant.plant, plant.height_m)
    for car in street.cars:
        length, width, height = car_size_m(car.kind)
        half_x, half_y = (width / 2, length / 2) if car.facing in {"away", "towards"} else (length / 2, width / 2)
        x, y = car.at
        shadows.block(x - half_x, x + half_x, y - half_y, y + half_y, height * 0.8)
    for spot in street.lamps:
        shadows.post(spot, 6.2, 0.14)
    if street.poles is not None:
        for spot in street.poles.at:
            shadows.post(spot, street.poles.height_m, 0.25)
    for bus in street.buses:
        shadows.block(bus.at[0] - 1.25, bus.at[0] + 1.25, bus.at[1] - 5.5, bus.at[1] + 5.5, 3.0)
    return shadows
