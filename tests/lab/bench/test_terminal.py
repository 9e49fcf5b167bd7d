"""What people read at a terminal: the right numbers, and nothing from a file taken for markup."""

import re
from collections.abc import Sequence
from io import StringIO

import pytest
from rich.console import Console, RenderableType

from geosleuth.answer import Address, Answer
from geosleuth.geo import LatLon
from geosleuth.lab.bench.records import Record
from geosleuth.lab.bench.report import compare_files, find_dataset_rows, report_file, tier_files
from geosleuth.lab.bench.scored import Scored, score_records
from geosleuth.lab.bench.terminal import pair_view, render_published, score_view, tier_view
from geosleuth.lab.score import Truth, papers

HOME = LatLon(48.0, 2.0)


def text_of(view: RenderableType, width: int = 200) -> str:
    out = StringIO()
    Console(file=out, width=width, markup=False, emoji=False, highlight=False).print(view)
    # The narrow space between a number and its unit is a matter of looks.
    return out.getvalue().replace("\N{NARROW NO-BREAK SPACE}", " ")


def file(label: str, points: Sequence[LatLon | None], **answer: float) -> Scored:
    records = [
        Record(
            f"image {number}",
            Truth(HOME, country="France"),
            answer=Answer(point, Address.create("France"), **answer),  # type: ignore[arg-type]  # floats only
            fields={"kind": "[/b] :smile:", "data_source": "GeoBench"},
        )
        for number, point in enumerate(points)
    ]
    return score_records(records, label=label, parser="lenient", distance="great-circle")


def line_with(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.strip().startswith(start))


def test_figures_of_two_files_stand_side_by_side() -> None:
    near, lost = file("near", [HOME, HOME, HOME, None]), file("lost", [None, None, None, LatLon(-48.0, -178.0)])
    text = text_of(score_view([report_file(near), report_file(lost)]))
    assert "near: 75.0 % of 4 images within 25 km" in text
    assert "lost: 0.0 % of 4 images within 25 km" in text
    assert re.search(r"unlocated +1 +3", text)
    assert re.search(r"25 km +75\.0 +0\.0 +\n +city +30–95 +0–49", text)
    assert re.search(r"country +100\.0 +100\.0 +\n +named", text)
    assert re.search(r"GeoScore +3,750 +0\b", text)


@pytest.mark.parametrize("width", [20, 80, 200])
def test_hostile_names_are_printed_as_they_are(width: int) -> None:
    hostile = file("[red]evil[/] :boom:", [HOME])
    text = text_of(score_view([report_file(hostile, by=["kind"])]), width)
    assert "[red]evil[/]" in text
    assert "💥" not in text
    assert "😄" not in text
    assert width == 20 or ("[/b]" in text and ":smile:" in text)


def test_slices_lose_no_digit_on_80_columns() -> None:
    report = report_file(file("x", [HOME] * 1200 + [None] * 300), by=["continent", "kind", "data_source"])
    text = text_of(score_view([report]), width=80)
    assert re.search(r"Europe +1,500 +300 +80\.0 +80\.0 ", text)
    assert "80…" not in text


def test_notes_and_confidence_are_told() -> None:
    report = report_file(file("x", [LatLon(0, 0), HOME, LatLon(60.0, 2.0)], probability=0.5, radius_km=100.0))
    text = text_of(score_view([report]))
    assert "note, x: 1 answer(s) say exactly 0, 0" in text
    assert "100 % answered: 66.7 % wrong" in text
    assert "expected calibration error 0.167 over 3 answers" in text


def test_published_rows_stand_beside_ours_with_what_is_wrong_about_them() -> None:
    rows = find_dataset_rows("GeoBench")
    text = text_of(score_view([report_file(file("x", [HOME]))], rows))
    assert "x (measured)" in text
    for row in rows:
        assert row.system in text
    assert re.search(r"GPT-5 \[\d+, \d+\]\n +934 +– +33\.30 +46\.90 +– +59\.64 +63\.17 +67\.13 +75\.05", text)
    assert "another subset" in text
    assert "Thinking with Map, table 4" in text


def test_all_published_rows_can_be_printed() -> None:
    rows = [row for paper in papers() for row in paper.rows]
    text = text_of(render_published(rows), width=400)
    for source in {row.source for row in rows}:
        assert source in text
    assert "260756" in text.replace(",", "")
    assert "e+" not in text


