"""A team from its file to a finding, over HTTP: what the server is asked in every stage, and what the finding tells."""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asked import QUICK
from geosleuth.agent import Answered, Budget, Ended, Event, Prompted, Said, Started, TrajectoryWriter, read_trajectory
from geosleuth.agent.locate import Finding, cap_finding
from geosleuth.agent.setup import Resources, Watch
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.granular import OfflineGazetteer
from geosleuth.geo import LatLon, distance_km
from geosleuth.models import EndpointSettings, Sampling
from geosleuth.photo import open_photo
from geosleuth.support.errors import BadInput
from geosleuth.teams.swarm import SwarmSettings, Team, locate_with_team, make_team, read_team
from later import later
from locating import locate_here, photo_file, texts
from openai_server import Reply, Request, chat_reply, failure, openai_server
from run_parts import parted
from tiny_server import MODEL_NAME, tiny_server

later("pydantic_ai")

PERSONAS = {"Thorvald": "You know plants.", "Quirina": "You know signs.", "Zebedee": "You know roofs."}
NICE = {"country": "France", "city": "Nice"}
OWN = {
    "Thorvald": {"country": "Germany", "city": "Berlin"},
    "Quirina": {"country": "Italy", "city": "Rome"},
    "Zebedee": {"country": "Spain", "city": "Madrid"},
}


def team_of(
    folder: Path, url: str, *, reviewers: int = 2, model: str = "any", endpoints: EndpointSettings = QUICK
) -> Team:
    agents = "".join(
        f"  - {{name: {name}, model: 'server:{model}', base_url: '{url}', persona: {persona}}}\n"
        for name, persona in PERSONAS.items()
    )
    path = folder / "team.yaml"
    path.write_text(f"name: trio\nsettings: {{reviewers: {reviewers}}}\nagents:\n{agents}")
    return make_team(read_team(path), endpoints=endpoints)


def located(team: Team, photo: Path, **more: Any) -> Finding:
    own, rest = parted(more)
    watch = Watch(rest.pop("store", None), tuple(rest.pop("sinks", ())))

    async def work() -> Finding:
        try:
            return await locate_with_team(
                [open_photo(photo)], team, Resources(OfflineAtlas()), watch=watch, **own, **rest
            )
        finally:
            await team.aclose()

    return asyncio.run(work())


def stage_of(words: str) -> str:
    """What a request is for, by its words."""
    if "This is the reply:" in words:
        return "review"
    if "looked at the photo and at your reply" in words:
        return "summary"
    return "discussion" if "Several people are trying to agree" in words else "answer"


def place(location: dict[str, str], because: str) -> str:
    return json.dumps({"location": location, "confidence": "70%", "explanation": because})


def speaker(words: str) -> str:
    return next(name for name, persona in PERSONAS.items() if persona in words)


def stubborn(words: str) -> str:
    """Each has a place of its own until the discussion, and names others wherever it can."""
    name, stage = speaker(words), stage_of(words)
    if stage == "review":
        return f"{name} is not sure. Thorvald, Quirina and ZEBEDEE would say the same.\nConfidence: 55%"
    if stage == "discussion":
        return place(NICE, f"as {name} I now follow Quirina")
    return place(OWN[name], f"so says {name}")


def served(says: Callable[[str], str]) -> Callable[[Request], Reply]:
    return lambda request: chat_reply(says(texts(request.json["messages"])))


def check_requests(asked: list[dict[str, Any]], *, reviewers: int = 2) -> None:
    """Every stage was asked, with the photo, and no name in what is said to a model."""
    words = [texts(one["messages"]) for one in asked]
    stages = [stage_of(one) for one in words]
    assert stages[:2] == ["answer", "answer"]
    assert (stages.count("review"), stages.count("summary")) == (2 * reviewers, 2)
    assert 1 <= stages.count("discussion") <= 2
    for one in asked:
        pictures = [part for message in one["messages"] for part in message["content"] if isinstance(part, dict)]
        assert sum(part.get("type") == "image_url" for part in pictures) == 1
    for text in words:
        assert not re.search("thorvald|quirina|zebedee", text, re.IGNORECASE)
    review = next(text for text in words if stage_of(text) == "review")
    assert "Confidence: 70%" in review
    assert "> so says somebody" in review
    summary = next(text for text in words if stage_of(text) == "summary")
    assert (
        f"Comment {reviewers} (55%):\n> somebody is not sure. somebody, somebody and somebody would say the same."
        in summary
    )


