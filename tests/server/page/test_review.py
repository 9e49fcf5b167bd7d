"""A folder is located, then its findings are reviewed in a real browser; files are written for what holds."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PIL import ExifTags, Image
from playwright.sync_api import Browser, Page, Route, expect

from browser import CLAIMED, IN_EVERY_LOOK, PATIENCE_MS, PHONE, Opener, opened, serious_faults, with_gps
from foreground import hear_ctrl_c
from geosleuth.photo.sidecar import SidecarClaim, read_sidecars
from serving import GEOSLEUTH, Served, photo_bytes, stop, url_of

expect.set_options(timeout=PATIENCE_MS)
MONACO = ("Boulangerie", "Rue Grimaldi", "+377 93 30 23 45")
FOREIGN = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" photoshop:City="Lyon"/>'
    "</rdf:RDF></x:xmpmeta>"
)


def set_time(path: Path, time: str) -> None:
    """Write when its camera says that a photo was taken."""
    with Image.open(path) as picture:
        picture.load()
    exif = picture.getexif()
    exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.DateTimeOriginal] = time
    picture.save(path, exif=exif)


@pytest.fixture(scope="module")
def located_folder(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of photos and what ``geosleuth locate`` wrote about it."""
    folder = tmp_path_factory.mktemp("library")
    photos = folder / "photos"
    (photos / "again").mkdir(parents=True)
    (photos / "a-monaco.jpg").write_bytes(with_gps(photo_bytes(*MONACO), *CLAIMED))
    (photos / "again" / "a-monaco.jpg").write_bytes((photos / "a-monaco.jpg").read_bytes())
    (photos / "b-andorra.jpg").write_bytes(photo_bytes("Andorra la Vella", "+376 820 123"))
    (photos / "b-andorra.jpg.xmp").write_text(FOREIGN)
    (photos / "c-blank.png").write_bytes(photo_bytes(form="PNG"))
    (photos / "d-monaco.png").write_bytes(photo_bytes("Monaco", "+377 93 15 06 00", form="PNG"))
    set_time(photos / "a-monaco.jpg", "2026:05:01 12:00:00")
    set_time(photos / "again" / "a-monaco.jpg", "2026:05:01 12:00:00")
    set_time(photos / "d-monaco.png", "2026:05:01 12:06:00")
    done = subprocess.run(
        [GEOSLEUTH, "locate", photos, "--offline", "--out", folder / "run"],
        env={**os.environ, "GEOSLEUTH_HOME": str(home)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "geosleuth review" in done.stderr
    return folder


@pytest.fixture
def library(located_folder: Path) -> Iterator[Path]:
    """The same as if nobody had reviewed it yet."""
    before = {path: path.read_bytes() for path in located_folder.rglob("*") if path.is_file()}
    yield located_folder
    for path in [path for path in located_folder.rglob("*") if path.is_file()]:
        if path not in before:
            path.unlink()
    for path, data in before.items():
        path.write_bytes(data)


@contextmanager
def reviewing(run: Path, home: Path, cases: Path) -> Iterator[Served]:
    process = subprocess.Popen(
        [GEOSLEUTH, "review", run, "--json", "--no-open", "--home", cases],
        env={**os.environ, "GEOSLEUTH_HOME": str(home), "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hear_ctrl_c,  # noqa: PLW1509
    )  # fmt: skip
    try:
        url = url_of(process)
        assert url.endswith("/#/review")
        server = Served(url.removesuffix("/#/review"), process)
        with server.client:
            yield server
    finally:
        stop(process)


@pytest.fixture
def server(library: Path, home: Path, tmp_path: Path) -> Iterator[Served]:
    with reviewing(library / "run", home, tmp_path / "cases") as running:
        yield running


@pytest.fixture
def visit(browser: Browser) -> Iterator[Opener]:
    contexts = []

    def open_at(url: str, expected: tuple[str, ...] = (), **options: object) -> Page:
        wide = {"width": 1440, "height": 900}
        context = browser.new_context(**{"reduced_motion": "reduce", "viewport": wide, **options})  # type: ignore[arg-type]
        page, watched = opened(context, f"{url}/#/review")
        watched.expected = expected
        contexts.append((context, watched))
        return page

    yield open_at
    heard = [one for _, watched in contexts for one in watched.unexpected()]
    for context, _ in contexts:
        context.close()
    assert heard == []


def verdicts(server: Served) -> dict[str, str]:
    photos = server.client.get("/api/review").json()["photos"]
    return {one["name"]: one["verdict"] for one in photos}


def written(library: Path) -> set[str]:
    photos = library / "photos"
    there = {path.relative_to(photos).as_posix() for path in photos.rglob("*") if path.is_file()}
    return {one for one in there if one.endswith(".xmp") or "-located" in one}


def write(page: Page, *, copies: bool = False) -> None:
    page.get_by_role("button", name="Write files").click()
    dialog = page.get_by_role("dialog")
    if copies:
        dialog.get_by_label("Copies of JPEG and PNG photos").check()
    dialog.get_by_role("button", name="Write now").click()
    expect(dialog).to_contain_text("Sidecars written")


def test_findings_are_confirmed_corrected_and_rejected(
    server: Served, library: Path, visit: Opener, home: Path, tmp_path: Path
) -> None:
    before = {path: path.read_bytes() for path in (library / "photos").rglob("*.*")}
    page = visit(server.url)
    expect(page.get_by_text("0 of 4 decided")).to_be_visible()
    detail = page.get_by_role("region", name="The photo and its finding")
    expect(detail).to_contain_text("a-monaco.jpg, 2 copies")
    expect(detail).to_contain_text("The photo's metadata: 43.55000, 7.02000. A claim, not evidence.")
    detail.get_by_role("button", name="Confirm").click()
    # It goes on to the next photo, whose sidecar claims another place.
    expect(detail).to_contain_text("The sidecar: Lyon. A claim, not evidence.")
    detail.get_by_role("button", name="Correct", exact=True).click()
    detail.get_by_label("Where was it?").fill("Nice, France")
    detail.get_by_role("button", name="Look up").click()
    detail.locator(".review-hits button").first.click()
    expect(detail.get_by_role("heading", level=2)).to_contain_text("Nice")
    page.get_by_role("button", name="c-blank.png").click()
    expect(detail.get_by_role("button", name="Confirm")).to_be_disabled()
    expect(detail.get_by_text("no place was found")).to_have_count(1)
    # What would help is said in the page's words, not the command line's.
    expect(detail.get_by_text("No readable text found.", exact=True)).to_be_visible()
    expect(detail).to_contain_text("You can correct it: write the place")
    expect(detail).not_to_contain_text("--")
    detail.get_by_role("button", name="Reject").click()
    expect(page.get_by_text("3 of 4 decided: 1 confirmed, 1 corrected, 1 rejected.")).to_be_visible()
    assert written(library) == {"b-andorra.jpg.xmp"}, "nothing is written before somebody asks for it"

    write(page, copies=True)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Sidecars written: 2. Copies written: 3. Earlier files, removed: 0.")
    expect(dialog).to_contain_text("Files of other programs, left as they are: 1 (b-andorra.jpg.xmp)")
    expect(dialog).to_contain_text("move or rename those files and write again; or write copies")
    assert written(library) == {
        "b-andorra.jpg.xmp", "a-monaco.jpg.xmp", "again/a-monaco.jpg.xmp",
        "a-monaco-located.jpg", "again/a-monaco-located.jpg", "b-andorra-located.jpg",
    }  # fmt: skip
    assert all(path.read_bytes() == data for path, data in before.items()), "nothing that was there has changed"
    (ours,) = read_sidecars(library / "photos" / "a-monaco.jpg")
    assert ours.estimated
    assert "confirmed by a person" in (library / "photos" / "a-monaco.jpg.xmp").read_text()
    page.get_by_role("dialog").get_by_role("button", name="Close").last.click()

    # Another process finds it as it was left; what no longer holds is taken away again.
    stop(server.process, 60)  # type: ignore[arg-type]
    with reviewing(library / "run", home, tmp_path / "cases") as again:
        page = visit(again.url)
        expect(page.get_by_text("3 of 4 decided: 1 confirmed, 1 corrected, 1 rejected.")).to_be_visible()
        page.get_by_role("button", name="a-monaco.jpg").click()
        page.get_by_role("button", name="Reject", exact=True).click()
        expect(page.get_by_text("0 confirmed")).to_be_visible()
        write(page)
        expect(page.get_by_role("dialog")).to_contain_text("removed: 4")
        assert written(library) == {"b-andorra.jpg.xmp", "b-andorra-located.jpg"}


def test_rows_say_how_near_in_time_a_located_photo_is(server: Served, visit: Opener) -> None:
    page = visit(server.url)
    row = page.locator(".review-row").filter(has_text="d-monaco.png")
    expect(row.get_by_text("nearest located photo: 6 min earlier")).to_be_visible()
    expect(page.locator(".review-gap")).to_have_count(1)


def test_a_sidecar_of_locate_is_updated_and_one_that_another_program_changed_is_not(
    library: Path, home: Path, tmp_path: Path, visit: Opener
) -> None:
    photos = library / "photos"
    command = [str(GEOSLEUTH), "locate", str(photos), "--offline", "--out", str(library / "run"), "--sidecars"]
    environment = {**os.environ, "GEOSLEUTH_HOME": str(home)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "wrote 3 sidecars; 1 sidecar from before kept" in done.stderr
    assert ", 5 kept from before;" in done.stderr
    rated = (photos / "d-monaco.png.xmp").read_text().replace(
        "<xmp:MetadataDate>", "<xmp:Rating>5</xmp:Rating><xmp:MetadataDate>"
    )  # fmt: skip
    (photos / "d-monaco.png.xmp").write_text(rated)
    with reviewing(library / "run", home, tmp_path / "cases") as server:
        page = visit(server.url)
        expect(page.locator(".review-badge").first).to_have_text("not decided")
        page.get_by_role("button", name="a-monaco.jpg").click()
        page.get_by_role("button", name="Confirm", exact=True).click()
        page.get_by_role("button", name="d-monaco.png").click()
        page.get_by_role("button", name="Confirm", exact=True).click()
        write(page)
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("Sidecars written: 2.")
        expect(dialog).to_contain_text("left as they are: 1 (d-monaco.png.xmp)")
    assert "confirmed by a person" in (photos / "a-monaco.jpg.xmp").read_text()
    assert (photos / "d-monaco.png.xmp").read_text() == rated


def test_a_photo_that_is_opened_while_a_decision_is_saved_stays_open(server: Served, visit: Opener) -> None:
    page = visit(server.url)
    detail = page.get_by_role("region", name="The photo and its finding")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/review/decisions", hold)
    with page.expect_request("**/api/review/decisions"):
        page.get_by_role("button", name="Confirm", exact=True).click()
    page.get_by_role("button", name="d-monaco.png").click()
    held.pop().continue_()
    expect(page.get_by_text("1 confirmed")).to_be_visible()
    expect(detail).to_contain_text("d-monaco.png")


def test_places_of_one_name_say_what_they_are(server: Served, visit: Opener) -> None:
    page = visit(server.url)
    page.get_by_role("button", name="Correct", exact=True).click()
    page.get_by_label("Where was it?").fill("Yamaguchi")
    page.get_by_role("button", name="Look up").click()
    hits = page.locator(".review-hits li")
    expect(hits.filter(has_text="Yamaguchi, Japan city ·")).to_have_count(1)
    expect(hits.filter(has_text="Yamaguchi, Japan region ·")).to_have_count(1)


def test_many_at_once_and_by_keys_alone(server: Served, library: Path, visit: Opener) -> None:
    page = visit(server.url)
    expect(page.get_by_text("0 of 4 decided")).to_be_visible()
    page.keyboard.press("a")
    expect(page.get_by_text("4 selected")).to_be_visible()
    page.keyboard.press("y")
    # The one without a place can't be confirmed and stays open.
    expect(page.get_by_text("3 of 4 decided: 3 confirmed")).to_be_visible()
    assert verdicts(server)["c-blank.png"] == "open"
    page.keyboard.press("j")
    page.keyboard.press("n")
    expect(page.get_by_text("2 confirmed, 0 corrected, 1 rejected.")).to_be_visible()
    assert verdicts(server)["b-andorra.jpg"] == "rejected"
    page.keyboard.press("k")
    page.keyboard.press("o")
    expect(page.locator(".review-row.current")).to_contain_text("not decided")
    page.keyboard.press("c")
    expect(page.get_by_label("Where was it?")).to_be_focused()
    page.keyboard.type("43.70, 7.27")
    page.keyboard.press("Enter")
    expect(page.locator(".review-hits button")).to_have_count(1)
    page.locator(".review-hits button").press("Enter")
    expect(page.locator(".review-row.current")).to_contain_text("corrected")
    page.keyboard.press("w")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.locator(".review-filters select").first.select_option("corrected")
    expect(page.locator(".review-row")).to_have_count(1)
    assert written(library) == {"b-andorra.jpg.xmp"}


def test_a_pin_on_the_map_corrects(server: Served, library: Path, visit: Opener) -> None:
    blank = server.client.get("/api/review").json()["photos"][2]["id"]
    nice = {"ids": [blank], "verdict": "corrected", "lat": 43.7, "lon": 7.27}
    server.client.post("/api/review/decisions", json=nice).raise_for_status()
    page = visit(server.url)
    page.get_by_role("button", name="d-monaco.png").click()
    page.get_by_role("button", name="Correct", exact=True).click()
    page.get_by_role("button", name="Pin on the map").click()
    # Until the map is ready, the form is open, and a click would close it.
    expect(page.get_by_role("button", name="Pin at the centre")).to_be_visible()
    page.get_by_text("Type the place instead").click()
    page.get_by_label("Latitude").fill("48.8584")
    page.get_by_label("Longitude").fill("2.2945")
    page.get_by_role("button", name="Pin it here").click()
    expect(
        page.get_by_role("region", name="The photo and its finding").get_by_role("heading", level=2)
    ).to_contain_text("Paris")
    # A stays the finding's, B is the corrected place; without a finding that is A.
    corrected = page.locator(".review-map .pin[data-kind=pinned]")
    expect(corrected).to_have_attribute("aria-label", "B: Corrected: Paris, Île-de-France, France")
    expect(page.locator(".review-map .pin[data-kind=answer]")).to_have_attribute(
        "aria-label", re.compile("^A: .*Monaco")
    )
    page.get_by_role("button", name="c-blank.png").click()
    expect(corrected).to_have_attribute("aria-label", re.compile("^A: Corrected: "))
    write(page)
    (claim,) = read_sidecars(library / "photos" / "d-monaco.png")
    assert (claim.estimated, claim.place) == (False, "Paris, Île-de-France, France")
    assert claim.point is not None
    assert (round(claim.point.lat, 4), round(claim.point.lon, 4)) == (48.8584, 2.2945)


def test_a_photo_that_was_exchanged_gets_nothing(server: Served, library: Path, visit: Opener) -> None:
    photo = library / "photos" / "d-monaco.png"
    server.client.post("/api/review/decisions", json={"all": {}, "verdict": "confirmed"}).raise_for_status()
    photo.write_bytes(photo_bytes("Lyon", form="PNG"))
    page = visit(server.url, expected=("status of 400",))
    expect(page.get_by_text("3 of 4 decided")).to_be_visible()
    write(page)
    expect(page.get_by_role("dialog")).to_contain_text("d-monaco.png: is not the photo that was looked at any more")
    assert not photo.with_name("d-monaco.png.xmp").exists()


def test_a_city_that_is_a_region_too_is_listed_once(server: Served, visit: Opener) -> None:
    page = visit(server.url)
    page.get_by_role("button", name="Correct", exact=True).click()
    page.get_by_label("Where was it?").fill("Tokyo")
    page.get_by_role("button", name="Look up").click()
    expect(page.locator(".review-hits li", has_text=re.compile(r"^\s*Tokyo, Japan city · 35\.6"))).to_have_count(1)


def test_only_what_is_meant_is_taken(server: Served, library: Path, home: Path, tmp_path: Path) -> None:
    ids = [one["id"] for one in server.client.get("/api/review").json()["photos"]]
    blank = server.client.get("/api/review", params={"limit": 500}).json()["photos"][2]
    assert blank["lat"] is None
    for body in (
        {"ids": [blank["id"], ids[0]], "verdict": "confirmed"},
        {"ids": ["0" * 16], "verdict": "rejected"},
        {"ids": [ids[0]], "verdict": "corrected"},
        {"ids": ids, "all": {}, "verdict": "rejected"},
        {"verdict": "rejected"},
    ):
        assert server.client.post("/api/review/decisions", json=body).status_code == 400
    assert set(verdicts(server).values()) == {"open"}, "all of them or none"
    assert server.client.get(f"/api/review/{ids[0]}/report").headers["content-type"].startswith("text/html")
    second = subprocess.run(
        [GEOSLEUTH, "review", library / "run", "--no-open", "--home", tmp_path / "other"],
        env={**os.environ, "GEOSLEUTH_HOME": str(home)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (second.returncode, "is being reviewed by another" in second.stderr) == (2, True)


@IN_EVERY_LOOK
def test_axe_finds_no_serious_fault(
    server: Served, visit: Opener, theme: str, size: dict[str, int], shot: Callable[[Page, str], None]
) -> None:
    ids = [one["id"] for one in server.client.get("/api/review").json()["photos"]]
    server.client.post("/api/review/decisions", json={"ids": ids[:1], "verdict": "confirmed"}).raise_for_status()
    server.client.post("/api/review/decisions", json={"ids": ids[2:3], "verdict": "rejected"}).raise_for_status()
    page = visit(server.url, color_scheme=theme, viewport=size)
    expect(page.get_by_text("2 of 4 decided")).to_be_visible()
    assert serious_faults(page, "main") == []
    shot(page, f"review-list-{theme}-{size['width']}")
    page.get_by_role("button", name="b-andorra.jpg").click()
    page.get_by_role("button", name="Correct", exact=True).click()
    page.get_by_label("Where was it?").fill("Springfield")
    page.get_by_role("button", name="Look up").click()
    expect(page.locator(".review-hits button").first).to_be_visible()
    expect(page.locator(".map-canvas[data-settled=yes]")).to_be_visible()
    assert serious_faults(page, "main") == []
    shot(page, f"review-{theme}-{size['width']}")
    page.keyboard.press("Escape")
    if size == PHONE:
        page.get_by_role("button", name="Back to the list").click()
    write(page)
    assert serious_faults(page, "dialog") == []
    shot(page, f"review-write-{theme}-{size['width']}")


def test_a_killed_process_leaves_half_a_line(library: Path) -> None:
    from geosleuth.server.review import JOURNAL, Review, ReviewDecision

    review = Review.open(library / "run")
    ids = review.ids()
    review.decide(ids[:2], ReviewDecision("rejected"))
    review.close()
    journal = library / "run" / JOURNAL
    kept = journal.read_bytes()
    journal.write_bytes(kept + json.dumps({"photos": ids, "verdict": "confirmed"}).encode()[:-3])
    again = Review.open(library / "run")
    assert again.counts() == {"open": 2, "confirmed": 0, "corrected": 0, "rejected": 2}
    again.close()
    assert journal.read_bytes() == kept
    assert SidecarClaim(place="Lyon") in read_sidecars(library / "photos" / "b-andorra.jpg")
