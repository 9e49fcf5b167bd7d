"""`sun_position`, asked as an agent asks it, and held against pvlib and astral."""

import asyncio
import json
import math
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from geosleuth.atlas import OfflineAtlas
from geosleuth.geo import LatLon, distance_km, great_circle_km
from geosleuth.photo import Album
from geosleuth.tools import Case, Observation, ToolCall, Toolset
from geosleuth.tools.sun import sun_position

PLACES = {
    "FR": LatLon(48.8534, 2.3488),
    "KE": LatLon(-1.2833, 36.8167),
    "JP": LatLon(35.6895, 139.6917),
    "AU": LatLon(-33.8678, 151.2073),
    "US": LatLon(39.7392, -104.9847),
    "FJ": LatLon(-18.1416, 178.4415),
    "BR": LatLon(-23.5475, -46.6361),
}


@pytest.fixture
def case(atlas_home: Path) -> Case:
    return Case(Album(), OfflineAtlas(atlas_home / "regions"))


def ask(case: Case, **arguments: Any) -> Observation:
    call = ToolCall("call-1", "sun_position", arguments)
    (observation,) = asyncio.run(Toolset([sun_position]).run([call], case))
    json.dumps(observation.data, allow_nan=False)
    return observation


def spa(moment: datetime, place: LatLon) -> tuple[float, float]:
    """Azimuth and apparent elevation by pvlib."""
    from pvlib import spa

    seconds = np.array([moment.timestamp()])
    found = spa.solar_position_numpy(seconds, place.lat, place.lon, 0, 1010.0, 10.0, 67.0, 0.5667, 1)
    return float(found[4][0]), float(found[2][0])


def sunny_moments(place: LatLon, n: int) -> list[datetime]:
    """Times of one year at which the sun is well up there."""
    rng = np.random.default_rng(int(1000 * abs(place.lat)))
    found: list[datetime] = []
    while len(found) < n:
        moment = datetime(2023, 1, 1, tzinfo=UTC) + timedelta(minutes=int(rng.integers(0, 525_600)))
        if 10 < spa(moment, place)[1] < 75:
            found.append(moment)
    return found


def off_the_ring_deg(place: LatLon, ring: dict[str, Any]) -> float:
    """How many degrees a place lies from the ring's centre line."""
    sun = ring["subsolar"]
    away = great_circle_km(place.lat, place.lon, sun["lat"], sun["lon"])
    return abs(math.degrees((away - ring["radius_km"]) / 6371.0))


def is_orange(case: Case, observation: Observation, place: LatLon) -> bool:
    """Whether the picture shows the place in the band, by red well above blue."""
    image = case.album[observation.images[0].handle].image
    x, y = round((place.lon + 180) * 3 - 0.5), round((90 - place.lat) * 3 - 0.5)
    pixel = image.getpixel((x, y))
    assert isinstance(pixel, tuple)
    return pixel[0] - pixel[2] > 60


@pytest.mark.parametrize("code", PLACES)
def test_at_a_place_it_says_what_pvlib_says(case: Case, code: str) -> None:
    place = PLACES[code]
    for moment in sunny_moments(place, 3):
        data = ask(case, time=moment.isoformat(), latitude=place.lat, longitude=place.lon).data
        azimuth, elevation = spa(moment, place)
        (now,) = data["moments"]
        assert now["azimuth_deg"] == pytest.approx(azimuth, abs=0.05)
        assert now["elevation_deg"] == pytest.approx(elevation, abs=0.02)
        assert now["shadow_ratio"] == pytest.approx(1 / math.tan(math.radians(elevation)), rel=0.01)
        assert now["shadow_direction_deg"] == pytest.approx((azimuth + 180) % 360, abs=0.05)


def test_a_day_in_paris_is_astral_s_and_read_by_the_local_clock(case: Case) -> None:
    from astral import Observer
    from astral.sun import sun

    found = ask(case, time="2024-06-21T14:30", place="Paris")
    expected = sun(Observer(48.8534, 2.3488), date=date(2024, 6, 21), tzinfo=UTC)
    for name in ("sunrise", "noon", "sunset"):
        ours = datetime.fromisoformat(found.data["day"][name])
        assert abs((ours - expected[name]).total_seconds()) < 120
    assert found.data["moments"][0]["time"] == "2024-06-21T12:30:00Z"
    assert "Europe/Paris" in found.text
    assert "2024-06-21 12:30 UTC = 2024-06-21 14:30 UTC+02:00" in found.text


