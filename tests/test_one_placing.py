"""Two hundred named places, and names that nobody bears, through a run, a team, scores, an evaluation and rewards.

Each has the same point in all of them, or is open in all. Whether that is right, `benchmarks/placing.py` measures.
"""

import asyncio
import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest

from asked import QUICK
from geosleuth.agent.locate import locate
from geosleuth.agent.methods import method
from geosleuth.agent.setup import AgentSetup, Resources
from geosleuth.answer import Answer, parse_lenient
from geosleuth.answer.answer import format_words
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.placing import Placement, Placer
from geosleuth.geo import LatLon
from geosleuth.lab.cli.handlers.bench import score_all
from geosleuth.lab.score import Truth
from geosleuth.lab.train.evaluation import EvaluationSettings, PlaySettings, evaluate
from geosleuth.lab.train.play import PlayedScene
from geosleuth.lab.train.recipe_files import read_recipe
from geosleuth.lab.train.rollouts import rollout_setup
from geosleuth.photo import OpenedPhoto, open_photo
from geosleuth.teams.swarm import locate_with_team, make_team, read_team
from geosleuth.tools import Toolset
from later import later
from locating import photo_file
from players import Scripted
from scripted import ScriptedPolicy, says

later("pydantic_ai")

LIST = Path(__file__).resolve().parents[1] / "benchmarks" / "data" / "named_places_held_out.tsv"
NOWHERE = LatLon(0.0, 0.0)

Points = dict[str, LatLon | None]


def named_places() -> dict[str, Answer]:
    """Each reply that names a place of the list, the country last, and the answer that is read from it."""
    with LIST.open(encoding="utf-8", newline="") as lines:
        named = [row["words"].rpartition(", ") for row in csv.DictReader(lines, delimiter="\t")]
    said = [{"country": last, **({"city": first} if first else {}), "confidence": "70%"} for first, _, last in named]
    replies = [json.dumps(one, ensure_ascii=False) for one in said]
    return {reply: parse_lenient(reply) for reply in replies}


async def placed(answers: Mapping[str, Answer]) -> dict[str, Placement | None]:
    """What the rule itself says."""
    placer = Placer(OfflineAtlas())
    return {reply: await placer.place_answer(answer) for reply, answer in answers.items()}


async def located(photo: OpenedPhoto, answers: Mapping[str, Answer]) -> Points:
    """Where a run of one agent puts its answer."""
    found: Points = {}
    for reply, answer in answers.items():
        policy = ScriptedPolicy([], then=says(reply))
        setup = AgentSetup(method=method("default"), policy=policy, toolset=Toolset([]), completes=True)
        finding = await locate([photo], setup, Resources(OfflineAtlas()))
        assert format_words(finding.answer.address) == format_words(answer.address)
        found[reply] = finding.answer.point
    return found


async def agreed(photo: OpenedPhoto, answers: Mapping[str, Answer], folder: Path) -> Points:
    """Where a team of two puts what both say."""
    agents = "".join(f"  - {{name: agent{one}, model: 'server:any', base_url: 'http://127.0.0.1:9'}}\n" for one in "ab")
    (folder / "team.yaml").write_text(f"name: two\nsettings: {{reviewers: 0, rounds: 1}}\nagents:\n{agents}")
    team, found = make_team(read_team(folder / "team.yaml"), endpoints=QUICK), Points()
    for reply, answer in answers.items():
        policy = ScriptedPolicy([], then=says(reply))
        seats = tuple(replace(seat, policy=policy) for seat in team.seats)
        finding = await locate_with_team([photo], replace(team, seats=seats), Resources(OfflineAtlas()))
        assert format_words(finding.answer.address) == format_words(answer.address)
        found[reply] = finding.answer.point
    await team.aclose()
    return found


def scored(folder: Path, answers: Mapping[str, Answer]) -> Points:
    """Where `bench score` puts the replies."""
    lines = [
        json.dumps({"id": str(number), "truth": {"lat": 0, "lon": 0}, "reply": reply})
        for number, reply in enumerate(answers)
    ]
    (folder / "replies.jsonl").write_text("\n".join(lines) + "\n")
    (file,) = score_all([folder / "replies.jsonl"], "lenient", "geodesic")
    points = zip(answers, file.lat.tolist(), file.lon.tolist(), strict=True)
    return {reply: None if isnan(lat) else LatLon(lat, lon) for reply, lat, lon in points}


def table(folder: Path, photo: Path, truths: Mapping[str, LatLon | None]) -> Path:
    """A data set with a photo for each place, taken at its point."""
    path = folder / "photos.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(("id", "image", "lat", "lon"))
        for number, point in enumerate(truths.values()):
            rows.writerow((f"photo-{number}", photo.name, *((point or NOWHERE).lat, (point or NOWHERE).lon)))
    return path


def evaluated(photos: Path, answers: Mapping[str, Answer]) -> Sequence[PlayedScene]:
    """What `train evaluate` makes of a policy that says these answers, photo by photo."""
    said = iter(answers)
    settings = EvaluationSettings(
        scenes=len(answers), photos=str(photos), reward="geoagent-spatial", method="default", with_tools=False
    )
    policy = Scripted(lambda *_: next(said))
    return evaluate(policy, settings, playing=PlaySettings(at_once=1)).scenes


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_two_hundred_places_are_placed_alike_by_everything_that_places_words(atlas_home: Path, tmp_path: Path) -> None:
    assert atlas_home.is_dir()
    answers, file = named_places(), photo_file(tmp_path)
    assert len(answers) >= 200
    placements, photo = asyncio.run(placed(answers)), open_photo(file)
    points = {reply: None if found is None else found.point for reply, found in placements.items()}
    assert sum(point is not None for point in points.values()) > 100

    # A country too wide for its middle to be an answer has no point in a finding; scores measure from its placement.
    findings = {reply: None if found is None or found.is_area else found.point for reply, found in placements.items()}
    assert asyncio.run(located(photo, answers)) == findings
    assert asyncio.run(agreed(photo, answers, tmp_path)) == findings

    assert scored(tmp_path, answers) == points

    # Each photo was taken where its answer is placed, so that any other point is at some distance and earns less.
    photos = table(tmp_path, file, points)
    open_or_there = [None if point is None else 0.0 for point in points.values()]
    earned = [0.0 if point is None else 1.5 for point in points.values()]
    scenes = evaluated(photos, answers)
    assert [scene.tries[0].distance_km for scene in scenes] == open_or_there
    levels = [None if found is None else found.level for found in placements.values()]
    assert [scene.tries[0].placed for scene in scenes] == levels
    assert [scene.tries[0].reward for scene in scenes] == earned

    setting = rollout_setup(read_recipe("geoagent-grpo-spatial", {"data.photos": str(photos)})).setting
    read = [setting.method.read_answer(reply) for reply in answers]
    truths = [Truth(point or NOWHERE) for point in points.values()]
    assert setting.reward.score(read, truths, setting.helpers).total.tolist() == earned
