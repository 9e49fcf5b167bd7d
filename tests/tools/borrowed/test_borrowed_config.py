"""The file of MCP servers, and the list of their tools."""

import json
from pathlib import Path
from typing import Any

import pytest

from geosleuth.support.errors import BadInput
from geosleuth.tools.borrowed import read_borrowing, read_lenders, tool_name, usable_schema


def servers(folder: Path, document: Any) -> Path:
    path = folder / "servers.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def test_programs_and_addresses_are_read_and_keys_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDES_KEY", "hush")
    file = servers(
        tmp_path,
        {
            "mcpServers": {
                "tides": {"command": "uvx", "args": ["tide-tables", "--key=secret"], "env": {"KEY": "${TIDES_KEY}"}},
                "parks": {"url": "https://user:word@parks.example/mcp", "headers": {"X": "a ${TIDES_KEY} b"}},
            }
        },
    )
    tides, parks = read_lenders(file)
    assert (tides.command, tides.args, tides.env) == ("uvx", ("tide-tables", "--key=secret"), {"KEY": "hush"})
    assert parks.headers == {"X": "a hush b"}
    borrowing = read_borrowing(file, ["tides.high_water", "parks.list.all"])
    assert borrowing.allowed == (("tides", "high_water"), ("parks", "list.all"))
    # Whoever gives leave learns who is asked, and no secret is shown.
    assert "tides (the program uvx, started on this machine)" in borrowing.consent
    assert "parks (parks.example)" in borrowing.consent
    shown = borrowing.consent + repr(borrowing)
    assert "hush" not in shown
    assert "secret" not in shown
    assert "word@" not in borrowing.consent


@pytest.mark.parametrize(
    ("document", "trouble"),
    [
        ("{", "this is not JSON"),
        ([], "names no MCP server"),
        ({"mcpServers": {}}, "names no MCP server"),
        ({"mcpServers": {"a": {}}}, "needs a command or a url"),
        ({"mcpServers": {"a": {"command": "x", "url": "https://y.example"}}}, "one of the two"),
        ({"mcpServers": {"a": {"url": "file:///etc/passwd"}}}, "no address that can be asked"),
        ({"mcpServers": {"a": {"command": "x", "args": "y"}}}, "args must be a list"),
        ({"mcpServers": {"a": {"command": "x", "env": {"K": 1}}}}, "env must be an object of texts"),
        ({"mcpServers": {"a": {"command": "x", "env": {"K": "${NOT_SET_ANYWHERE}"}}}}, "NOT_SET_ANYWHERE is not set"),
        ({"mcpServers": {"a b": {"command": "x"}}}, "needs another name"),
        ({"mcpServers": {"a__b": {"command": "x"}}}, "needs another name"),
    ],
)
def test_what_must_be_mended_is_one_line(tmp_path: Path, document: Any, trouble: str) -> None:
    with pytest.raises(BadInput, match=trouble) as caught:
        read_lenders(servers(tmp_path, document))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such file"):
        read_lenders(tmp_path / "none.json")


@pytest.mark.parametrize("word", ["tides", "tides.", "moon.phase"])
def test_the_list_names_servers_and_tools(tmp_path: Path, word: str) -> None:
    file = servers(tmp_path, {"mcpServers": {"tides": {"command": "x"}}})
    with pytest.raises(BadInput, match="tides"):
        read_borrowing(file, [word])


def test_names_are_such_as_every_provider_takes() -> None:
    assert tool_name("tides", "high_water") == "tides__high_water"
    assert tool_name("tides", "odd name!") == "tides__odd_name_"
    assert len(tool_name("tides", "x" * 200)) == 64


@pytest.mark.parametrize(
    "schema", [None, [], {"type": "array"}, {"type": "object", "properties": 5}, {"properties": {}}]
)
def test_a_schema_that_no_service_would_take_is_any_object(schema: Any) -> None:
    assert usable_schema(schema) == {"type": "object", "properties": {}}
