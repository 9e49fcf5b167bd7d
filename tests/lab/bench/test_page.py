"""The HTML report: complete, harmless whatever the files hold, and true to the figures it is made from."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyproj import Proj

from geosleuth.geo import great_circle_km
from geosleuth.lab.bench.page.error_map import fan_out
from geosleuth.lab.bench.page.score_charts import error_curve
from geosleuth.lab.bench.page.score_page import render_page
from geosleuth.lab.bench.report import FileReport, compare_files, report_file
from geosleuth.lab.bench.scored import Field, Scored
from geosleuth.lab.score import NOT_NAMED, PublishedRow, list_published_rows
from geosleuth.report.worldmap import equal_earth, great_circle
from geosleuth.support.text.numbers import distance

HOSTILE = "<script>alert(1)</script>\"'&\u202e</title>"
VOID = {"br", "col", "hr", "input", "link", "meta"}


def make_scored(
    n: int = 40,
    *,
    label: str = "steady",
    unlocated: float = 0.1,
    sure: bool = False,
    seed: int = 0,
    first_id: str = "photo 0",
    scenes: tuple[str, ...] = ("street", "field"),
    data_source: str = "GeoBench",
) -> Scored:
    random = np.random.default_rng(seed)
    truth_lat, truth_lon = random.uniform(-60, 75, n), random.uniform(-180, 180, n)
    spread = random.exponential(1.0, n) ** 4
    lat = np.clip(truth_lat + 0.1 * spread, -90, 90)
    lon = (truth_lon + 0.1 * spread + 180) % 360 - 180
    missing = random.random(n) < unlocated
    lat[missing] = lon[missing] = np.nan
    error_km = great_circle_km(truth_lat, truth_lon, lat, lon)
    unknown = np.full(n, np.nan)
    return Scored(
        label=label,
        parser="lenient",
        distance="great-circle",
        sha256="ab" * 32,
        ids=(first_id, *(f"photo {row}" for row in range(1, n)))[:n],
        truth_lat=truth_lat,
        truth_lon=truth_lon,
        lat=lat,
        lon=lon,
        distance_km=error_km,
        probability=np.clip(1 / (1 + error_km / 50), 0, 1) if sure else unknown,
        radius_km=np.full(n, 25.0) if sure else unknown,
        levels={"country": (np.nan_to_num(error_km, nan=1e9) < 300).astype(np.int8)},
        fields={
            "scene": Field(scenes, (np.arange(n) % len(scenes)).astype(np.int32)),
            "data_source": Field((data_source,), np.zeros(n, dtype=np.int32)),
        },
        notes=("two photos occur twice",),
    )


def make_page(*reports: FileReport, published: tuple[PublishedRow, ...] = ()) -> str:
    return render_page(reports, published=published, generated="1 January 2030")


class Reader(HTMLParser):
    """Reads a page strictly: every element is closed in order; keeps texts, attributes and data blocks."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({key for key, _ in attrs}) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)


def test_headline_and_table_say_what_the_report_says() -> None:
    report = report_file(make_scored(200), by=["scene"])
    text = Reader(make_page(report)).text.replace("\N{NARROW NO-BREAK SPACE}", " ")
    summary = report.summary
    hits = summary.within[25.0]
    assert f"steady places {hits.percent.value:.1f} % of 200 photos within 25 km" in text
    median = distance(summary.median_km.value).replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert f"half are off by less than {median}; {summary.unlocated} could not be placed." in text
    for accuracy in (*summary.within.values(), summary.levels["country"]):
        assert f"{accuracy.percent.value:.1f}" in text
    assert f"{summary.geoscore.value:,.0f}" in text
    assert "two photos occur twice" in text
    assert "ab" * 32 in text


