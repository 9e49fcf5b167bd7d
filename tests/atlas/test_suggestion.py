"""Which command is suggested for a map that is missing."""

import pytest

from geosleuth.answer import Address, Answer, Level
from geosleuth.atlas import regions_dir
from geosleuth.atlas.regions import import_osm
from geosleuth.atlas.suggestion import get_command, missing_map, remember_size, suggest_map
from geosleuth.geo import LatLon, distance_km

pytestmark = pytest.mark.usefixtures("atlas_home")
MONACO = Answer(LatLon(43.7384, 7.4246), Address(Level("Monaco")), radius_km=2.0)


def test_names_are_written_so_that_a_shell_takes_them_whole() -> None:
    assert get_command("andorra") == "geosleuth atlas get andorra"
    assert get_command("Paris; reboot") == "geosleuth atlas get 'Paris; reboot'"
    assert get_command("--mirror=x y") == "geosleuth atlas get 'mirror=x y'"
    assert get_command(None) == "geosleuth atlas get PLACE"
    assert suggest_map("CI", None, None).command.startswith("geosleuth atlas get 'Ivory Coast' (")


def test_a_size_that_was_asked_before_stands_beside_it_with_the_time() -> None:
    remember_size({"ID", "TL"}, 1_640_000_000)
    remember_size({"Nice, Provence-Alpes-Côte d'Azur, France"}, 300_000_000)
    assert suggest_map("ID", None, None).command == (
        "geosleuth atlas get Indonesia (1.6 GB, and about 27 minutes to import)"
    )
    assert suggest_map("MY", None, None).command == (
        "geosleuth atlas get Malaysia (its size and time are named before it is downloaded)"
    )
    assert "(300 MB, and about 5 minutes to import)" in suggest_map("FR", LatLon(43.703, 7.266), 5.0).command


def test_a_town_s_map_is_suggested_where_the_answer_is_that_precise() -> None:
    from geosleuth.atlas.map_place import map_place

    for code, point in (("FR", LatLon(43.6, 3.88)), ("JP", LatLon(35.02, 135.76)), ("US", LatLon(39.8, -89.64))):
        wanted = suggest_map(code, point, 10.0)
        assert distance_km(map_place(wanted.place).point, point) < 20
        assert suggest_map(code, point, 300.0).place != wanted.place
        assert suggest_map(code, None, None).place == suggest_map(code, point, 300.0).place
    assert suggest_map("FR", LatLon(43.6, 3.88), 10.0).place.startswith("Montpellier, ")
    wild = suggest_map("RU", LatLon(72.0, 110.0), 10.0)
    assert wild.place == "Russia", "no town for 60 km"


def test_an_answer_on_no_map_says_which_map_would_help() -> None:
    assert missing_map(MONACO) == (
        "What would help: a map of Monaco, which this machine lacks. Fetch it with: geosleuth atlas get Monaco "
        "(its size and time are named before it is downloaded)"
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
