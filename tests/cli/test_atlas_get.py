"""``geosleuth atlas get``: a name, a download from a server on this machine, a region; every fault is one line."""

import json
import os
import pty
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from extract_server import ExtractServer, catalogue, entry, extract_server, tiny_extract
from geosleuth.atlas.suggestion import suggest_map
from geosleuth.support.text.numbers import size
from in_process import Done, geosleuth
from locating import FINAL, at, locate_here, photo_file
from openai_server import openai_server


@pytest.fixture
def server(atlas_home: Path, tmp_path: Path) -> Iterator[ExtractServer]:
    assert atlas_home.is_dir()
    with extract_server() as made:
        made.offer("andorra", tiny_extract(tmp_path))
        yield made


def get(server: ExtractServer, *words: str) -> Done:
    return geosleuth("atlas", "get", *words, "--mirror", server.url, "--yes")


def regions() -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(geosleuth("atlas", "list", "--json").stdout)
    return listed


def left_behind(home: Path) -> list[str]:
    """What is in the folders of downloads and of regions."""
    return sorted(path.name for part in ("cache/downloads", "data/regions") for path in (home / part).glob("*"))


def test_a_name_becomes_a_region_that_says_where_it_is_from(server: ExtractServer, atlas_home: Path) -> None:
    done = get(server, "Андорра")
    assert done.returncode == 0, done.stderr
    size_kb = round(len(server.files["/andorra-latest.osm.pbf"]) / 1000)
    assert "this asks 127.0.0.1" in done.stderr.splitlines()[0]
    assert f"Andorra (andorra): {size_kb} KB from 127.0.0.1, of 2026-11-16; needs about" in done.stderr
    (region,) = regions()
    assert region["name"] == "andorra"
    assert region["features"] == 300
    assert region["origin"] == f"{server.url}/andorra-latest.osm.pbf"
    assert region["data_date"] == "2026-11-16T20:21:00Z"
    assert left_behind(atlas_home) == ["andorra.region.sqlite"]
    shown = geosleuth("atlas", "list").stdout
    assert "2026-11-16" in shown
    assert "127.0.0.1" in shown
    assert geosleuth("atlas", "remove", "andorra").returncode == 0
    assert left_behind(atlas_home) == []


def test_a_point_means_the_smallest_extract_that_covers_it(server: ExtractServer, tmp_path: Path) -> None:
    assert get(server, "42.5,1.5").returncode == 0
    assert [region["name"] for region in regions()] == ["andorra"]
    south = entry("cape", {"name": "Cape", "iso3166-1:alpha2": ["ZA"]}, (18, -35, 19, -33))
    server.files["/index-v1.json"] = catalogue(south)
    server.offer("cape", tiny_extract(tmp_path, 20))
    assert get(server, "-33.9,18.4", "--update").returncode == 0
    assert [region["name"] for region in regions()] == ["andorra", "cape"]
    sea = get(server, "0,-150")
    assert (sea.returncode, sea.stderr.splitlines()[-1].count("no extract that covers 0,-150")) == (2, 1)


def test_a_place_in_a_larger_map_is_told_before_it_comes_and_in_json(server: ExtractServer, tmp_path: Path) -> None:
    server.offer("kanto", tiny_extract(tmp_path, 20))
    done = get(server, "東京", "--json")
    assert "Tokyo, Japan lies in Kantō (kanto): " in done.stderr
    told = json.loads(done.stdout)
    assert (told["name"], told["understood_as"]) == ("kanto", "Tokyo, Japan")
    assert json.loads(get(server, "AD", "--json").stdout)["understood_as"] == "Andorra (andorra)"


def test_a_continent_comes_only_by_its_own_name(server: ExtractServer, tmp_path: Path) -> None:
    server.offer("asia", tiny_extract(tmp_path, 20))
    done = get(server, "Cafe")
    assert (done.returncode, len(server.bodies_asked())) == (2, 0)
    assert "geosleuth atlas get asia" in done.stderr.splitlines()[-1]
    assert get(server, "asia").returncode == 0


