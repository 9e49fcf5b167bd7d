"""A model that asks for a map: the person is told the command, and nothing else happens."""

import pytest

from geosleuth.agent.methods import method
from geosleuth.tools import Case
from geosleuth.tools.map_request import request_map
from tool_cases import call, case_of

pytestmark = pytest.mark.usefixtures("atlas_home")


@pytest.fixture
def bare() -> Case:
    return case_of()


@pytest.mark.parametrize(
    ("place", "command"),
    [
        ("Indonesia", "geosleuth atlas get Indonesia"),
        ("Ubud, Bali", "geosleuth atlas get 'Ubud, Bali, Indonesia'"),
        ("東京", "geosleuth atlas get 'Tokyo, Japan'"),
    ],
)
def test_the_person_is_told_the_command(bare: Case, place: str, command: str) -> None:
    seen = call(request_map, bare, {"place": place})
    assert seen.data["command"] == command
    assert command in seen.text
    assert request_map.viewer.result_words(seen.data) == f"to fetch it: {command}"


@pytest.mark.parametrize("place", ["; rm -rf ~", "$(reboot)", "Xqzvkkw", ""])
def test_what_is_no_place_never_becomes_a_command(bare: Case, place: str) -> None:
    seen = call(request_map, bare, {"place": place})
    assert seen.failure in ("refused", "bad_arguments")
    assert "atlas get" not in seen.text


def test_it_is_not_among_the_tools_of_the_default_method() -> None:
    assert "request_map" not in method("default").tools
