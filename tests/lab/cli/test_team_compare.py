"""``geosleuth team compare``, run as people run it."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from geosleuth.geo import LatLon
from geosleuth.lab.cli.handlers.team_compare import compare_team
from geosleuth.lab.cli.team import CompareOptions
from geosleuth.lab.teams.compare import Measured
from geosleuth.lab.teams.team_page import ways_chart
from geosleuth.support.errors import BadInput
from in_process import Done, whole_command
from later import later
from openai_server import Reply, Request, chat_reply, openai_server
from scenery import save, scene

later("pydantic_ai")

NICE, ROME, OSLO = LatLon(43.7, 7.27), LatLon(41.9, 12.5), LatLon(59.91, 10.75)
SAYS = {"plants": NICE, "signs": ROME, "roads": NICE}


def geosleuth(*words: str | Path, home: Path) -> Done:
    return whole_command(*words, GEOSLEUTH_HOME=str(home), COLUMNS="160")


def says(request: Request) -> Reply:
    words = request.body.decode()
    if "This is the reply:" in words:
        return chat_reply("It may be so.\nConfidence: 40%")
    if "Choice:" in words:
        return chat_reply("The first.\nChoice: 1")
    point = next(point for what, point in SAYS.items() if f"You know {what}" in words)
    said = {"location": {"lat": point.lat, "lon": point.lon}, "confidence": "60%", "explanation": "so it looks"}
    return chat_reply(json.dumps(said))


def team_file(folder: Path, url: str, *models: str) -> Path:
    agents = "".join(
        f"  - {{name: {name}, model: 'server:{model}', base_url: '{url}', persona: You know {what}.}}\n"
        for (name, what), model in zip(
            (("botanist", "plants"), ("reader", "signs"), ("walker", "roads")), models or ("any",) * 3, strict=True
        )
    )
    path = folder / "team.yaml"
    path.write_text(f"settings: {{answerers: 2, reviewers: 1, rounds: 1}}\nagents:\n{agents}")
    return path


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    rows = ["path,lat,lon"]
    for number, point in enumerate((NICE, NICE, ROME, OSLO)):
        save(scene(number, (96, 72)), tmp_path / "photos" / f"{number}.jpg")
        rows.append(f"{number}.jpg,{point.lat},{point.lon}")
    table = tmp_path / "photos" / "known.csv"
    table.write_text("\n".join(rows))
    return table


def test_ways_are_compared_and_nothing_is_asked_twice(atlas_home: Path, photos: Path, tmp_path: Path) -> None:
    with openai_server([says]) as url:
        words = ("team", "compare", photos, "--team", team_file(tmp_path, url), "--ways", "swarm,majority,single")
        page = tmp_path / "ways.html"
        first = geosleuth(*words, "--out", page, "--json", home=atlas_home)
        assert first.returncode == 0, first.stderr
        told = json.loads(first.stdout)
        assert (told["photos"], told["lead"]) == (4, "botanist")
        ways = {one["line"]: one for one in told["points"]}
        assert ways["majority"]["accuracy"] == 0.5
        assert ways["single"]["calls"] == 1
        assert ways["majority"]["tokens"] == pytest.approx(3 * ways["single"]["tokens"], rel=0.05)
        assert told["asked"] == len(url.requests) > 0
        assert set(told["paired"]) == {"majority", "single"}
        assert ways["majority"]["elapsed_seconds"] <= ways["majority"]["seconds"]
        assert [one["failed"] for one in ways.values()] == [0, 0, 0]
        assert not any(b"59.91" in request.body for request in url.requests)
        second = geosleuth(*words, "--record", photos, home=atlas_home)
        assert second.returncode == 0, second.stderr
        assert len(url.requests) == told["asked"]
        assert "0 replies newly asked for" in second.stderr
        assert "within 50 km" in second.stdout
        assert "swarm against" in second.stdout
        assert geosleuth(*words, "--out", page, home=atlas_home).returncode == 2
    text = page.read_text(encoding="utf-8")
    assert text.count("<figure") == 1
    assert not re.search(r'src=|href="[^#]|https?://|<script', text)


def test_a_sweep_is_one_page_of_plots(atlas_home: Path, photos: Path, tmp_path: Path) -> None:
    with openai_server([says]) as url:
        team = team_file(tmp_path, url, "one", "two", "two")
        words = ("team", "compare", photos, "--team", team, "--vary", "answerers=1..8", "--vary", "rounds=0,2",
                 "--vary", "personas-against-backbones", "--photos", "2", "--out", tmp_path / "sweep.html")  # fmt: skip
        swept = geosleuth(*words, "--json", home=atlas_home)
        assert swept.returncode == 0, swept.stderr
        told = json.loads(swept.stdout)
        again = geosleuth(*words, "--overwrite", home=atlas_home)
        assert again.returncode == 0, again.stderr
        assert "0 replies newly asked for" in again.stderr
    assert [(one["setting"], one["value"], one["line"]) for one in told["points"]] == [
        *(("answerers", value, "swarm") for value in (1, 2, 3)), ("rounds", 0, "swarm"), ("rounds", 2, "swarm"),
        *(("personas-against-backbones", value, line) for line in ("backbones", "personas") for value in (1, 2)),
    ]  # fmt: skip
    assert told["photos"] == 2
    text = (tmp_path / "sweep.html").read_text(encoding="utf-8")
    assert text.count("<figure") == 6
    assert not re.search(r'src=|href="[^#]|https?://|<script', text)


def test_a_grid_and_ways_over_the_number_of_agents(atlas_home: Path, photos: Path, tmp_path: Path) -> None:
    with openai_server([says]) as url:
        words = ("team", "compare", photos, "--team", team_file(tmp_path, url), "--photos", "2", "--overwrite",
                 "--out", tmp_path / "sweep.html")  # fmt: skip
        grid = geosleuth(*words, "--vary", "answerers=1..2*reviewers=0..1", home=atlas_home)
        assert grid.returncode == 0, grid.stderr
        assert "answer agents: right, tokens" in grid.stdout
        ways = geosleuth(*words, "--vary", "agents=2..3", "--ways", "swarm,majority", "--json", home=atlas_home)
        assert ways.returncode == 0, ways.stderr
        alone = geosleuth(*words, "--vary", "rounds=0", "--ways", "all", home=atlas_home)
    assert [(one["value"], one["line"]) for one in json.loads(ways.stdout)["points"]] == [
        (2, "swarm"), (2, "majority"), (3, "swarm"), (3, "majority"),
    ]  # fmt: skip
    assert alone.returncode == 2
    assert "add --vary agents=2..6" in alone.stderr


def test_a_dead_server_is_no_measurement(atlas_home: Path, photos: Path, tmp_path: Path) -> None:
    with openai_server([says]) as url:
        team = team_file(tmp_path, url)
    page = tmp_path / "page.html"
    for words in (("--ways", "single,majority"), ("--vary", "agents=3..6")):
        found = geosleuth(
            "team", "compare", photos, *words, "--team", team, "--photos", "1", "--out", page, home=atlas_home
        )
        assert found.returncode == 1, found.stderr
        assert "every reply failed, so nothing was measured; the first: " in found.stderr
        assert found.stdout == ""
        assert not page.exists()
    assert "a team of 3 is too small for it: agents 4, 5, 6" in found.stderr


def test_spots_at_one_place_are_both_seen() -> None:
    one = Measured((1.0, 900.0), (500, 500), (1, 1), (0.1, 0.1))
    drawn = str(ways_chart("ways", {"single": one, "first": one, "swarm": one}))
    across = [float(x) for x in re.findall(r'<circle cx="([0-9.]+)"', drawn)]
    assert all(b - a >= 10 for a, b in pairwise(sorted(across)))
    assert len(across) == 3


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ({"ways": "prayer"}, "unknown way of teamwork 'prayer'"),
        ({"team": Path("no.yaml")}, "no.yaml"),
        ({"dataset": Path("none.csv")}, "no such file or folder"),
        ({"vary": ["colour=3"]}, "--vary"),
        ({"vary": ["personas-against-backbones"]}, "needs at least two models"),
    ],
)
def test_says_what_is_wrong_before_anything_is_asked(
    words: dict[str, Any], complaint: str, photos: Path, tmp_path: Path
) -> None:
    with openai_server([says]) as url:
        options = CompareOptions(**({"dataset": photos, "team": team_file(tmp_path, url)} | words))
        with pytest.raises(BadInput, match=complaint):
            compare_team(options)
        assert url.requests == []


def test_photos_do_not_leave_without_leave(photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 40)
    team = tmp_path / "team.yaml"
    team.write_text("agents:\n  - {name: far, model: 'openai:gpt-5'}\n  - {name: away, model: 'openai:gpt-5'}\n")
    with pytest.raises(BadInput, match="add --yes to allow it"):
        compare_team(CompareOptions(dataset=photos, team=team, ways="single"))


@pytest.mark.slow
def test_words_of_the_users_own_are_asked_anew_and_kept(atlas_home: Path, photos: Path, tmp_path: Path) -> None:
    own = tmp_path / "words"
    own.mkdir()
    (own / "system.txt").write_text("Mind the kerbs. {{own}}")
    (own / "review.txt").write_text("This is the reply: {{answer}}")
    with openai_server([says]) as url:
        words = ("team", "compare", photos, "--team", team_file(tmp_path, url), "--ways", "swarm", "--photos", "1")
        plain = json.loads(geosleuth(*words, "--json", home=atlas_home).stdout)["asked"]
        told = geosleuth(*words, "--prompts", own, "--json", home=atlas_home)
        assert told.returncode == 0, told.stderr
        assert json.loads(told.stdout)["asked"] == plain > 0
        bodies = [request.body.decode() for request in url.requests]
        assert not any("Mind the kerbs" in body for body in bodies[:plain])
        assert sum("Mind the kerbs" in body for body in bodies[plain:]) == 2
        assert sum("Check it against what you see" in body for body in bodies[plain:]) == 0
        again = geosleuth(*words, "--prompts", own, home=atlas_home)
        assert "0 replies newly asked for" in again.stderr
        state = ("team", "learn", photos, "--team", team_file(tmp_path, url), "--rounds", "1", "--yes", "--json")
        for more in ((), ("--prompts", own)):
            before = len(url.requests)
            learned = geosleuth(*state, *more, home=atlas_home)
            assert learned.returncode == 0, learned.stderr
            bodies = [request.body.decode() for request in url.requests[before:]]
            assert sum("Mind the kerbs" in body for body in bodies) == (0 if not more else 4 * 2)
        assert json.loads(learned.stdout)["again"] == 4, "lessons from other words do not count"
