"""The whole offline atlas, asked as an agent asks it: base places, borders, the bundled region, facts and maps."""

import asyncio
import io
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest
from PIL import Image

from geosleuth.atlas import Atlas, OfflineAtlas, regions_dir
from geosleuth.atlas.regions import import_osm
from geosleuth.geo import Box, LatLon
from geosleuth.support.errors import BadInput
from homes import add_region
from in_process import whole_command

MONACO = Path(__file__).resolve().parents[2] / "examples" / "regions" / "monaco.osm.pbf"
_T = TypeVar("_T")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("regions")
    add_region(MONACO, folder)
    return folder


@pytest.fixture
def atlas(atlas_home: Path, folder: Path) -> OfflineAtlas:
    assert atlas_home.is_dir()
    return OfflineAtlas(folder)


def answer(question: Awaitable[_T]) -> _T:
    async def wait() -> _T:
        return await question

    return asyncio.run(wait())


def test_it_meets_the_protocol(atlas: OfflineAtlas) -> None:
    asked: Atlas = atlas
    assert asked is atlas


@pytest.mark.parametrize(
    ("lat", "lon", "country", "start"),
    [
        (48.8584, 2.2945, "FR", "Paris"),
        (41.9022, 12.4539, "VA", "Vatican City"),
        (43.7384, 7.4246, "MC", "Monaco"),
        (-4.325, 15.322, "CD", "Kinshasa"),
        (-4.263, 15.243, "CG", "Brazzaville"),
        (31.76, -106.485, "US", "El Paso, Texas"),
        (31.69, -106.424, "MX", "Ciudad Juárez, Chihuahua"),
        (22.285, 114.158, "HK", ""),
        (54.71, 20.51, "RU", "Kaliningrad"),
    ],
)
def test_reverse(atlas: OfflineAtlas, lat: float, lon: float, country: str, start: str) -> None:
    found = answer(atlas.reverse(LatLon(lat, lon)))
    assert found.country == country
    assert found.address.startswith(start)


def test_a_mountain_is_near_a_town_and_not_in_a_far_city(atlas: OfflineAtlas) -> None:
    address = answer(atlas.reverse(LatLon(35.3606, 138.7274))).address
    assert address.startswith("near ")
    assert address.endswith(("Yamanashi, Japan", "Shizuoka, Japan"))


def test_a_country_may_be_named_in_any_way_but_must_be_one(atlas: OfflineAtlas) -> None:
    for country in ("us", "US", "United States", "États-Unis"):
        assert answer(atlas.geocode("Paris", country=country))[0].place.country == "US"
    for country in ("ZZ", "Atlantis", "\ud800"):
        with pytest.raises(BadInput, match="no country is called"):
            answer(atlas.geocode("Paris", country=country))


def test_streets_of_a_region_and_cities_of_the_world_are_found_together(atlas: OfflineAtlas) -> None:
    assert answer(atlas.geocode("Rue Grimaldi, Monaco"))[0].place.name == "Rue Grimaldi"
    assert answer(atlas.geocode("Paris"))[0].place.id == "geonames:2988507"
    assert answer(atlas.geocode("Rue Grimaldi", country="FR")) != answer(atlas.geocode("Rue Grimaldi", country="MC"))
    assert answer(atlas.geocode("Rue Grimaldi", country="MC"))[0].place.name == "Rue Grimaldi"


@pytest.mark.parametrize(
    ("words", "kind"),
    [("Nice, France", "city"), ("Menton, France", "city"), ("France", "country"), ("Alpes-Maritimes", "county")],
)
def test_what_a_region_holds_a_bit_of_is_known_from_the_world(atlas: OfflineAtlas, words: str, kind: str) -> None:
    assert answer(atlas.geocode(words))[0].place.kind == kind


@pytest.mark.parametrize("street", ["Avenue Princesse Grace", "Rue Suffren Reymond", "rue suffren reymond, Monaco"])
def test_of_namesakes_the_one_in_the_street_that_is_named_comes_first(atlas: OfflineAtlas, street: str) -> None:
    plain = answer(atlas.geocode("Ferrari"))
    first, *others = answer(atlas.geocode(f"Ferrari, {street}"))
    wanted, _, _ = street.lower().partition(",")
    assert wanted in (first.place.address or "").lower()
    assert {hit.place.id for hit in (first, *others)} <= {hit.place.id for hit in plain if hit.match == "exact"}
    assert others
    assert all(first.score > hit.score and wanted in str(hit.missing).lower() for hit in others)


