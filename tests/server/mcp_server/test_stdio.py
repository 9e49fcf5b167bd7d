"""``geosleuth mcp`` over stdin and stdout, asked by the SDK's own client from another process."""

import asyncio
import base64
import io
import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult, ListToolsResult
from PIL import Image

from geosleuth.tools.toolset import all_tools
from mcp_talk import over_stdio, pictures_of, words_of

SQUARE = {"latitude": 43.7384, "longitude": 7.4246}
# Every tool that needs no photo, with arguments that bring something; two of each where there are two kinds of results.
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_documents", {"query": "Monaco"}),
    ("maps_geocode", {"address": "Rue Grimaldi, Monaco"}),
    ("reverse_geocode", SQUARE),
    ("nearby", {**SQUARE, "radius_m": 300}),
    ("poi_input_tips", {"text": "Boulev"}),
    ("poi_keyword_search", {"keyword": "Casino"}),
    ("poi_detail_query", {"poi_id": "geonames:2988507"}),
    ("find_colocated", {"features": ["cafe", "pharmacy"], "within_m": 200, "area": "Monaco"}),
    ("find_crossing", {"first": "Rue Grimaldi", "second": "Rue Suffren Reymond"}),
    ("static_map_query", {"centre": "43.7384,7.4246", "zoom": 15}),
    ("place_facts", SQUARE),
    ("country_facts", {"country": "Monaco"}),
    ("brand_lookup", {"name": "Monoprix"}),
    ("text_clues", {"text": "Tel. +377 93 15 22 22"}),
    ("weigh_sightings", {"sightings": ["cars drive on the left", "red soil"]}),
    ("tell_apart", {"candidates": ["Norway", "Sweden"]}),
    ("field_guide", {"about": "bollard"}),
    ("sun_position", {"time": "2024-06-21T12:00Z", "place": "Monaco", "shadow_ratio": 0.5}),
    ("sun_position", {"time": "2024-06-21T12:00Z", "shadow_ratio": 0.5, "shadow_direction": 10}),
    ("range_fix", {"towns": ["Lyon", "Marseille"], "distances": [200, 180]}),
    ("resection", {"features": ["43.73307,7.42793", "43.73466,7.41544"], "columns": [0.1, 0.88], "fov": 70}),
    ("note_hypothesis", {"place": "Monaco", "confidence": 0.6, "evidence_for": ["a sign"]}),
    ("request_map", {"place": "Ubud, Bali"}),
]
LOOKS: list[tuple[str, dict[str, Any]]] = [
    ("image_zoom_in_tool", {"bbox_2d": [90, 80, 700, 200]}),
    ("read_text", {}),
    ("search_image", {}),
]
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("teleport", {}, "there is no tool 'teleport'; there are: open_photo, locate"),
    ("image_zoom_in_tool", {"bbox_2d": [0, 0, 9, 9]}, "photo is missing"),
    ("image_zoom_in_tool", {"photo": "photo-1", "bbox_2d": [0, 0, 9, 9]}, "open it with open_photo"),
    ("maps_geocode", {}, "address is missing; it must be a string"),
    ("reverse_geocode", {"latitude": "north", "longitude": 7}, 'latitude is "north"; it must be a number'),
    ("satellite_map_query", {"centre": "43.7384,7.4246"}, ""),
    ("open_photo", {}, "give path or data, one of the two"),
    ("open_photo", {"data": "no base64!"}, "data is not base64"),
    ("open_photo", {"data": base64.b64encode(b"GIF89a").decode()}, "the photo: "),
    ("locate", {"photos": []}, "open one with open_photo"),
    ("locate", {"photos": ["photo-0"]}, "open it with open_photo"),
    ("locate", {}, "photos is missing"),
]


@dataclass
class Talk:
    """What came of one conversation with the server."""

    listed: ListToolsResult
    again: ListToolsResult
    opened: CallToolResult
    done: list[tuple[str, CallToolResult]] = field(default_factory=list)
    refused: list[CallToolResult] = field(default_factory=list)
    bad_box: CallToolResult | None = None
    prior: CallToolResult | None = None
    map_cut: CallToolResult | None = None
    outside: list[CallToolResult] = field(default_factory=list)
    located: CallToolResult | None = None
    progress: list[tuple[float, str]] = field(default_factory=list)
    bad_area: list[CallToolResult] = field(default_factory=list)


