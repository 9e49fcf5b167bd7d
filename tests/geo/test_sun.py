"""The sun's place against two libraries written by others: pvlib (NREL's SPA) and astral (NOAA's formulas)."""

import math
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from geosleuth.geo import (
    EARTH_RADIUS_KM,
    FloatArray,
    LatLon,
    SunSight,
    distance_km,
    elevation_of_shadow,
    equal_altitude_circle,
    great_circle_km,
    places_under_sun,
    shadow_of_elevation,
    subsolar_points,
    sun_day,
    sun_positions,
    sun_seen_mask,
    zenith_distance_deg,
)

LIMIT_DEG, STATED_DEG = 0.02, 0.006
MOMENTS = st.datetimes(datetime(1950, 1, 1), datetime(2050, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  # a bound
Times64 = npt.NDArray[np.datetime64]


def random_sights(n: int, seed: int) -> tuple[Times64, FloatArray, FloatArray]:
    """Times from 1950 to 2050 and places all over the Earth."""
    rng = np.random.default_rng(seed)
    times = np.datetime64("1950-01-01", "us") + rng.uniform(0, 36525 * 86400e6, n).astype("timedelta64[us]")
    return times, np.degrees(np.arcsin(rng.uniform(-1, 1, n))), rng.uniform(-180, 180, n)


def spa(times: Times64, lat: FloatArray, lon: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Azimuth, airless elevation and apparent elevation by pvlib."""
    from pvlib import spa

    seconds = (times - np.datetime64("1970-01-01")) / np.timedelta64(1, "s")
    height = np.zeros_like(lat)
    found = spa.solar_position_numpy(seconds, lat, lon, height, 1010.0, 10.0, 67.0, 0.5667, 1)
    return found[4], found[3], found[2]


def turn(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.abs((a - b + 180) % 360 - 180)


def test_it_agrees_with_pvlib_everywhere_and_at_all_times() -> None:
    times, lat, lon = random_sights(20_000, 1)
    azimuth, elevation, apparent = spa(times, lat, lon)
    ours = sun_positions(times, lat, lon)
    assert np.abs(ours.elevation_deg - elevation).max() <= STATED_DEG
    # Near the zenith all bearings crowd together: there the angle on the sky counts.
    assert (turn(ours.azimuth_deg, azimuth) * np.cos(np.radians(elevation))).max() <= LIMIT_DEG
    assert turn(ours.azimuth_deg, azimuth)[np.abs(elevation) < 75].max() <= LIMIT_DEG
    up = elevation > -0.8
    assert np.abs(ours.apparent_elevation_deg - apparent)[up].max() <= LIMIT_DEG
    assert (ours.apparent_elevation_deg == ours.elevation_deg)[elevation < -0.9].all()


def test_it_agrees_with_astral() -> None:
    from astral import Observer
    from astral.sun import azimuth, elevation

    times, lat, lon = random_sights(2000, 3)
    ours = sun_positions(times, lat, lon)
    stamps = [stamp.replace(tzinfo=UTC) for stamp in times.astype(datetime)]
    seen = [Observer(*place) for place in zip(lat, lon, strict=True)]
    heights = np.array([elevation(o, t, with_refraction=False) for o, t in zip(seen, stamps, strict=True)])
    bearings = np.array([azimuth(o, t) for o, t in zip(seen, stamps, strict=True)])
    assert np.abs(ours.elevation_deg - heights).max() <= LIMIT_DEG
    assert (turn(ours.azimuth_deg, bearings) * np.cos(np.radians(heights))).max() <= LIMIT_DEG


def test_a_time_without_a_zone_is_refused() -> None:
    naive = datetime(2024, 6, 21, 14, 0)  # noqa: DTZ001  # the point of the test
    with pytest.raises(ValueError, match="no time zone"):
        sun_positions(naive, 0.0, 0.0)
    with pytest.raises(ValueError, match="no time zone"):
        subsolar_points([naive])


def test_the_sun_stands_over_the_tropics_at_the_solstices() -> None:
    lat, _ = subsolar_points([datetime(2024, 6, 20, 20, 51, tzinfo=UTC), datetime(2024, 12, 21, 9, 20, tzinfo=UTC)])
    assert lat == pytest.approx([23.436, -23.436], abs=0.005)


@given(MOMENTS)
def test_the_sun_is_in_the_zenith_of_the_subsolar_point(moment: datetime) -> None:
    lat, lon = subsolar_points(moment)
    assert float(sun_positions(moment, lat, lon).elevation_deg) == pytest.approx(90, abs=1e-5)


def test_rising_noon_and_setting_agree_with_astral() -> None:
    from astral import Observer
    from astral import sun as theirs

    rng = np.random.default_rng(0)
    compared = 0
    for lat, lon, days in zip(
        rng.uniform(-60, 60, 200), rng.uniform(-180, 180, 200), rng.integers(0, 36500, 200), strict=True
    ):
        day = date(1950, 1, 1) + timedelta(days=int(days))
        clock = timezone(timedelta(hours=round(lon / 15)))
        ours = sun_day(LatLon(lat, lon), day)
        assert ours.kind == "ordinary"
        for name, moment in (("sunrise", ours.sunrise), ("noon", ours.noon), ("sunset", ours.sunset)):
            try:
                expected = getattr(theirs, name)(Observer(lat, lon), date=day, tzinfo=clock)
            except ValueError:  # astral sometimes misses events close to midnight UTC
                continue
            assert moment is not None
            assert abs((moment - expected).total_seconds()) < 120
            compared += 1
    assert compared > 590


@pytest.mark.parametrize(
    ("place", "day", "kind"),
    [
        (LatLon(69.65, 18.96), date(2024, 12, 21), "polar night"),
        (LatLon(69.65, 18.96), date(2024, 6, 21), "polar day"),
        (LatLon(-77.85, 166.67), date(2024, 12, 21), "polar day"),
        (LatLon(-77.85, 166.67), date(2024, 6, 21), "polar night"),
        (LatLon(90, 0), date(2024, 6, 21), "polar day"),
        (LatLon(69.65, 18.96), date(2024, 3, 20), "ordinary"),
    ],
)
def test_polar_days_and_nights_are_said_plainly(place: LatLon, day: date, kind: str) -> None:
    found = sun_day(place, day)
    assert found.kind == kind
    assert (found.sunrise is None) == (found.sunset is None) == (kind != "ordinary")


def test_the_last_sunrise_before_the_midnight_sun_has_no_sunset() -> None:
    place = LatLon(69.65, 18.96)
    kinds = [sun_day(place, date(2024, 5, 10) + timedelta(days=n)) for n in range(20)]
    assert kinds[0].kind == "ordinary"
    assert kinds[-1].kind == "polar day"
    edge = [day for day in kinds if (day.sunrise is None) != (day.sunset is None)]
    assert all(day.kind == "ordinary" for day in edge)


@pytest.mark.parametrize(("ratio", "elevation"), [(1.0, 45.0), (1.2, 39.8056), (0.0, 90.0), (math.sqrt(3), 30.0)])
def test_shadows_and_heights(ratio: float, elevation: float) -> None:
    assert elevation_of_shadow(ratio) == pytest.approx(elevation, abs=1e-4)
    assert shadow_of_elevation(elevation_of_shadow(ratio)) == pytest.approx(ratio, abs=1e-12)
    assert shadow_of_elevation(0) == math.inf


@given(MOMENTS, st.floats(0, 89))
def test_all_places_of_a_circle_see_the_sun_equally_high(moment: datetime, elevation: float) -> None:
    lats, lons = equal_altitude_circle(moment, elevation)
    assert sun_positions(moment, lats, lons).apparent_elevation_deg == pytest.approx(elevation, abs=1e-3)
    assert len(lats) == 181
    assert great_circle_km(lats[0], lons[0], lats[-1], lons[-1]) < 1e-6
    lat, lon = subsolar_points(moment)
    away = EARTH_RADIUS_KM * math.radians(zenith_distance_deg(elevation))
    assert great_circle_km(lat, lon, lats, lons) == pytest.approx(away, abs=1e-3)


@given(MOMENTS, st.floats(-89, 89), st.floats(-180, 180))
def test_height_and_direction_lead_back_to_the_place(moment: datetime, lat: float, lon: float) -> None:
    sun = sun_positions(moment, lat, lon)
    elevation = float(sun.apparent_elevation_deg)
    assume(1 < elevation < 88)
    found = places_under_sun(moment, elevation, float(sun.azimuth_deg))
    assert 1 <= len(found) <= 2
    # Where the two solutions run into one, a hair in the angles is kilometres on the ground.
    assert min(distance_km(LatLon(lat, lon), place) for place in found) < 5
    for place in found:
        again = sun_positions(moment, place.lat, place.lon)
        assert float(again.apparent_elevation_deg) == pytest.approx(elevation, abs=1e-3)
        off = turn(again.azimuth_deg, sun.azimuth_deg) * math.cos(math.radians(elevation))
        assert float(off) < 1e-3


def test_the_mask_is_what_each_cell_would_say_itself() -> None:
    moment = datetime(2024, 5, 4, 9, 30, tzinfo=UTC)
    lats, lons = np.arange(-89.5, 90), np.arange(-179.5, 180)
    sun = sun_positions(moment, lats[:, None], lons)
    height_fits = np.abs(sun.apparent_elevation_deg - 39.8) <= 2
    assert (sun_seen_mask(moment, lats, lons, SunSight(37.8, 41.8)) == height_fits).all()
    both = height_fits & (turn(sun.azimuth_deg, np.asarray(120.0)) <= 15)
    assert both.any()
    assert (sun_seen_mask(moment, lats, lons, SunSight(37.8, 41.8, 120, 15)) == both).all()
    later = [moment, moment + timedelta(hours=3)]
    union = sun_seen_mask(later[0], lats, lons, SunSight(37.8, 41.8)) | sun_seen_mask(
        later[1], lats, lons, SunSight(37.8, 41.8)
    )
    assert (sun_seen_mask(later, lats, lons, SunSight(37.8, 41.8)) == union).all()
