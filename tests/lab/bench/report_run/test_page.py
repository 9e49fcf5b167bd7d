"""The page of a run: what a reader finds on it, harmless whatever the run's files hold."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from geosleuth.geo import Box, LatLon
from geosleuth.lab.bench.report import find_dataset_rows
from geosleuth.lab.bench.report_run import GroundMap, RunsReport, report_run, report_runs, with_pictures
from geosleuth.lab.bench.report_run.documents import run_view
from geosleuth.lab.bench.report_run.run_page import render_run_page
from geosleuth.lab.bench.run.folder import RunFolder
from geosleuth.lab.bench.scored import score_file
from geosleuth.lab.score import Truth
from run_folders import Called, PhotoMade, TryMade, answer_at, world_photos, write_run

HOSTILE = '</script></style><script>alert(1)</script><img src=x onerror="alert(2)">"\'&\x1b[31m\u202e'
VOID = {"br", "col", "hr", "img", "input", "link", "meta"}
GROUND = GroundMap("data:image/webp;base64,AA==", Box(40.0, 0.0, 50.0, 10.0), "© Somebody · Natural Earth")


class Reader(HTMLParser):
    """Reads a page strictly: every element is closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("script", "style"):
            self.texts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"[\s\u202f]+", " ", "".join(self.texts))

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def told(*folders: Path, gallery: int = 4) -> RunsReport:
    return report_runs(
        [
            report_run(
                RunFolder.read(one),
                score_file(one / "results.jsonl", parser="lenient", distance="geodesic", label=one.name),
                gallery=gallery,
            )
            for one in folders
        ]
    )


def page_of(found: RunsReport, **more: object) -> Reader:
    return Reader(render_run_page(found, generated="today", **more))  # type: ignore[arg-type]


def printed(found: RunsReport) -> str:
    console = Console(width=160, markup=False, emoji=False, color_system=None)
    with console.capture() as captured:
        console.print(run_view(found))
    return captured.get()


def test_a_reader_finds_figures_costs_tools_failures_and_photos(tmp_path: Path) -> None:
    one = write_run(tmp_path / "one", world_photos(80, failing=0.2), count=84, settings={"model": "some:model"})
    found = told(one)
    text = page_of(found).text
    run = found.runs[0]
    assert f"{run.counts.answered} photos within 25 km" in text
    assert f"Of 84 photos, {run.counts.failed} photos failed in the newest try and 4 photos are still" in text
    assert "models.example" in text
    assert f"{run.behaviour.calls / run.behaviour.photos:.1f} calls per photo" in text
    assert "maps_geocode" in text
    assert "counting as the papers do" in text
    assert f"{run.spent['cost_usd'].mean:.4f}" in text
    assert "some:model" in text
    assert "Wins: 4 photos" in text
    assert "Failures: 4 photos" in text
    for shot in run.gallery.shots:
        assert shot.id in text
    assert "What the answers depended on" not in text


def test_measured_and_published_rows_are_told_apart(tmp_path: Path) -> None:
    found = told(
        write_run(tmp_path / "one", world_photos(10)), write_run(tmp_path / "two", world_photos(10, skill=0.2))
    )
    rows = find_dataset_rows("Im2GPS3k")[:3]
    badges = [
        one["class"] for one in page_of(found, published=rows).named("span") if "badge" in (one.get("class") or "")
    ]
    assert badges.count("badge measured") == 2
    assert badges.count("badge") == 3


def test_hostile_texts_stay_text(tmp_path: Path) -> None:
    truth = Truth(LatLon(1.0, 2.0), country=HOSTILE, city=HOSTILE)
    answer = answer_at(1.0, 2.1, HOSTILE, HOSTILE, explanation=HOSTILE)
    calls = (Called(HOSTILE), Called(HOSTILE, "refused"))
    lost = TryMade(outcome="failed", by="nobody", reason="service", host=HOSTILE, trouble=HOSTILE)
    photos = [
        PhotoMade(HOSTILE, truth, (TryMade(answer, calls=calls),)),
        PhotoMade(f"{HOSTILE}2", truth, (TryMade(answer_at(50.0, 60.0, HOSTILE), calls=calls),)),
        PhotoMade(f"{HOSTILE}3", truth, (lost,)),
    ]
    whole = write_run(tmp_path / "whole", photos, data_name=HOSTILE, settings={HOSTILE: HOSTILE, "list": [HOSTILE]})
    masked = write_run(tmp_path / "masked", [replace(photos[0], tries=photos[1].tries)], mask=HOSTILE)
    page = page_of(told(whole, masked))
    assert [one.get("src") for one in page.named("img")] == []
    assert page.named("script") == []
    assert all("onerror" not in attributes for _, attributes in page.elements)
    assert "alert(2)" in page.text
    assert "\x1b" not in page.text
    assert "\x1b" not in printed(told(whole, masked))


def test_pictures_and_maps_stand_in_the_page_and_nothing_is_loaded(tmp_path: Path) -> None:
    found = told(write_run(tmp_path / "one", world_photos(40)))
    run = found.runs[0]
    photos = {shot.id: "data:image/jpeg;base64,AA==" for shot in run.gallery.wins}
    filled = replace(
        run, gallery=with_pictures(run.gallery, photos, lambda shot: GROUND if shot.error_km < 9 else None)
    )
    page = page_of(replace(found, runs=(filled,)))
    assert len(page.named("img")) == len(run.gallery.wins)
    sources = [one.get("src") or "" for one in page.named("img")] + [
        one.get("href") or "" for one in page.named("image")
    ]
    assert all(source.startswith("data:image/") for source in sources)
    assert "Maps: © Somebody, Natural Earth." in page.text
    assert not [one for one in page.named("a") if not (one.get("href") or "").startswith("#")]
    (policy,) = [one["content"] for one in page.named("meta") if one.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert "default-src 'none'" in policy


@pytest.mark.parametrize("tries", [(), (TryMade(outcome="failed", by="nobody", reason="error", trouble="no picture"),)])
def test_a_run_without_an_answer_still_has_its_page(tmp_path: Path, tries: tuple[TryMade, ...]) -> None:
    from geosleuth.lab.bench.scored import score_records

    truth = Truth(LatLon(1.0, 2.0))
    folder = RunFolder.read(write_run(tmp_path / "none", [PhotoMade("p1", truth, tries)]))
    empty = score_records([], label="none", parser="lenient", distance="geodesic")
    found = report_runs([report_run(folder, empty, gallery=4)])
    text = page_of(found).text
    assert "has no record that can be scored" in text
    assert "Of 1 photos, 1 photo" in text
    assert "answered" in printed(found)


def test_the_moved_answers_are_on_the_page_and_at_the_terminal(tmp_path: Path) -> None:
    found = told(
        write_run(tmp_path / "whole", world_photos(30, skill=0.9, failing=0)),
        write_run(tmp_path / "masked", world_photos(30, skill=0.1, failing=0), mask="signs"),
    )
    (one,) = found.hung_on
    text = page_of(found).text
    assert "masked against whole; hidden: signs" in text
    at_25 = next(item for item in one.turned if item.threshold_km == 25)
    assert f"25 km{at_25.both_right}{at_25.right_to_wrong}{at_25.wrong_to_right}{at_25.both_wrong}" in text
    assert one.shifts[0].second_place in text
    shown = printed(found)
    assert "masked against whole; hidden: signs" in shown
    assert one.shifts[0].id in shown
