"""What a model writes as arguments: read as what it plainly means, or answered with what would be right."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geosleuth.support.errors import BadInput
from geosleuth.tools import Case, Length, Output, Parameter, Tool, tool
from geosleuth.tools.argument_types import find_kind

Box = Annotated[list[float], Length(4)]
Season = Literal["summer", "winter"]

# Every type that a tool may take, and how to tell that a value is of it.
IS_OF: dict[Any, Callable[[Any], bool]] = {
    str: lambda value: type(value) is str,
    int: lambda value: type(value) is int,
    float: lambda value: type(value) is float and math.isfinite(value),
    bool: lambda value: type(value) is bool,
    Season: lambda value: value in ("summer", "winter"),
    str | None: lambda value: value is None or type(value) is str,
    float | None: lambda value: value is None or (type(value) is float and math.isfinite(value)),
    list[str]: lambda value: type(value) is list and all(type(item) is str for item in value),
    list[int] | None: lambda value: value is None or all(type(item) is int for item in value),
    list[Season]: lambda value: all(item in ("summer", "winter") for item in value),
    list[list[float]]: lambda value: all(type(item) is float for row in value for item in row),
    Box: lambda value: len(value) == 4 and all(type(item) is float for item in value),
}

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(2**63), 2**53, 2**53 - 1])
    | st.floats()
    | st.text(st.characters())  # halves of surrogate pairs among them, as cut replies hold
    | st.sampled_from(["5", " 5.0 ", "1e999", "nan", "true", "[1, 2, 3, 4]", "1,2,3,4", "[", "Summer", "null"]),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=12,
)


@tool("look", aliases=("see",), renames={"bbox": "bbox_2d", "word": "words"})
async def look(
    case: Case, bbox_2d: Box, *, words: list[str], zoom: int = 3, season: Season = "summer", near: str | None = None
) -> Output:
    """Look at a part of the image.

    It comes back
    magnified.

    Args:
        case: models don't see this one.
        bbox_2d: left, top,
            right, bottom.
        words: what to look for: a word: or two.
        zoom: how close.
        season: when.
        near: a place.

    Raises:
        BadInput: never mentioned to models.
    """
    del case
    return Output(f"{bbox_2d} {words} {zoom} {season} {near}")


@pytest.mark.parametrize("hint", IS_OF, ids=str)
@given(value=json_values)
def test_any_value_is_read_as_the_right_type_or_refused_in_one_line(hint: Any, value: Any) -> None:
    check(hint, value)


def check(hint: Any, value: Any) -> None:
    parameter = Parameter("it", hint, "something")
    try:
        read = parameter.read(value)
    except BadInput as refusal:
        message = str(refusal)
        assert message.startswith("it is ")
        assert message.endswith(f"it must be {find_kind(hint).requirement}")
        assert len(message) < 250
        assert "\n" not in message
        message.encode()
    else:
        assert IS_OF[hint](read)
        json.dumps(read, allow_nan=False, ensure_ascii=False).encode()


@given(st.dictionaries(st.sampled_from(["bbox", "bbox_2d", "words", "zoom", "near"]) | st.text(), json_values))
def test_any_object_gives_arguments_or_a_refusal(arguments: dict[str, Any]) -> None:
    try:
        taken, unknown = look.read(arguments)
    except BadInput:
        assert not _fits(arguments)
    else:
        assert _fits(arguments)
        assert not set(unknown) & set(taken)


def _fits(arguments: dict[str, Any]) -> bool:
    """Whether every argument is there that must be, and each alone can be read."""
    named = {look.renames.get(name, name): value for name, value in arguments.items()} | arguments
    for parameter in look.parameters:
        value = named.get(parameter.name)
        if parameter.name not in named and parameter.is_required:
            return False
        try:
            if value is not None or parameter.is_required:
                parameter.read(value)
        except BadInput:
            return False
    return True


@given(st.text(st.characters()))
@example("[" * 100_000)
@example('{"a":' * 100_000)
@example('{"zoom": ' + "9" * 10_000 + "}")
@example("null")
@example('"text"')
@example("[1, 2]")
@example('{"bbox_2d": [1, 2, 3, 4], "words": ["a"]')
def test_text_that_is_no_json_object_is_told_what_is_right(text: str) -> None:
    with pytest.raises(BadInput) as refusal:
        look.read(text)
    assert str(refusal.value).startswith(("the arguments are not", "bbox_2d is missing"))
    assert "a list of exactly 4 numbers" in str(refusal.value)


def test_a_json_object_written_as_text_is_read_like_one() -> None:
    assert look.read('{"bbox_2d": [1, 2, 3, 4.5], "words": "gare"}') == (
        {"bbox_2d": [1.0, 2.0, 3.0, 4.5], "words": ["gare"]},
        (),
    )


@pytest.mark.parametrize(
    ("hint", "given_", "read"),
    [
        (str, 21, "21"),
        (str, "cut \ud83d", "cut ?"),
        (int, "5", 5),
        (int, 5.0, 5),
        (float, "48.85", 48.85),
        (float, 7, 7.0),
        (bool, "True", True),
        (bool, 0, False),
        (Season, " WINTER", "winter"),
        (list[str], "Paris", ["Paris"]),
        (list[str], '["Paris", "Lyon"]', ["Paris", "Lyon"]),
        (list[str], "[Paris", ["[Paris"]),
        (list[str], "Rue A, Rue B", ["Rue A, Rue B"]),
        (Box, "[1, 2, 3, 4]", [1.0, 2.0, 3.0, 4.0]),
        (Box, "1, 2, 3, 4", [1.0, 2.0, 3.0, 4.0]),
        (Box | None, None, None),
    ],
)
def test_what_is_plainly_meant_is_taken(hint: Any, given_: Any, read: Any) -> None:
    assert Parameter("it", hint, "something").read(given_) == read


@pytest.mark.parametrize(
    ("hint", "given_", "message"),
    [
        (int, "five", 'it is "five"; it must be an integer'),
        (int, 2.5, "it is 2.5; it must be an integer"),
        (int, True, "it is true; it must be an integer"),
        (int, 2**53, "it is 9007199254740992; it must be an integer"),
        (float, math.nan, "it is NaN; it must be a number"),
        (float, None, "it is null; it must be a number"),
        (str, {"a": 1}, 'it is {"a": 1}; it must be a string'),
        (Season, "spring", 'it is "spring"; it must be one of summer, winter'),
        (Box, [1, 2, 3], "it is [1, 2, 3]; it must be a list of exactly 4 numbers"),
        (Box, [1, 2, 3, "x"], 'it is [1, 2, 3, "x"]; it must be a list of exactly 4 numbers'),
        (Box | None, [1], "it is [1]; it must be a list of exactly 4 numbers"),
        (list[Season], ["May"], 'it is ["May"]; it must be a list of items, each one of summer, winter'),
        pytest.param(float, 10**5000, "it is too deep or too large to show; it must be a number", id="huge"),
    ],
)
def test_refusals_say_what_was_given_and_what_is_right(hint: Any, given_: Any, message: str) -> None:
    with pytest.raises(BadInput) as refusal:
        Parameter("it", hint, "something").read(given_)
    assert str(refusal.value) == message


def test_what_is_missing_is_named_with_its_meaning() -> None:
    with pytest.raises(BadInput, match=r"words is missing; it must be a list of strings: what to look for: a word"):
        look.read({"bbox_2d": [1, 2, 3, 4]})


def test_other_spellings_are_taken_and_ours_wins_over_them() -> None:
    assert look.read({"bbox": [1, 2, 3, 4], "word": "a"})[0] == {"bbox_2d": [1.0, 2.0, 3.0, 4.0], "words": ["a"]}
    taken, unknown = look.read({"bbox": [9, 9, 9, 9], "bbox_2d": [1, 2, 3, 4], "words": "a"})
    assert taken["bbox_2d"] == [1.0, 2.0, 3.0, 4.0]
    assert unknown == ("bbox",)


def test_unknown_arguments_are_named_and_few() -> None:
    many = {f"extra{number}" + "x" * 100: number for number in range(1000)}
    _, unknown = look.read({"bbox_2d": [1, 2, 3, 4], "words": "a", "half \ud83d": 1} | many)
    assert unknown[0] == "half ?"
    assert len(unknown) == 10
    assert all(len(name) <= 40 for name in unknown)


def test_text_that_looks_like_code_stays_text(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    text = f"__import__('pathlib').Path({str(trap)!r}).touch()"
    for arguments in (
        {"bbox_2d": [1, 2, 3, 4], "words": text},
        {"bbox_2d": [1, 2, 3, 4], "words": [text, "${IFS}", "$(touch x)", "{0.__class__}"]},
    ):
        taken, _ = look.read(arguments)
        assert text in taken["words"]
    for hint in (int, float, bool, Box, Season):
        with pytest.raises(BadInput):
            Parameter("it", hint, "something").read(text)
    with pytest.raises(BadInput):
        look.read(text)
    assert not trap.exists()


def test_the_schema_is_what_the_function_says() -> None:
    assert look.schema() == {
        "name": "look",
        "description": "Look at a part of the image.\n\nIt comes back magnified.",
        "parameters": {
            "type": "object",
            "properties": {
                "bbox_2d": {
                    "type": "array",
                    "items": {"type": "number"},
                    "description": "left, top, right, bottom (a list of exactly 4 numbers)",
                },
                "words": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "what to look for: a word: or two.",
                },
                "zoom": {"type": "integer", "description": "how close."},
                "season": {"type": "string", "enum": ["summer", "winter"], "description": "when."},
                "near": {"type": "string", "description": "a place."},
            },
            "required": ["bbox_2d", "words"],
        },
    }
    assert look.summary == "Look at a part of the image."


async def without_types(case: Case, what) -> Output:  # type: ignore[no-untyped-def]
    """Look.

    Args:
        case: the case.
        what: something.
    """
    return Output(f"{case}{what}")


async def without_meaning(case: Case, what: str) -> Output:
    """Look."""
    return Output(f"{case}{what}")


async def without_docstring(case: Case) -> Output:
    return Output(f"{case}")


async def with_any_number(case: Case, *what: str) -> Output:
    """Look.

    Args:
        case: the case.
        what: things.
    """
    return Output(f"{case}{what}")


async def with_a_dict(case: Case, what: dict[str, str]) -> Output:
    """Look.

    Args:
        case: the case.
        what: things.
    """
    return Output(f"{case}{what}")


async def with_two_types(case: Case, what: int | str) -> Output:
    """Look.

    Args:
        case: the case.
        what: things.
    """
    return Output(f"{case}{what}")


def not_async(case: Case) -> Output:
    """Look."""
    return Output(f"{case}")


@pytest.mark.parametrize(
    "function",
    [without_types, without_meaning, without_docstring, with_any_number, with_a_dict, with_two_types, not_async],
)
def test_a_function_that_cannot_be_a_tool_is_found_when_it_is_declared(function: Any) -> None:
    with pytest.raises(TypeError):
        tool("look")(function)


def test_tools_can_be_kept_in_sets() -> None:
    twin = Tool(look.name, look.description, look.parameters, look.function, look.aliases, look.renames)
    assert {look, twin} == {look}
