"""The pages about the server tell the truth: their commands run, and their tables name what there is."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from serving import Served

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = (ROOT / "docs" / "reference" / "http-api.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs" / "how-to" / "serve.md").read_text(encoding="utf-8")
STEP_BY_STEP = "## Step by step"
ONE_CALL, _, STEPS = REFERENCE.partition(STEP_BY_STEP)
EXAMPLE = next(block for block in re.findall(r"```bash\n(.*?)```", STEPS, re.DOTALL) if "curl" in block)
CLIENTS = {"bash": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"],
           "javascript": ["node", "--input-type=module", "-e"]}  # fmt: skip


@pytest.fixture(scope="module")
def country(server: Served) -> str:
    """What the examples print in the end."""
    found = server.locate((ROOT / "examples" / "photos" / "way-sign.jpg").read_bytes(), within="Europe").json()
    return str(found["answer"]["country"]["conclusion"])


@pytest.mark.parametrize("language", CLIENTS)
def test_the_client_examples_run_as_they_stand(server: Served, language: str, country: str, tmp_path: Path) -> None:
    needed = {"bash": ("bash", "curl", "jq"), "javascript": ("node",)}.get(language, ())
    if missing := [name for name in needed if shutil.which(name) is None]:
        pytest.skip(f"{', '.join(missing)} is not installed")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    script = re.findall(rf"```{language}\n(.*?)```", ONE_CALL, re.DOTALL)[-1]
    assert "/api/locate" in script
    done = subprocess.run(
        [*CLIENTS[language], script.replace("http://127.0.0.1:8711", server.url)],
        cwd=tmp_path, env={**os.environ, "NO_PROXY": "*"}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert country in done.stdout


@pytest.mark.slow
def test_the_commands_run_as_they_stand(server: Served, tmp_path: Path) -> None:
    if missing := [name for name in ("bash", "curl", "jq") if shutil.which(name) is None]:
        pytest.skip(f"{', '.join(missing)} is not installed")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    script = EXAMPLE.replace("http://127.0.0.1:8711", server.url).replace("curl -sS", "curl --fail-with-body -sS")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path, env={**os.environ, "NO_PROXY": "*"}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert "event: answer" in done.stdout
    assert '"verdict"' not in done.stderr
    assert (tmp_path / "place.geojson").read_text().startswith("{")
    assert server.client.get("/api/cases", params={"query": "Sign by the road"}).json()["cases"] == []


def test_every_request_of_the_api_is_in_the_reference(server: Served) -> None:
    """Paths of the document, by their fixed parts."""
    missing = []
    for path in server.client.get("/api/openapi.json").json()["paths"]:
        last = [part for part in path.split("/") if part and "{" not in part][-1]
        if not re.search(rf"[/`]{re.escape(last)}\b", REFERENCE):
            missing.append(path)
    assert missing == []


def test_every_option_of_the_guide_is_the_commands() -> None:
    from typer.testing import CliRunner

    from geosleuth.cli.commands import whole_app

    told = CliRunner().invoke(whole_app(), ["serve", "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"}).output
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", GUIDE))
    assert {option for option in options if option not in told} == set()