@pytest.mark.parametrize(
    ("time", "words"), [("2024-12-21T10:00", "Polar night"), ("2024-06-21T10:00", "Polar day: the sun does not set")]
)
def test_polar_days_are_said_plainly(case: Case, time: str, words: str) -> None:
    found = ask(case, time=time, place="Tromsø")
    assert words in found.text
    assert found.data["day"]["sunrise"] is None


def test_a_sun_below_the_horizon_casts_no_shadow(case: Case) -> None:
    found = ask(case, time="2024-06-21T23:00Z", place="Paris")
    assert "no shadows" in found.text
    assert found.data["moments"][0]["shadow_ratio"] is None


@pytest.mark.parametrize("code", PLACES)
def test_the_band_of_a_shadow_runs_through_the_true_place(case: Case, code: str) -> None:
    place = PLACES[code]
    for moment in sunny_moments(place, 3):
        _, elevation = spa(moment, place)
        found = ask(case, time=moment.isoformat(), shadow_ratio=1 / math.tan(math.radians(elevation)))
        (ring,) = found.data["rings"]
        assert off_the_ring_deg(place, ring) < 0.03
        assert is_orange(case, found, place)
        assert code in {country["code"] for country in found.data["countries"]}


def test_a_one_to_one_point_two_shadow_in_cairo(case: Case) -> None:
    cairo, lima = LatLon(30.0626, 31.2497), LatLon(-12.0432, -77.0282)
    morning = datetime(2023, 10, 5, 5, 0, tzinfo=UTC)
    moment = min((morning + timedelta(minutes=n) for n in range(300)), key=lambda t: abs(spa(t, cairo)[1] - 39.8056))
    assert spa(moment, cairo)[1] == pytest.approx(math.degrees(math.atan(1 / 1.2)), abs=0.15)
    found = ask(case, time=moment.isoformat(), shadow_ratio=1.2)
    assert found.failure is None
    assert "39.8° ± 2°" in found.text
    assert "a lead, not a fix" in found.text.lower()
    assert "EG" in {country["code"] for country in found.data["countries"]}
    assert is_orange(case, found, cairo)
    assert not is_orange(case, found, lima)
    # 90 - 39.8 degrees of arc from the point under the sun, and a little more for the air
    assert found.data["rings"][0]["radius_km"] == pytest.approx(6371 * math.radians(50.2), abs=10)


@pytest.mark.parametrize("code", PLACES)
def test_a_direction_as_well_leaves_the_place_itself(case: Case, code: str) -> None:
    place = PLACES[code]
    for moment in sunny_moments(place, 2):
        azimuth, elevation = spa(moment, place)
        ratio = 1 / math.tan(math.radians(elevation))
        found = ask(case, time=moment.isoformat(), shadow_ratio=ratio, shadow_direction=(azimuth + 180) % 360)
        points = [LatLon(point["lat"], point["lon"]) for point in found.data["points"]]
        assert min(distance_km(place, point) for point in points) < 30
        assert code in {country["code"] for country in found.data["countries"]}
        whole = ask(case, time=moment.isoformat(), shadow_ratio=ratio)
        assert found.data["land_km2"] < whole.data["land_km2"]


def test_a_time_range_sweeps_up_every_moment_in_it(case: Case) -> None:
    nairobi = PLACES["KE"]
    start, end = datetime(2023, 3, 1, 6, 0, tzinfo=UTC), datetime(2023, 3, 1, 9, 0, tzinfo=UTC)
    _, elevation = spa(datetime(2023, 3, 1, 7, 23, tzinfo=UTC), nairobi)
    sight = {"sun_elevation": elevation, "tolerance_deg": 0.5}
    found = ask(case, time=start.isoformat(), time_end=end.isoformat(), **sight)
    assert is_orange(case, found, nairobi)
    assert not is_orange(case, ask(case, time=start.isoformat(), **sight), nairobi)


def test_local_time_works_with_a_country_and_each_of_its_clocks(case: Case) -> None:
    denver = PLACES["US"]
    noon = datetime(2023, 3, 1, 20, 0, tzinfo=UTC)  # 13:00 in Denver
    _, elevation = spa(noon, denver)
    found = ask(case, time="2023-03-01T13:00", sun_elevation=elevation, tolerance_deg=1, country="United States")
    assert [country["code"] for country in found.data["countries"]] == ["US"]
    assert len(found.data["windows"]) >= 4
    assert "2023-03-01 13:00 by the local clocks" in found.text
    # Each clock's own time is used where it goes: the band is a belt across the country, not a stack of rings.
    assert 0.02 < found.data["countries"][0]["of_its_land"] < 0.4
    assert len(found.images) == 1


