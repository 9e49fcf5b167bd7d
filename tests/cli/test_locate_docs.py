"""The guides to models and first photos, and the help of ``geosleuth locate``, have the models, keys and options."""

import re
from pathlib import Path

import pytest

from geosleuth.cli.locate import COMMON_OPTIONS
from geosleuth.models import PREFIXES
from geosleuth.models.registry import SERVICES
from locating import locate_here

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "tutorials" / "local-model.md").read_text(encoding="utf-8")
COMMAND = (ROOT / "docs" / "tutorials" / "first-photo.md").read_text(encoding="utf-8")
ROWS = {match[1]: match[0] for match in re.finditer(r"^\| `(\w+):.*$", GUIDE, re.MULTILINE)}


@pytest.fixture(scope="module")
def told() -> str:
    done = locate_here("--help-all")
    assert (done.code, done.err) == (0, "")
    return done.out


def test_every_kind_of_model_is_in_the_table() -> None:
    assert set(ROWS) == {*PREFIXES, "replay"}


@pytest.mark.parametrize("prefix", SERVICES)
def test_keys_and_places_are_those_that_are_used(prefix: str) -> None:
    service, row = SERVICES[prefix], ROWS[prefix]
    for variable in (*service.key_variables, service.base_url_variable):
        assert variable is None or f"`{variable}`" in row
    if service.base_url:
        assert service.base_url.split("/")[2] in row


def test_the_guides_flags_are_the_commands(told: str) -> None:
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", GUIDE))
    known = set(re.findall(r"--[a-z][a-z-]+", told))
    assert named <= known
    scripts = re.compile(r"python (?:benchmarks|scripts)/[^`\n]*")
    told_of = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", scripts.sub("", COMMAND)))
    assert told_of <= known
    for option in (
        "--within",
        "--hint",
        "--taken",
        "--granularity",
        "--check",
        "--same-place",
        "--out",
        "--write-exif",
    ):
        assert option in told_of
    for budget in ("--turns", "--calls", "--tokens", "--reply-tokens", "--seconds", "--usd"):
        assert budget in named


def test_help_has_examples(told: str) -> None:
    assert "geosleuth locate photo.jpg --model openai:gpt-5" in told
    assert "Traceback" not in told


def test_help_shows_what_most_people_need_and_the_way_to_the_rest(told: str) -> None:
    most = set(re.findall(r"--[a-z][a-z-]+", locate_here("--help").out.partition("Arguments")[2]))
    every = set(re.findall(r"--[a-z][a-z-]+", told.partition("Arguments")[2]))
    named = {f"--{name.replace('_', '-')}" for name in COMMON_OPTIONS} - {"--as-json"} | {"--json"}
    assert len(named) == 12
    assert most - {"--help", "--help-all", "--base-url"} == named  # the help of --model names --base-url
    assert most < every
    assert len(every) > 45
    assert "--turns" in locate_here("--help-all").out, "and again"
    assert "--turns" not in locate_here("--help").out
