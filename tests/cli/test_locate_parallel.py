"""``geosleuth locate --parallel``: tries, verifier, files, JSON, card, report, refusals, batches and Python."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import geosleuth
from findings import Page
from geosleuth.agent import read_trajectory
from later import later
from locating import ANSWER, LAT, LON, at, locate_here, photo_file, texts
from openai_server import Line, Reply, Request, ServerUrl, chat_reply, failure, openai_server

later("pydantic_ai")
pytestmark = pytest.mark.usefixtures("atlas_home")

VERIFIED = {**ANSWER, "lat": 43.73, "evidence": ["T2.1"], "explanation": "T2.1 fits the photo best."}


def is_verifier(request: Request) -> bool:
    return "Several tries were made" in texts(request.json)


def by_seed(request: Request) -> Reply:
    """A stand-in for a model: three of four tries agree, and as a verifier it chooses."""
    if is_verifier(request):
        return chat_reply(json.dumps(VERIFIED))
    seed = request.json["seed"]
    away = 5.0 if seed == 3 else 0.0
    return chat_reply(json.dumps({**ANSWER, "lat": LAT + away + seed / 10_000}))


def served(line: Line) -> Iterator[ServerUrl]:
    with openai_server([line]) as url:
        yield url


@pytest.fixture
def server() -> Iterator[ServerUrl]:
    yield from served(by_seed)


def run(tmp_path: Path, server: ServerUrl, *words: object) -> Any:
    return locate_here(photo_file(tmp_path), *at(server), "--tools", "none", "--parallel", 4, *words)


def test_four_tries_and_the_verifier_in_code(tmp_path: Path, server: ServerUrl) -> None:
    kept = tmp_path / "run.jsonl"
    done = run(tmp_path, server, "--json", "--trajectory", kept)
    assert done.code == 0, done.err
    assert len(server.requests) == 4
    assert {(one.json["temperature"], one.json["top_p"], one.json["top_k"]) for one in server.requests} == {
        (1, 0.95, 60)
    }
    document = done.document
    assert document["model"] == "verifier"
    assert document["answer"]["lat"] == pytest.approx(LAT, abs=0.01)
    team = document["team"]
    assert [one["seed"] for one in team["said"]] == [1, 2, 3, 4]
    assert (team["agree"], team["within_km"], team["chains"]) == (3, 1.0, None)
    assert document["spent"] == team["spent_together"]
    assert document["spent"]["turns"] == 4 + read_trajectory(kept).spent.turns
    assert document["spent"]["input_tokens"] == 4 * 100
    assert team["picked"] in (1, 2, 3, 4)
    assert "a blue street sign" in document["answer"]["country"]["clues"], "what the try saw"
    assert read_trajectory(kept).id == document["trajectory"]
    ids = [read_trajectory(tmp_path / f"run.try{number}.jsonl").id for number in (1, 2, 3, 4)]
    assert ids == [one["trajectory"] for one in team["said"]]


def test_a_line_for_each_try_as_it_ends_and_the_card_says_who_said_what(tmp_path: Path, server: ServerUrl) -> None:
    page = tmp_path / "report.html"
    done = run(tmp_path, server, "--out", page)
    assert done.code == 0, done.err
    lines = [line for line in done.err.splitlines() if line.startswith("try ")]
    assert sorted(line[:10] for line in lines) == [f"try {number} of 4" for number in (1, 2, 3, 4)]
    assert all("Rue Grimaldi, Monaco (1 turn" in line for line in lines)
    told = " ".join(done.out.split())
    assert "evidence 1. a blue street sign" in told
    assert "4 tries: 3 agree within 1 km" in told
    assert "try 3: Rue Grimaldi, Monaco" in told
    report = Page(page.read_text(encoding="utf-8"))
    report.assert_alone()
    assert "4 tries: 3 agree within 1 km" in report.text


def test_the_page_shows_what_the_try_that_was_picked_has_looked_at(tmp_path: Path) -> None:
    def looks(request: Request) -> Reply:
        if len(request.json["messages"]) > 2 or is_verifier(request):
            return by_seed(request)
        return chat_reply("A sign.", [("image_zoom_in_tool", {"bbox_2d": [40, 30, 140, 90], "rotate": 10})])

    page = tmp_path / "report.html"
    with openai_server([looks]) as url:
        words = ("--tools", "image_zoom_in_tool", "--parallel", 2, "--verifier", "same", "--out", page)
        done = locate_here(photo_file(tmp_path), *at(url), *words)
    assert done.code == 0, done.err
    report = Page(page.read_text(encoding="utf-8"))
    report.assert_alone()
    assert "The try that was picked" in report.text
    assert 'aria-label="image-2"' in page.read_text(encoding="utf-8"), "the cut that the try was shown"


def test_a_model_that_verifies_reads_the_tries_and_names_its_evidence(tmp_path: Path, server: ServerUrl) -> None:
    done = run(tmp_path, server, "--verifier", "same", "--json")
    assert done.code == 0, done.err
    (asked,) = [one for one in server.requests if is_verifier(one)]
    assert len(server.requests) == 5
    assert len(asked.images) == 1
    assert "tools" not in asked.json
    assert done.document["answer"]["lat"] == 43.73
    assert done.document["team"]["evidence"] == ["T2.1"]
    assert done.document["team"]["chains"] == "whole"
    facts = run(tmp_path, server, "--verifier", "server:other", "--chains", "facts", "--json")
    assert facts.document["team"]["chains"] == "facts"
    assert server.requests[-1].json["model"] == "other"


def test_all_tries_are_in_flight_at_once(tmp_path: Path) -> None:
    def slowly(request: Request) -> Reply:
        reply = by_seed(request)
        return Reply(reply.body, delay_s=0.5)

    with openai_server([slowly]) as url:
        done = locate_here(photo_file(tmp_path), *at(url), "--tools", "none", "--parallel", 12, "--json")
        assert done.code == 0, done.err
        assert url.most_at_once == 12


def test_failed_tries_cost_only_themselves_and_where_all_fail_it_says_why(tmp_path: Path) -> None:
    def some(request: Request) -> Reply:
        return failure(401, "no such key") if request.json["seed"] in (1, 4) else by_seed(request)

    with openai_server([some]) as url:
        done = run(tmp_path, url, "--json")
        assert done.code == 0, done.err
        assert [one["answered"] for one in done.document["team"]["said"]] == [False, True, True, False]
        assert "try 1 of 4 failed: " in done.err
    with openai_server([failure(401, "no such key")]) as url:
        done = run(tmp_path, url)
        assert done.code == 1
        assert "127.0.0.1" in done.err.splitlines()[-1]
    with openai_server([chat_reply("I will not say.")]) as url:
        done = run(tmp_path, url)
        assert done.code == 1
        assert "no try came to an answer" in done.err.splitlines()[-1]


def test_a_verifier_that_fails_is_put_aside_and_code_decides(tmp_path: Path, server: ServerUrl) -> None:
    def broken(request: Request) -> Reply:
        return failure(400, "too long") if is_verifier(request) else by_seed(request)

    kept, page = tmp_path / "run.jsonl", tmp_path / "report.html"
    with openai_server([broken]) as url:
        done = run(tmp_path, url, "--verifier", "same", "--json", "--trajectory", kept, "--out", page)
        card = run(tmp_path, url, "--verifier", "server:judge")
        capped = run(tmp_path, url, "--verifier", "server:judge", "--granularity", "country", "--json")
    assert done.code == 0, done.err
    assert "the verifier came to no answer" in done.err
    assert done.document["model"] == "verifier"
    assert read_trajectory(kept).started.policy == "verifier"
    failed = read_trajectory(tmp_path / "run.verifier.jsonl")
    assert failed.ended is not None
    assert failed.ended.reason == "service"
    told = done.document["team"]["verifier"]
    assert told["wanted"] == failed.started.policy
    assert "status 400" in told["failed"]
    text = Page(page.read_text(encoding="utf-8")).text
    assert f"The verifier {told['wanted']} failed ({told['failed']}); decided in code instead." in text
    line = " ".join(card.out.split())
    assert "the verifier server:judge failed (127.0.0.1" in line
    assert "decided in code instead" in line
    assert capped.document["team"]["verifier"] == {"wanted": "server:judge", "failed": "service"}
    assert "verifier" not in run(tmp_path, server, "--verifier", "same", "--json").document["team"]


def test_nothing_finer_than_allowed_is_told_by_anybody_or_kept(tmp_path: Path, server: ServerUrl) -> None:
    kept, page = tmp_path / "run.jsonl", tmp_path / "report.html"
    words = ("--granularity", "country", "--trajectory", kept, "--out", page, "--verifier", "same")
    done = run(tmp_path, server, *words, "--json")
    assert done.code == 0, done.err
    written = [path for path in tmp_path.iterdir() if path.suffix in (".jsonl", ".html")]
    assert len(written) == 6
    told = [done.out, done.err, *(path.read_text(encoding="utf-8") for path in written)]
    for text in told:
        assert "grimaldi" not in text.casefold()
        assert not any(f"{LAT + away + seed / 10_000:.4f}" in text for away in (0.0, 5.0) for seed in (1, 2, 3, 4))
    assert "4 tries: 3 name the same place" in page.read_text(encoding="utf-8")


def test_what_is_refused_before_anything_is_sent(tmp_path: Path, server: ServerUrl) -> None:
    photo, taken = photo_file(tmp_path), tmp_path / "run.try2.jsonl"
    taken.write_text("mine", encoding="utf-8")
    for words, reason in (
        (("--parallel", 4, "--chains", "facts"), "name it with --verifier"),
        (("--parallel", 4, "--verifier", "same", "--chains", "half"), "whole or facts"),
        (("--parallel", 4, "--verifier", "detective"), "the detective reads no tries"),
        (("--parallel", 4, "--verifier", "nonsense"), "names no model"),
        (("--parallel", 4, "--trajectory", tmp_path / "run.jsonl"), "run.try2.jsonl: is there already"),
    ):
        assert reason in locate_here(photo, *at(server), *words).refusal
    assert server.requests == []
    assert taken.read_text(encoding="utf-8") == "mine"


def test_the_host_of_the_verifier_is_asked_leave_for_too(
    tmp_path: Path, server: ServerUrl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    words = ("--verifier", "openai:gpt-5")
    refusal = locate_here(photo_file(tmp_path), *at(server), "--parallel", 2, *words).refusal
    assert "api.openai.com" in refusal
    assert "add --yes" in refusal
    with pytest.raises(geosleuth.support.errors.BadInput, match=r"api\.openai\.com.*send=True"):
        geosleuth.locate(
            photo_file(tmp_path), model="server:any", base_url=str(server), parallel=2, verifier="openai:gpt-5"
        )
    assert server.requests == []


def test_the_detective_makes_one_try_and_says_why(tmp_path: Path) -> None:
    done = locate_here(photo_file(tmp_path), "--parallel", 4, "--json")
    assert done.code == 0, done.err
    assert "all its tries would be the same: one is made" in done.err
    assert "team" not in done.document
    assert done.document["model"] == "detective"


@pytest.mark.slow
def test_a_batch_and_python_do_the_same(tmp_path: Path, server: ServerUrl) -> None:
    out = tmp_path / "findings"
    words = ("--batch", photo_file(tmp_path), *at(server), "--tools", "none", "--parallel", 2, "--out", f"{out}/")
    done = locate_here(*words, "--json")
    assert done.code == 0, done.err
    (photo,) = done.document["photos"]
    assert photo["team"]["agree"] == 2
    assert len(list(out.glob("*.try*.jsonl"))) == 2
    assert len(server.requests) == 2
    again = locate_here(*words, "--json")
    assert again.document["photos"][0]["team"] == photo["team"]
    assert len(server.requests) == 2

    kept = tmp_path / "python.jsonl"
    finding = geosleuth.locate(
        photo_file(tmp_path), model="server:any", base_url=str(server), tools="none", parallel=3, trajectory=kept
    )
    assert len(finding.team) == 3
    assert finding.answer.point is not None
    assert finding.answer.point.lon == pytest.approx(LON)
    assert (tmp_path / "python.try3.jsonl").exists()


def team_file(folder: Path, url: ServerUrl) -> Path:
    agents = "".join(
        f"  - {{name: {name}, model: 'server:{name}', base_url: '{url}'}}\n" for name in ("ada", "grace", "mary")
    )
    path = folder / "team.yaml"
    path.write_text(f"name: three\nsettings: {{rounds: 1}}\nagents:\n{agents}", encoding="utf-8")
    return path


def in_words(request: Request) -> Reply:
    place = {"location": {"country": "Monaco", "city": "Monaco"}, "confidence": "60%", "explanation": "The sign."}
    return chat_reply(json.dumps(place), delay_s=0.01 if request.json["model"] == "ada" else 0.0)


def test_a_team_of_the_users_own(tmp_path: Path) -> None:
    with openai_server([in_words]) as url:
        team, kept = team_file(tmp_path, url), tmp_path / "run.jsonl"
        done = locate_here(photo_file(tmp_path), "--team", team, "--json", "--trajectory", kept)
        assert done.code == 0, done.err
        assert done.document["model"] == "team:three"
        assert done.document["answer"]["country"]["conclusion"] == "Monaco"
        assert {one["member"] for one in done.document["team"]["said"]} <= {"ada", "grace", "mary"}
        assert done.document["team"]["spent_together"] == done.document["spent"]
        assert read_trajectory(kept).id == done.document["trajectory"]
        assert "the team three begins: 3 agents; it has learned nothing yet" in done.err
        card = locate_here(photo_file(tmp_path), "--team", team)
        assert "of the team spoke" in " ".join(card.out.split())
        refusal = locate_here(photo_file(tmp_path), "--team", team, "--model", "server:any").refusal
        assert "--model is each agent's own" in refusal
        assert "can't be read" in locate_here(photo_file(tmp_path), "--team", tmp_path / "none.yaml").refusal