@pytest.mark.slow
def test_three_personas_over_a_real_model_find_one_answer(atlas_home: Path, tmp_path: Path) -> None:  # noqa: ARG001
    script = [lambda asked: stubborn(texts(asked["messages"]))] * 20
    with tiny_server(script=script) as url:
        # One at a time: the model is small, and so is the machine.
        team = team_of(tmp_path, url, reviewers=1, model=MODEL_NAME, endpoints=EndpointSettings(concurrency=1))
        # By this seed the one who does not answer is drawn as a reviewer.
        finding = located(team, photo_file(tmp_path), sampling=Sampling(seed=1))
        check_requests(url.requests, reviewers=1)
    told = finding.trajectory
    assert told.started.policy == "team:trio"
    assert {step.model for step in told.steps} == set(PERSONAS)
    assert str(finding.answer.address) == "Nice, France"
    assert finding.answer.point is not None
    assert told.spent.usage.input_tokens == sum(one.spent.usage.input_tokens for one in finding.team) > 0


def test_the_finding_tells_who_said_what_and_keeps_it(atlas_home: Path, tmp_path: Path) -> None:  # noqa: ARG001
    kept = tmp_path / "run.jsonl"
    heard: list[Event] = []
    with openai_server([served(stubborn)]) as url, TrajectoryWriter(kept) as store:
        finding = located(
            team_of(tmp_path, url), photo_file(tmp_path), store=store, sinks=[heard.append],
            sampling=Sampling(seed=4), hint="by the sea",
        )  # fmt: skip
        check_requests([request.json for request in url.requests])
        assert {request.json["seed"] for request in url.requests} == {4, 5, 6}
        asked = len(url.requests)
    trajectory = finding.trajectory
    assert read_trajectory(kept) == trajectory
    assert list(trajectory.events) == heard
    kinds = [type(event.body) for event in trajectory.events]
    assert (kinds[0], kinds[-2], kinds[-1]) == (Started, Answered, Ended)
    assert kinds.count(Said) == len(finding.team) == asked
    assert trajectory.task.hint == "by the sea"
    texts_said = [step.text for step in trajectory.steps]
    assert texts_said[0].startswith('[An answer of its own]\n{"location"')
    assert sum(text.startswith("[A review of the answer of ") for text in texts_said) == 4
    assert trajectory.ended is not None
    assert trajectory.ended.reason == "answered"
    decided = trajectory.events[-3].body
    assert isinstance(decided, Prompted)
    assert re.match(r"The team is done: consensus of 2\. The answer is that of (?:T|Q|Z)", decided.prompt.text)
    assert finding.answer.candidates == ()
    # The place was named, and the atlas knows where that is.
    point = finding.answer.point
    assert point is not None
    assert finding.answer.radius_km is not None
    assert distance_km(point, LatLon(43.70, 7.27)) < 20


def test_without_a_seed_the_lot_differs_and_the_trajectory_says_which(atlas_home: Path, tmp_path: Path) -> None:  # noqa: ARG001
    photo = photo_file(tmp_path)
    with openai_server([served(stubborn)]) as url:
        first, second = (located(team_of(tmp_path, url), photo).trajectory for _ in range(2))
        assert not [request for request in url.requests if request.json.get("seed") is not None]
        seed = first.started.sampling.seed
        again = located(team_of(tmp_path, url), photo, sampling=Sampling(seed=seed)).trajectory
    assert seed is not None
    assert seed != second.started.sampling.seed
    assert {step.model for step in again.steps[:2]} == {step.model for step in first.steps[:2]}


def test_places_of_those_who_do_not_agree_are_candidates(atlas_home: Path, tmp_path: Path) -> None:  # noqa: ARG001
    def torn(words: str) -> str:
        return place(OWN[speaker(words)], "so it is")

    with openai_server([served(torn)]) as url:
        team = team_of(tmp_path, url)
        finding = located(replace(team, settings=SwarmSettings(3, 0, 1)), photo_file(tmp_path))
    voiced = str(finding.answer.address)
    named = {one.name for one in finding.answer.candidates}
    assert {voiced, *named} == {"Berlin, Germany", "Rome, Italy", "Madrid, Spain"}
    assert voiced not in named


def test_capped_findings_tell_no_more_of_the_team_than_of_anything(
    atlas_home: Path,  # noqa: ARG001
    tmp_path: Path,
) -> None:
    with openai_server([served(stubborn)]) as url:
        finding = located(team_of(tmp_path, url), photo_file(tmp_path))
    capped = asyncio.run(cap_finding(finding, "country", OfflineGazetteer(OfflineAtlas())))
    assert len(capped.team) == len(finding.team)
    assert not re.search("Nice|Rome|Berlin|Madrid|Thorvald", repr((capped.trajectory, capped.team)))


def test_where_every_member_fails_the_finding_says_who_failed_first(
    atlas_home: Path,  # noqa: ARG001
    tmp_path: Path,
) -> None:
    with openai_server([failure(401, "no such key")]) as url:
        finding = located(team_of(tmp_path, url), photo_file(tmp_path))
    ended = finding.trajectory.ended
    assert ended is not None
    assert ended.reason == "service"
    assert re.match(r"(Thorvald|Quirina|Zebedee): 127\.0\.0\.1:\d+: ", ended.trouble or "")
    assert not finding.answer.located
    assert finding.trajectory.answered is not None
    assert finding.trajectory.answered.by == "nobody"


