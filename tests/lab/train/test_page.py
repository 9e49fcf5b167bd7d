"""The page of a run and its charts."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.lab.train.curves import Chart, Line, Point, draw_chart, ticks
from geosleuth.lab.train.run_folder import TrainingFolder, write_done
from geosleuth.lab.train.run_page import duration, read_run, review_document, write_page
from geosleuth.support.errors import BadInput
from train_runs import write_run

NUMBERS = st.floats(-1e9, 1e9).filter(lambda value: value == 0 or abs(value) > 1e-9)


def test_the_page_shows_what_the_run_told(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", 60)
    page = write_page(run, generated="today").read_text(encoding="utf-8")
    for heading in (
        "made-up: reinforcement learning", "Parts of the reward", "Accuracy by distance", "Tool calls", "Failed calls",
        "Length, tokens", "Divergence", "Loss", "Tokens a second", "The device",
    ):  # fmt: skip
        assert f">{heading}<" in page
    assert "60 steps and" in page
    assert "the run has not ended" in page
    # Distances stand in their order, whatever the order of the lines.
    found = [page.index(f"within {words}") for words in ("500\u202fm", "25\u202fkm", "750\u202fkm")]
    assert found == sorted(found)
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_a_finished_run_says_so(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", 3)
    write_done(TrainingFolder(run), 3, {"loss": 0.5})
    assert "Finished after 3 steps" in write_page(run).read_text(encoding="utf-8")
    told = review_document(read_run(run))
    assert (told["finished"], told["step"], told["done"]) == (True, 3, {"loss": 0.5})
    assert set(told["figures"]["reward"]) == {"first", "last", "steps"}


def test_names_in_a_recipe_are_text(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", 2, name="<img src=x onerror=alert(1)>")
    page = write_page(run).read_text(encoding="utf-8")
    assert "<img" not in page
    assert "&lt;img" in page


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no training run"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.026, "0.026 s"), (42.4, "42 s"), (61, "1 min 01 s"), (3599.7, "1 h 00 min"), (7384, "2 h 03 min")],
)
def test_durations_are_short(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@given(NUMBERS, NUMBERS)
def test_ticks_cover_the_span_and_are_few(one: float, other: float) -> None:
    low, high = sorted((one, other))
    found = ticks(low, high)
    slack = 1e-6 * max(abs(low), abs(high), 1e-9)
    assert found[0] <= low + slack
    assert found[-1] >= high - slack
    assert 1 <= len(found) <= 8
    assert found == sorted(set(found))


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_whatever_is_measured_is_drawn_inside_the_picture(values: list[float]) -> None:
    points = [Point(float(place), y, y - 1, y + 1) for place, y in enumerate(values)]
    chart = Chart("A & B", (Line("first", tuple(points)), Line("second", tuple(points[:1]))))
    drawn = ET.fromstring(draw_chart("made-up", chart))  # noqa: S314  (our own text)
    _, _, width, height = map(float, drawn.attrib["viewBox"].split())
    for path in drawn.iter("path"):
        spots = path.attrib["d"].strip("MZ").split("L") if path.attrib["d"] else []
        for spot in spots:
            x, y = map(float, spot.split(","))
            assert 0 <= x <= width
            assert 0 <= y <= height
