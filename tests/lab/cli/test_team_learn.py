"""``geosleuth team learn`` and ``geosleuth team show``, run as people run them."""

import json
import re
from pathlib import Path

import pytest

from geosleuth.geo import LatLon
from in_process import Done, whole_command
from later import later
from openai_server import Reply, Request, chat_reply, failure, openai_server
from scenery import save, scene

later("pydantic_ai")

NICE, ROME = LatLon(43.7, 7.27), LatLon(41.9, 12.5)
SAYS = {"plants": NICE, "signs": ROME}


def geosleuth(*words: str | Path, home: Path) -> Done:
    return whole_command(*words, GEOSLEUTH_HOME=str(home))


def says(request: Request) -> Reply:
    words = request.body.decode()
    if "This is the reply:" in words:
        return chat_reply("It may be so.\nConfidence: 40%")
    point = next((point for what, point in SAYS.items() if f"You know {what}" in words), None)
    if point is None:
        return chat_reply("I can't tell.")
    location = {"lat": point.lat, "lon": point.lon}
    return chat_reply(json.dumps({"location": location, "confidence": "60%", "explanation": "so it looks"}))


def team_file(folder: Path, url: str) -> Path:
    agents = "".join(
        f"  - {{name: {name}, model: 'server:any', base_url: '{url}', persona: You know {what}.}}\n"
        for name, what in (("botanist", "plants"), ("reader", "signs"), ("walker", "roads"))
    )
    path = folder / "team.yaml"
    path.write_text(f"society: team.db\nsettings: {{reviewers: 1}}\nagents:\n{agents}")
    return path


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for number in range(4):
        save(scene(number, (96, 72)), tmp_path / "photos" / f"{number}.jpg", NICE if number < 3 else ROME)
    save(scene(9, (96, 72)), tmp_path / "photos" / "nowhere.jpg", None)
    return tmp_path / "photos"


def test_a_team_learns_goes_on_and_is_drawn(atlas_home: Path, photos: Path, tmp_path: Path) -> None:
    with openai_server([says]) as url:
        team = team_file(tmp_path, url)
        words = ("team", "learn", photos, "--team", team, "--rounds", "4")
        first = geosleuth(*words, "--photos", "2", "--at-once", "1", "--json", home=atlas_home)
        assert first.returncode == 0, first.stderr
        told = json.loads(first.stdout)
        assert (told["learned"], told["version"], told["stopped"]) == (2, 1, "2 photos were learned from")
        assert 0 < told["replies"] <= len(url.requests)
        assert not [
            request for request in url.requests if b"43.7" in request.body and b"so it looks" not in request.body
        ]
        second = geosleuth(*words, home=atlas_home)
        assert second.returncode == 0, second.stderr
        assert "2 learned from now, 2 known before" in second.stdout
        assert "1 photo is left out: no GPS tags" in second.stderr
    state = tmp_path / "team.db"
    page = tmp_path / "page.html"
    showing = ("team", "show", state, "--photo", photos / "1.jpg", "--out", page, "--json")
    shown = geosleuth(*showing, home=atlas_home)
    assert shown.returncode == 0, shown.stderr
    document = json.loads(shown.stdout)
    assert document["members"] == ["botanist", "reader", "walker"]
    assert (document["photos"], document["version"]) == (4, 2)
    assert document["right"] == [0.75, 0.25, 0.5]
    assert {one["country"]: one["photos"] for one in document["countries"]} == {"FR": 3, "IT": 1}
    assert len(document["photo"]["election"]) == 3
    assert "botanist" in page.read_text()
    assert "http" not in page.read_text().replace("http-equiv", "")
    again = geosleuth(*showing, home=atlas_home)
    assert again.returncode == 2
    assert "--overwrite" in again.stderr
    drawn = geosleuth("team", "show", state, "--out", tmp_path / "network.svg", home=atlas_home)
    assert drawn.returncode == 0, drawn.stderr
    assert "botanist" in drawn.stdout
    assert "France" in drawn.stdout
    svg = (tmp_path / "network.svg").read_text()
    assert svg.startswith("<svg ")
    assert svg.count("<path ") == 6


