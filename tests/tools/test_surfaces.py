"""One declaration, four surfaces: native calls, tagged text, MCP and a training environment say the same."""

import asyncio
import base64
import inspect
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from mcp import Client
from mcp.server import Server, ServerRequestContext
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ImageContent,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from PIL import Image

from geosleuth.atlas import OfflineAtlas
from geosleuth.photo import Album, Photo
from geosleuth.tools import (
    Case,
    Length,
    Output,
    Tool,
    Toolset,
    call_mcp,
    describe_tagged,
    mcp_tools,
    native_tools,
    tool,
)
from geosleuth.tools.calls import Observation, ToolCall
from geosleuth.tools.surfaces import Background, EnvironmentBase, tool_methods
from geosleuth.tools.toolset import all_tools
from python_path import python_path


def environment_class(toolset: Toolset, make_case: Callable[..., Case], **words: Any) -> type[Any]:
    background = Background()

    class Environment(EnvironmentBase):
        """The tools of a run, as methods."""

        def reset(self, **columns: Any) -> None:
            self.case, self.observations = make_case(**columns), ()

        def _carry_out(self, call: ToolCall) -> Observation:
            assert self.case is not None
            return background.run(toolset.run([call], self.case))[0]

    return type("ToolEnvironment", (Environment,), tool_methods(toolset, **words))


@tool("cut")
async def cut(case: Case, bbox_2d: Annotated[list[float], Length(4)], note: str = "") -> Output:
    """Cut a part out.

    Args:
        case: the case.
        bbox_2d: left, top, right, bottom.
        note: a remark.
    """
    view = case.album.preview("image-1", bbox_2d, case.box_scale)
    return Output(f"a cut {note}", images=(view,), sources=("photo",))


@tool("every_kind")
async def every_kind(
    case: Case,
    text: str,
    number: float,
    season: Literal["summer", "winter"],
    places: list[str],
    *,
    count: int = 3,
    sure: bool = True,
    distances_km: list[float] | None = None,
    box: Annotated[list[float], Length(4)] | None = None,
    near: str | None = None,
) -> Output:
    """Take one of each kind.

    A second paragraph: with a colon, an accent (é) and "quotes".

    Args:
        case: the case.
        text: any text: even with colons, or (brackets).
        number: a number.
        season: when.
        places: names
            over two lines.
        count: how many.
        sure: yes or no.
        distances_km: how far.
        box: left, top, right, bottom.
        near: a place.

    Raises:
        BadInput: not for models.
    """
    given = (text, number, season, places, count, sure, distances_km, box, near)
    return Output(f"{len(case.album.handles)} {given!r}")


@tool("nothing")
async def nothing(case: Case) -> Output:
    """Take nothing."""
    return Output(str(len(case.album.handles)))


OURS = Toolset([cut, every_kind, nothing])
EVERY_TOOL = [*OURS, *all_tools()]


def make_case(colour: str = "red") -> Case:
    album = Album()
    album.add(Photo(Image.new("RGB", (400, 300), colour)))
    return Case(album, OfflineAtlas())


@pytest.mark.parametrize("one", EVERY_TOOL, ids=lambda one: one.name)
def test_all_surfaces_agree_on_every_tool(one: Tool) -> None:
    from transformers.utils.chat_template_utils import get_json_schema

    toolset = Toolset([one])
    (native,) = native_tools(toolset)
    described = native["function"]
    assert described["name"] == one.name
    assert set(described["parameters"]["properties"]) == {parameter.name for parameter in one.visible_parameters}
    assert described["description"]
    assert all(argument["description"] for argument in described["parameters"]["properties"].values())

    opening, line, closing = describe_tagged(toolset).split("\n")
    assert (opening, closing) == ("<tools>", "</tools>")
    assert json.loads(line) == native

    (listed,) = mcp_tools(toolset)
    assert (listed.name, listed.description, listed.input_schema) == (
        described["name"],
        described["description"],
        described["parameters"],
    )

    trained = get_json_schema(getattr(environment_class(toolset, make_case)(), one.name))
    assert trained == native
    assert json.dumps(trained, ensure_ascii=False) == line


def test_the_tools_of_the_papers_are_among_them() -> None:
    papers = {
        "image_zoom_in_tool", "image_zoom_tool", "search_web", "web_search_tool", "maps_geocode", "poi_input_tips",
        "poi_keyword_search", "poi_detail_query", "static_map_query", "satellite_map_query",
    }  # fmt: skip
    assert {name for name in papers if all_tools().get(name) is None} == set()


def test_tagged_text_is_what_a_chat_template_writes() -> None:
    from transformers.utils.chat_template_utils import render_jinja_template

    template = "<tools>\n{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}</tools>"
    environment = environment_class(OURS, make_case)()
    methods = [getattr(environment, one.name) for one in OURS]
    question = [[{"role": "user", "content": "where?"}]]
    rendered = list(render_jinja_template(question, methods, chat_template=template)[0])
    assert rendered == [describe_tagged(OURS)]


# MCP, over a real client and a real server.


