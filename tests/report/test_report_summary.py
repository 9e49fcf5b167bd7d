"""The summary of a batch: one page for many findings."""

import asyncio
import hashlib
import re
from base64 import b64encode
from dataclasses import replace

from PIL import Image

from findings import MONACO, SHA, SIZE, Page, album, finding_of, saying
from geosleuth.agent import Ended
from geosleuth.agent.events import Spent
from geosleuth.agent.locate import cap_finding
from geosleuth.answer import Address, Answer
from geosleuth.geo import LatLon
from geosleuth.photo import Claims
from geosleuth.report import SummaryRow, small_jpeg, summary_html, summary_row

HOSTILE = '</td><script>alert(1)</script><img src=x onerror="alert(2)">'


def page_of(*rows: SummaryRow) -> Page:
    page = Page(summary_html(rows, generated="today"))
    page.assert_alone()
    return page


def test_a_row_for_every_photo() -> None:
    found = summary_row("a.jpg", finding_of(album=album()), report="reports/a b#1.html")
    nowhere = summary_row("b.jpg", finding_of(Answer()))
    broken = SummaryRow("c.jpg", "failed", note="this is no picture")
    page = page_of(found, nowhere, broken)
    assert "Where 3 photos were taken" in page.text
    assert "1 found, 0 of them with 85 % or more; 1 not found; 1 failed." in page.text
    assert "Leads, not verdicts." in page.text
    assert "La Terrasse, Monaco 43.7307, 7.4255 72 % likely 220 m found" in page.text
    assert "this is no picture" in page.text
    assert "./reports/a%20b%231.html" in [link["href"] for link in page.named("a")]
    (thumbnail,) = page.named("img")
    assert thumbnail["src"].startswith("data:image/jpeg;base64,")
    assert [row["class"] for row in page.named("tr") if "class" in row] == ["located", "unlocated", "failed"]


def test_a_whole_country_or_region_has_its_name_and_no_point() -> None:
    shanghai = LatLon(31.2222, 121.4581)
    china = finding_of(Answer(shanghai, Address.create("China"), probability=0.8, radius_km=2400))
    zhejiang = finding_of(
        Answer(LatLon(30.2, 120.2), Address.create("China", "Zhejiang"), probability=0.8, radius_km=200)
    )
    row = summary_row("a.jpg", china)
    assert (row.point, row.wide) == (shanghai, True)
    page = page_of(row, summary_row("b.jpg", zhejiang), summary_row("c.jpg", finding_of()))
    assert "China 80 % likely found" in page.text
    assert "Zhejiang, China 80 % likely found" in page.text
    assert "Without a dot: 2 whole countries or regions." in page.text
    assert [link["href"] for link in page.named("a")] == ["#photo-3"]


def test_dots_lead_to_their_rows() -> None:
    page = page_of(
        SummaryRow("a.jpg", "unlocated"),
        SummaryRow("b.jpg", "located", "Monaco", MONACO, 0.9, 1.0),
        SummaryRow("c.jpg", "located", "Fiji", LatLon(-17.7, 178.0), None, None),
    )
    assert [link["href"] for link in page.named("a")] == ["#photo-3", "#photo-2"], "the surest is drawn last"
    ids = {found.get("id") for _, found in page.elements}
    assert {"photo-2", "photo-3"} <= ids
    assert len(page.named("path", "dot-sure")) == 1
    assert len(page.named("path", "dot-doubtful")) == 1


def test_only_the_page_s_own_script_may_run() -> None:
    html = summary_html([])
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in Page(html).policy
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in Page(html).policy


def test_hostile_names_stay_names() -> None:
    page = page_of(
        SummaryRow(HOSTILE, "located", HOSTILE, MONACO, 0.5, 1.0, HOSTILE, "javascript:alert(1)"),
        summary_row(HOSTILE, saying(HOSTILE), report="//evil.example/x"),
    )
    assert len([tag for tag, _ in page.elements if tag == "script"]) == 1
    assert page.text.count("<script>alert(1)</script>") >= 4
    assert {link["href"] for link in page.named("a")} >= {"./javascript%3Aalert%281%29", ".///evil.example/x"}


def test_what_must_be_known_of_a_finding() -> None:
    claims = Claims("JPEG", 1, SHA, SIZE, LatLon(48.8584, 2.2945))
    assert summary_row("a", finding_of(claims=(claims,))).note == "the file claims another place"
    finding = finding_of(Answer())
    ended = Ended("service", Spent(), "the model can't be reached")
    events = (*finding.trajectory.events[:-1], replace(finding.trajectory.events[-1], body=ended))
    failed = summary_row("a", replace(finding.trajectory, events=events))
    assert (failed.status, failed.note) == ("failed", "the model can't be reached")


def test_a_capped_finding_has_no_thumbnail() -> None:
    finding = asyncio.run(cap_finding(finding_of(album=album()), "country"))
    row = summary_row("a.jpg", finding, thumbnail=small_jpeg(Image.new("RGB", SIZE)))
    assert row.thumbnail is None
    assert row.status == "located"


def test_a_thousand_rows() -> None:
    small = small_jpeg(Image.new("RGB", (4000, 3000), "green"))
    assert len(small) < 5000
    rows = [
        SummaryRow(
            f"{i}.jpg", "located", f"Place {i}", LatLon(i % 140 - 70, i % 360 - 180), i / 1000, 1.0, thumbnail=small
        )
        for i in range(1000)
    ]
    page = page_of(*rows)
    assert len(page.named("tr")) == 1001
    assert len(page.named("path", "dot")) == 1001


def test_claims_that_contradict_are_counted_at_the_top() -> None:
    rows = [
        SummaryRow("a.jpg", "located", "Monaco", LatLon(43.7, 7.4), 0.9, 1.0, "the file claims another place",
                   conflicts=True),
        SummaryRow("b.jpg", "unlocated"),
    ]  # fmt: skip
    page = Page(summary_html(rows, generated="today"))
    assert "1 file claims another place than what was found." in page.text
    assert "no place found" in page.text
    assert "claims another place" not in Page(summary_html(rows[1:])).text


def test_a_doubtful_finding_is_not_counted_as_found() -> None:
    rows = [
        summary_row(f"{odds}.jpg", finding_of(Answer(MONACO, probability=odds, radius_km=1))) for odds in (0.9, 0.3)
    ]
    page = page_of(*rows)
    assert "1 found, 1 of them with 85 % or more; 1 doubtful; 0 not found." in page.text
    assert "30 % doubtful 1 km doubtful" in page.text
