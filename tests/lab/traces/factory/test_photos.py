"""The factory on photos of a data set, with a real model server, web search and map service on loopback."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from factory_runs import contents
from geosleuth.agent import read_trajectory
from geosleuth.lab.traces.factory import compute_tally, list_kept_files
from in_process import geosleuth
from openai_server import Reply, Request, ServerUrl, chat_reply, openai_server
from search_server import SearchServer, serving

MONACO, MENTON = (43.7384, 7.4246), (43.7745, 7.4975)
SEEN = 'Surroundings: a square.\nLettering:\n- shop front [40, 30, 140, 90]: "Bar Tino"'
REASONS = "1. Seen: a shop front, Bar Tino.\n2. Missing: the town.\n3. Tool: it looks for just that.\n"
PAGE = {"results": [{"title": "Bar Tino, Monaco", "content": "Since 1961", "url": "https://example.org/tino"}]}
PLACE = [{
    "place_id": 1, "osm_type": "node", "osm_id": 5, "lat": str(MONACO[0]), "lon": str(MONACO[1]), "category": "amenity",
    "type": "bar", "importance": 0.4, "name": "Bar Tino", "display_name": "Bar Tino, Monaco",
    "boundingbox": ["43.73", "43.74", "7.42", "7.43"], "address": {"city": "Monaco", "country_code": "mc"},
}]  # fmt: skip


def spotagent_model(request: Request) -> Reply:
    """Describe what comes with a picture; else search, look on the map, answer."""
    if request.images:
        return chat_reply(SEEN)
    results = json.dumps(request.json["messages"]).count("</tool_response>")
    calls = (
        {"name": "search_web", "arguments": {"query": "Bar Tino"}},
        {"name": "maps_geocode", "arguments": {"address": "Bar Tino"}},
    )
    if results < len(calls):
        return chat_reply(f"{REASONS}<tool_call>{json.dumps(calls[results])}</tool_call>")
    lat, lon = MONACO
    return chat_reply(f"<answer>\nCountry: Monaco\nCity: Monaco\nLatitude: {lat}\nLongitude: {lon}\n</answer>")


def geovista_model(request: Request) -> Reply:
    """Propose a box, a query and a judgement."""
    asked = json.dumps(request.json["messages"])
    if "web searches that would help" in asked:
        return chat_reply('{"queries": [{"query": "Bar Tino", "why": "the name on the sign"}]}')
    if "results of web searches" in asked:
        return chat_reply(
            '<think>It is Bar Tino.</think><answer>In Monaco. {"country": "Monaco", "city": "Monaco"}</answer>'
        )
    return chat_reply('{"regions": [{"box": [40, 30, 140, 90], "why": "a sign"}]}')


@dataclass
class Services:
    """What a run asked."""

    model: ServerUrl
    web: SearchServer
    maps: SearchServer


@contextmanager
def services(model: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    """A model, a web search and a map service, each a server of its own."""
    with openai_server([model]) as url, serving() as web, serving() as maps:  # type: ignore[list-item]
        web.answer("/search", PAGE)
        maps.answer("/search", PLACE)
        monkeypatch.setenv("GEOSLEUTH_SEARXNG_URL", web.url)
        yield Services(url, web, maps)


def photo_set(folder: Path, split: str = "train") -> Path:
    """Two photos: the first was taken where the model says, the other 7 km away. Both claim a place in their EXIF."""
    rows = []
    for number, (lat, lon) in enumerate((MONACO, MENTON)):
        image = Image.new("RGB", (240, 160), (214, 196, 160 + number))
        ImageDraw.Draw(image).rectangle((40, 30, 140, 90), fill=(30, 60, 140))
        exif = Image.Exif()
        exif[0x010E] = "secretly in Monaco"
        image.save(folder / f"monaco-{number}.jpg", exif=exif)
        rows.append(f"monaco-{number}.jpg,{lat},{lon},{split}")
    table = folder / "photos.csv"
    table.write_text("\n".join(["image,lat,lon,split", *rows]) + "\n")
    return table


def words(kind: str, asked: Services, table: Path, out: Path) -> list[str | Path]:
    who = ("--observer", "server:m", "--caller", "server:m") if kind == "spotagent" else ("--proposer", "server:m")
    return [
        "traces", kind, "--data", table, *who, "--base-url", asked.model, "--web-search", "searxng",
        "--maps", "nominatim", "--maps-url", asked.maps.url, "--allow", "127.0.0.1", "--yes", "--at-once", "1",
        "--out", out,
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["spotagent", "geovista"])
def test_photos_go_through_real_services_and_a_run_repeats_without_them(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, model = photo_set(tmp_path), spotagent_model if kind == "spotagent" else geovista_model
    with services(model, monkeypatch) as asked:
        command = words(kind, asked, table, tmp_path / "run")
        done = geosleuth(*command)
        assert done.returncode == 0, done.stderr
    tally = compute_tally(tmp_path / "run")
    # SpotAgent's rule holds answers against the truth, GeoVista's does not.
    assert (tally.made, tally.kept) == ((2, 1) if kind == "spotagent" else (2, 2))
    assert dict(tally.first) == ({"far_answer": 1} if kind == "spotagent" else {})
    assert [one.params["q"] for one in asked.web.asked] == ["Bar Tino"], "asked once, and kept for the second photo"
    trajectory = read_trajectory(next(list_kept_files(tmp_path / "run")))
    said = [one for one in trajectory.observations if one.name == "search_web"]
    assert "Bar Tino, Monaco" in said[0].text
    assert b"secretly" not in b"".join(contents(tmp_path / "run").values()), "photos lose what their files say"

    # The servers are gone: whatever is not recorded fails.
    again = [*command[:-1], tmp_path / "again", "--offline", "--answers", tmp_path / "run" / "answers.sqlite"]
    sent = len(asked.model.requests), len(asked.web.asked), len(asked.maps.asked)
    done = geosleuth(*again)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "again") == contents(tmp_path / "run")
    assert (len(asked.model.requests), len(asked.web.asked), len(asked.maps.asked)) == sent


def test_a_service_that_fails_is_repeated_as_it_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = photo_set(tmp_path)
    with services(spotagent_model, monkeypatch) as asked:
        asked.web.answer("/search", (400, {}, b"no"))
        asked.maps.answer("/search", (404, {}, b"gone"))
        command = words("spotagent", asked, table, tmp_path / "run")
        geosleuth(*command)
    assert dict(compute_tally(tmp_path / "run").first) == {"failed_call": 2}
    again = [*command[:-1], tmp_path / "again", "--offline", "--answers", tmp_path / "run" / "answers.sqlite"]
    geosleuth(*again)
    assert contents(tmp_path / "again") == contents(tmp_path / "run")


def test_what_photos_do_not_go_with_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = photo_set(tmp_path)
    photos = ("traces", "spotagent", "--data", table, "--out", tmp_path / "run")
    drawn = ("traces", "geovista", "--count", "2", "--out", tmp_path / "run")
    assert "stand-ins read the clue boxes" in geosleuth(*photos).stderr
    assert "no recorded answers are here" in geosleuth(*photos, "--observer", "server:m", "--offline").stderr
    assert "--web-search is for photos" in geosleuth(*drawn, "--web-search", "searxng").stderr
    with services(spotagent_model, monkeypatch) as asked:
        refused = geosleuth(*words("spotagent", asked, photo_set(tmp_path, "test"), tmp_path / "run"))
        assert "these are test photos" in refused.stderr
        assert asked.model.requests == []


def test_calls_without_reasons_are_kept_where_that_rule_is_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def curt(request: Request) -> Reply:
        reply = spotagent_model(request)
        return Reply(reply.body.replace(json.dumps(REASONS)[1:-1].encode(), b""))

    table = photo_set(tmp_path)
    with services(curt, monkeypatch) as asked:
        geosleuth(*words("spotagent", asked, table, tmp_path / "strict"))
        geosleuth(*words("spotagent", asked, table, tmp_path / "paper"), "--any-reasons")
    strict, paper = compute_tally(tmp_path / "strict"), compute_tally(tmp_path / "paper")
    assert (strict.kept, strict.first["no_reasons"]) == (0, 2)
    assert (paper.kept, paper.first["far_answer"]) == (1, 1)