@pytest.mark.parametrize("sure", [False, True])
@pytest.mark.parametrize(("n", "unlocated"), [(1, 0.0), (1, 1.0), (30, 1.0), (30, 0.0), (300, 0.3)])
def test_pages_of_all_sizes_are_whole(n: int, unlocated: float, sure: bool) -> None:
    report = report_file(make_scored(n, unlocated=unlocated, sure=sure), by=["scene"])
    reader = Reader(make_page(report))
    tags = [tag for tag, _ in reader.elements]
    assert tags.count("h1") == tags.count("main") == tags.count("header") == tags.count("footer") == 1
    assert "nan" not in reader.text
    assert not any("nan" in str(value) for _, attributes in reader.elements for value in attributes.values())


def test_a_file_without_records_is_no_crash() -> None:
    assert "has no record" in Reader(make_page(report_file(make_scored(0)))).text


def test_confidence_is_shown_only_where_stated() -> None:
    quiet, sure = (Reader(make_page(report_file(make_scored(100, sure=sure)))).text for sure in (False, True))
    assert "Confidence" not in quiet
    assert "Confidence" in sure
    assert "expected calibration error" in sure


def test_several_files_and_a_pair() -> None:
    files = [make_scored(60, label=f"file {number}", unlocated=number / 10) for number in range(3)]
    pair = compare_files(files[0], files[1])
    page = render_page([report_file(scored) for scored in files], pairs=[pair], generated="1 January 2030")
    reader = Reader(page)
    assert all(f"file {number}" in reader.text for number in range(3))
    assert [attributes.get("class") for tag, attributes in reader.elements if tag == "figure"].count("map") == 3
    assert "file 1 against file 0" in reader.text
    assert f"of {len(pair.moved)} that moved" in reader.text
    section = reader.text.split("file 1 against file 0")[1]
    assert f"unlocated, photos{pair.first.unlocated}{pair.second.unlocated}" in section
    assert "file 1: lenient parser, great-circle distance; two photos occur twice." in section


def test_published_rows_are_marked_and_say_which_images() -> None:
    rows = tuple(
        row for row in list_published_rows(dataset="GeoBench", paper="twm") if row.values.get("acc@25km") is not None
    )
    other = tuple(row for row in list_published_rows(paper="spotagent") if row.values.get("acc@25km") is not None)[:1]
    assert {row.n for row in rows} >= {934, 428}
    reader = Reader(make_page(report_file(make_scored(934)), published=rows + other))
    badges = [attributes for tag, attributes in reader.elements if attributes.get("class") == "badge"]
    assert len(badges) == len(rows) + len(other)
    assert "another subset (n = 428)" in reader.text
    assert "GeoBench, same n" in reader.text
    assert f"other images: {other[0].dataset}" in reader.text
    assert f"{rows[0].values['acc@25km']:.2f}" in reader.text
    for flag in rows[0].flags:
        assert flag.text in reader.text


def test_hostile_names_stay_text() -> None:
    scored = make_scored(30, label=HOSTILE, first_id=HOSTILE, unlocated=0.5, scenes=(HOSTILE, "field"), sure=True)
    report = report_file(scored, by=["scene"])
    pair = compare_files(scored, make_scored(30, label=HOSTILE + "2", first_id=HOSTILE, unlocated=0.2))
    page = render_page([report, report], pairs=[pair], title=HOSTILE, generated=HOSTILE, command=HOSTILE)
    reader = Reader(page)
    assert "script" not in {tag for tag, _ in reader.elements}
    assert "\u202e" not in page
    assert HOSTILE.replace("\u202e", "") in reader.text
    assert not any(key.startswith("on") for _, attributes in reader.elements for key in attributes)