@pytest.mark.slow
def test_other_options_learn_again_from_the_stored_replies_and_ask_nobody(
    atlas_home: Path, photos: Path, tmp_path: Path
) -> None:
    with openai_server([says]) as url:
        team = team_file(tmp_path, url)
        team.write_text("\n".join(line for line in team.read_text().splitlines() if "walker" not in line))
        words = ("team", "learn", photos, "--team", team, "--rounds", "8", "--json")
        first = json.loads(geosleuth(*words, home=atlas_home).stdout)
        assert (first["learned"], first["again"], first["version"]) == (4, 0, 1)
        asked = len(url.requests)
        assert asked >= first["replies"] > 0
        other = ("--link-rule", "printed", "--judged", "reviewed", "--labels", "mean", "--within-km", "10")
        again = json.loads(geosleuth(*words, *other, home=atlas_home).stdout)
        assert (again["again"], again["learned"], again["replies"], again["tokens"]) == (4, 0, 0, 0)
        assert again["version"] == 2
        assert len(url.requests) == asked
        fresh = json.loads(geosleuth(*words, *other, "--state", tmp_path / "fresh.db", home=atlas_home).stdout)
        assert len(url.requests) > asked
    shown = [
        json.loads(geosleuth("team", "show", tmp_path / name, "--json", home=atlas_home).stdout)
        for name in ("team.db", "fresh.db")
    ]
    assert shown[0].pop("version") == fresh["version"] + 1 == shown[1].pop("version") + 1
    assert shown[0] == shown[1]
    assert again["figures"] == fresh["figures"]
    as_before = geosleuth("team", "learn", photos, "--team", team, "--rounds", "8", home=atlas_home)
    assert "0 learned from now, 4 again with other settings, 0 known before" in as_before.stdout


def test_where_nobody_answers_the_first_failure_is_named_and_nothing_counts_as_learned(
    atlas_home: Path, photos: Path, tmp_path: Path
) -> None:
    with openai_server([failure(401, "no such key")]) as url:
        team = team_file(tmp_path, url)
        team.write_text(
            team.read_text().replace("society: team.db\n", "").replace("roads.", "roads., tools: [search_image]")
        )
        dead = geosleuth("team", "learn", photos, "--team", team, "--rounds", "2", home=atlas_home)
    assert dead.returncode == 1
    assert "4 x nobody answered" in dead.stdout
    last = dead.stderr.strip().splitlines()[-1]
    assert re.match(
        r"geosleuth: nothing was learned, as no member answered: (botanist|reader|walker): 127\.0\.0\.1", last
    )
    assert "search_image finds nothing while a team learns" in dead.stderr
    shown = geosleuth("team", "show", tmp_path / "team.db", home=atlas_home)
    assert shown.returncode == 0, shown.stderr
    assert "nothing was learned yet" in shown.stdout
    assert "no better than chance" not in shown.stdout
    document = json.loads(geosleuth("team", "show", tmp_path / "team.db", "--json", home=atlas_home).stdout)
    assert (document["photos"], document["right"]) == (0, None)


def test_what_a_file_without_a_society_learns_is_what_it_is_located_with(
    atlas_home: Path, photos: Path, tmp_path: Path
) -> None:
    with openai_server([says]) as url:
        team = team_file(tmp_path, url)
        team.write_text(team.read_text().replace("society: team.db\n", ""))
        words = ("team", "learn", photos, "--team", team, "--rounds", "2")
        learned = geosleuth(*words, home=atlas_home)
        assert learned.returncode == 0, learned.stderr
        assert f"geosleuthlocate--team{team}goesbyit" in "".join(learned.stdout.split())
        again = geosleuth(*words, "--json", home=atlas_home)
        assert (json.loads(again.stdout)["version"], json.loads(again.stdout)["used_by_team"]) == (1, True)
        locating = ("locate", photos / "0.jpg", "--team", team, "--json")
        assert "it has learned nothing yet" not in geosleuth(*locating, home=atlas_home).stderr
        team.write_text(f"society: none\n{team.read_text()}")
        assert "it has learned nothing yet" in geosleuth(*locating, home=atlas_home).stderr
    shown = geosleuth("team", "show", tmp_path / "team.db", home=atlas_home)
    # Four photos teach nothing that holds: all stand alike, and nobody is first.
    assert "by lot" in shown.stdout
    refused = geosleuth(*words, home=atlas_home)
    assert refused.returncode == 2
    assert "--state" in refused.stderr


def test_photos_leave_the_machine_with_leave_only(photos: Path, tmp_path: Path) -> None:
    team = team_file(tmp_path, "https://models.invalid/v1")
    refused = geosleuth("team", "learn", photos, "--team", team, home=tmp_path)
    assert refused.returncode == 2
    assert "--yes" in refused.stderr
    assert not (tmp_path / "team.db").exists()


def test_what_can_not_be_shown_is_said_in_one_line(tmp_path: Path) -> None:
    gone = geosleuth("team", "show", tmp_path / "gone.db", home=tmp_path)
    assert gone.returncode == 2
    assert "geosleuth team learn" in gone.stderr
    assert len(gone.stderr.strip().splitlines()) == 1
