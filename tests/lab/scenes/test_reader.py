"""Reading by clue boxes: what is legible depends on how closely one looks, and hidden things stay hidden."""

import io

from PIL import Image

from drawn_streets import street_scene
from geosleuth.lab.scenes import Board, Mark, Scene, Visibility
from geosleuth.lab.scenes.scene_reader import clue_reader
from geosleuth.photo import Photo, View, crop, first_view, open_photo

LARGE, SMALL = (400, 300, 900, 380), (2000, 1500, 2130, 1520)


def scene_with(front: Visibility, notice: Visibility) -> Scene:
    seen: dict[Board, Visibility] = {"shop_front": front, "notice": notice}
    return street_scene("de", ("shop_front", "notice"), size=(3264, 2448), visibility=seen)


def opened(size: tuple[int, int]) -> tuple[Photo, View]:
    content = io.BytesIO()
    Image.new("RGB", size).save(content, "JPEG")
    photo = open_photo(content.getvalue()).photo
    return photo, first_view(photo)


def test_small_letters_are_read_only_from_near() -> None:
    scene = scene_with("plain", "small")
    large, small = scene.clues
    marks = (Mark(large.id, LARGE, 0, 60.0), Mark(small.id, SMALL, 0, 12.0), Mark(large.id, LARGE))
    read = clue_reader(scene, marks)
    photo, view = opened(scene.size)
    seen = read(view)
    # The small one is noticed.
    assert [(line.text, line.confidence) for line in seen] == [(large.lines[0], 1.0), ("", 0.0)]
    assert seen[0].engine == "clue boxes"
    scale = view.size[0] / scene.size[0]
    assert all(abs(got - side * scale) < 0.01 for got, side in zip(seen[0].bounds, LARGE, strict=True))
    near = crop(view, [side * scale for side in (1900, 1400, 2300, 1600)], photo)
    assert [line.text for line in read(near)] == [small.lines[0]]


def test_a_line_that_a_crop_cuts_off_is_not_read() -> None:
    scene = scene_with("plain", "plain")
    photo, view = opened(scene.size)
    read = clue_reader(scene, (Mark(scene.clues[0].id, LARGE, 0, 60.0),))
    scale = view.size[0] / scene.size[0]
    cuts = {"barely": (430, 250, 1000, 400), "left": (500, 250, 1000, 400), "top": (300, 330, 1000, 500)}
    seen = {name: bool(read(crop(view, [side * scale for side in box], photo))) for name, box in cuts.items()}
    assert seen == {"barely": True, "left": False, "top": False}


def test_what_is_hidden_is_not_read_however_near() -> None:
    scene = scene_with("hidden", "plain")
    hidden, plain = scene.clues
    read = clue_reader(scene, (Mark(hidden.id, LARGE, 0, 60.0), Mark(plain.id, SMALL, 0, 40.0)))
    assert [line.text for line in read(opened(scene.size)[1])] == [plain.lines[0]]


def test_a_map_of_the_case_is_not_taken_for_a_part_of_the_scene() -> None:
    scene = scene_with("plain", "plain")
    photo, view = opened(scene.size)
    read = clue_reader(scene, (Mark(scene.clues[0].id, LARGE, 0, 60.0),), photo=photo.handle)
    assert [line.text for line in read(view)] == [scene.clues[0].lines[0]]
    assert [line.text for line in read(crop(view, (0, 0, 900, 600), photo))] == [scene.clues[0].lines[0]]
    assert read(opened((1000, 800))[1]) == []
