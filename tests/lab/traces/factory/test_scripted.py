"""Stand-ins: they see no more than a view allows, and slip about as often as they say."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factory_scenes import opened, plain_picture, scene_of, without
from geosleuth.lab.scenes import Mark, SceneClue, Sort
from geosleuth.lab.traces.factory.trial import SceneRange, load_subject, pack_scene
from geosleuth.lab.traces.scripted import NO_SLIPS, Slipped, Slips, StandInObserver
from geosleuth.lab.traces.spotagent import Lettering, lettering_words, read_lettering
from geosleuth.photo import Album
from geosleuth.support.errors import BadInput


def the_album() -> Album:
    album = Album()
    album.add(opened(*scene_of()).photo)
    return album


def test_a_small_sign_is_read_after_a_zoom_and_not_before() -> None:
    scene, marks = scene_of()
    album = the_album()
    observer = StandInObserver(scene, marks, slips=NO_SLIPS)
    at_first = {one.board: one for one in observer.lettering(album["image-1"])}
    assert at_first["shop front"].lines == ("Bäckerei Lindemann", "Tel. 02921 34567")
    assert at_first["town sign"].lines == ()
    assert at_first["town sign"].unread
    left, top, right, bottom = at_first["town sign"].box
    crop = album.crop("image-1", [left - 20, top - 20, right + 20, bottom + 20])
    from_near = observer.lettering(crop)
    assert [one.lines for one in from_near] == [("Soest",)]
    assert "too small to read" in observer.describe(album["image-1"])
    assert "Soest" not in observer.describe(album["image-1"])


def test_boxes_are_on_the_view_that_is_shown() -> None:
    scene, marks = scene_of()
    album = the_album()
    seen = StandInObserver(scene, marks, slips=NO_SLIPS).lettering(album["image-1"])
    scale = album["image-1"].size[0] / scene.size[0]
    sign = next(one for one in seen if one.board == "town sign")
    assert sign.box == tuple(round(side * scale) for side in (2600, 1100, 2720, 1160))


def test_a_scene_without_lettering_is_described_all_the_same() -> None:
    scene, marks = scene_of()
    words = StandInObserver(without(scene, "a", "b", "c"), marks, slips=NO_SLIPS).describe(the_album()["image-1"])
    assert words.startswith("Surroundings:")
    assert "traffic keeps right" in words
    assert "Lettering" not in words
    assert "Soest" not in words
    assert "German" not in words


LOOKS: tuple[tuple[Sort, str], ...] = (
    ("driving_side", "traffic keeps"), ("road_marking", "centre line"), ("pole", "poles"),
    ("architecture", "Buildings:"), ("vegetation", "bamboo"), ("terrain", "mountain"),
)  # fmt: skip


@pytest.mark.parametrize(("sort", "words"), LOOKS)
def test_what_has_no_mark_is_not_seen(sort: Sort, words: str) -> None:
    scene, _ = scene_of()
    look = replace(scene.look, terrain="mountains", poles="wood", plant="bamboo")
    clues = tuple(SceneClue(one, one, "country", f"{one}: 48 degrees, oceanic climate.") for one, _ in LOOKS)
    scene, view = replace(scene, look=look, clues=clues), the_album()["image-1"]
    drawn = [Mark(one, (0, 1800, 900, 2400)) for one, _ in LOOKS]
    whole = StandInObserver(scene, drawn, slips=NO_SLIPS).describe(view)
    less = StandInObserver(scene, [mark for mark in drawn if mark.clue != sort], slips=NO_SLIPS).describe(view)
    assert words in whole
    assert words not in less
    assert "degrees" not in whole
    assert "climate" not in whole


def test_a_line_that_a_crop_cuts_off_is_not_told() -> None:
    scene, marks = scene_of()
    album = the_album()
    scale = album["image-1"].size[0] / scene.size[0]
    crop = album.crop("image-1", [side * scale for side in (700, 700, 1500, 1100)])
    assert StandInObserver(scene, marks, slips=NO_SLIPS).lettering(crop) == []


def test_of_another_photo_nothing_is_told() -> None:
    scene, marks = scene_of()
    view, other = the_album()["image-1"], the_album()["image-1"]
    observer = StandInObserver(scene, marks, photo=view.photo_handle, slips=NO_SLIPS)
    assert observer.lettering(view)
    assert observer.lettering(other) == []
    assert observer.describe(other) == "This is no part of the photo."


def test_panoramas_are_refused() -> None:
    scene, marks = scene_of()
    panorama = replace(scene, kind="panorama")
    with pytest.raises(BadInput, match="street scenes"):
        StandInObserver(panorama, marks)
    with pytest.raises(BadInput, match="street scenes"):
        SceneRange(count=1, kind="panorama")
    with pytest.raises(BadInput, match="street scenes"):
        load_subject(pack_scene(panorama, marks, plain_picture(scene, marks)))


def test_misses_boards_at_the_stated_rate() -> None:
    scene, marks = scene_of()
    view, slipped = the_album()["image-1"], Slipped()
    tries = 400
    for seed in range(tries):
        StandInObserver(scene, marks, seed=seed, slips=Slips(0.25, 0.0), slipped=slipped).lettering(view)
    # Two boards can be read at once.
    assert slipped.missed / (2 * tries) == pytest.approx(0.25, abs=0.04)


LINES = st.lists(st.text(min_size=1, max_size=20).map(str.strip).filter(bool), max_size=3)


@given(LINES, st.booleans())
def test_lettering_is_read_as_it_was_written(lines: list[str], unread: bool) -> None:
    one = Lettering("image-2", "shop front", (1, 2, 30, 40), tuple(lines), unread or not lines)
    assert read_lettering("image-2", f"Lettering:\n{lettering_words(one)}") == [one]


def test_a_model_that_writes_the_form_loosely_is_read_too() -> None:
    said = (
        'Lettering:\n* Shop front [ 10, 20.4, 30, 41 ]: "Café Noir"\n- wall [1, 2]: "no box"\n- sign [1,2,3,4]: smudged'
        f"\n- sign [1,2,3,{'9' * 400}]: far off"
    )
    assert read_lettering("image-1", said) == [
        Lettering("image-1", "shop front", (10, 20, 30, 41), ("Café Noir",)),
        Lettering("image-1", "sign", (1, 2, 3, 4), (), unread=True),
    ]


def test_a_rate_is_a_chance() -> None:
    with pytest.raises(BadInput, match="missed"):
        Slips(missed=1.5)