def test_an_offset_makes_a_clock_time_usable(case: Case) -> None:
    plain = ask(case, time="2023-10-05T07:30Z", shadow_ratio=1.2)
    offset = ask(case, time="2023-10-05T10:30", utc_offset=3, shadow_ratio=1.2)
    assert plain.data == offset.data


def test_a_shadow_is_held_against_a_place(case: Case) -> None:
    place = PLACES["FR"]
    moment = datetime(2024, 6, 21, 8, 10, tzinfo=UTC)
    ratio = 1 / math.tan(math.radians(spa(moment, place)[1]))
    good = ask(case, time=moment.isoformat(), place="Paris", shadow_ratio=ratio)
    assert good.data["fit"]["fits"] is True
    (first, _) = good.data["fit"]["that_day"]
    assert first[0] < "2024-06-21T08:10:00Z" < first[1]
    bad = ask(case, time="2024-06-21T12:00Z", place="Paris", shadow_ratio=ratio)
    assert bad.data["fit"]["fits"] is False
    assert "does not fit" in bad.text
    winter = ask(case, time="2024-12-21T12:00Z", place="Paris", shadow_ratio=0.3)
    assert "never does there that day" in winter.text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"time": "2024-06-21T14:30", "shadow_ratio": 1.2}, "without a zone"),
        ({"time": "2024-06-21T14:30Z"}, "say where"),
        ({"time": "2024-06-21", "place": "Paris"}, "only a date"),
        ({"time": "at tea time", "place": "Paris"}, "write a date and a time"),
        ({"time": "1492-10-12T14:30Z", "place": "Paris"}, "between 1900 and 2100"),
        ({"time": "2024-06-21T14:30Z", "place": "Qwzrtxy"}, "knows no place"),
        ({"time": "2024-06-21T14:30Z", "latitude": 10.0}, "needed together"),
        ({"time": "2024-06-21T14:30Z", "latitude": 100.0, "longitude": 10.0}, "swapped"),
        ({"time": "2024-06-21T14:30Z", "shadow_ratio": -1}, "shadow_ratio is -1"),
        ({"time": "2024-06-21T14:30Z", "sun_elevation": 91}, "sun_elevation is 91"),
        ({"time": "2024-06-21T14:30Z", "shadow_ratio": 1, "sun_elevation": 45}, "same thing"),
        ({"time": "2024-06-21T14:30Z", "sun_azimuth": 1, "shadow_direction": 181}, "same thing"),
        ({"time": "2024-06-21T14:30Z", "sun_azimuth": 1000}, "compass bearing"),
        ({"time": "2024-06-21T14:30Z", "shadow_ratio": 1, "tolerance_deg": 0}, "tolerance_deg is 0"),
        ({"time": "2024-06-21T14:30Z", "shadow_direction": 1, "direction_tolerance_deg": 0}, "direction_tolerance"),
        ({"time": "2024-06-21T14:30Z", "time_end": "2024-06-21T10:30Z", "shadow_ratio": 1}, "lies before"),
        ({"time": "2024-06-21T14:30Z", "time_end": "2024-06-23T14:30Z", "shadow_ratio": 1}, "longer than a day"),
        ({"time": "2024-06-21T14:30Z", "time_end": "2024-06-21T15:30", "shadow_ratio": 1}, "both name their zone"),
        ({"time": "2024-06-21T14:30Z", "utc_offset": 2, "place": "Paris"}, "another offset"),
        ({"time": "2024-06-21T14:30", "utc_offset": 20, "place": "Paris"}, "can't be"),
        ({"time": "2024-06-21T14:30Z", "shadow_ratio": 1, "country": "Atlantis"}, "Atlantis"),
    ],
)
def test_what_can_not_be_done_is_refused_with_a_reason(case: Case, arguments: dict[str, Any], words: str) -> None:
    found = ask(case, **arguments)
    assert found.failure == "refused"
    assert words in found.text
    assert "\n" not in found.text


def test_nothing_in_a_country_is_said_so(case: Case) -> None:
    found = ask(case, time="2024-06-21T23:00Z", shadow_ratio=1.2, country="France")
    assert "Nowhere in France" in found.text
    assert found.images == ()


def test_a_country_too_small_for_a_cell_is_found_by_its_towns(case: Case) -> None:
    monaco = LatLon(43.7333, 7.4167)
    moment = datetime(2024, 6, 21, 8, 0, tzinfo=UTC)
    found = ask(case, time=moment.isoformat(), sun_elevation=spa(moment, monaco)[1], country="Monaco")
    assert [country["code"] for country in found.data["countries"]] == ["MC"]