def test_the_command_ends_with_the_teams_answer_or_its_first_failure(
    atlas_home: Path,  # noqa: ARG001
    tmp_path: Path,
) -> None:
    photo, team = photo_file(tmp_path), tmp_path / "team.yaml"
    with openai_server([served(stubborn)]) as url:
        team_of(tmp_path, url)
        done = locate_here(photo, "--team", team, "--json", "--trajectory", tmp_path / "t.jsonl")
    assert done.code == 0
    assert done.document["answer"]["precise"]["conclusion"] == "Nice"
    assert done.document["model"] == "team:trio"
    runs = done.document["team"]["runs"]
    assert [read_trajectory(tmp_path / f"t.run{number}.jsonl").id for number in range(1, len(runs) + 1)] == runs
    assert not (tmp_path / f"t.run{len(runs) + 1}.jsonl").exists()
    (tmp_path / "t.jsonl").unlink()
    refused = locate_here(photo, "--team", team, "--trajectory", tmp_path / "t.jsonl")
    assert "t.run1.jsonl" in refused.refusal
    with openai_server([served(stubborn)]) as url:
        team_of(tmp_path, url)
        words = ("--trajectory", tmp_path / "t.jsonl", "--overwrite", "--granularity", "country")
        assert locate_here(photo, "--team", team, *words).code == 0
    kept = "".join(path.read_text() for path in tmp_path.glob("t.*jsonl"))
    assert len(list(tmp_path.glob("t.run*.jsonl"))) >= 4
    assert not re.search("Nice|Rome|Berlin|Madrid|Thorvald", kept)
    with openai_server([failure(401, "no such key")]) as url:
        team_of(tmp_path, url)
        done = locate_here(photo, "--team", team)
    assert done.code == 1
    assert re.search(r"^geosleuth: (Thorvald|Quirina|Zebedee): 127\.0\.0\.1:\d+: ", done.err, re.MULTILINE)
    team.write_text("agents: [{name: Ada, modle: x}]")
    assert locate_here(photo, "--team", team).refusal.endswith("did you mean model?")


def test_a_file_that_can_not_be_written_is_told_and_the_others_still_hear_the_end(
    atlas_home: Path,  # noqa: ARG001
    tmp_path: Path,
) -> None:
    heard: list[Event] = []

    def full(event: Event) -> None:
        if event.index > 2:
            raise BadInput("the disk is full")

    with openai_server([served(stubborn)]) as url, pytest.raises(BadInput, match="disk is full"):
        located(team_of(tmp_path, url), photo_file(tmp_path), sinks=[full, heard.append])
    last = heard[-1].body
    assert isinstance(last, Ended)
    assert (last.reason, last.trouble) == ("error", "the disk is full")


def test_one_server_that_fails_costs_only_its_own_replies(atlas_home: Path, tmp_path: Path) -> None:  # noqa: ARG001
    def mostly(request: Request) -> Reply:
        words = texts(request.json["messages"])
        return failure(400, "too warm") if "You know signs." in words else chat_reply(stubborn(words))

    with openai_server([mostly]) as url:
        finding = located(team_of(tmp_path, url), photo_file(tmp_path))
    assert finding.answer.located
    assert any("[failed: " in step.text for step in finding.trajectory.steps)


def test_a_run_that_is_called_off_closes_its_file(atlas_home: Path, tmp_path: Path) -> None:  # noqa: ARG001
    kept = tmp_path / "run.jsonl"

    async def stopped(team: Team) -> None:
        with TrajectoryWriter(kept) as store:
            task = asyncio.create_task(
                locate_with_team(
                    [open_photo(photo_file(tmp_path))], team, Resources(OfflineAtlas()), watch=Watch(store=store)
                )
            )
            await asyncio.sleep(0.5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await team.aclose()
        assert len(asyncio.all_tasks()) == 1

    with openai_server([chat_reply("never", delay_s=60)]) as url:
        asyncio.run(stopped(team_of(tmp_path, url)))
    ended = read_trajectory(kept).ended
    assert ended is not None
    assert ended.reason == "cancelled"


def test_the_teams_time_and_tokens_end_it(atlas_home: Path, tmp_path: Path) -> None:  # noqa: ARG001
    with openai_server([served(stubborn)]) as url:
        finding = located(team_of(tmp_path, url), photo_file(tmp_path), budget=Budget(tokens=200))
        assert len(url.requests) <= 4
    assert finding.answer.located
    with openai_server([chat_reply("late", delay_s=30)]) as url:
        finding = located(team_of(tmp_path, url), photo_file(tmp_path), budget=Budget(seconds=0.5))
    assert finding.trajectory.spent.seconds < 20
    assert finding.trajectory.ended is not None
    assert finding.trajectory.ended.reason == "service"
