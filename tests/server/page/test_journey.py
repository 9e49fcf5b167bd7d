"""A person's way through the page: drop a photo, watch, object, go on, take the result away; with no network."""

import base64
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser import PATIENCE_MS, Opener, serious_faults
from openai_server import Reply, openai_server
from serving import Served, photo_bytes, recording

BAKERY = Path(__file__).parents[3] / "examples" / "photos" / "drawn-bakery.jpg"
RUN_MS = 240_000
"""A run on a machine that does other things besides; alone it takes a few seconds."""

expect.set_options(timeout=PATIENCE_MS)

DROP = """([data, name]) => {
  const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], name, { type: "image/jpeg" }));
  const how = { bubbles: true, cancelable: true, dataTransfer: transfer };
  for (const kind of ["dragover", "drop"]) document.querySelector(".dropzone").dispatchEvent(new DragEvent(kind, how));
}"""


def dropped(page: Page, photo: Path) -> None:
    page.evaluate(DROP, [base64.b64encode(photo.read_bytes()).decode(), photo.name])


def done(page: Page) -> None:
    expect(page.locator(".finding.done")).to_be_visible(timeout=RUN_MS)


def test_from_a_dropped_photo_to_geojson(open_page: Opener, server: Served) -> None:
    page = open_page("/", viewport={"width": 1280, "height": 900})
    expect(page.get_by_role("button", name="Choose photos")).to_be_visible()
    dropped(page, BAKERY)
    expect(page.get_by_role("img", name="drawn-bakery.jpg")).to_be_visible()
    page.get_by_role("button", name="Find the place").click()

    # Watched live: steps and clue boxes are there before the finding is.
    expect(page.locator(".turn").first).to_be_visible(timeout=RUN_MS)
    done(page)
    expect(page.locator("h2.place")).to_contain_text("Monaco")
    expect(page.locator(".finding .sure")).to_contain_text("within")
    expect(page.get_by_text("A lead, not a verdict")).to_be_visible()
    expect(page.locator(".photo-box.clue").first).to_be_visible()

    # A clue points to its box and to the place that it speaks for.
    page.locator(".clue-row").first.hover()
    expect(page.locator(".photo-box.highlighted")).to_have_count(1)
    expect(page.locator(".candidate.linked").first).to_be_visible()

    name = page.locator(".candidate-name").first.inner_text()
    page.get_by_role("button", name=f"Reject {name}").click()
    page.get_by_role("button", name="Draw an area").click()
    page.get_by_role("button", name="Box around this view").click()
    page.get_by_label("Add a hint").fill("near the harbour")
    expect(page.locator(".feedback .chip")).to_have_count(2)
    before = page.url
    page.get_by_role("button", name="Continue").click()
    expect(page.locator(".runs li")).to_have_count(2, timeout=RUN_MS)
    assert page.url != before
    done(page)
    run = server.client.get(f"/api/runs/{page.url.rsplit('/', 1)[1]}").json()
    assert run["parent"] == before.rsplit("/", 1)[1]
    assert run["rejected"]["places"]
    expect(page.locator(".went-on")).to_contain_text(re.compile("^You: not: .*; near the harbour; area drawn$"))

    # The first run and its result are still there, with everything that can be taken away.
    page.locator(".runs a").last.click()
    done(page)
    expect(page.locator("h2.place")).to_contain_text("Monaco")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Report").click()
    report = opened.value
    expect(report.locator("h1")).to_contain_text("Monaco")
    report.close()
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="GeoJSON").click()
    exported = json.loads(download.value.path().read_text())
    assert exported["type"] == "FeatureCollection"
    assert any(one["geometry"] and one["geometry"]["type"] == "Point" for one in exported["features"])

    # Of two runs there is nothing to pick.
    expect(page.get_by_label("Pick run 1 to compare")).to_be_checked()
    expect(page.get_by_label("Pick run 2 to compare")).to_be_checked()
    page.get_by_label("Pick run 1 to compare").uncheck()
    expect(page.get_by_role("button", name="Compare the two")).to_be_disabled()
    page.get_by_label("Pick run 1 to compare").check()
    page.get_by_role("button", name="Compare the two").click()
    expect(page.get_by_role("heading", name="Two runs side by side")).to_be_visible()
    expect(page.locator(".compare-side")).to_have_count(2)


def test_a_run_can_be_stopped(open_page: Opener, server: Served) -> None:
    settings = server.client.get("/api/settings").json()
    # A model that never answers: the run is under way until somebody stops it.
    with openai_server([Reply(manner="silent")]) as url:
        server.client.put("/api/settings", json={"offline": False}).raise_for_status()
        try:
            case = server.case(BAKERY.read_bytes())
            run = server.start(case, model="server:any", base_url=str(url))
            # Stopped before its first step, a run has no result: the page asks for one and hears 409.
            page = open_page(f"/#/case/{case}/run/{run}", expected=("status of 409",))
            page.get_by_role("button", name="Stop").click()
            expect(page.get_by_text("This was stopped.")).to_be_visible()
            assert server.state(run) == "cancelled"
            # What was found so far can be taken up again, even with nothing to add.
            expect(page.get_by_role("button", name="Continue")).to_be_enabled()
        finally:
            server.client.put("/api/settings", json={"offline": settings["offline"]}).raise_for_status()