def test_the_plan_tells_the_disk_of_the_import_and_of_the_region(server: ExtractServer) -> None:
    size_bytes = len(server.files["/andorra-latest.osm.pbf"])
    done = get(server, "andorra")
    told = f"about {size(9 * size_bytes)} on disk while it is imported, {size(3 * size_bytes)} permanently"
    assert told in done.stderr


def test_what_is_there_is_not_fetched_again_and_update_brings_newer_data(server: ExtractServer, tmp_path: Path) -> None:
    get(server, "andorra")
    again = get(server, "AD")
    assert (again.returncode, len(server.bodies_asked())) == (0, 1)
    assert "andorra is there already, with data of 2026-11-16" in again.stderr
    same = get(server, "andorra", "--update")
    assert (same.returncode, len(server.bodies_asked())) == (0, 1)
    assert "andorra is up to date" in same.stderr
    server.offer("andorra", tiny_extract(tmp_path, 200, "2026-11-17"))
    assert get(server, "--update").returncode == 0  # of all that was fetched
    (region,) = regions()
    assert (region["data_date"][:10], region["features"]) == ("2026-11-17", 200)


def test_an_update_never_puts_one_place_into_the_region_of_another(server: ExtractServer, tmp_path: Path) -> None:
    server.offer("kanto", tiny_extract(tmp_path, 20))
    get(server, "andorra")
    done = get(server, "Tokyo", "--update", "--name", "andorra")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        f"geosleuth: the region andorra is from {server.url}/andorra-latest.osm.pbf; choose another --name for "
        "Kantō (kanto)"
    )
    (region,) = regions()
    assert (region["features"], region["origin"]) == (300, f"{server.url}/andorra-latest.osm.pbf")


def test_a_connection_that_breaks_leaves_no_region_and_the_same_command_goes_on(
    server: ExtractServer, atlas_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from geosleuth.atlas.online.http import OnlineClient

    monkeypatch.setattr(OnlineClient, "backoff_s", lambda _self, _attempt: 0.01)
    server.cuts = [3000, 0, 0, 0]
    broken = get(server, "andorra")
    assert broken.returncode == 1
    assert "run the same command again to resume" in broken.stderr.splitlines()[-1]
    assert regions() == []
    assert left_behind(atlas_home) == ["andorra-latest.osm.pbf", "andorra-latest.osm.pbf.json"]
    assert get(server, "andorra").returncode == 0
    assert server.bodies_asked()[-1] == "bytes=3000-"
    assert left_behind(atlas_home) == ["andorra.region.sqlite"]


def wrong_checksum(server: ExtractServer) -> None:
    server.offer("andorra", server.files["/andorra-latest.osm.pbf"], checksum="0" * 32)


def no_extract(server: ExtractServer) -> None:
    server.offer("andorra", b"this is no extract at all" * 100)


def web_page(server: ExtractServer) -> None:
    server.offer("andorra", b"<!doctype html><title>Sign in</title>" * 20)


def no_checksum(server: ExtractServer) -> None:
    del server.files["/andorra-latest.osm.pbf.md5"]


def no_file(server: ExtractServer) -> None:
    del server.files["/andorra-latest.osm.pbf"]


def no_catalogue(server: ExtractServer) -> None:
    del server.files["/index-v1.json"]


def elsewhere(server: ExtractServer) -> None:
    server.redirects["/andorra-latest.osm.pbf"] = "https://evil.example/andorra-latest.osm.pbf"


def hostile(server: ExtractServer) -> None:
    bad = entry("andorra", {"name": "\x1b[2JAndorra\nhi"}, (1, 42, 2, 43), "https://evil.example/andorra.osm.pbf")
    server.files["/index-v1.json"] = json.dumps({"features": [bad]}).encode()


def enormous(server: ExtractServer) -> None:
    server.headers = {"content-length": "900000000000000"}


def larger_than_the_disk(server: ExtractServer) -> None:
    server.headers = {"content-length": str(190 * 10**9)}


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [
        (wrong_checksum, 1, "checksum"),
        (no_extract, 1, "127.0.0.1: sent /andorra-latest.osm.pbf, which is not a sound OpenStreetMap extract ("),
        (web_page, 1, "127.0.0.1: sent /andorra-latest.osm.pbf, which is not a sound OpenStreetMap extract ("),
        (no_checksum, 1, "no checksum"),
        (no_file, 1, "127.0.0.1: has no /andorra-latest.osm.pbf"),
        (no_catalogue, 1, "127.0.0.1: has no /index-v1.json"),
        (elsewhere, 1, "redirects to evil.example"),
        (hostile, 1, "leads to evil.example, which was not asked for"),
        (enormous, 1, "more than any map"),
        (larger_than_the_disk, 2, "make room"),
    ],
)
def test_every_fault_is_one_line_and_leaves_nothing_half(
    server: ExtractServer, atlas_home: Path, fault: Any, code: int, said: str
) -> None:
    fault(server)
    done = get(server, "andorra")
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr.splitlines()[-1]
    assert "sent" not in said or done.stderr.endswith("; nothing was changed\n")
    assert str(atlas_home / "cache") not in done.stderr
    assert all(line.isprintable() for line in done.stderr.splitlines())
    assert left_behind(atlas_home) == []


