"""A tool is one declaration: schema, prompt line, words for people and what it needs all come from it."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest

from geosleuth.tools import Case, Length, Output, ToolCall, Toolset, output_schema, tool
from geosleuth.tools.calls import OFFLINE
from geosleuth.tools.declare import as_tool, result_schema
from geosleuth.tools.toolset import all_tools
from geosleuth.tools.viewer import Viewer


class Tide(TypedDict):
    height_m: float
    state: Literal["rising", "falling"]
    box: Annotated[list[int], Length(4)]
    note: NotRequired[str]
    station: str | None


@tool("tide_table", use="learn how high the water stands", result=Tide, viewer=Viewer("looks up the tide at {port}"))
async def tide_table(case: Case, port: str) -> Output:  # noqa: ARG001
    """Say how high the water stands. In metres.

    Args:
        port: name of the port.
    """
    return Output(f"{port}: 2 m", {"height_m": 2.0, "state": "rising", "box": [0, 0, 1, 1], "station": None})


def test_the_result_type_is_the_schema_that_clients_see() -> None:
    assert output_schema(tide_table)["properties"]["data"] == {
        "type": "object",
        "properties": {
            "height_m": {"type": "number"},
            "state": {"type": "string", "enum": ["rising", "falling"]},
            "box": {"type": "array", "items": {"type": "integer"}, "minItems": 4, "maxItems": 4},
            "note": {"type": "string"},
            "station": {"type": ["string", "null"]},
        },
        "required": ["height_m", "state", "box", "station"],
    }


def test_a_result_that_json_can_not_hold_is_refused() -> None:
    assert result_schema(dict[str, list[Any]]) == {
        "type": "object",
        "additionalProperties": {"type": "array", "items": {}},
    }
    with pytest.raises(TypeError, match="TypedDict"):
        result_schema(complex)


def test_words_for_people_quote_what_a_model_wrote() -> None:
    assert tide_table.viewer.call_words({"port": 'Saint-"Malo"'}) == 'looks up the tide at "Saint-\\"Malo\\""'
    assert tide_table.viewer.call_words({}) == "looks up the tide at"
    assert tide_table.purpose == "learn how high the water stands"


def test_every_tool_of_ours_says_all_of_it() -> None:
    for one in all_tools():
        assert one.use, one.name
        assert one.viewer.call_words({}), one.name
        assert one.data_schema(), one.name


def test_only_tools_that_can_answer_are_usable() -> None:
    left_out = set(all_tools().names) - set(all_tools().usable(OFFLINE).names)
    assert left_out == {"search_image", "search_web", "visual_prior", "satellite_map_query"}
    assert "find_crossing" not in all_tools().usable({"atlas"}).names


@dataclass
class Moon:
    lit: float


def test_a_plain_function_is_a_tool() -> None:
    def moon(date: str) -> Moon:
        """Say how much of the moon is lit.

        Args:
            date: the day.
        """
        return Moon(len(date) / 10)

    made = as_tool(moon)
    assert [parameter.name for parameter in made.parameters] == ["date"]
    assert made.purpose == "say how much of the moon is lit"
    assert made.data_schema()["properties"] == {"lit": {"type": "number"}}
    case: Any = None
    (seen,) = asyncio.run(Toolset([made]).run([ToolCall("1", "moon", {"date": "today"})], case))
    assert (seen.data, seen.text) == ({"lit": 0.5}, '{"lit": 0.5}')


def test_what_is_no_function_is_no_tool() -> None:
    nothing: Any = 5
    with pytest.raises(TypeError, match="not int"):
        as_tool(nothing)
