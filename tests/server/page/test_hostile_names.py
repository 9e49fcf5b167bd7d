"""Script in every name that a model, a map, a file or a user can give: all of it stays text, and nothing breaks."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from browser import PATIENCE_MS, opened
from geosleuth.atlas.regions import import_osm
from homes import home_with_base
from openai_server import ServerUrl, chat_reply, openai_server
from serving import Served, photo_bytes, served

expect.set_options(timeout=PATIENCE_MS)
TEMPLATE = (
    "\"'><img src=x onerror=owned('{0}')><svg onload=owned('{0}')><script>owned('{0}')</script>"
    "<a href=javascript:owned('{0}')>{0}</a>{{{{7*7}}}}${{7*7}}</title></style>"
)
WATCH = "window.ran = []; window.owned = (where) => window.ran.push(where); window.alert = window.owned;"


def hostile(where: str) -> str:
    return TEMPLATE.format(where)


def level(name: str) -> dict[str, object]:
    told = {part: hostile(f"{name} {part}") for part in ("conclusion", "reasoning", "uncertainty")}
    return {**told, "clues": [hostile(f"{name} clue {number}") for number in (1, 2)]}


ANSWER = {
    "format": "geosleuth-answer/1", "lat": 43.7347, "lon": 7.4206, "probability": 0.81, "radius_km": 0.4,
    "country": level("country"), "region": level("region"), "precise": level("precise"),
    "explanation": hostile("explanation"),
    "candidates": [
        {"name": hostile(f"candidate {number}"), "lat": 43.77 + number, "lon": 7.5, "probability": 0.05,
         "evidence": hostile(f"evidence {number}")}
        for number in (1, 2)
    ],
}  # fmt: skip


def write_region(folder: Path) -> Path:
    """Write a map whose places are called so; the model asks for what is around a point in it."""
    import osmium
    from osmium.osm import mutable

    path = folder / "town.osm.pbf"
    with osmium.SimpleWriter(str(path)) as writer:
        for number in range(1, 30):
            at = (7.42 + number / 9000, 43.734 + number % 5 / 9000)
            name = f"Zyx {number} {hostile(f'map {number}')}"[:250]
            tags = {"name": name, "amenity": "cafe", "website": f"javascript:owned('map {number}')"}
            writer.add_node(mutable.Node(id=number, location=at, tags=tags))
        town = {"name": f"Zyxtown {hostile('town')}"[:250], "place": "town"}
        writer.add_node(mutable.Node(id=99, location=(7.4206, 43.7347), tags=town))
    return path


@pytest.fixture(scope="module")
def model() -> Iterator[ServerUrl]:
    around = {"latitude": 43.7347, "longitude": 7.4206, "radius_m": 900}
    calls = [("nearby", around), ("maps_geocode", {"address": "Zyxtown"})]
    asks = chat_reply(hostile("thought"), calls, thinking=hostile("thinking"))
    with openai_server([asks, chat_reply(json.dumps(ANSWER))]) as url:
        yield url


@pytest.fixture(scope="module")
def hostile_server(tmp_path_factory: pytest.TempPathFactory, base_file: Path, chromium: str) -> Iterator[Served]:
    assert chromium
    home = home_with_base(tmp_path_factory.mktemp("hostile"), base_file)
    import_osm(write_region(tmp_path_factory.mktemp("extract")), "town", folder=home / "data" / "regions")
    with served(home) as running:
        running.client.put("/api/settings", json={"offline": False}).raise_for_status()
        yield running


def check_nothing_ran(page: Page) -> None:
    assert page.evaluate("window.ran") == []
    assert page.locator("body img[onerror], body svg[onload], body [href^='javascript:']").count() == 0
    assert page.evaluate("[...document.scripts].filter((one) => one.text.includes('owned')).length") == 0


def test_no_name_runs_as_script_anywhere(browser: Browser, hostile_server: Served, model: ServerUrl) -> None:
    server = hostile_server
    case = server.case(title=hostile("title")[:200])
    name = hostile("file")[:240].replace("/", "_") + ".jpg"
    assert server.upload(case, photo_bytes("Boulangerie", "<b>owned</b>"), name).status_code == 201
    noted = server.client.patch(f"/api/cases/{case}", json={"notes": hostile("notes")})
    assert noted.status_code == 200, noted.text
    asked = {"model": "server:any", "base_url": str(model), "hint": hostile("hint")}
    runs = [server.start(case, **asked), server.start(case, **asked)]
    assert [server.over(run, 240) for run in runs] == ["done", "done"]
    said = json.dumps(server.client.get(f"/api/runs/{runs[0]}/view").json())
    told = server.client.get(f"/api/runs/{runs[0]}/files/jsonl").text
    assert "candidate 1" in said
    assert "Zyx " in told, "the map's names reached the run"

    context = browser.new_context(reduced_motion="reduce", viewport={"width": 1280, "height": 1000})
    context.add_init_script(WATCH)
    page, watched = opened(context, f"{server.url}/#/")
    dialogs: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    shown = {
        "/#/": page.locator(".case-card").first,
        f"/#/case/{case}/run/{runs[0]}": page.locator(".finding.done"),
        f"/#/compare/{runs[0]}/{runs[1]}": page.locator(".compare-side").first,
        "/#/settings": page.get_by_role("heading", name="Keys"),
    }
    for path, mark in shown.items():
        page.evaluate("(hash) => { location.hash = hash }", path.lstrip("/"))
        expect(mark).to_be_visible()
        for folded in page.locator("main summary").all():
            if folded.is_visible():
                folded.click()
        check_nothing_ran(page)
    page.evaluate("(hash) => { location.hash = hash }", f"#/case/{case}/run/{runs[0]}")
    expect(page.locator("h2.place")).to_contain_text("<script>")
    expect(page.locator(".clue-seen").first).to_contain_text("onerror")
    expect(page.locator(".thought").first).to_contain_text("owned('thinking')")
    check_nothing_ran(page)

    # The report, as a file on disk is opened.
    report = server.client.get(f"/api/runs/{runs[0]}/files/html").text
    page.goto("about:blank")
    page.set_content(report)
    expect(page.locator("h1")).to_contain_text("<script>")
    check_nothing_ran(page)
    assert dialogs == []
    assert watched.unexpected() == []
    context.close()
