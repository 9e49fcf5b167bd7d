"""One request and one result: the command, HTTP, MCP and Python take the same fields and give the same document."""

import ast
import asyncio
import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

import geosleuth
from geosleuth.agent import Event
from geosleuth.pipeline import plan
from geosleuth.pipeline.plan import make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.result import result_schema
from geosleuth.server.mcp import McpService, PhotoSource, make_server
from geosleuth.support.errors import BadInput
from in_process import whole_command
from serving import photo_bytes, recording, served_here

OWN = ("trajectory", "spent")
"""What differs from run to run."""


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.jpg"
    path.write_bytes(photo_bytes("Rue Grimaldi"))
    return path


@pytest.fixture
def replayed(tmp_path: Path) -> str:
    return f"replay:{recording(tmp_path / 'recorded.jsonl')}"


def check(document: dict[str, Any]) -> None:
    """Hold a document against the one schema."""
    pytest.importorskip("jsonschema").validate(document, result_schema())


def by_command(photo: Path, model: str) -> dict[str, Any]:
    done = whole_command("locate", photo, "--model", model, "--json")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def by_http(photo: Path, model: str, folder: Path) -> dict[str, Any]:
    with served_here(folder) as server:
        run = server.start(server.case(photo.read_bytes()), model=model)
        assert server.over(run) == "done"
        return dict(server.client.get(f"/api/runs/{run}/result").json())


def by_one_call(photo: Path, model: str, folder: Path) -> dict[str, Any]:
    with served_here(folder) as server:
        done = server.locate(photo.read_bytes(), model=model)
        assert server.client.get("/api/cases").json()["cases"] == []
        return dict(done.json())


def by_mcp(photo: Path, model: str) -> dict[str, Any]:
    request = LocateRequest(model=model)

    async def work() -> Any:
        async with Client(make_server(McpService(make_plan(request), request, PhotoSource(anywhere=True)))) as client:
            opened = await client.call_tool("open_photo", {"path": str(photo)})
            handle = opened.structured_content["data"]["photo"]
            return (await client.call_tool("locate", {"photos": [handle]})).structured_content

    return dict(asyncio.run(work())["data"])


def test_every_surface_gives_the_same_document(atlas_home: Path, photo: Path, replayed: str, tmp_path: Path) -> None:
    assert atlas_home.is_dir()
    found = {
        "command": by_command(photo, replayed),
        "python": geosleuth.locate(photo, model=replayed).to_dict(),
        "mcp": by_mcp(photo, replayed),
        "http": by_http(photo, replayed, tmp_path / "cases"),
        "one call": by_one_call(photo, replayed, tmp_path / "call"),
    }
    for name, document in found.items():
        check(document)
        plain = json.loads(json.dumps(document))
        assert plain == document, name
        assert {key: value for key, value in document.items() if key not in OWN} == {
            key: value for key, value in found["command"].items() if key not in OWN
        }, name


def test_a_claimed_place_is_part_of_the_same_document(atlas_home: Path, photo: Path, replayed: str) -> None:
    assert atlas_home.is_dir()
    document = geosleuth.locate(photo, model=replayed, check="43.7384,7.4246").to_dict()
    check(document)
    assert document["check"]["verdict"] == "for"


def test_an_unknown_field_is_one_line() -> None:
    with pytest.raises(BadInput) as caught:
        LocateRequest.from_options(granularty="city")
    assert str(caught.value) == "unknown field: granularty; did you mean granularity?"
    with pytest.raises(BadInput, match="unknown fields: a_field, another"):
        LocateRequest.from_options(another=1, a_field=2)


def test_a_request_walks_through_six_modules_and_none_twice(
    atlas_home: Path, photo: Path, replayed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert atlas_home.is_dir()
    walks: list[list[str]] = []

    def watch(_self: Any, _event: Event) -> None:
        frames = [frame.frame.f_globals.get("__name__", "") for frame in reversed(inspect.stack(0))]
        walks.append([name for name in frames if name.startswith("geosleuth.")])

    monkeypatch.setattr("geosleuth.agent.trajectory.TrajectoryWriter.write", watch)
    whole_command("locate", photo, "--model", replayed, "--trajectory", photo.with_name("kept.jsonl"))
    names = walks[0]
    to_loop = names[names.index("geosleuth.cli.locate") : names.index("geosleuth.agent.loop") + 1]
    walk = [name for at, name in enumerate(to_loop) if at == 0 or to_loop[at - 1] != name]
    assert len(walk) <= 6
    assert len(set(walk)) == len(walk)
    assert walk == [
        "geosleuth.cli.locate",
        "geosleuth.cli.handlers.locate",
        "geosleuth.pipeline.run",
        "geosleuth.agent.locate",
        "geosleuth.agent.loop",
    ]


@pytest.mark.parametrize("build", ["build_area", "build_searches", "build_outputs", "choose_model"])
def test_builds_each_part_of_a_plan_in_one_place(build: str) -> None:
    package = Path(geosleuth.__file__).parent
    callers = [
        (path.relative_to(package).as_posix(), node.lineno)
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == build
    ]
    assert [path for path, _ in callers] == ["pipeline/plan.py"]


@pytest.mark.parametrize("word", ["boxes", "wire", "panorama", "drives_on"])
def test_checks_words_before_it_opens_what_is_named(word: str, tmp_path: Path) -> None:
    asked = {word: "odd", "within": str(tmp_path / "none.geojson"), "prior": str(tmp_path / "none")}
    with pytest.raises(BadInput, match=f"^--{word.replace('_', '-')} is 'odd'"):
        plan.make_plan(LocateRequest.from_options(**asked))


def test_enters_the_plan_at_most_five_times() -> None:
    tree = ast.parse(Path(plan.__file__).read_text(encoding="utf-8"))
    entered = [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for argument in node.args.args
        if argument.annotation is not None and "LocateRequest" in ast.unparse(argument.annotation)
    ]
    assert 1 <= len(entered) <= 5