@pytest.fixture(scope="module")
def talk(mcp_home: Path, pictures: Path) -> Talk:
    words = ("--offline", "--photos", pictures / "photos", "--image-search", pictures / "album.index")

    async def converse() -> Talk:
        async with Client(over_stdio(mcp_home, *words)) as client:
            listed = await client.list_tools()
            opened = await client.call_tool("open_photo", {"path": "sign.jpg"})
            told = Talk(listed, await client.list_tools(cache_mode="refresh"), opened)
            photo = opened.structured_content["data"]["photo"]
            for name, arguments in CALLS:
                told.done.append((name, await client.call_tool(name, arguments)))
            for name, arguments in LOOKS:
                told.done.append((name, await client.call_tool(name, {"photo": photo, **arguments})))
            for name, arguments, _ in REFUSED:
                told.refused.append(await client.call_tool(name, arguments))
            told.bad_box = await client.call_tool("image_zoom_in_tool", {"photo": photo, "bbox_2d": [1, 2]})
            told.prior = await client.call_tool("visual_prior", {"photo": photo})
            drawn = dict(told.done)["static_map_query"].structured_content["images"][0]
            told.map_cut = await client.call_tool(
                "image_zoom_in_tool", {"photo": drawn["photo"], "image": drawn["handle"], "bbox_2d": [0, 0, 80, 60]}
            )
            for path in (pictures / "secret.txt", "../secret.txt", "way-out.jpg", "nowhere.jpg"):
                told.outside.append(await client.call_tool("open_photo", {"path": str(path)}))

            async def hear(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001  (theirs)
                told.progress.append((progress, message or ""))

            told.located = await client.call_tool(
                "locate", {"photos": [photo], "within": "Monaco", "check": "43.7335,7.4190"}, progress_callback=hear
            )
            for area in (str(pictures / "area.geojson"), "Atlantis"):
                told.bad_area.append(await client.call_tool("locate", {"photos": [photo], "within": area}))
            return told

    return asyncio.run(converse())


def test_every_tool_that_can_answer_is_listed_in_a_stable_order_with_both_schemas(talk: Talk) -> None:
    names = [one.name for one in talk.listed.tools]
    without = {"visual_prior", "search_web", "satellite_map_query"}
    assert names == ["open_photo", "locate", *(one for one in all_tools().names if one not in without)]
    assert [one.name for one in talk.again.tools] == names
    for one in talk.listed.tools:
        assert one.description
        assert one.input_schema["type"] == "object"
        assert one.output_schema is not None
        assert one.output_schema["required"] == ["data", "sources", "images"]


def test_hints_say_that_nothing_is_changed_and_nobody_is_asked(talk: Talk) -> None:
    for one in talk.listed.tools:
        assert one.annotations is not None
        assert one.annotations.read_only_hint is True
        assert one.annotations.open_world_hint is False
        assert one.annotations.idempotent_hint is (one.name != "open_photo")


def test_tools_that_look_take_the_photo_first(talk: Talk) -> None:
    looking = {one.name for one in talk.listed.tools if "photo" in one.input_schema.get("properties", {})}
    assert looking == {"image_zoom_in_tool", "read_text", "search_image"}
    zoom = next(one for one in talk.listed.tools if one.name == "image_zoom_in_tool")
    assert zoom.input_schema["required"] == ["photo", "bbox_2d"]


def test_a_photo_is_opened_once_and_shown(talk: Talk) -> None:
    assert not talk.opened.is_error
    data = talk.opened.structured_content["data"]
    assert data["photo"] in words_of(talk.opened)
    (picture,) = pictures_of(talk.opened)
    assert Image.open(io.BytesIO(base64.b64decode(picture.data))).size == (data["width"], data["height"])
    assert talk.opened.structured_content["images"][0]["handle"] == "image-1"


def test_every_tool_can_be_called_and_keeps_its_schema(talk: Talk) -> None:
    # The client holds each result against the schema, and raises where it does not fit.
    called = {name for name, _ in talk.done} | {"visual_prior", "satellite_map_query", "search_web"}
    assert called == set(all_tools().names)
    for name, result in talk.done:
        assert not result.is_error, (name, words_of(result))
        assert words_of(result)
        assert result.structured_content["data"], name
        assert len(result.structured_content["images"]) == len(pictures_of(result))
    found = dict(talk.done)
    assert found["maps_geocode"].structured_content["data"]["results"][0]["name"] == "Rue Grimaldi"
    assert found["find_crossing"].structured_content["data"]["results"]
    assert found["find_colocated"].structured_content["data"]["results"]
    assert found["search_image"].structured_content["data"]["results"][0]["point"] is not None
    assert "GRIMALDI" in words_of(found["read_text"])
    assert len(pictures_of(found["static_map_query"])) == 1


def test_maps_have_handles_too(talk: Talk) -> None:
    assert talk.map_cut is not None
    assert not talk.map_cut.is_error
    assert len(pictures_of(talk.map_cut)) == 1


@pytest.mark.parametrize(("number", "trouble"), [(at, one[2]) for at, one in enumerate(REFUSED)])
def test_bad_calls_are_tool_errors_that_say_what_would_be_right(talk: Talk, number: int, trouble: str) -> None:
    result = talk.refused[number]
    assert result.is_error
    assert result.structured_content is None
    assert trouble in words_of(result)
    assert "\n" not in words_of(result)


def test_a_bad_box_and_a_missing_prior_are_told(talk: Talk) -> None:
    assert talk.bad_box is not None
    assert "a list of exactly 4 numbers" in words_of(talk.bad_box)
    assert talk.prior is not None
    assert talk.prior.is_error
    assert "geosleuth prior learn" in words_of(talk.prior)


def test_only_the_folders_that_were_named_are_read(talk: Talk) -> None:
    *outside, missing = map(words_of, talk.outside)
    for told in outside:
        assert "none of the folders that this server may read" in told
        assert "not for clients" not in told
    assert "there is no such file" in missing


def test_locate_tells_each_turn_and_gives_the_finding(talk: Talk) -> None:
    assert talk.located is not None
    assert not talk.located.is_error, words_of(talk.located)
    finding = talk.located.structured_content["data"]
    assert [turn for turn, _ in talk.progress] == list(range(1, finding["spent"]["turns"] + 1))
    assert talk.progress[0][1].startswith("turn 1: I read all text")
    assert finding["model"] == "detective"
    assert finding["answer"]["country"]["conclusion"] == "Monaco"
    assert finding["check"]["verdict"] == "for"
    assert "A lead, not a verdict." in words_of(talk.located)


def test_an_area_is_never_read_from_a_file(talk: Talk) -> None:
    file, unknown = map(words_of, talk.bad_area)
    assert "within is the name of a file" in file
    assert "within 'Atlantis' is no area that is known" in unknown
    assert "file" not in unknown


def test_a_line_that_can_not_be_read_is_answered(mcp_home: Path) -> None:
    params = over_stdio(mcp_home, "--offline")
    bad = (
        '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"maps_geocode","arguments":{"address":"%s"}}}'
    )
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        bad % (7, "a\\ud800b"),
        bad % ('"seven"', "\\udfff"),
        "this is no JSON",
        "",
        '{"jsonrpc":"2.0","method":7}',
        '{"jsonrpc":"2.0","id":true,"params":{}}',
        "[]",
        json.dumps({"jsonrpc": "2.0", "id": 8, "method": "tools/list"}),
    ]
    with subprocess.Popen(
        [params.command, *params.args],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, **(params.env or {})},
    ) as run:  # fmt: skip
        assert run.stdin is not None
        assert run.stdout is not None
        run.stdin.write("".join(f"{line}\n" for line in lines))
        run.stdin.flush()
        told = [json.loads(run.stdout.readline()) for _ in range(7)]
        run.stdin.close()
    nameless = [one["error"]["code"] for one in told if one["id"] is None]
    assert nameless == [-32700, -32600, -32600]
    answers = {one["id"]: one for one in told if one["id"] is not None}
    assert set(answers) == {1, 7, "seven", 8}
    assert all(answers[one]["error"]["code"] == -32700 for one in (7, "seven"))
    assert answers[8]["result"]["tools"]
