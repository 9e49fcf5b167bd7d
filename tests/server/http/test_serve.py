"""The command ``geosleuth serve``: how it begins, what it refuses, and how it is told apart."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from in_process import whole_command
from serving import GEOSLEUTH, NOTHING, Served

TOKEN = "a-token-of-many-letters"  # noqa: S105


def refusal(home: Path, *arguments: str, environment: Mapping[str, str] = NOTHING) -> str:
    """The one line of a server that does not start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GEOSLEUTH_TOKEN", raising=False)
        done = whole_command("serve", "--home", home / "service", *arguments, cwd=home, **environment)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("geosleuth: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        told = refusal(tmp_path, "--port", port)
    assert f"port {port}" in told
    assert "--port 0" in told


def test_beyond_this_machine_a_token_is_needed(tmp_path: Path) -> None:
    told = refusal(tmp_path, "--host", "0.0.0.0", "--port", "0")  # noqa: S104
    assert "GEOSLEUTH_TOKEN" in told
    assert "--token-file" in told
    short = tmp_path / "token"
    short.write_text("secret\n")
    told = refusal(tmp_path, "--host", "0.0.0.0", "--port", "0", "--token-file", str(short))  # noqa: S104
    assert "at least 16" in told
    assert "secret\n" not in told.replace("secrets", "")


def test_what_is_no_address_and_no_name_is_refused(tmp_path: Path) -> None:
    token = {"GEOSLEUTH_TOKEN": TOKEN}
    assert "can't listen at 203.0.113.7" in refusal(tmp_path, "--host", "203.0.113.7", environment=token)
    assert "--allowed-host" in refusal(tmp_path, "--allowed-host", "http://photos.example.org/")


@pytest.mark.slow
def test_one_folder_has_one_server(server: Served, home: Path) -> None:
    done = subprocess.run(
        [GEOSLEUTH, "serve", "--port", "0"],
        env={**os.environ, "GEOSLEUTH_HOME": str(home)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert server.client.get("/api/health").status_code == 200


def test_without_the_extra_the_command_names_it() -> None:
    code = (
        "import sys; sys.modules['fastapi'] = None\n"
        "from geosleuth.cli.serve import ServeOptions, serve\n"
        "from geosleuth.support.errors import MissingExtra\n"
        "try:\n    serve(ServeOptions())\nexcept MissingExtra as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert "[serve]'" in done.stdout, done.stderr


def test_help_has_examples_and_loads_nothing_heavy() -> None:
    done = subprocess.run(
        [GEOSLEUTH, "serve", "--help"],
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert "geosleuth serve --open" in done.stdout


def test_the_page_comes_from_the_package(server: Served) -> None:
    page = server.client.get("/")
    if page.status_code == 503:
        assert "make page" in page.text
        pytest.skip("the page is not built: run make page")
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["cache-control"] == "no-cache"
    again = server.client.get("/", headers={"If-None-Match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    scripts = [part.partition('"')[0] for part in page.text.split('src="')[1:]]
    assert scripts
    for name in scripts:
        script = server.client.get(name)
        assert script.status_code == 200
        assert script.headers["content-type"].startswith("application/javascript")
        assert script.headers["content-encoding"] == "gzip"
        assert "immutable" in script.headers["cache-control"]
        assert json.dumps(server.client.get(name, headers={"Accept-Encoding": "identity"}).text) == json.dumps(
            script.text
        )
    for name in ("/assets/../__init__.py", "/assets/%2e%2e/%2e%2e/serve.py", "/..%2fserve.py"):
        assert server.client.get(name).status_code == 404
