"""A photo without text, in a real browser: what works without a model is said, and is a click away."""

import io

import pytest
from PIL import ExifTags, Image
from playwright.sync_api import expect

from browser import PATIENCE_MS, WIDE, Located, Opener
from serving import Served, photo_bytes

expect.set_options(timeout=PATIENCE_MS)
TAKEN = "2026:06:21 14:00:00"


@pytest.fixture(scope="module")
def untold(server: Served) -> Located:
    """A finished run on a photo that shows no text, with something that was said about it."""
    picture = Image.open(io.BytesIO(photo_bytes()))
    claims = picture.getexif()
    claims.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.DateTimeOriginal] = TAKEN
    stream = io.BytesIO()
    picture.save(stream, "JPEG", exif=claims)
    case = server.case(stream.getvalue(), title="Nothing to read")
    run = server.start(case, seen="driving_side=left, red soil")
    assert server.over(run, 240) == "done"
    return Located(case, run, f"/#/case/{case}/run/{run}")


def test_the_start_says_what_works_without_a_model(open_page: Opener) -> None:
    page = open_page("/", viewport=WIDE)
    expect(page.locator(".lead")).to_contain_text("A photo without text gets no place that way")
    page.get_by_role("link", name="Connect a vision model").click()
    expect(page.get_by_role("region", name="Choose a model")).to_be_visible()
    page.go_back()
    page.get_by_role("link", name="Tick what you see").click()
    expect(page.get_by_role("heading", name="What do you see?")).to_be_visible()


def test_no_place_leads_to_the_checklist_and_back(open_page: Opener, server: Served, untold: Located) -> None:
    page = open_page(untold.path, viewport=WIDE)
    expect(page.locator("#finding-title")).to_have_text("No place was found")
    expect(page.locator(".cant-tell").get_by_role("button", name="Connect a vision model")).to_be_visible()
    page.locator(".cant-tell").get_by_role("button", name="Tick what you see").click()
    # What was said already stands there.
    expect(page.get_by_role("checkbox", name="Traffic on the left", exact=True)).to_be_checked()
    expect(page.get_by_label("Or write it")).to_have_value("red soil")
    page.get_by_role("checkbox", name="Yellow, broken").first.check()
    page.get_by_role("button", name="Run again with it").click()
    again = page.get_by_role("dialog", name="New run")
    expect(again.get_by_label("What you see")).to_have_value("driving_side=left, centre_line=yellow_dashed, red soil")
    expect(again.get_by_role("group", name="How it was understood")).to_contain_text("Soil colour")
    again.get_by_role("button", name="Find the place").click()
    expect(page).not_to_have_url(f"{server.url}{untold.path}")
    run = page.url.rpartition("/")[2]
    assert server.client.get(f"/api/runs/{run}").json()["request"]["seen"].startswith("driving_side=left, centre_line=")
    # The next photo begins without it.
    page.get_by_role("link", name="geosleuth").first.click()
    assert server.over(run, 240) == "done"


def test_the_photo_s_own_time_gives_a_band_to_look_in(open_page: Opener, server: Served, untold: Located) -> None:
    page = open_page(untold.path, viewport=WIDE)
    page.get_by_role("button", name="Sun and shadows").click()
    panel = page.get_by_role("region", name="Sun and shadows")
    panel.get_by_label("Shadow length ÷ object height").fill("0.45")
    panel.get_by_role("button", name="Use the photo's time: 2026-06-21T14:00").click()
    panel.get_by_label("Country, for a time without Z").fill("Italy")
    panel.get_by_role("button", name="Where can it be?").click()
    panel.get_by_role("button", name="Look only there").click()
    bar = page.get_by_role("region", name="Tell it more and continue")
    expect(bar).to_contain_text("only the area on the map")
    bar.get_by_role("button", name="Continue").click()
    expect(page).not_to_have_url(f"{server.url}{untold.path}")
    run = page.url.rpartition("/")[2]
    assert server.client.get(f"/api/runs/{run}").json()["request"]["area"]["type"] in ("Polygon", "MultiPolygon")
    assert server.over(run, 240) == "done"
