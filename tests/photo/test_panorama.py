"""Panoramas: marks at known headings turn up in the middle of the views that look there."""

import io
import math

import numpy as np
import pytest
from PIL import Image, ImageDraw

from geosleuth.photo import Album, Photo, cut_views, open_photo

WIDTH, HEIGHT = 2048, 1024


def panorama(*marks: tuple[float, float, str]) -> Photo:
    """Grey, with a disc two degrees wide at each heading (from the middle) and pitch."""
    image = Image.new("RGB", (WIDTH, HEIGHT), "grey")
    draw = ImageDraw.Draw(image)
    for heading, pitch, colour in marks:
        x, y = (heading / 360 + 0.5) % 1 * WIDTH, (0.5 - pitch / 180) * HEIGHT
        for turn in (-WIDTH, 0, WIDTH):
            draw.ellipse((x + turn - 6, y - 6, x + turn + 6, y + 6), fill=colour)
    return Photo(image, "panorama")


def where(image: Image.Image, colour: tuple[int, int, int]) -> tuple[float, float] | None:
    """The middle of a colour's pixels, from 0 to 1 across and down."""
    near = np.abs(np.asarray(image, dtype=np.int16) - colour).sum(axis=-1) < 60
    if not near.any():
        return None
    y, x = np.nonzero(near)
    return (float(x.mean()) + 0.5) / image.width, (float(y.mean()) + 0.5) / image.height


RED, BLUE = (255, 0, 0), (0, 0, 255)


@pytest.mark.slow
def test_marks_stand_in_the_middle_of_the_view_that_looks_at_them() -> None:
    for heading in (0, 60, 120, 180, 240, 300):
        views = cut_views(panorama((heading, 0, "red")))
        assert [view.heading_deg for view in views] == [0, 60, 120, 180, 240, 300]
        middle = next(view for view in views if view.heading_deg == heading)
        assert where(middle.photo.image, RED) == pytest.approx((0.5, 0.5), abs=0.004)
        # With 60 degrees between views of 90, the neighbours see nothing as far off as that.
        assert [view.heading_deg for view in views if where(view.photo.image, RED)] == [heading]


def test_right_is_clockwise_and_up_is_up() -> None:
    view = cut_views(panorama((20, 0, "red"), (0, 25, "blue")), 1)[0].photo.image
    assert where(view, RED) == pytest.approx((0.5 + math.tan(math.radians(20)) / 2, 0.5), abs=0.004)
    assert where(view, BLUE) == pytest.approx((0.5, 0.5 - math.tan(math.radians(25)) / 2), abs=0.004)


def test_a_known_compass_heading_turns_the_views() -> None:
    # The middle looks east; the mark stands 30 degrees left of it, at 60.
    views = cut_views(panorama((-30, 0, "red")), centre_heading_deg=90)
    assert where(views[1].photo.image, RED) == pytest.approx((0.5, 0.5), abs=0.004)


def test_straight_lines_between_pixels_are_blended() -> None:
    ramp = np.tile(np.linspace(0, 255, HEIGHT).astype(np.uint8)[:, None, None], (1, WIDTH, 3))
    column = np.asarray(cut_views(Photo(Image.fromarray(ramp), "panorama"), 1)[0].photo.image)[:, 300, 0].astype(float)
    side = len(column)
    pitch = np.degrees(np.arctan(-((np.arange(side) + 0.5) / side * 2 - 1)))
    off = (300.5 / side * 2 - 1) ** 2
    pitch = np.degrees(np.arctan(np.tan(np.radians(pitch)) / math.sqrt(1 + off)))
    assert np.abs(column - (0.5 - pitch / 180) * 255).max() < 2


def test_crops_of_panorama_views_come_from_the_full_resolution() -> None:
    cut = cut_views(panorama((0, 0, "red")), 1)[0]
    assert cut.photo.size == (652, 652)
    album = Album()
    handle = album.add(cut.photo).handle
    part = album.crop(handle, [163, 163, 489, 489])
    assert part.box_in_original == (163, 163, 489, 489)
    assert where(part.image, RED) == pytest.approx((0.5, 0.5), abs=0.01)


def encoded(image: Image.Image, xmp: str = "") -> bytes:
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=90, xmp=xmp.encode())
    return stream.getvalue()


def scene(*, goes_round: bool) -> Image.Image:
    turns = 2 * math.pi if goes_round else 1.3 * math.pi
    x, y = np.meshgrid(np.linspace(0, turns, WIDTH, endpoint=False), np.linspace(0, 3, HEIGHT))
    waves = np.stack([np.sin(x + y), np.cos(2 * x - y), np.sin(3 * x)], axis=-1)
    return Image.fromarray((127 + 120 * waves).astype(np.uint8))


def test_panoramas_are_told_from_photos() -> None:
    assert open_photo(encoded(scene(goes_round=True))).photo.kind == "panorama"
    assert open_photo(encoded(scene(goes_round=False))).photo.kind == "photo"
    assert open_photo(encoded(scene(goes_round=True).resize((1600, 1200)))).photo.kind == "photo"
    assert open_photo(encoded(scene(goes_round=True).resize((512, 256)))).photo.kind == "photo"
    assert open_photo(encoded(scene(goes_round=False)), kind="panorama").photo.kind == "panorama"


def test_what_the_file_says_of_itself_decides() -> None:
    whole = (
        'GPano:ProjectionType="equirectangular" GPano:PoseHeadingDegrees="350.5" '
        'GPano:FullPanoWidthPixels="2048" GPano:FullPanoHeightPixels="1024" '
        'GPano:CroppedAreaImageWidthPixels="2048" GPano:CroppedAreaImageHeightPixels="1024"'
    )
    opened = open_photo(encoded(scene(goes_round=False), whole))
    assert opened.photo.kind == "panorama"
    assert opened.claims.panorama is not None
    assert opened.claims.panorama.pose_heading_deg == 350.5
    part = whole.replace('FullPanoWidthPixels="2048"', 'FullPanoWidthPixels="4096"')
    assert open_photo(encoded(scene(goes_round=True), part)).photo.kind == "photo"
    element = "<GPano:ProjectionType>cylindrical</GPano:ProjectionType>"
    assert open_photo(encoded(scene(goes_round=True), element)).photo.kind == "photo"