def test_a_comparison_tells_the_winner_and_what_moved() -> None:
    n = 30
    before, after = file("before", [LatLon(40.0, 2.0)] * n), file("after", [HOME] * n)
    text = text_of(pair_view(compare_files(before, after), moved=2))
    assert "after against before" in text
    assert "On the 30 photos that both have: after is better by" in text
    assert re.search(r"25 km +0\.0 +100\.0 +\+100\.0 +0 +30 +< ?0\.001", text)
    assert re.search(r"unlocated, photos +0 +0 +0", text)
    assert "The 2 photos that moved most, of 30 that moved" in text
    assert len(re.findall(r"^ *image \d+ ", text, re.MULTILINE)) == 2
    assert "nan" not in text


def test_a_comparison_tells_who_is_unlocated_how_files_were_read_and_what_is_odd() -> None:
    one, two = file("one", [None, None, HOME]), file("two", [LatLon(0, 0), None, HOME])
    text = text_of(pair_view(compare_files(one, two), moved=1))
    assert "one: lenient parser, great-circle distance." in text
    assert "two: lenient parser, great-circle distance; 1 answer(s) say exactly 0, 0" in text
    assert re.search(r"unlocated, photos +2 +1 +−1", text)
    assert re.search(r"image 0 +unlocated +[\d,]+ km", text)


def test_a_level_that_no_answer_names_is_not_called_wrong() -> None:
    def records(region: str | None) -> list[Record]:
        truth = Truth(HOME, country="France", region="Centre", city="Tours")
        return [Record("a", truth, answer=Answer(HOME, Address.create("France", region, "Tours")))]

    named, silent = (
        report_file(score_records(records(region), label=str(region), parser="strict", distance="geodesic"))
        for region in ("Bavaria", None)
    )
    text = text_of(score_view([named, silent]))
    assert re.search(r"region +0\.0 +none named", text)
    assert re.search(r"city +0\.0 +100\.0", text)


@pytest.mark.parametrize("sure", [3, 40])
def test_how_many_answers_state_a_confidence_is_told(sure: int) -> None:
    records = [
        Record(str(number), Truth(HOME), answer=Answer(HOME, probability=0.5 if number < sure else None))
        for number in range(48)
    ]
    report = report_file(score_records(records, label="x", parser="strict", distance="geodesic"))
    text = text_of(score_view([report]))
    assert f"x: {sure} of 48 answers state a place and a confidence" in text
    assert ("too few to leave the least sure ones out" in text) == (sure == 3)
    assert ("50 % answered: 0.0 % wrong" in text) == (sure == 40)
    assert ": –" not in text


LONG = "a_name_of_a_file_that_is_as_long_as_file_names_are_when_people_put_everything_into_them"


def test_nothing_is_cut_or_torn_on_80_columns() -> None:
    rows = [row for paper in papers() for row in paper.rows]
    one, two = file(LONG, [HOME] * 1200 + [None] * 34), file(LONG + "_2", [LatLon(40.0, 2.0)] * 1234)
    views = {
        "published": render_published(rows),
        "beside": score_view([report_file(one), report_file(two)], find_dataset_rows("GeoBench")),
    }
    narrow, wide = ({name: text_of(view, width) for name, view in views.items()} for width in (80, 500))
    for name in views:
        assert "…\n" not in narrow[name].replace("within …\n", "")
        figures = re.compile(r"^(?: +(?:[\d,.+-]+|–|< 0\.001)){4,} *$", re.MULTILINE)
        found = [" ".join(line.split()) for line in figures.findall(wide[name])]
        assert [" ".join(line.split()) for line in figures.findall(narrow[name])] == found
        assert len(found) > 5


def test_footnotes_are_numbered_and_every_number_leads_to_a_note() -> None:
    rows = find_dataset_rows("GeoBench")
    for text in (
        text_of(render_published(rows), 5000),
        text_of(score_view([report_file(file("x", [HOME]))], rows), 5000),
    ):
        notes = re.findall(r"^\[(\d+)\] \S", text, re.MULTILINE)
        marks = {
            number for marks in re.findall(r"\S \[([\d, ]+)\]$", text, re.MULTILINE) for number in marks.split(", ")
        }
        assert marks
        assert marks <= set(notes)
        assert " *" not in text


def test_tiers_in_one_sentence() -> None:
    files = [file(name, [HOME, None]) for name in ("a", "b", "c")]
    assert "1 easy, 1 hard of 2 images (easy: at least two of a, b, c within 10 km)" in text_of(
        tier_view(tier_files(files))
    )
    assert "at least two thirds of a, b within" in text_of(tier_view(tier_files(files[:2])))