def test_only_what_lies_in_the_country_or_town_after_a_name_is_found(atlas: OfflineAtlas) -> None:
    def platforms(text: str) -> set[float]:
        found = answer(atlas.geocode(text))
        return {hit.score for hit in found if hit.place.kind == "public_transport=platform"}

    assert platforms("Saint-Roman, Monaco") == platforms("Saint-Roman, Roquebrune-Cap-Martin")
    assert platforms("Saint-Roman")
    assert not platforms("Saint-Roman, France")
    assert not platforms("Saint-Roman, Paris")
    for nothing in (",  ,", ",\n", ",\u00a0", ",\t,"):
        assert platforms(f"Saint-Roman{nothing}") == platforms("Saint-Roman")


@pytest.mark.parametrize(
    ("query", "name", "level", "missing"),
    [
        ("19 Rue Grimaldi, 98000 Monaco", "Rue Grimaldi", "street", ("19",)),
        ("Rue Grimaldi, 98000 Monaco", "Rue Grimaldi", "street", ()),
        ("Monaco, Rue Grimaldi", "Rue Grimaldi", "street", ()),
        ("Rue Grimaldi Monaco", "Rue Grimaldi", "street", ()),
        ("Rue Grimaldi in Monaco", "Rue Grimaldi", "street", ()),
        ("Ferrari, rue suffren reymond, Monaco", "Ferrari", "feature", ()),
        ("Rue Qui N'Existe Pas, Monaco", "Monaco", "country", ("Rue Qui N'Existe Pas",)),
        ("Rue Grimaldi, Paris", "Paris", "town", ("Rue Grimaldi",)),
        ("Rue Grimaldi, Lyon, France", "Lyon", "town", ("Rue Grimaldi",)),
        ("Sunset Boulevard, Los Angeles", "Los Angeles", "town", ("Sunset Boulevard",)),
        ("Los Angeles Sunset Boulevard", "Los Angeles", "town", ("Sunset Boulevard",)),
        ("Schöneberger Straße, 22149 Hamburg", "Hamburg", "town", ("Schöneberger Straße",)),
        ("Bawang, Banjarnegara, Central Java", "Banjarnegara", "town", ("Bawang",)),
        ("Glacier Bay, Alaska", "Glacier Bay National Park", "feature", ()),
        ("Paris, Alaska", "Alaska", "region", ("Paris",)),
        ("Callitris, Australia", "Australia", "country", ("Callitris",)),
        ("广东省珠海市桂山岛", "Zhuhai", "town", ("桂山岛",)),
        ("Tellervo (Diana), Kaartinkaupunki", "Kaartinkaupunki", "town", ("Tellervo", "Diana")),
    ],
)
def test_the_finest_part_that_is_known_is_found_and_the_rest_is_told(
    atlas: OfflineAtlas, query: str, name: str, level: str, missing: tuple[str, ...]
) -> None:
    first = answer(atlas.geocode(query))[0]
    assert (first.place.name, first.level, first.missing) == (name, level, missing)
    assert (first.match == "part") == bool(missing)


@pytest.mark.parametrize(
    ("query", "address"),
    [
        ("35 bd de Belgique, Monaco", "35 Boulevard de Belgique"),
        ("35 Boulevard de Belgique 98000 Monaco", "35 Boulevard de Belgique"),
        ("10 av Princesse Grace Monaco", "10 Avenue Princesse Grace"),
        ("10 Avenue Princesse Grace 98000 Monaco", "10 Avenue Princesse Grace"),
        ("Bd. des Moulins, Monaco", "Boulevard des Moulins"),
        ("Av. de la Costa, Monaco", "Avenue de la Costa"),
    ],
)
def test_streets_in_short_and_postcodes_without_a_comma(atlas: OfflineAtlas, query: str, address: str) -> None:
    best = asyncio.run(atlas.geocode(query))[0]
    assert (best.place.address or best.place.name).startswith(address)
    assert not best.missing


