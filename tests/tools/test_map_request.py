"""A model that asks for a map: the person is told the command, and nothing else happens."""

from pathlib import Path

import pytest

from geosleuth.agent.methods import method
from geosleuth.atlas import regions_dir
from geosleuth.atlas.regions import import_osm
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
        ("42.5,1.5", "geosleuth atlas get 42.5000,1.5000"),
        ("(-33.9, 18.42)", "geosleuth atlas get -33.9000,18.4200"),
    ],
)
def test_the_person_is_told_the_command(bare: Case, place: str, command: str) -> None:
    seen = call(request_map, bare, {"place": place})
    assert seen.data["command"] == command
    assert command in seen.text
    assert request_map.viewer.result_words(seen.data) == f"to fetch it: {command}"


@pytest.mark.parametrize("place", ["; rm -rf ~", "$(reboot)", "Xqzvkkw", "", "0,-150", "95,200"])
def test_what_is_no_place_never_becomes_a_command(bare: Case, place: str) -> None:
    seen = call(request_map, bare, {"place": place})
    assert seen.failure in ("refused", "bad_arguments")
    assert "atlas get" not in seen.text


def test_a_shop_of_an_installed_map_is_no_place(tmp_path: Path) -> None:
    own = tmp_path / "own.osm"
    nodes = "".join(
        f'<node id="{number}" version="1" lat="{lat}" lon="{lon}"><tag k="shop" v="kiosk"/><tag k="name" v="B"/></node>'
        for number, (lat, lon) in enumerate(((43.7, 7.3), (43.8, 7.5)), start=1)
    )
    own.write_text(f'<?xml version="1.0"?><osm version="0.6">{nodes}</osm>')
    import_osm(own, folder=regions_dir())
    seen = call(request_map, case_of(), {"place": "B"})
    assert seen.failure == "refused"
    assert "no country, region or city is called 'B'" in seen.text
    assert "is installed" in call(request_map, case_of(), {"place": "Monaco"}).text


def test_it_is_not_among_the_tools_of_the_default_method() -> None:
    assert "request_map" not in method("default").tools