def test_a_failed_update_leaves_what_was_there(server: ExtractServer, tmp_path: Path) -> None:
    get(server, "andorra")
    server.offer("andorra", tiny_extract(tmp_path, 200, "2026-11-17"), checksum="0" * 32)
    assert get(server, "andorra", "--update").returncode == 1
    assert regions()[0]["features"] == 300


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["andorra"], "geosleuth: this asks 127.0.0.1 for a file and downloads it; add --yes to allow it"),
        (["Andorrra"], "did you mean Andorra? (unless Andorrra is one of the server's own names); this asks 127.0.0.1"),
        (["andorra", "--yes", "--offline"], "--offline rules out"),
        ([], "such as: geosleuth atlas get andorra"),
        (["andorra", "--yes", "--name", "../up"], "a region's name is up to 64 lowercase letters"),
        (["--update", "--yes", "--name", "x"], "--name needs a place"),
        (["Barcelnoa", "--yes"], "did you mean Barcelona"),
        (["--updat", "--yes"], "no such option: --updat"),
        ([""], "name a country, a region or a city"),
        (["95,200"], "there is no point 95, 200"),
        (["de", "--edition", "full"], "--edition belongs to --wikipedia"),
        (["de", "--wikipedia", "--edition", "full"], "unknown --edition 'full'; choose one of mini, nopic, maxi"),
        (["de", "--wikipedia", "--name", "x"], "--name does not apply to --wikipedia"),
        (["monaco", "--update", "--name", "zz"], "there is no region zz to update; leave out --update to add it"),
        (["de", "--wikipedia"], "this needs libzim.reader, which is not installed; run:"),
        (["Monaco", "--overture"], "this needs pyarrow.parquet, which is not installed; run:"),
    ],
)
def test_what_is_refused_is_refused_before_anything_is_fetched(
    server: ExtractServer, words: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "not installed" in said:
        monkeypatch.setitem(sys.modules, said.split()[2].rstrip(","), None)
    done = geosleuth("atlas", "get", *words, "--mirror", server.url)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr.splitlines()[-1]
    asked = {path for _, path, _ in server.asked}
    assert asked <= ({"/index-v1.json"} if "Barcelnoa" in words else set())


@pytest.mark.parametrize(
    ("mirror", "said"),
    [
        ("http://example.org", "over https; plain http is allowed only for addresses in your own network"),
        ("https://example.org/?a=b", "is not a server address"),
        ("ftp://127.0.0.1/", "not a web address"),
        ("https://user:pass@127.0.0.1/", "user name or password"),
        ("nonsense", "is not a server address"),
        ("", "the mirror is empty"),
        ("http://169.254.169.254/", "cloud-metadata addresses never are"),
    ],
)
def test_mirrors_that_are_none_are_refused(atlas_home: Path, mirror: str, said: str) -> None:
    done = geosleuth("atlas", "get", "andorra", "--mirror", mirror)
    assert (done.returncode, said in done.stderr, "asking" in done.stderr) == (2, True, False)
    assert left_behind(atlas_home) == []


def test_a_mirror_may_stand_in_the_environment(server: ExtractServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOSLEUTH_EXTRACTS_URL", server.url)
    monkeypatch.setenv("GEOSLEUTH_GEONAMES_URL", "http://127.0.0.1:1")
    done = geosleuth("atlas", "get", "andorra", "--yes", "--json")
    assert json.loads(done.stdout)["name"] == "andorra"
    assert "127.0.0.1: can't be reached" in geosleuth("atlas", "get", "andorra", "--geonames", "--yes").stderr


def test_a_region_of_the_users_own_is_not_replaced_unasked(server: ExtractServer, tmp_path: Path) -> None:
    own = tmp_path / "andorra.osm.pbf"
    own.write_bytes(tiny_extract(tmp_path, 50))
    geosleuth("atlas", "add", own)
    assert "was added from andorra.osm.pbf before" in get(server, "andorra").stderr
    assert get(server, "andorra", "--name", "other").returncode == 0
    assert [region["name"] for region in regions()] == ["andorra", "other"]


@pytest.mark.parametrize(("word", "what"), [("Cafè B", []), ("98000", []), ("B", ["--overture"])])
def test_what_stands_on_an_added_map_is_no_place_to_fetch_a_map_of(
    server: ExtractServer, tmp_path: Path, word: str, what: list[str]
) -> None:
    if what:
        pytest.importorskip("pyarrow")
    own = tmp_path / "own.osm"
    nodes = "".join(
        f'<node id="{number}" version="1" lat="43.73{number}" lon="7.42"><tag k="{key}" v="cafe"/>'
        f'<tag k="name" v="{name}"/><tag k="addr:postcode" v="98000"/></node>'
        for number, (key, name) in enumerate((("amenity", "B"), ("shop", "Starbucks"), ("amenity", "Cafè B")), start=1)
    )
    own.write_text(f'<?xml version="1.0"?><osm version="0.6">{nodes}</osm>', "utf-8")
    assert geosleuth("atlas", "add", own).returncode == 0
    done = get(server, word, *what)
    assert done.returncode == 2
    assert f"no country, region or city is called {word!r}" in done.stderr
    assert server.bodies_asked() == []


def test_an_update_asks_nobody_where_nothing_was_fetched(server: ExtractServer, tmp_path: Path) -> None:
    own = tmp_path / "monaco.osm.pbf"
    own.write_bytes(tiny_extract(tmp_path, 50))
    geosleuth("atlas", "add", own)
    for words in ((), ("--json",)):
        done = get(server, "--update", *words)
        assert (done.returncode, done.stdout.strip()) == (0, "[]" if words else "")
        assert done.stderr == "no map to update; monaco was added from monaco.osm.pbf\n"
    assert server.asked == []


@pytest.mark.usefixtures("atlas_home")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("andorra", "No such file: andorra. To fetch the map of a place: geosleuth atlas get andorra"),
        ("San Marino", "No such file: San Marino. To fetch the map of a place: geosleuth atlas get 'San Marino'"),
        ("Ubud", "No such file: Ubud. To fetch the map of a place: geosleuth atlas get Ubud"),
        ("monaco.osm.pbf", "No such file: monaco.osm.pbf"),
        ("x" * 300, f"No such file: {'x' * 300}"),
        ("", "name a file, such as: geosleuth atlas add monaco.osm.pbf"),
    ],
)
def test_adding_a_place_that_is_no_file_names_the_command_that_fetches_it(given: str, said: str) -> None:
    done = geosleuth("atlas", "add", given)
    assert (done.returncode, done.stderr.strip().removeprefix("geosleuth: ")) == (2, said)