@pytest.mark.parametrize(
    "query",
    ["Lake Woxamunga", "桂山岛", "Zimberwald National Park", "Callitris", "Texas Chicken", "Callitris New South Wales"],
)
def test_nothing_is_found_rather_than_another_name(atlas: OfflineAtlas, query: str) -> None:
    assert answer(atlas.geocode(query)) == []


def test_an_atlas_whose_regions_stay_gives_its_answers_again(
    atlas: OfflineAtlas, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways: list[dict[str, Any]] = [{}, {"country": "MC"}, {"within": Box(43.7, 7.4, 43.8, 7.5)}]
    wanted = [answer(atlas.geocode("Rue Grimaldi", **where)) for where in ways]
    looked: list[str] = []
    own = OfflineAtlas._geocode

    def counting(self: OfflineAtlas, text: str, *given: Any) -> Any:
        looked.append(text)
        return own(self, text, *given)

    monkeypatch.setattr(OfflineAtlas, "_geocode", counting)
    settled = OfflineAtlas(folder, remembered=8)
    for where, hits in zip(ways, wanted, strict=True):
        first = answer(settled.geocode("Rue Grimaldi", **where))
        assert first == hits
        first.clear()  # what is remembered is not the caller's list
        assert answer(settled.geocode("Rue Grimaldi", **where)) == hits
    # Inside an area it looks every time.
    assert len(looked) == 1 + 1 + 2


def test_questions_one_after_the_other_are_answered_by_one_thread_and_a_slow_one_holds_up_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    atlas = OfflineAtlas(folder)
    released = threading.Event()
    monkeypatch.setattr(
        atlas, "_poi", lambda place_id: (place_id == "slow" and released.wait(60), threading.get_ident())[1]
    )

    async def ask() -> None:
        (thread,) = {await atlas.poi("quick") for _ in range(20)}
        slow = asyncio.create_task(atlas.poi("slow"))
        await asyncio.sleep(0)
        other = await asyncio.wait_for(atlas.poi("quick"), 30)
        assert other != thread
        released.set()
        assert await slow == thread
        given_up = asyncio.create_task(atlas.poi("quick"))
        await asyncio.sleep(0)
        given_up.cancel()
        with suppress(asyncio.CancelledError):
            await given_up
        while (found := await atlas.poi("quick")) != thread:  # the one that was given up may still run
            assert found == other

    answer(asyncio.wait_for(ask(), 60))


def test_a_misread_sign_finds_its_shop_with_the_world_in_play(atlas: OfflineAtlas) -> None:
    first = answer(atlas.search_pois("BOULANGERlE C0STA"))[0]
    assert (first.place.name, first.place.kind, first.match) == ("Boulangerie Costa", "shop=bakery", "fuzzy")
    assert first.place.source.startswith("OpenStreetMap")


def test_a_place_can_be_asked_for_by_the_id_of_an_answer(atlas: OfflineAtlas) -> None:
    for query in ("Boulangerie Costa", "Paris", "Nice Côte d'Azur International Airport"):
        hit = answer(atlas.search_pois(query))[0]
        place = answer(atlas.poi(hit.place.id))
        assert place is not None
        assert place.name == hit.place.name
    assert answer(atlas.poi("osm:atlantis:n1")) is None
    assert answer(atlas.poi("nonsense")) is None


def test_crossing_nearby_suggest_and_colocated(atlas: OfflineAtlas) -> None:
    corner = answer(atlas.crossing("Rue Grimaldi", "Rue Suffren Reymond"))[0].place
    assert corner.kind == "crossing"
    around = answer(atlas.nearby(corner.point, 150))
    assert around
    assert all(hit.distance_km is not None and hit.distance_km <= 0.15 for hit in around)
    assert any(hit.place.id.startswith("osm:") for hit in answer(atlas.suggest("Boulev")))
    assert any(hit.place.id.startswith("geonames:") for hit in answer(atlas.suggest("Boulev")))
    group = answer(atlas.colocated(["Carrefour", "pharmacy"], 200))[0]
    assert group.spread_m <= 200
    assert len(group.places) == 2


def test_a_map_is_a_picture_with_its_credits(atlas: OfflineAtlas) -> None:
    picture = answer(atlas.map(LatLon(43.7384, 7.4246), zoom=16, size=(320, 240)))
    image = Image.open(io.BytesIO(picture.png))
    assert image.size == (320, 240)
    assert len(set(image.convert("RGB").resize((64, 48)).tobytes())) > 20
    assert "OpenStreetMap" in picture.attribution
    assert isinstance(picture.extent, Box)
    assert picture.extent.contains(LatLon(43.7384, 7.4246))


def test_satellite_pictures_need_tiles_and_say_so(atlas: OfflineAtlas) -> None:
    with pytest.raises(BadInput, match="--tiles"):
        answer(atlas.satellite(LatLon(0, 0)))


@pytest.mark.parametrize("text", ["", " ", '"*" OR NEAR(', "'; DROP TABLE place; --", "x" * 10_000_000, "\x00\x1b[2J"])
def test_hostile_queries_find_nothing_much_and_break_nothing(atlas: OfflineAtlas, text: str) -> None:
    for question in (atlas.geocode, atlas.search_pois, atlas.suggest, atlas.search_documents):
        assert isinstance(answer(question(text)), list)
    assert isinstance(answer(atlas.crossing(text, text)), list)


def test_nothing_opens_a_socket(atlas: OfflineAtlas, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.new_event_loop()

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    questions: list[Callable[[], Awaitable[Any]]] = [
        lambda: atlas.geocode("Paris"),
        lambda: atlas.reverse(LatLon(1, 1)),
        lambda: atlas.search_pois("Costa"),
        lambda: atlas.map(LatLon(43.7, 7.4), size=(64, 64)),
        lambda: atlas.search_documents("France"),
    ]
    for question in questions:
        loop.run_until_complete(question())
    loop.close()


def test_the_life_of_a_region_from_the_command_line(atlas_home: Path, tmp_path: Path) -> None:
    assert "no region was added yet" in whole_command("atlas", "list").stdout
    added = whole_command("atlas", "add", str(MONACO), "--json")
    assert added.returncode == 0
    assert json.loads(added.stdout)["features"] > 3000
    assert regions_dir().is_relative_to(atlas_home)
    assert [item["name"] for item in json.loads(whole_command("atlas", "list", "--json").stdout)] == ["monaco"]
    # A name in other letters must be much alike once it is transliterated; where nothing is, what is missing is said.
    sea = whole_command("atlas", "search", "Чёрное море")
    assert sea.stdout == "nothing found\n"
    assert "no gazetteer is installed, so countries and settlements are known, but no seas" in sea.stderr
    assert "geosleuth atlas get norway --geonames" in sea.stderr
    assert "geosleuth atlas add ne_10m_geography_marine_polys.geojson" in sea.stderr
    assert "Monaco" in whole_command("atlas", "search", "Монако").stdout
    lake = whole_command("atlas", "geocode", "Lake Woxamunga")
    assert (lake.stdout, "but no seas, lakes" in lake.stderr) == ("nothing found\n", True)
    # A name that is not shown otherwise is shown as what was found.
    assert "also called san francisco de quito" in whole_command("atlas", "suggest", "San Fr").stdout
    # Names that are hardly alike are no answer that would make the advice needless.
    assert "but no seas" in whole_command("atlas", "search", "Schwarzes Meer").stderr
    assert whole_command("atlas", "search", "BOULANGERlE C0STA").stderr == ""
    lake = whole_command("atlas", "nearby", "43.7384,7.4246", "--category", "lake")
    assert lake.stdout == "nothing found\n"
    assert lake.stderr.startswith("0 places within 250 m of the point; --radius changes that\n")
    # Of a street that comes by, the distance is to its nearest part, and the point is its middle.
    apart = '"away" is the distance to a place\'s nearest part, "where" its middle; the middle of a street may be far\n'
    assert apart in whole_command("atlas", "nearby", "43.7330,7.4188").stderr
    assert apart not in lake.stderr
    # The country that the point lies in is the one to fetch.
    assert "geosleuth atlas get monaco --geonames" in lake.stderr
    # What no map has as a category is told as such; no download would bring it.
    unknown = whole_command("atlas", "nearby", "43.7384,7.4246", "--category", "nosuchthing").stderr
    assert "no added map has the category 'nosuchthing'; write one such as cafe, pharmacy" in unknown
    assert "geosleuth atlas get" not in unknown
    # Nor does a gazetteer have shops.
    none_near = whole_command("atlas", "nearby", "43.7384,7.4246", "--radius", "1", "--category", "bakery").stderr
    assert none_near == "0 places within 1 m of the point; --radius changes that\n"
    hits = json.loads(whole_command("atlas", "search", "Boulangerie Costa", "--json").stdout)
    assert hits[0]["match"] == "exact"
    out = tmp_path / "map.png"
    drawn = whole_command("atlas", "map", "43.7384,7.4246", "--out", str(out), "--marker", "43.7384,7.4246", "--json")
    assert "OpenStreetMap" in json.loads(drawn.stdout)["attribution"]
    with Image.open(out) as image:
        assert image.size == (640, 640)
    assert whole_command("atlas", "remove", "monaco").returncode == 0
    assert json.loads(whole_command("atlas", "list", "--json").stdout) == []


def test_the_list_fits_a_narrow_terminal(atlas_home: Path) -> None:
    assert atlas_home.is_dir()
    added = whole_command("atlas", "add", str(MONACO), COLUMNS="80")
    listed = whole_command("atlas", "list", COLUMNS="80")
    assert added.stdout == listed.stdout
    heads, _, row, credit = filter(None, map(str.strip, listed.stdout.splitlines()))
    assert heads.split() == ["region", "features", "MB", "data", "of", "from"]
    assert row.split()[0] == "monaco"
    assert credit == "credit: © OpenStreetMap contributors"
    assert max(map(len, listed.stdout.splitlines())) <= 80
    assert "addresses" in whole_command("atlas", "list", COLUMNS="120").stdout


def test_damaged_regions_are_listed_once_with_what_mends_them(atlas_home: Path) -> None:
    assert atlas_home.is_dir()
    folder = regions_dir()
    fetched = {"origin": "https://example.org/europe/monaco-latest.osm.pbf"}
    import_osm(MONACO, "cut", folder=folder)
    import_osm(MONACO, "mine", folder=folder, origin=fetched)
    with (folder / "cut.region.sqlite").open("r+b") as file:
        file.truncate(5000)
    with (folder / "mine.region.sqlite").open("ab") as file:
        file.write(b"more")
    (folder / "dd.region.sqlite").mkdir()
    done = whole_command("atlas", "list", COLUMNS="200")
    assert (done.returncode, done.stderr) == (0, "")
    assert "no region was added yet" not in done.stdout
    cut, dd, mine = done.stdout.splitlines()
    assert cut.startswith("cut is damaged: the file is incomplete. Repair it with: geosleuth atlas add EXTRACT --name")
    assert dd.startswith("dd is damaged: it is a folder, not a file. Repair it with: mv ")
    assert mine.endswith("Repair it with: geosleuth atlas get monaco --name mine")
    listed = json.loads(whole_command("atlas", "list", "--json").stdout)
    assert [one["name"] for one in listed] == ["cut", "dd", "mine"]
    assert listed[2]["repair"] == "geosleuth atlas get monaco --name mine"
    words = [sys.executable, "-m", "geosleuth", "atlas", "geocode", "Rue Grimaldi, Monaco"]
    asked = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    assert asked.stderr.count("'cut' is damaged") == 1, asked.stderr


def test_an_area_may_be_a_country_or_a_region(atlas_home: Path) -> None:
    """The map of Monaco reaches into France, and the box around Japan into Korea."""
    assert whole_command("atlas", "add", str(MONACO)).returncode == 0
    assert regions_dir().is_relative_to(atlas_home)

    def found(*words: str) -> list[Any]:
        found: list[Any] = json.loads(whole_command("atlas", *words, "--json").stdout)
        return found

    assert found("geocode", "Monaco", "--within", "Japan") == []
    assert found("geocode", "Busan", "--within", "Japan") == []
    assert found("geocode", "Fukuoka", "--within", "日本")[0]["country"] == "JP"
    assert found("geocode", "Nice", "--within", "Provence-Alpes-Côte d'Azur")[0]["name"] == "Nice"
    assert found("search", "Rue Grimaldi", "--within", "Monaco")[0]["match"] == "exact"
    for elsewhere in ("France", "Provence-Alpes-Côte d'Azur"):
        assert "Rue Grimaldi" not in {one["name"] for one in found("search", "Rue Grimaldi", "--within", elsewhere)}
        assert found("search", "Avenue Marquet", "--within", elsewhere)[0]["match"] == "exact"


@pytest.mark.parametrize(
    "words",
    [
        ["geocode", "Springfield, Illinois"],
        ["reverse", "-33.8568,151.2153"],
        ["reverse", "33.8568 S, 151.2153 E"],
        ["suggest", "San Fr"],
        ["search", "Monte Carlo", "--near", "43.7,7.4", "--within", "43,7,44,8"],
        ["poi", "geonames:2988507"],
        ["nearby", "43.7384,7.4246"],
        ["crossing", "a", "b"],
        ["colocated", "cafe", "pharmacy"],
        ["documents", "oil exports"],
        ["country", "日本"],
        ["brand", "Monoprix"],
        ["phone", "+33 1 42 68 53 00"],
        ["info"],
    ],
)
def test_every_question_answers_people_and_machines(atlas_home: Path, words: list[str]) -> None:
    assert atlas_home.is_dir()
    for_machines = whole_command("atlas", *words, "--json")
    assert for_machines.returncode == 0, for_machines.stderr
    json.loads(for_machines.stdout)
    for_people = whole_command("atlas", *words)
    assert for_people.returncode == 0
    assert for_people.stdout.strip()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["reverse", "95,0"], "is outside the globe; latitude lies between -90 and 90"),
        (["reverse", "here"], "is no point"),
        (["geocode", "Paris", "--country", "Atlantis"], "no country is called"),
        (["geocode", "Paris", "--within", "1,2"], "is no area"),
        (["poi", "geonames:0"], "no place has the id"),
        (["country", "Atlantis"], "no country is called"),
        (["add", "/nonexistent.osm.pbf"], "nonexistent"),
        (["add", __file__], ""),
        (["remove", "atlantis"], "atlantis"),
        (["map", "1,1", "--out", "map.jpg"], ".png"),
        (["map", "1,1", "--out", "/nonexistent/map.png"], "does not exist"),
        (["geocode", "Paris", "--within", "Atlantis"], "write a country, a region, S,W,N,E or LAT,LON,KM"),
        (["colocated", "a", "b", "--bearings", "1,2,3"], "one direction fewer than there are features"),
        (["colocated", "a", "b", "--bearings", "90,x"], "for 2 features such as 90\n"),
        (["colocated", "a", "b", "c", "--bearings", "90"], "for 3 features such as 90,x\n"),
        (["colocated", "a", "b", "--bearings", "400"], "-360 to 360 degrees"),
        (["colocated", "a", "b", "--bearings", "nan"], "-360 to 360 degrees"),
        (["geocode", ""], "name a place"),
        (["search", " "], "name a place or shop to search for"),
        (["suggest", ""], "name the first letters, such as San Fr"),
        (["documents", ""], "name what to look for"),
        (["brand", ""], "name a brand"),
        (["phone", ""], "name a phone number"),
        (["crossing", "", ""], "name two streets"),
        (["facts", "46,8", "--date", ""], "name a date, such as 2026-06-21"),
        (["nearby", "46,8", "--category", ""], "name a category, such as cafe"),
        (["search", "Paris", "--category", ""], "name a category, such as cafe"),
        (["geocode", "Paris", "--via", "nominatim"], "nominatim.openstreetmap.org"),
        (["geocode", "Paris", "--via", "atlantis"], "no online service"),
        (["satellite", "1,1", "--out", "x.png"], "--tiles"),
    ],
)
def test_what_can_be_mended_is_one_line_and_exit_code_two(atlas_home: Path, words: list[str], line: str) -> None:
    assert atlas_home.is_dir()
    done = whole_command("atlas", *words)
    assert done.returncode == 2
    assert line in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
