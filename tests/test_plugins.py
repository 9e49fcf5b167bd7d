"""A package of its own adds parts, each as one file: every surface has them, and a broken one stops nobody."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import geosleuth
from geosleuth.agent.methods import METHODS, method
from geosleuth.lab.bench.sets import open_set
from geosleuth.lab.scenes.environment import offline_setting
from geosleuth.lab.scenes.environment.for_trl import build_environment_class
from geosleuth.models import make_policy
from geosleuth.report.chain import call_words, outcome_words
from geosleuth.support.errors import BadInput, BrokenPlugin
from geosleuth.tools import Observation, ToolCall
from geosleuth.tools.toolset import all_tools
from in_process import whole_command
from locating import FINAL
from openai_server import chat_reply, openai_server
from plugin_package import EXAMPLE, forget, install, installed
from serving import photo_bytes, served

MOON = "geosleuth-moon:moon_phase"
CALL = chat_reply("The moon may tell.", [("moon_phase", {"day": "2024-06-21"})])


@pytest.fixture
def moon(tmp_path: Path) -> Iterator[Path]:
    with installed(tmp_path / "site") as site:
        yield site


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.jpg"
    Image.new("RGB", (160, 120), "#336699").save(path)
    return path


def offered(request: Any) -> dict[str, Any]:
    return {one["function"]["name"]: one["function"] for one in request.json["tools"]}


def test_metadata_that_cannot_be_read_stops_nobody(moon: Path) -> None:
    (moon / "geosleuth_broken-1.0.dist-info" / "entry_points.txt").write_bytes(b"[geosleuth.tools]\nzoom = \xd3\n")
    forget()
    done = whole_command("tools", "list", "--json")
    assert done.returncode == 0
    assert "moon_phase" in done.stdout
    assert "geosleuth-broken:entry_points.txt" in done.stderr
    assert "install the package again" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_list_has_it_and_a_broken_one_is_one_line(moon: Path) -> None:
    assert moon.is_dir()
    done = whole_command("tools", "list", "--json")
    assert done.returncode == 0
    listed = {one["name"]: one for one in json.loads(done.stdout)}
    assert listed["moon_phase"]["summary"].startswith("Say how much of the moon")
    assert set(listed) >= set(all_tools().names)
    told = done.stderr.splitlines()
    assert len(told) == 2
    assert "geosleuth-broken:nowhere" in told[0]
    assert "ModuleNotFoundError" in told[0]
    assert "geosleuth-broken:zoom" in told[1]


def test_a_model_is_offered_it_beside_the_methods_own(moon: Path, photo: Path, atlas_home: Path) -> None:
    assert moon.is_dir()
    assert atlas_home.is_dir()
    with openai_server([CALL, FINAL]) as url:
        done = whole_command(
            "locate", photo, "--model", "server:any", "--base-url", url, "--tools", f"+{MOON}", "--json"
        )
    assert done.returncode == 0, done.stderr
    tools = offered(url.requests[0])
    assert tools["moon_phase"]["parameters"]["required"] == ["day"]
    assert "read_text" in tools
    # What can't answer here is neither offered nor named.
    first = url.requests[0].body.decode()
    assert not [name for name in ("visual_prior", "search_image", "satellite_map_query") if name in first]
    assert "Say how much of the moon" in first
    assert "the moon is" in url.requests[1].body.decode()


def test_a_method_of_a_package_brings_its_words_and_its_tool(moon: Path, photo: Path, atlas_home: Path) -> None:
    assert moon.is_dir()
    assert atlas_home.is_dir()
    assert "geosleuth-moon:moonlit" in METHODS
    with openai_server([FINAL]) as url:
        done = whole_command(
            "locate", photo, "--model", "server:any", "--base-url", url, "--method", "geosleuth-moon:moonlit", "--json"
        )
    assert done.returncode == 0, done.stderr
    assert "moon_phase" in offered(url.requests[0])
    assert "check the two against each other" in url.requests[0].body.decode()


def test_a_broken_method_is_refused_by_name_and_the_others_are_listed(moon: Path) -> None:
    assert moon.is_dir()
    with pytest.raises(BrokenPlugin, match=r"geosleuth-broken:none .* is a int"):
        method("geosleuth-broken:none")
    done = whole_command("methods", "--json")
    assert {"default", "twm", "geosleuth-moon:moonlit"} <= {one["name"] for one in json.loads(done.stdout)}
    assert done.stderr.count("\n") == 1
    with pytest.raises(BadInput, match="geosleuth-moon:moonlit"):
        method("geosleuth-moon:sunlit")


def test_the_mcp_server_has_it_with_an_output_schema(moon: Path, atlas_home: Path) -> None:
    from mcp import Client

    from geosleuth.pipeline.plan import make_plan
    from geosleuth.pipeline.request import LocateRequest
    from geosleuth.server.mcp import McpService, PhotoSource, make_server

    assert moon.is_dir()
    assert atlas_home.is_dir()

    async def work() -> tuple[Any, Any]:
        wishes = LocateRequest(prior="none")
        async with Client(make_server(McpService(make_plan(wishes, []), wishes, PhotoSource()))) as client:
            listed = (await client.list_tools()).tools
            return listed, await client.call_tool("moon_phase", {"day": "2024-06-15"})

    listed, result = asyncio.run(work())
    (found,) = [one for one in listed if one.name == "moon_phase"]
    assert found.output_schema["properties"]["data"]["required"] == ["date", "lit", "phase"]
    assert result.structured_content["data"]["phase"] == "waxing"


def test_the_training_environment_has_it(moon: Path) -> None:
    assert moon.is_dir()
    setting = offline_setting("nano", tools=[f"+{MOON}"])
    assert setting.toolset.names == ("zoom", "read_text", "geocode", "clues", "moon_phase")
    made = build_environment_class(setting)
    words: str = vars(made)["moon_phase"].__doc__
    assert words.startswith("Say how much of the moon is lit")


def test_people_read_its_own_words(moon: Path) -> None:
    assert moon.is_dir()
    assert call_words(ToolCall("1", "moon_phase", {"day": "2024-06-21"})) == 'looks up the moon on "2024-06-21"'
    seen = Observation("1", "moon_phase", "text", {"date": "2024-06-21", "lit": 0.99, "phase": "waxing"})
    assert outcome_words(seen) == "99 % of it is lit"


@pytest.mark.slow
def test_the_page_is_told_its_words(tmp_path: Path, atlas_home: Path) -> None:
    site = install(tmp_path / "site")
    path = os.pathsep.join([str(site), str(Path(geosleuth.__file__).parents[1])])
    with openai_server([CALL, FINAL]) as url, served(atlas_home, environment={"PYTHONPATH": path}) as server:
        server.client.put("/api/settings", json={"offline": False}).raise_for_status()
        assert "geosleuth-moon:moonlit" in server.client.get("/api/about").json()["methods"]
        run = server.start(
            server.case(photo_bytes()), model="server:any", base_url=str(url), method="geosleuth-moon:moonlit"
        )
        told = list(server.told(run))
    calls = [call for one in told if one.kind == "said" for call in one.data["calls"]]
    assert [call["words"] for call in calls] == ['looks up the moon on "2024-06-21"']
    assert "lit" in next(one.data["words"] for one in told if one.kind == "observed")


def test_a_policy_a_data_set_and_an_exporter(moon: Path, photo: Path, tmp_path: Path, atlas_home: Path) -> None:
    assert moon.is_dir()
    assert atlas_home.is_dir()
    run = tmp_path / "run.jsonl"
    done = whole_command("locate", photo, "--model", "geosleuth-moon:fixed:43.7,7.4", "--trajectory", run, "--json")
    assert "43.7" in done.stdout, done.stderr
    with pytest.raises(BadInput, match=r"^write geosleuth-moon:fixed:LAT,LON$"):
        make_policy("geosleuth-moon:fixed:north")
    (tmp_path / "places.txt").write_text("photo.jpg 43.7 7.4\n")
    data = open_set(f"geosleuth-moon:places:{tmp_path}")
    assert data.card.name == "geosleuth-moon:places"
    assert [item.id for item in data] == ["photo.jpg"]
    assert "geosleuth-moon:places" in whole_command("dataset", "list", "--json").stdout
    out = tmp_path / "calls.jsonl"
    done = whole_command("trajectory", "export", run, "--to", "geosleuth-moon:calls", "--out", out)
    assert done.returncode == 0, done.stderr
    assert json.loads(out.read_text())["calls"] == []


def test_a_function_of_a_notebook_is_a_tool(photo: Path, atlas_home: Path) -> None:
    assert atlas_home.is_dir()

    def tide(port: str) -> str:
        """Say how high the water stands.

        Args:
            port: name of the port.
        """
        return f"{port}: 2 m"

    own = method("default")
    replies = [chat_reply("The tide.", [("tide", {"port": "Brest"})]), FINAL]
    with openai_server(replies) as url:
        found = geosleuth.locate(photo, model="server:any", base_url=str(url), tools=[tide], method=own, boxes="pixels")
    assert "tide" in offered(url.requests[0])
    assert "Brest: 2 m" in url.requests[1].body.decode()
    assert found.answer.located


def test_help_loads_no_plugin(tmp_path: Path) -> None:
    site = install(tmp_path / "site")
    code = (
        "import sys; sys.argv = ['geosleuth', '--help']\n"
        "from geosleuth.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([one for one in sys.modules if one.startswith(('geosleuth_', 'geosleuth.tools'))])\n"
    )
    path = os.pathsep.join([str(site), str(Path(geosleuth.__file__).parents[1])])
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("page", "parts"),
    [
        ("how-to/add-a-tool", ("tool.py",)),
        ("how-to/add-a-method", ("method.py",)),
    ],
)
def test_the_guides_show_the_package_that_these_tests_run(page: str, parts: tuple[str, ...]) -> None:
    guide = (EXAMPLE.parents[1] / "docs" / f"{page}.md").read_text(encoding="utf-8")
    project = (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")
    for part in parts:
        assert (EXAMPLE / "src" / "geosleuth_moon" / part).read_text(encoding="utf-8").rstrip() in guide
    shown = [block.partition("```")[0].strip() for block in guide.split("```toml\n")[1:]]
    assert len(shown) == len(parts)
    assert all(block in project for block in shown)