def test_a_finished_region_is_brought_to_another_machine(server: ExtractServer, atlas_home: Path) -> None:
    get(server, "andorra")
    kept = atlas_home / "data" / "regions" / "andorra.region.sqlite"
    brought = atlas_home / "usb.region.sqlite"
    brought.write_bytes(kept.read_bytes())
    geosleuth("atlas", "remove", "andorra")
    assert geosleuth("atlas", "add", brought, "--name", "andorra").returncode == 0
    (region,) = regions()
    assert (region["name"], region["features"], region["origin"]) == (
        "andorra", 300, f"{server.url}/andorra-latest.osm.pbf",
    )  # fmt: skip
    brought.write_bytes(brought.read_bytes()[:5000])
    damaged = geosleuth("atlas", "add", brought)
    assert (damaged.returncode, "damaged" in damaged.stderr) == (2, True)
    assert len(regions()) == 1


def test_geonames_of_a_country_become_a_gazetteer(server: ExtractServer, atlas_home: Path) -> None:
    row = "3041563\tAndorra la Vella\tAndorra la Vella\t\t42.50779\t1.52109\tP\tPPLC\tAD\t\t07\t\t\t\t20430\t\t1037\t"
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("AD.txt", f"{row}Europe/Andorra\t2020-03-03\n")
    absent = get(server, "andorra", "--geonames")
    assert (absent.returncode, "127.0.0.1: has no /AD.zip" in absent.stderr) == (1, True)
    server.files["/AD.zip"] = b"no zip at all"
    damaged = get(server, "andorra", "--geonames")
    assert (damaged.returncode, "127.0.0.1: sent /AD.zip, which is no zip file" in damaged.stderr) == (1, True)
    server.files["/AD.zip"] = packed.getvalue()
    assert get(server, "Andorre", "--geonames").returncode == 0
    (gazetteer,) = regions()
    assert (gazetteer["name"], gazetteer["kind"], gazetteer["data_date"]) == ("geonames-ad", "geonames", "2026-11-16")
    assert "up to date" in get(server, "andorra", "--geonames", "--update").stderr
    assert list((atlas_home / "cache/downloads").iterdir()) == []


