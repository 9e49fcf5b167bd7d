"""Which command is suggested for a map that is missing."""

import pytest

from geosleuth.answer import Address, Answer, Level
from geosleuth.atlas import regions_dir
from geosleuth.atlas.regions import import_osm
from geosleuth.atlas.suggestion import get_command, get_country, missing_map, remember_size
from geosleuth.geo import LatLon

pytestmark = pytest.mark.usefixtures("atlas_home")
MONACO = Answer(LatLon(43.7384, 7.4246), Address(Level("Monaco")), radius_km=2.0)


def test_names_are_written_so_that_a_shell_takes_them_whole() -> None:
    assert get_command("andorra") == "geosleuth atlas get andorra"
    assert get_command("Paris; reboot") == "geosleuth atlas get 'Paris; reboot'"
    assert get_command("--mirror=x y") == "geosleuth atlas get 'mirror=x y'"
    assert get_command(None) == "geosleuth atlas get PLACE"
    assert get_country("CI") == "geosleuth atlas get 'ivory coast'"


def test_a_size_that_was_asked_before_stands_beside_it() -> None:
    remember_size({"ID", "TL"}, 1_640_000_000)
    assert get_country("ID") == "geosleuth atlas get indonesia (1.6 GB)"
    assert get_country("MY") == "geosleuth atlas get malaysia"


def test_an_answer_on_no_map_says_which_map_would_help() -> None:
    assert missing_map(MONACO) == (
        "What would help: a map of Monaco, which this machine lacks. Fetch it with: geosleuth atlas get monaco"
    )


@pytest.mark.parametrize(
    "answer",
    [
        Answer(),
        Answer(MONACO.point, radius_km=2.0),
        Answer(MONACO.point, Address(Level("Atlantis")), radius_km=2.0),
        Answer(None, MONACO.address),
        Answer(MONACO.point, MONACO.address, radius_km=0.3),
    ],
)
def test_where_a_map_would_not_help_none_is_suggested(answer: Answer) -> None:
    assert missing_map(answer) == ""


def test_an_answer_on_an_added_map_needs_no_other(request: pytest.FixtureRequest) -> None:
    regions_dir().mkdir(parents=True)
    import_osm(request.config.rootpath / "examples" / "regions" / "monaco.osm.pbf", folder=regions_dir())
    assert missing_map(MONACO) == ""
