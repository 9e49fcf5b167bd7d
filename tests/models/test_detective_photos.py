"""The detective on photos: real ones where they lie beside the repository, and a drawn distance sign."""

import asyncio
import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from geosleuth.agent.locate import locate
from geosleuth.agent.methods import method as method_of
from geosleuth.agent.setup import AgentSetup, Resources
from geosleuth.answer import Answer
from geosleuth.atlas import OfflineAtlas
from geosleuth.geo import LatLon, distance_km
from geosleuth.models.detective import Detective
from geosleuth.photo import open_photo
from geosleuth.tools.toolset import all_tools

ROOT = Path(__file__).parents[2]
FONTS = ROOT / "src/geosleuth/atlas/maps/fonts"
SHARED = ROOT.parent / "shared/data/photos"
needs_photos = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared real photos are not on this machine")


def answer_to(photo: Path | bytes, regions: Path) -> Answer:
    method = method_of("detective")
    toolset = method.toolset(all_tools())
    opened, atlas = open_photo(photo), OfflineAtlas(regions)
    found = asyncio.run(
        locate([opened], AgentSetup(method=method, policy=Detective(), toolset=toolset), Resources(atlas))
    )
    return found.answer


def distance_sign() -> bytes:
    """Seoul 56, Pyongyang 205, in Hangul and Latin, on a board before a grey road."""
    image = Image.new("RGB", (1600, 1100), (150, 160, 170))
    pen = ImageDraw.Draw(image)
    pen.polygon([(0, 1100), (650, 600), (950, 600), (1600, 1100)], fill=(90, 90, 95))
    pen.rounded_rectangle([480, 200, 1150, 570], 20, fill=(10, 90, 60), outline=(225, 225, 225), width=6)
    for top, (hangul, latin, away) in zip(
        (225, 395), (("서울", "Seoul", "56km"), ("평양", "Pyongyang", "205km")), strict=True
    ):
        for x, y, words, font, size in (
            (540, top, hangul, "korean", 60),
            (540, top + 78, latin, "sans-semibold", 44),
            (880, top + 30, away, "sans-semibold", 64),
        ):
            pen.text((x, y), words, font=ImageFont.truetype(str(FONTS / f"{font}.woff2"), size), fill=(228, 228, 228))
    noisy = np.asarray(image, dtype=np.float32) + np.random.default_rng(1).normal(0, 5, (1100, 1600, 1))
    buffer = io.BytesIO()
    Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=88)
    return buffer.getvalue()


def test_a_distance_sign_stands_in_none_of_its_towns(tmp_path: Path) -> None:
    answer = answer_to(distance_sign(), tmp_path)
    assert answer.address.country.conclusion == "South Korea"
    assert answer.point is not None
    assert distance_km(answer.point, LatLon(37.85, 126.74)) < 30


@needs_photos
@pytest.mark.parametrize(
    "name",
    [
        "cameras/camera-045.jpg",
        "puzzles/puzzle-071.jpg",
        *(pytest.param(f"cameras/camera-{number}.jpg", marks=pytest.mark.slow) for number in ("003", "052")),
    ],
)
def test_a_photo_that_tells_nothing_gets_no_place(name: str, tmp_path: Path) -> None:
    answer = answer_to(SHARED / name, tmp_path)
    assert not answer.located
    assert not answer.candidates


@needs_photos
def test_captions_over_a_photo_are_no_evidence(tmp_path: Path) -> None:
    answer = answer_to(SHARED / "puzzles/puzzle-023.jpg", tmp_path)
    assert not answer.located
    assert "not part of the scene" in (answer.explanation or "")


@needs_photos
def test_a_real_road_sign_is_placed(tmp_path: Path) -> None:
    answer = answer_to(SHARED / "puzzles/puzzle-193.jpg", tmp_path)
    assert answer.address.country.conclusion == "Denmark"
    assert answer.point is not None
    assert distance_km(answer.point, LatLon(55.68, 11.09)) < 25


def test_only_those_parts_of_a_large_photo_are_read_that_may_hold_writing(tmp_path: Path) -> None:
    image = Image.new("RGB", (3600, 2700), (160, 165, 170))
    font = ImageFont.truetype(str(FONTS / "sans-semibold.woff2"), 40)
    ImageDraw.Draw(image).text((2700, 2300), "entrance on the left", font=font, fill=(20, 20, 25))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=92)
    method = method_of("detective")
    setup = AgentSetup(method=method, policy=Detective(), toolset=method.toolset(all_tools()))
    found = asyncio.run(locate([open_photo(buffer.getvalue())], setup, Resources(OfflineAtlas(tmp_path))))
    width, height = found.trajectory.images[0].size
    given = [call.arguments for step in found.trajectory.steps for call in step.calls if call.name == "read_text"]
    boxes = [arguments.get("bbox_2d") for arguments in given if isinstance(arguments, Mapping)]
    assert [width * 0.42, height * 0.42, width, height] in [pytest.approx(box, abs=1) for box in boxes if box]
    assert not [box for box in boxes if box and box[2] < width * 0.7]