def test_at_a_terminal_the_person_is_asked(server: ExtractServer) -> None:
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "geosleuth", "atlas", "get", "andorra", "--mirror", server.url]
    with subprocess.Popen(words, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE) as child:
        os.close(theirs)
        seen = b""
        while b"Ask 127.0.0.1? [y/N]" not in seen:
            seen += os.read(ours, 1024)
        assert server.asked == []
        os.write(ours, b"y\n")
        while b"Go on? [y/N]" not in seen:
            seen += os.read(ours, 1024)
        os.write(ours, b"n\n")
        assert child.wait(60) == 2
    os.close(ours)
    assert b"from 127.0.0.1" in seen
    assert server.bodies_asked() == []
    assert regions() == []
    # What was learned of its size stands beside the command wherever that is suggested.
    size_kb = round(len(server.files["/andorra-latest.osm.pbf"]) / 1000)
    assert (
        suggest_map("AD", None, None).command == f"geosleuth atlas get Andorra ({size_kb} KB, and about 1 s to import)"
    )
    assert suggest_map("GB", None, None).size_bytes is None


def test_who_is_offline_learns_how_to_add_a_file(atlas_home: Path) -> None:
    done = geosleuth("atlas", "get", "andorra", "--yes", "--mirror", "http://127.0.0.1:1")
    assert done.returncode == 1
    assert "can't be reached" in done.stderr
    assert "or add a file that you have: geosleuth atlas add FILE.osm.pbf" in done.stderr
    assert left_behind(atlas_home) == []


def test_the_catalogue_is_fetched_once_and_anew_for_an_update(server: ExtractServer, tmp_path: Path) -> None:
    server.offer("switzerland", tiny_extract(tmp_path, 40))
    get(server, "andorra")
    get(server, "switzerland")
    asked = [path for _, path, _ in server.asked]
    assert asked.count("/index-v1.json") == 1
    server.files["/index-v1.json"] = catalogue()
    get(server, "--update")
    assert [path for _, path, _ in server.asked].count("/index-v1.json") == 2


@pytest.mark.usefixtures("atlas_home")
def test_a_models_finding_on_no_map_names_the_command(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai")
    with openai_server([FINAL]) as url:
        shown = " ".join(locate_here(photo_file(tmp_path), *at(url)).out.split())
    assert "would help a map of Monaco, which this machine lacks. Fetch it with: geosleuth atlas get Monaco (" in shown
