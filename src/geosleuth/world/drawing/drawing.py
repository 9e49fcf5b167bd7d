"""A scene as a picture, and where in it every clue stands."""

import io
import random
from dataclasses import dataclass

from PIL import Image

from geosleuth.world.model import Mark, Scene

from .canvas import Canvas, Painter
from .finishing import finish
from .hanging import hang
from .houses import draw_house
from .marking import marks_of
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
from .weather import draw_weather

JPEG_QUALITY = 88
_AHEAD_M = (-14.0, 95.0)


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
    """Draw a scene. The same scene gives the same pixels on every machine."""
    if scene.kind == "satellite":
        return Drawing(*draw_satellite(scene))
    return _street_picture(scene)


def _street_picture(scene: Scene) -> Drawing:
    view, main_at = view_of(scene)
    street = plan_street(scene, view, main_at, _AHEAD_M)
    canvas = Canvas(view)
    light = light_of(scene.sky, scene.camera)
    draw_on(canvas, scene, street, light)
    draw_weather(canvas.pixels, scene.sky, light, random.Random(f"weather {scene.seed}"))
    finish(canvas.pixels, scene)
    return Drawing(canvas.image(), marks_of(scene, view, street))


def draw_on(canvas: Canvas, scene: Scene, street: Street, light: Light) -> None:
    """Draw a street as one camera sees it."""
    look, sky, view = scene.look, scene.sky, canvas.view
    window = SkyWindow.of(view, scene.camera.heading_deg)
    draw_sky(canvas.pixels, window, sky, light, random.Random(f"sky {scene.seed}"))
    draw_ground(canvas.pixels, window, view.height_m, look, sky, light, random.Random(f"ground {scene.seed}"))
    draw_terrain(canvas.pixels, window, look, sky, light, random.Random(f"terrain {scene.seed}"))
    draw_street(canvas, look, sky, light, street.lots, random.Random(f"road {scene.seed}"))
    _shadows(street, light).fall(canvas)
    painter = Painter()
    for lot in street.lots:
        painter.add(_far(canvas, lot.side * lot.front, lot.middle), lambda lot=lot: draw_house(canvas, lot, look, light))
    for plant in street.plants:
        painter.add(
            _far(canvas, *plant.at),
            lambda plant=plant: draw_plant(
                canvas, plant.at, plant.plant, plant.height_m, sky.season, light, random.Random(plant.seed),
                snow=sky.weather == "snow",
            ),
        )  # fmt: skip
    for car in street.cars:
        painter.add(
            _far(canvas, *car.at),
            lambda car=car: draw_car(canvas, car.at, car.colour, car.facing, light, kind=car.kind, taxi=car.taxi),
        )
    for bus in street.buses:
        painter.add(
            _far(canvas, *bus.at),
            lambda bus=bus: draw_bus(canvas, bus.at, bus.colour, bus.facing, light, doors_on=look.drives_on),
        )
    for number, spot in enumerate(street.people):
        seed = f"person {scene.seed} {number}"
        painter.add(_far(canvas, *spot), lambda spot=spot, seed=seed: draw_person(canvas, spot, light, random.Random(seed)))
    for x, y in street.lamps:
        painter.add(
            _far(canvas, x, y), lambda x=x, y=y: draw_lamp(canvas, (x, y), -1.2 if x > 0 else 1.2, light)
        )
    if street.poles is not None and look.poles != "none":
        for ahead, draw in street.poles.things(canvas, look.poles, light, wires=look.wires):
            painter.add(ahead * ahead + 9.0, draw)
    hang(canvas, painter, street, scene, light)
    for cover in street.covers:
        painter.add(_far(canvas, *cover.at[:2]), lambda cover=cover: draw_cover(canvas, cover, light))
    painter.paint()


def _far(canvas: Canvas, x: float, y: float) -> float:
    across = x - canvas.view.x_m
    return across * across + y * y


def _shadows(street: Street, light: Light) -> Shadows:
    shadows = Shadows(light)
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