@pytest.mark.slow
def test_what_is_no_photo_is_refused_in_words_and_leaves_nothing(open_page: Opener, server: Served) -> None:
    before = len(server.client.get("/api/cases").json()["cases"])
    page = open_page("/", expected=("status of 400", "status of 415"))
    files = {"name": "notes.heic", "mimeType": "image/heic", "buffer": b"no picture at all"}
    page.set_input_files("input[type=file]", files)  # type: ignore[arg-type]
    page.get_by_role("button", name="Find the place").click()
    expect(page.get_by_role("alert")).to_contain_text("notes.heic")
    assert len(server.client.get("/api/cases").json()["cases"]) == before


def test_an_area_beside_the_finding_is_named_as_the_reason_and_stays_drawn(
    open_page: Opener, server: Served, shot: Callable[[Page, str], None]
) -> None:
    nice = [[7.2, 43.66], [7.3, 43.66], [7.3, 43.74], [7.2, 43.74], [7.2, 43.66]]
    area = {"type": "Polygon", "coordinates": [nice]}
    case = server.case(BAKERY.read_bytes(), title="Area beside the shop")
    first = server.start(case)
    assert server.over(first, 240) == "done"
    second = server.client.post(f"/api/runs/{first}/continue", json={"area": area}).json()["id"]
    assert server.over(second, 240) == "done"
    page = open_page(f"/#/case/{case}/run/{second}", viewport={"width": 1280, "height": 900})
    reason = page.locator(".cant-tell")
    expect(reason).to_contain_text("All clues point to Monaco, outside the area that you drew.")
    expect(reason).not_to_contain_text("too weak")
    expect(page.locator(".map-canvas[data-settled]")).to_be_visible()
    shot(page, "area-outside")

    # The list of cases shows the better run, and another where somebody chooses it.
    page.goto(f"{server.url}/#/")
    card = page.locator(".case-card", has_text="Area beside the shop")
    expect(card.locator(".case-place")).to_contain_text("Monaco")
    page.goto(f"{server.url}/#/case/{case}/run/{second}")
    page.get_by_role("button", name="Show run 2 in the list of cases").click()
    page.goto(f"{server.url}/#/")
    expect(card.locator(".case-place")).to_have_text("No place was found")
    page.goto(f"{server.url}/#/case/{case}/run/{second}")
    page.get_by_role("button", name="Search without the area").click()
    page.get_by_role("dialog").get_by_role("button", name="Find the place").click()
    expect(page.locator(".finding.done h2")).to_contain_text("Monaco", timeout=120_000)
    third = page.url.rsplit("/", 1)[1]
    assert server.client.get(f"/api/runs/{third}").json()["request"]["area"] is None


def test_the_map_of_all_cases_goes_by_sureness_and_time(
    open_page: Opener, server: Served, tmp_path: Path, shot: Callable[[Page, str], None]
) -> None:
    answers = {"Likely": (43.73, 7.42, 0.9, 2), "Doubted": (48.85, 2.35, 0.3, 300)}
    for title, (lat, lon, odds, km) in answers.items():
        said = {"lat": lat, "lon": lon, "city": title, "country": "France", "probability": odds, "radius_km": km}
        with ThreadPoolExecutor(1) as aside:
            made = aside.submit(recording, tmp_path / f"{title}.jsonl", answer=json.dumps(said)).result()
        run = server.start(server.case(photo_bytes(title), title=f"mapped {title}"), model=f"replay:{made}")
        assert server.over(run, 240) == "done"
    page = open_page("/", viewport={"width": 1280, "height": 900})
    page.get_by_placeholder("Search places, titles, notes").fill("mapped")
    page.get_by_role("button", name="Map", exact=True).click()
    cases = page.locator(".cases-map")
    expect(cases.get_by_role("status").first).to_have_text("2 places")
    expect(cases.locator(".pin")).to_have_count(2)
    expect(cases.locator('.map-canvas[data-settled="yes"]')).to_be_visible()
    shot(page, "cases-map")
    cases.get_by_label("How sure").select_option(label="85 % or more")
    expect(cases.locator(".pin")).to_have_count(1)
    cases.locator(".pin").hover()
    expect(cases.get_by_role("link")).to_contain_text("mapped Likely: Likely, France")
    cases.get_by_label("How sure").select_option(label="any")
    cases.get_by_label("Added").select_option(label="in the last day")
    expect(cases.locator(".pin")).to_have_count(2)
    assert serious_faults(page, ".cases-map") == []
    # A map of one case shows all of its circle.
    page.get_by_placeholder("Search places, titles, notes").fill("mapped Doubted")
    expect(cases.locator(".pin")).to_have_count(1)
    expect(cases.locator(".maplibregl-ctrl-scale")).to_have_text(re.compile(r"^[1-5]00\s"))
