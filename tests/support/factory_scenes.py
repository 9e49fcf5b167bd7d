"""A scene written by hand, and a plain picture of it: enough for whoever starts from clue boxes."""

import io
from dataclasses import replace
from datetime import UTC, datetime

from PIL import Image, ImageDraw

from geosleuth.geo import LatLon
from geosleuth.lab.scenes import Camera, Mark, Scene, SceneClue, SceneLook, Sky, Spot
from geosleuth.lab.scenes.scene_reader import LEGIBLE_PX
from geosleuth.photo import OpenedPhoto, open_photo

SOEST = LatLon(51.57558, 8.10619)

LOOK = SceneLook(
    layout="high_street", drives_on="right", centre_line="white", centre_double=False, edge_line="none",
    walls=("brick", "plaster"), wall_colours=("#aa6655",), roof="gable", roof_colour="#883322", storeys=(2, 3),
    poles="none", wires=False, plant="broadleaf", ground="grass", terrain="flat", number_plate_ground="#ffffff",
    number_plate_ink="#111111", number_plate_band="#1f3f8f",
)  # fmt: skip
SKY = Sky(datetime(2019, 6, 3, 10, tzinfo=UTC), 140.0, 48.0, "clear", "summer")


def scene_of(number: int = 1, *, size: tuple[int, int] = (3264, 2448)) -> tuple[Scene, tuple[Mark, ...]]:
    """A street in Soest: the shop can be read at once, the town's sign is small, an airline misleads."""
    spot = Spot(SOEST, "DE", "Germany", "North Rhine-Westphalia", "Soest", "Soest", 48_000, "Cfb", "51,8", "train")
    clues = (
        SceneClue(
            "a", "language", "country", "The shop sign is in German, as in Germany.", "shop_front",
            ("Bäckerei Lindemann", "Tel. 02921 34567"), country="DE",
        ),
        SceneClue("b", "town_name", "precise", "The sign names the town.", "town_sign", ("Soest",), "small",
                  country="DE"),
        SceneClue("c", "airline", "country", "An airline.", "poster", ("Iberia", "Madrid"), misleading=True,
                  country="ES"),
        SceneClue("d", "driving_side", "country", "Cars keep right."),
    )  # fmt: skip
    marks = (
        Mark("a", (400, 800, 1400, 1000)), Mark("a", (420, 810, 1380, 900), 0, 70.0),
        Mark("a", (420, 920, 1000, 980), 1, 40.0),
        Mark("b", (2600, 1100, 2720, 1160)), Mark("b", (2610, 1110, 2710, 1150), 0, 1.5 * LEGIBLE_PX),
        Mark("c", (1800, 900, 2100, 1200)), Mark("c", (1820, 920, 2080, 1000), 0, 50.0),
        Mark("c", (1820, 1020, 2080, 1080), 1, 40.0),
        Mark("d", (900, 1800, 2400, 2400)),
    )  # fmt: skip
    camera = Camera(90.0, 1.6, 70.0)
    scene = Scene(f"hand-{number}", number, "street", "train", size, spot, LOOK, SKY, camera, clues, locatability=8.0)
    return scene, marks


def plain_picture(scene: Scene, marks: tuple[Mark, ...]) -> bytes:
    """A JPEG of the scene's size with its clue boxes on it."""
    image = Image.new("RGB", scene.size, "#b8c8d8")
    draw = ImageDraw.Draw(image)
    for mark in marks:
        draw.rectangle(mark.box, outline="#222222", fill="#eeeeee" if mark.line is None else None)
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=80)
    return stream.getvalue()


def opened(scene: Scene, marks: tuple[Mark, ...]) -> OpenedPhoto:
    """The same as a photo that was opened."""
    return open_photo(plain_picture(scene, marks))


def without(scene: Scene, *ids: str) -> Scene:
    """The scene with some clues left out."""
    return replace(scene, clues=tuple(clue for clue in scene.clues if clue.id not in ids))
