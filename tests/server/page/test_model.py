"""What a model gives as evidence, on the page: shown as the detective's is, rejected, and gone from then on."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser import PATIENCE_MS, Opener, serious_faults
from openai_server import ServerUrl, chat_reply, openai_server
from serving import Served, photo_bytes

expect.set_options(timeout=PATIENCE_MS)

PHONE = "a phone number that begins with +377"
SIGN = 'a sign that says "Rue Grimaldi"'
SCRIPT = "shop signs in French"
WHY = "Only Monaco has phone numbers that begin with +377, and the street is there."
ANSWER = {
    "format": "geosleuth-answer/1",
    "lat": 43.7347,
    "lon": 7.4206,
    "country": {
        "conclusion": "Monaco", "clues": [PHONE, SCRIPT], "reasoning": "The code is Monaco's.", "uncertainty": "low",
    },
    "region": {"conclusion": "Monaco"},
    "precise": {"conclusion": "Rue Grimaldi", "clues": [SIGN], "uncertainty": "moderate"},
    "probability": 0.81,
    "radius_km": 0.4,
    "explanation": WHY,
    "candidates": [
        {"name": "Menton", "lat": 43.7745, "lon": 7.4975, "probability": 0.1, "evidence": "French signs by the sea."},
        {"name": "Nice", "lat": 43.7, "lon": 7.26, "probability": 0.05, "evidence": f"It has {PHONE}. Palms grow."},
    ],
}  # fmt: skip


@pytest.fixture
def model(server: Served) -> Iterator[ServerUrl]:
    """A model on this machine that says the same again, whatever it is told."""
    offline = server.client.get("/api/settings").json()["offline"]
    server.client.put("/api/settings", json={"offline": False}).raise_for_status()
    with openai_server([chat_reply(json.dumps(ANSWER))]) as url:
        yield url
    server.client.put("/api/settings", json={"offline": offline}).raise_for_status()


def shows_evidence(page: Page, *lines: str) -> None:
    expect(page.locator(".clue-row:not(.out) .clue-seen")).to_have_text(list(lines))


def test_a_models_evidence_is_shown_rejected_and_gone(
    open_page: Opener, server: Served, model: ServerUrl, shot: Callable[[Page, str], None]
) -> None:
    case = server.case(photo_bytes("Boulangerie", "Rue Grimaldi", "+377 93 30 23 45"))
    first = server.start(case, model="server:any", base_url=str(model))
    assert server.over(first) == "done"
    page = open_page(f"/#/case/{case}/run/{first}", viewport={"width": 1280, "height": 1000})
    expect(page.locator("h2.place")).to_contain_text("Rue Grimaldi")
    shows_evidence(page, SIGN, PHONE, SCRIPT)
    clues, trust = page.locator("#clues"), page.locator(".trust")
    expect(clues).to_contain_text("Speaks for Monaco")
    expect(trust).to_contain_text(WHY)
    expect(trust).to_contain_text("Country: Monaco")
    expect(trust).to_contain_text("The code is Monaco's.")
    expect(trust).to_contain_text("moderate uncertainty")
    rows = page.locator(".candidate")
    assert [one.inner_text() for one in page.locator(".candidate-name").all()][1:] == ["Menton", "Nice"]
    expect(rows.first).to_contain_text(PHONE)
    rows.nth(1).locator("summary").click()
    expect(rows.nth(1)).to_contain_text("French signs by the sea.")
    expect(page.get_by_text("No evidence was noted for it.")).to_have_count(0)
    shot(page, "model-evidence")
    assert serious_faults(page, ".case") == []

    page.get_by_role("button", name=f"Reject this clue: country, {PHONE}").click()
    page.get_by_role("button", name="Continue").click()
    expect(page.locator(".runs li")).to_have_count(2)
    expect(page.locator(".finding.done")).to_be_visible()
    second = page.url.rsplit("/", 1)[1]
    assert second != first
    asked = json.dumps(model.requests[-1].json["messages"])
    assert PHONE in asked
    assert "misleads" in asked

    # The model said it again: it counts no more, and is named once as rejected.
    expect(page.locator(".clue-row.out")).to_have_count(1)
    shows_evidence(page, SIGN, SCRIPT)
    expect(page.locator(".clue-row.out")).to_contain_text(PHONE)
    expect(page.locator(".clue-row.out .tag").last).to_have_text("rejected")
    expect(page.locator("#candidates")).not_to_contain_text(PHONE)
    page.locator(".candidate summary").nth(2).click()
    expect(page.locator(".candidate").nth(2)).to_contain_text("Palms grow.")
    shot(page, "model-rejected")

    page.goto(f"{server.url}/#/compare/{first}/{second}")
    later = page.locator(".compare-side").nth(1)
    expect(later).to_contain_text(SIGN)
    expect(later).not_to_contain_text(PHONE)
    alone = page.get_by_role("region", name="Clues of the earlier one alone")
    expect(alone).to_contain_text(PHONE)
    expect(alone).to_contain_text("rejected in the other run")

    report = server.client.get(f"/api/runs/{second}/files/html").text
    before_the_chain = report.partition('id="chain"')[0]
    assert SCRIPT[1:] in before_the_chain
    assert before_the_chain.count(PHONE[1:]) == 1, "named once, as ruled out"
    assert "Ruled out by a person" in before_the_chain
    found: dict[str, Any] = server.client.get(f"/api/runs/{second}/result").json()
    assert found["answer"]["country"]["clues"] == [SCRIPT]
    assert found["rejected"] == [PHONE]
    assert json.dumps(found).count(PHONE) == 1
    assert server.client.get(f"/api/runs/{first}/result").json()["answer"]["country"]["clues"] == [PHONE, SCRIPT]


def test_what_the_detective_was_told_to_leave_out_stands_nowhere(open_page: Opener, server: Served) -> None:
    case = server.case(photo_bytes("Boulangerie", "Rue Grimaldi", "+377 93 30 23 45"))
    first = server.start(case)
    assert server.over(first, 240) == "done"
    clue = next(one for one in server.client.get(f"/api/runs/{first}/view").json()["clues"] if one["kind"] == "phone")
    reply = server.client.post(f"/api/runs/{first}/continue", json={"reject_clues": [clue["id"]]})
    second = reply.json()["id"]
    assert server.over(second, 240) == "done"
    page = open_page(f"/#/case/{case}/run/{second}")
    expect(page.locator(".clue-row.out")).to_contain_text(clue["seen"])
    page.locator(".candidate summary").last.click()
    expect(page.locator(".candidate").first).to_be_visible()
    expect(page.locator("#candidates")).not_to_contain_text(clue["seen"])
    # Boxes have the numbers of the report.
    view = server.client.get(f"/api/runs/{second}/view").json()
    numbers = {line["text"]: line["number"] for line in view["text"] if line["number"] is not None}
    assert numbers
    for text, number in numbers.items():
        expect(page.locator(f'button.photo-box[title^="{number}: "]')).to_have_attribute(
            "title", re.compile(re.escape(text))
        )
    assert all(clue["seen"] not in json.dumps(one["for"]) for one in (*view["pool"], *view["answer"]["candidates"]))
    found = server.client.get(f"/api/runs/{second}/result").json()
    assert found["rejected"] == [clue["seen"]]
    assert all(clue["seen"] not in json.dumps(one["evidence_for"]) for one in found["pool"])
    report = server.client.get(f"/api/runs/{second}/files/html").text
    assert "Ruled out by a person</b>: " in report
    assert clue["seen"] in report
    assert clue["seen"] not in report.partition('id="evidence"')[2].partition("</section>")[0]
