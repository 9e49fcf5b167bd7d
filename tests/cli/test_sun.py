"""``geosleuth sun``: a band, bands together, times at a place, and what is refused."""

import json
from pathlib import Path

import pytest

from geosleuth.geo import shadow_of_elevation, sun_positions
from in_process import Done, geosleuth

PARIS = (48.8566, 2.3522)


def ratio(time: str, place: tuple[float, float] = PARIS) -> str:
    from datetime import datetime

    return (
        f"{shadow_of_elevation(float(sun_positions(datetime.fromisoformat(time), *place).apparent_elevation_deg)):.3f}"
    )


def sun(*words: str) -> Done:
    return geosleuth("sun", *words)


@pytest.mark.usefixtures("atlas_home")
def test_a_shadow_gives_a_band_and_two_a_smaller_one_that_hold_the_place(tmp_path: Path) -> None:
    first, second = "2026-05-01T09:00:00+00:00", "2026-05-01T15:30:00+00:00"
    one = json.loads(sun(first, "--shadow", ratio(first), "--json").stdout)
    both = json.loads(
        sun(
            first, "--shadow", ratio(first), "--also", f"{second},{ratio(second)}", "--out", str(tmp_path / "band.png"),
            "--json",
        ).stdout
    )  # fmt: skip
    assert one["kind"] == both["kind"] == "band"
    assert {"FR"} <= {row["code"] for row in both["countries"]} < {row["code"] for row in one["countries"]}
    import shapely

    for found in (one, both):
        assert shapely.from_geojson(json.dumps(found["area"])).covers(shapely.Point(PARIS[1], PARIS[0]))
    assert (tmp_path / "band.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("atlas_home")
def test_shadows_that_are_of_no_one_place_are_said_to_be() -> None:
    time = "2026-05-01T12:00:00+00:00"
    found = sun(time, "--shadow", "0.1", "--also", f"{time},8")
    assert "No land at all: these shadows are not of one place" in found.stdout


@pytest.mark.usefixtures("atlas_home")
def test_a_place_gives_the_times_that_fit() -> None:
    time = "2026-05-01T09:00:00+00:00"
    found = json.loads(sun(time, "--shadow", ratio(time), "--place", "Paris, France", "--json").stdout)
    assert (found["kind"], found["fits"], found["area"]) == ("times", True, None)
    away = json.loads(sun(time, "--shadow", ratio(time), "--place", "Tokyo", "--json").stdout)
    assert away["fits"] is False


@pytest.mark.usefixtures("atlas_home")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["2026-05-01T09:00", "--shadow", "1"], "without a zone"),
        (["2026-05-01T09:00", "--shadow", "1"], "or --country NAME"),
        (["2026-05-01T09:00Z", "--shadow", "-1"], "--shadow is -1;"),
        (["2026-05-01T09:00Z", "--shadow", "1", "--also", "2026-05-01T10:00Z,-1"], "RATIO is -1;"),
        (["2026-05-01T09:00Z", "--shadow", "1", "--to", "2026-05-01T08:00Z"], "--to lies before TIME"),
        (["2026-05-01T09:00Z"], "say how the sun stands"),
        (["yesterday", "--shadow", "1"], "write a date and a time"),
        (["2026-05-01T09:00Z", "--shadow", "1", "--also", "noon"], "write TIME,RATIO"),
        (["2026-05-01T09:00Z", "--shadow", "1", "--elevation", "20"], "elevation"),
    ],
)
def test_what_can_not_be_is_refused_in_one_line(words: list[str], said: str) -> None:
    done = sun(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr.splitlines()[-1]


@pytest.mark.usefixtures("atlas_home")
def test_only_a_picture_that_was_written_is_spoken_of(tmp_path: Path) -> None:
    time, later = "2026-05-01T09:00:00+00:00", "2026-05-01T15:30:00+00:00"
    also = ("--also", f"{later},{ratio(later)}")
    out = str(tmp_path / "band.png")
    for words in ((), also):
        assert "picture" not in sun(time, "--shadow", ratio(time), *words).stdout
        drawn = sun(time, "--shadow", ratio(time), *words, "--out", out, "--overwrite").stdout
        assert "The picture shows it in orange" in " ".join(drawn.split())
