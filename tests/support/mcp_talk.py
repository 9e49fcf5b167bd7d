"""``geosleuth mcp`` as clients start it, in a process of its own, and a home for it to work in."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from mcp.client.stdio import StdioServerParameters
from mcp.types import CallToolResult, ImageContent, TextContent

from homes import add_region, home_with_base
from python_path import python_path
from tool_cases import MONACO

GEOSLEUTH = Path(sys.executable).with_name("geosleuth")
NOTHING: Mapping[str, str] = MappingProxyType({})
# The machine that tests run on has better things to do.
_FEW_THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def make_home(folder: Path, base_file: Path) -> Path:
    """A home with the base atlas and Monaco in it, found by GEOSLEUTH_HOME."""
    home_with_base(folder, base_file)
    add_region(MONACO, folder / "data" / "regions")
    return folder


def over_stdio(home: Path, *words: object, env: Mapping[str, str] = NOTHING) -> StdioServerParameters:
    """The server as a client starts it and talks to it through pipes."""
    # The SDK passes on few variables.
    variables = {**_FEW_THREADS, "PYTHONPATH": python_path(), "GEOSLEUTH_HOME": str(home), **env}
    return StdioServerParameters(command=str(GEOSLEUTH), args=["mcp", *map(str, words)], env=variables)


@contextmanager
def over_http(home: Path, *words: object, env: Mapping[str, str] = NOTHING) -> Iterator[str]:
    """The server's address while it serves on loopback."""
    variables = {**os.environ, **_FEW_THREADS, "GEOSLEUTH_HOME": str(home), **env}
    command = [str(GEOSLEUTH), "mcp", "--http", "--port", "0", *map(str, words)]
    with subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as run:
        assert run.stderr is not None
        said = run.stderr
        line = ""
        while not (found := re.search(r"http://\S+/mcp", line)):
            line = said.readline()
            assert line, f"the server ended with {run.wait(10)}"
        rest = threading.Thread(target=said.read, daemon=True)
        rest.start()
        try:
            yield found[0]
        finally:
            run.terminate()
            run.wait(20)
            rest.join(10)


def words_of(result: CallToolResult) -> str:
    """All words of a result."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


def pictures_of(result: CallToolResult) -> list[ImageContent]:
    """All pictures of a result."""
    return [part for part in result.content if isinstance(part, ImageContent)]