def test_loads_nothing_and_runs_no_script() -> None:
    page = make_page(report_file(make_scored(50), by=["scene"]))
    reader = Reader(page)
    assert not re.search(r"https?://|url\(|@import", page)
    for tag, attributes in reader.elements:
        assert tag not in {"link", "img", "iframe", "object", "embed", "script"}
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
    (policy,) = [
        a["content"] for t, a in reader.elements if t == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert str(policy).startswith("default-src 'none'; style-src 'unsafe-inline'; ")
    assert "script-src" not in str(policy)


def test_links_and_labels_lead_somewhere() -> None:
    rows = list_published_rows(dataset="GeoBench", paper="twm")
    reader = Reader(make_page(report_file(make_scored(50, sure=True)), published=rows))
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in reader.elements:
        wanted = [*(attributes.get("aria-labelledby") or "").split(), (attributes.get("href") or "#")[1:]]
        assert {name for name in wanted if name} <= set(ids)


def test_tables_and_drawings_speak_to_screen_readers() -> None:
    page = make_page(report_file(make_scored(50, sure=True), by=["scene"]))
    reader = Reader(page)
    assert page.count("<table") == page.count("<caption>")
    assert all(attributes.get("scope") for tag, attributes in reader.elements if tag == "th")
    drawings = [attributes for tag, attributes in reader.elements if tag == "svg" and "aria-hidden" not in attributes]
    assert len(drawings) == 5
    assert all(attributes["role"] == "img" and attributes["aria-labelledby"] for attributes in drawings)


def test_error_curve_ends_where_the_unlocated_begin() -> None:
    report = report_file(make_scored(500, unlocated=0.25))
    curve = error_curve(report, columns=100)
    heights = [share for _, share in curve]
    assert heights == sorted(heights)
    assert heights[-1] == pytest.approx(report.summary.located / 500)


def test_a_level_that_no_answer_names_is_called_so() -> None:
    scored = replace(make_scored(9), levels={"country": np.zeros(9, np.int8), "region": np.full(9, NOT_NAMED, np.int8)})
    cells = Reader(make_page(report_file(scored))).texts
    assert cells.count("none named") == 1


@given(st.floats(-90, 90), st.floats(-180, 180))
def test_projection_is_equal_earth(lat: float, lon: float) -> None:
    x, y = equal_earth(np.array([lat]), np.array([lon]))
    assert (x[0], y[0]) == pytest.approx(Proj(proj="eqearth", R=1)(lon, lat), abs=1e-9)


def test_a_line_across_the_antimeridian_is_cut_in_two() -> None:
    west, east = great_circle(-17.0, 170.0, -14.0, -171.0)
    assert (west[0][0], west[1][0], west[1][-1]) == (-17.0, 170.0, 180.0)
    assert (east[1][0], east[0][-1], east[1][-1]) == (-180.0, -14.0, -171.0)
    assert west[0][-1] == east[0][0]


@given(st.floats(-90, 90), st.floats(-180, 180), st.floats(-90, 90), st.floats(-180, 180))
def test_great_circles_are_short_steps_of_the_right_length(lat1: float, lon1: float, lat2: float, lon2: float) -> None:
    pieces = great_circle(lat1, lon1, lat2, lon2)
    length = sum(float(np.sum(great_circle_km(lat[:-1], lon[:-1], lat[1:], lon[1:]))) for lat, lon in pieces)
    assert length == pytest.approx(great_circle_km(lat1, lon1, lat2, lon2), abs=15.0)
    for _, lon in pieces:
        assert np.all(np.abs(np.diff(lon)) <= 180)


def test_dots_on_one_spot_are_told_apart() -> None:
    x, y = np.full(50, 100.0), np.full(50, 80.0)
    rank = np.arange(50) % 3
    new_x, new_y = fan_out(x, y, rank)
    assert len({(round(a, 2), round(b, 2)) for a, b in zip(new_x, new_y, strict=True)}) == 50
    radius = np.hypot(new_x - 100, new_y - 80)
    assert radius.max() < 30
    assert radius[rank == 0].max() < radius[rank == 2].min()
    lone_x, lone_y = fan_out(np.array([10.0, 300.0]), np.array([10.0, 200.0]), np.array([0, 0]))
    assert (lone_x.tolist(), lone_y.tolist()) == ([10.0, 300.0], [10.0, 200.0])
