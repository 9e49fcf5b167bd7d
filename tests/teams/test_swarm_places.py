"""A team of two that only names places: what is named is found, or stays open."""

import asyncio
import json
from pathlib import Path

import pytest

from asked import QUICK
from geosleuth.agent.locate import Finding
from geosleuth.agent.setup import Resources
from geosleuth.atlas import OfflineAtlas
from geosleuth.geo import LatLon, distance_km
from geosleuth.photo import open_photo
from geosleuth.teams.swarm import locate_with_team, make_team, read_team
from later import later
from locating import photo_file, texts
from openai_server import Reply, Request, chat_reply, openai_server

later("pydantic_ai")

SIGHTS = {  # true point, and how far the place reaches from it
    "Yosemite National Park, United States": (37.85, -119.55, 45.0),
    "Antelope Canyon, United States": (36.86, -111.37, 5.0),
    "Banff, Canada": (51.18, -115.57, 8.0),
    "Petra, Jordan": (30.329, 35.444, 6.0),
    "Mont-Saint-Michel, France": (48.636, -1.511, 1.0),
}


def run(tmp_path: Path, *said: str, reviewers: int = 0) -> Finding:
    """What a team of two finds; each always says its own place."""
    path = tmp_path / "team.yaml"
    agents = "".join(
        f"  - {{name: agent{number}, model: 'server:any', base_url: 'URL', persona: 'You are number {number}.'}}\n"
        for number in range(len(said))
    )

    def reply(request: Request) -> Reply:
        words = texts(request.json["messages"])
        place = next(place for number, place in enumerate(said) if f"You are number {number}." in words)
        precise, _, country = place.rpartition(", ")
        location = {"country": country, **({"city": precise} if precise else {})}
        return chat_reply(json.dumps({"location": location, "confidence": "70%", "explanation": "its shape"}))

    with openai_server([reply]) as url:
        path.write_text(
            f"name: two\nsettings: {{reviewers: {reviewers}, rounds: 1}}\nagents:\n{agents.replace('URL', url)}"
        )
        team = make_team(read_team(path), endpoints=QUICK)

        async def work() -> Finding:
            try:
                return await locate_with_team([open_photo(photo_file(tmp_path))], team, Resources(OfflineAtlas()))
            finally:
                await team.aclose()

        return asyncio.run(work())


@pytest.mark.parametrize("sight", SIGHTS)
def test_a_famous_sight_is_right_or_open(atlas_home: Path, tmp_path: Path, sight: str) -> None:
    assert atlas_home.is_dir()
    answer = run(tmp_path, sight, sight).answer
    lat, lon, reach_km = SIGHTS[sight]
    assert sight == str(answer.address)
    assert answer.point is None or distance_km(answer.point, LatLon(lat, lon)) <= max(25.0, reach_km)


def test_unknown_sights_of_one_country_do_not_agree_on_its_middle_or_largest_town(
    atlas_home: Path, tmp_path: Path
) -> None:
    assert atlas_home.is_dir()
    finding = run(tmp_path, "Qwyx Rock Park, United States", "Xqzv Gorge, United States")
    assert finding.answer.point is None
    assert len(finding.answer.candidates) == 1
    decided = finding.trajectory.steps[-1].text
    assert "consensus" not in decided


def test_a_country_is_no_town(atlas_home: Path, tmp_path: Path) -> None:
    assert atlas_home.is_dir()
    answer = run(tmp_path, "France", "France").answer
    assert (answer.point, answer.address.country.conclusion) == (None, "France")
    assert run(tmp_path, "Monaco", "Monaco").answer.point is not None
