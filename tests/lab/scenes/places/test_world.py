"""Towns, streets and businesses of a world."""

import unicodedata
from collections import Counter
from dataclasses import replace

import phonenumbers
import pytest

from geosleuth.atlas.borders import Borders
from geosleuth.geo import distance_km
from geosleuth.lab.scenes import Business, World, WorldTown, open_world
from geosleuth.lab.scenes.businesses import CHAIN_SHARE, HOMONYM_SHARE
from geosleuth.lab.scenes.locales import KINDS, LANGUAGES
from geosleuth.lab.scenes.locales.names import areas
from geosleuth.lab.scenes.towns import HELD_OUT_SHARE, compute_cell_name, split_of_cell
from geosleuth.names import fold

SCRIPTS = {
    "LATIN", "CYRILLIC", "GREEK", "ARABIC", "HEBREW", "DEVANAGARI", "BENGALI", "TAMIL", "TELUGU", "KANNADA",
    "MALAYALAM", "GUJARATI", "GURMUKHI", "SINHALA", "THAI", "MYANMAR", "GEORGIAN", "ARMENIAN", "ETHIOPIC", "HANGUL",
    "CJK", "KATAKANA",
}  # fmt: skip


def some_towns(world: World, every: int = 9) -> list[WorldTown]:
    return list(world.towns[::every])


def businesses(world: World, every: int = 9) -> list[tuple[WorldTown, Business]]:
    return [(town, one) for town in some_towns(world, every) for one in world.businesses(town)]


def test_there_are_towns_enough_in_countries_and_scripts_enough(world: World) -> None:
    assert 800 <= len(world.towns) <= 2000
    assert len({town.country for town in world.towns}) >= 60
    assert len({town.id for town in world.towns}) == len(world.towns)
    letters = "".join(word for town in world.towns for _, word in town.language.trade_words)
    written = {unicodedata.name(letter, "").split(" ")[0].split("-")[0] for letter in set(letters) if letter.isalpha()}
    assert written >= SCRIPTS


def test_a_quarter_of_the_squares_is_held_out_in_every_world(world: World) -> None:
    held = [town for town in world.towns if town.split == "held-out"]
    assert abs(len(held) / len(world.towns) - HELD_OUT_SHARE) < 0.05
    assert all(
        town.split == split_of_cell(town.cell) and town.cell == compute_cell_name(town.point) for town in world.towns
    )
    splits = {town.cell: town.split for town in world.towns}
    other = open_world(2)
    assert {town.id for town in other.towns} != {town.id for town in world.towns}
    assert all(splits.get(town.cell, town.split) == town.split for town in other.towns)


def test_a_town_does_not_depend_on_which_others_were_looked_at(world: World) -> None:
    last = world.towns[-1]
    fresh = replace(world, seed=77)
    alone = fresh.businesses(last)
    for town in world.towns[:20]:
        fresh.businesses(town)
    from geosleuth.lab.scenes import world as module

    module._businesses.cache_clear()
    module._plan.cache_clear()
    assert fresh.businesses(last) == alone


def test_businesses_stand_beside_their_street_and_numbers_rise_along_it(world: World) -> None:
    for town in some_towns(world, 60):
        streets = {street.name: street for street in world.streets(town)}
        assert len(streets) == len(world.streets(town))
        found = world.businesses(town)
        assert 12 <= len(found) <= 60
        assert len({(one.street, one.house_number) for one in found}) == len(found)
        assert all(distance_km(town.point, one.point) < 1.5 for one in found)
        for name, street in streets.items():
            doors = sorted((int(one.house_number or 0), one) for one in found if one.street == name)
            start = street.line[0]
            for side in (0, 1):
                along = [distance_km(start, one.point) for number, one in doors if number % 2 == side]
                assert along == sorted(along)


def test_every_door_is_in_the_country_of_its_town(world: World) -> None:
    found = businesses(world, 8)
    seen = Borders.load().countries([one.point.lat for _, one in found], [one.point.lon for _, one in found])
    assert [town.name for (town, _), country in zip(found, seen, strict=True) if town.country != country] == []


def test_a_street_leads_where_its_numbers_do(world: World) -> None:
    street = world.streets(world.towns[0])[0]
    first, last = street.line[0], street.line[-1]
    heading = street.heading_deg(street.line[1])
    north = last.lat > first.lat
    assert (heading < 90 or heading > 270) == north


def test_telephone_numbers_are_possible_and_of_town_or_region(world: World) -> None:
    known = valid = count = 0
    for town, one in businesses(world, 30):
        assert one.phone is not None
        number = phonenumbers.parse(one.phone, None)
        assert phonenumbers.is_possible_number(number), one
        assert town.country in phonenumbers.region_codes_for_country_code(number.country_code or 0)
        begins = (
            (town.area if town.land.digits else None)
            or areas().get(str(town.geonames))
            or areas().get(town.region_code)
        )
        count += 1
        valid += phonenumbers.is_valid_number_for_region(number, town.country)
        known += begins is not None and phonenumbers.national_significant_number(number).startswith(begins)
    assert valid > 0.97 * count
    assert known > 0.75 * count


@pytest.mark.slow
def test_names_that_repeat_say_so_and_all_others_stand_once(world: World) -> None:
    everything = businesses(world, 1)
    assert 15_000 <= len(everything) <= 40_000
    counts = Counter(fold(one.name) for _, one in everything)
    repeated = Counter(fold(one.name) for _, one in everything if one.chain or one.homonym)
    alone = {name for name, count in counts.items() if count == 1}
    assert not {name for name in repeated if name in alone}
    unsaid = [name for name, count in counts.items() if count > 1 and name not in repeated]
    assert len(unsaid) < 0.002 * len(counts), unsaid[:20]
    chains, homonyms = (sum(getattr(one, key) for _, one in everything) for key in ("chain", "homonym"))
    assert abs(chains / len(everything) - CHAIN_SHARE) < 0.02
    assert abs(homonyms / len(everything) - HOMONYM_SHARE) < 0.02
    abroad = {
        name: {town.country for town, one in everything if fold(one.name) == name} for name in ("velora", "nordlo")
    }
    assert all(len(countries) > 20 for countries in abroad.values())


def test_a_world_without_noise_has_the_same_doors_under_names_of_their_own(world: World) -> None:
    quiet = replace(world, noise="none")
    town = world.towns[3]
    noisy, plain = world.businesses(town), quiet.businesses(town)
    assert [(one.id, one.point, one.street, one.phone) for one in noisy] == [
        (one.id, one.point, one.street, one.phone) for one in plain
    ]
    assert any(one.chain for one in noisy)
    assert any(one.homonym for one in noisy)
    assert not any(one.chain or one.homonym for one in plain)
    only = replace(world, noise="chains").businesses(town)
    assert any(one.chain for one in only)
    assert not any(one.homonym for one in only)


def test_every_language_has_words_for_every_trade_and_chains_that_are_told_apart() -> None:
    for language in LANGUAGES.values():
        assert len(language.trades) == len(KINDS)
        assert len({kind for _, kind in language.chains}) == len(language.chains) >= 3
        assert len(set(language.people)) == len(language.people)
        assert len(set(language.houses)) == len(language.houses)
        assert not set(language.common) & set(language.houses)