def served(case: Case) -> Server[Any]:
    async def on_list(_context: ServerRequestContext[Any], _page: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=mcp_tools(OURS))

    async def on_call(_context: ServerRequestContext[Any], call: CallToolRequestParams) -> CallToolResult:
        return await call_mcp(OURS, case, call.name, call.arguments)

    return Server("geosleuth", on_list_tools=on_list, on_call_tool=on_call)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_an_mcp_client_lists_and_calls_the_tools(mode: str) -> None:
    case = make_case()

    async def session() -> tuple[ListToolsResult, CallToolResult, CallToolResult, CallToolResult]:
        async with Client(served(case), mode=mode) as client:
            return (
                await client.list_tools(),
                await client.call_tool("cut", {"bbox_2d": [0, 0, 100, 50]}),
                await client.call_tool("cut", {"bbox_2d": [0, 0, 100]}),
                await client.call_tool("teleport"),
            )

    listed, done, bad, unknown = asyncio.run(session())
    assert [one.name for one in listed.tools] == list(OURS.names)
    assert [one.input_schema for one in listed.tools] == [one.schema()["parameters"] for one in OURS]

    words, caption, picture = done.content
    assert isinstance(words, TextContent)
    assert isinstance(caption, TextContent)
    assert isinstance(picture, ImageContent)
    assert not done.is_error
    assert words.text == "a cut "
    assert caption.text == "image-2 (800 x 400 pixels):"
    assert picture.mime_type == "image/jpeg"
    assert Image.open(io.BytesIO(base64.b64decode(picture.data))).size == (800, 400)
    assert done.meta is not None
    assert done.meta["sources"] == ["photo"]

    assert bad.is_error
    assert isinstance(bad.content[0], TextContent)
    assert "a list of exactly 4 numbers" in bad.content[0].text
    assert unknown.is_error
    assert isinstance(unknown.content[0], TextContent)
    assert "there is no tool 'teleport'; there are: cut, every_kind, nothing" in unknown.content[0].text


def test_without_the_sdk_one_line_says_how_to_get_it(tmp_path: Path) -> None:
    # None in this table makes an import fail as that of a package which is not installed.
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['mcp'] = None\n")
    code = (
        "from geosleuth.support.errors import MissingExtra\nfrom geosleuth.tools import mcp_tools\n"
        "try:\n    mcp_tools([])\nexcept MissingExtra as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": python_path(tmp_path)},
    )
    assert "[serve]'" in done.stdout


# The training environment, used as TRL uses one.


@pytest.fixture
def environment() -> Any:
    return environment_class(OURS, make_case)()


def test_a_trainer_finds_exactly_the_tools_and_reset(environment: Any) -> None:
    members = inspect.getmembers(type(environment), predicate=inspect.isfunction)
    public = {name for name, _ in members if not name.startswith("_")}
    assert public == {"reset", *OURS.names}
    assert not any(inspect.iscoroutinefunction(member) for _, member in members)


def test_methods_run_the_tools_on_the_case_of_the_rollout(environment: Any) -> None:
    assert environment.reset(colour="blue") is None
    arguments = {"text": "a", "number": "2", "season": "Winter", "places": "Rome", "unheard_of": 1, "self": 2}
    said = environment.every_kind(**arguments)
    assert said == (
        "1 ('a', 2.0, 'winter', ['Rome'], 3, True, None, None, None)\n"
        "(not arguments of every_kind, ignored: unheard_of, self)"
    )
    words, caption, picture = environment.cut(bbox_2d=[0, 0, 100, 50])
    assert (words, caption) == (
        {"type": "text", "text": "a cut "},
        {"type": "text", "text": "\nimage-2 (800 x 400 pixels):"},
    )
    assert picture["type"] == "image"
    assert picture["image"].size == (800, 400)
    assert picture["image"].getpixel((10, 10)) == (0, 0, 255)
    assert environment.cut(bbox_2d="everything").startswith('bbox_2d is "everything"; it must be')
    assert [one.failure for one in environment.observations] == [None, None, "bad_arguments"]


def test_what_a_model_reads_is_worded_as_the_wire_wants_it() -> None:
    environment: Any = environment_class(OURS, make_case, words=lambda seen: f"{seen.name}: {seen.text}")()
    environment.reset()
    assert environment.nothing() == "nothing: 1"
    assert environment.cut(bbox_2d=[0, 0, 10, 10])[0]["text"] == "cut: a cut "


def test_rollouts_do_not_share_and_work_inside_a_running_loop() -> None:
    make: Any = environment_class(OURS, make_case)
    first, second = make(), make()

    async def in_a_notebook() -> list[Any]:
        first.reset()
        second.reset()
        first.cut(bbox_2d=[0, 0, 10, 10])
        return [first.nothing(), second.nothing()]

    assert asyncio.run(in_a_notebook()) == ["2", "1"]


def test_a_bug_in_a_tool_comes_out_of_the_method() -> None:
    @tool("broken")
    async def broken(case: Case) -> Output:
        """Fail."""
        raise ZeroDivisionError(str(len(case.album.handles)))

    environment: Any = environment_class(Toolset([broken]), make_case)()
    environment.reset()
    with pytest.raises(ZeroDivisionError):
        environment.broken()


@pytest.mark.parametrize("name", ["reset", "get_reward", "_hidden", "two words", "class"])
def test_a_name_that_no_method_can_have_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="can't be a method"):
        environment_class(Toolset([tool(name)(nothing.function)]), make_case)
