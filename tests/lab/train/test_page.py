"""The page of a run and the charts of documents."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.lab.train.curves import chart_alone, chart_of, chart_on_page, read_chart, ticks
from geosleuth.lab.train.run_folder import RunFolder, write_done
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
    write_done(RunFolder(run), 3, {"loss": 0.5})
    assert "Finished after 3 steps" in write_page(run).read_text(encoding="utf-8")
    told = review_document(read_run(run))
    assert (told["finished"], told["step"], told["done"]) == (True, 3, {"loss": 0.5})
    assert set(told["figures"]["reward"]) == {"first", "last", "steps"}


def test_a_run_without_a_step_has_a_page(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", 0)
    assert "No step has been logged yet" in write_page(run).read_text(encoding="utf-8")


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


def test_a_chart_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text("[" * 200_000)
    with pytest.raises(BadInput, match="nested too deeply"):
        read_chart(tmp_path / "deep.json")


@given(NUMBERS, NUMBERS)
def test_ticks_cover_the_span_and_are_few(one: float, other: float) -> None:
    low, high = sorted((one, other))
    found = ticks(low, high)
    slack = 1e-6 * max(abs(low), abs(high), 1e-9)
    assert found[0] <= low + slack
    assert found[-1] >= high - slack
    assert 1 <= len(found) <= 8
    assert found == sorted(set(found))


def lines_document(values: list[float]) -> dict[str, Any]:
    points = [{"x": 2**place, "y": y, "low": y - 1, "high": y + 1} for place, y in enumerate(values)]
    return {"kind": "lines", "title": "A & B", "x": {"title": "size", "logarithmic": True}, "lines": [
        {"name": "first", "points": points}, {"name": "second", "points": points[:1]},
    ]}  # fmt: skip


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_whatever_is_measured_is_drawn_inside_the_picture(values: list[float]) -> None:
    drawn = ET.fromstring(chart_alone(chart_of(lines_document(values))))  # noqa: S314  (our own text)
    width, height = (float(drawn.attrib[side]) for side in ("width", "height"))
    for path in drawn.iter("{http://www.w3.org/2000/svg}path"):
        spots = path.attrib["d"].strip("MZ").split("L") if path.attrib["d"] else []
        for spot in spots:
            x, y = map(float, spot.split(","))
            assert 0 <= x <= width
            assert 0 <= y <= height


BARS = {
    "kind": "bars", "title": "Stages", "y": {"title": "share", "percent": True}, "groups": [
        {"name": "25 km", "bars": [{"name": "base", "y": 0.1, "low": 0.08, "high": 0.12}, {"name": "GRPO", "y": 0.4}]},
        {"name": "750 km", "bars": [{"name": "GRPO", "y": 0.8}]},
    ],
}  # fmt: skip


def test_bars_say_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "stages.json").write_text(json.dumps(BARS))
    chart = read_chart(tmp_path / "stages.json")
    text = chart_alone(chart)
    drawn = ET.fromstring(text)  # noqa: S314  (our own text)
    space = "{http://www.w3.org/2000/svg}"
    columns = [one for one in drawn.iter(f"{space}g") if one.find(f"{space}rect") is not None]
    assert [one.findtext(f"{space}title") for one in columns] == [
        "25 km, base: 10\u202f%", "25 km, GRPO: 40\u202f%", "750 km, GRPO: 80\u202f%",
    ]  # fmt: skip
    # One name has one colour, and twice the value is twice as tall.
    assert columns[1].attrib["class"] == columns[2].attrib["class"] != columns[0].attrib["class"]
    tall = [float(one.find(f"{space}rect").attrib["height"]) for one in columns]  # type: ignore[union-attr]
    assert tall[2] == pytest.approx(2 * tall[1], abs=0.2)
    assert "prefers-color-scheme: dark" in text
    assert "25 km: base 10\u202f%, GRPO 40\u202f%; 750 km: GRPO 80\u202f%" in chart_on_page("stages", chart)


def test_a_line_or_bar_that_stands_alone_keeps_its_name() -> None:
    line = {"name": "with tools", "points": [{"x": 1, "y": 2}]}
    assert ">with tools<" in chart_alone(chart_of({"kind": "lines", "title": "One", "lines": [line]}))
    group = {"name": "25 km", "bars": [{"name": "base", "y": 0.5}]}
    assert ">base<" in chart_alone(chart_of({"kind": "bars", "title": "One", "groups": [group]}))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"kind": "pie"}, "kind is lines or bars, not 'pie'"),
        ({"kind": None}, "kind is lines or bars, not 'None'"),
        ({"kind": "lines"}, "lines is missing"),
        ({"groups": []}, "groups is empty"),
        ({"groups": [{"name": "x", "bars": []}]}, "bars is empty"),
        ({"kind": "lines", "lines": [{"name": "x", "points": []}]}, "points is empty"),
        ({"title": None}, "title is missing"),
        ({"groups": [{"name": "x", "bars": [{"name": "y", "y": "much"}]}]}, "y is no number: 'much'"),
        ({"groups": [{"name": "x", "bars": ["y"]}]}, "bars is not a list of mappings"),
        ({"groups": [{"name": "x", "bars": [{"name": "y", "y": 10**400}]}]}, "y is no number: '1000"),
    ],
)
def test_what_is_no_chart_is_refused_in_one_line(tmp_path: Path, change: dict[str, Any], complaint: str) -> None:
    path = tmp_path / "chart.json"
    path.write_text(json.dumps({**BARS, **change}))
    with pytest.raises(BadInput, match=complaint) as found:
        read_chart(path)
    assert str(found.value).startswith(f"{path}: ")
