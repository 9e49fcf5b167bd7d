"""Maps over the API: no host is asked before it is named, downloads tell how far they are, faults are one line."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from extract_server import ExtractServer, extract_server, tiny_extract
from homes import home_with_base
from serving import Served, served


@pytest.fixture(scope="module")
def extracts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExtractServer]:
    with extract_server() as made:
        made.offer("andorra", tiny_extract(tmp_path_factory.mktemp("extracts")))
        yield made


@pytest.fixture(scope="module")
def asked(extracts: ExtractServer, tmp_path_factory: pytest.TempPathFactory, base_file: Path) -> Iterator[Served]:
    home = home_with_base(tmp_path_factory.mktemp("maps"), base_file)
    with served(home, environment={"GEOSLEUTH_EXTRACTS_URL": extracts.url}) as running:
        yield running


@pytest.fixture(autouse=True)
def settled(asked: Served, extracts: ExtractServer) -> Iterator[None]:
    """Online, with a server that does as it should; offline again afterwards."""
    extracts.cuts, extracts.headers = [], {}
    extracts.asked.clear()
    asked.client.put("/api/settings", json={"offline": False}).raise_for_status()
    yield
    asked.client.put("/api/settings", json={}).raise_for_status()


def offer(asked: Served, place: str = "Andorra", host: str = "127.0.0.1") -> Any:
    return asked.client.post("/api/maps/offers", json={"place": place, "host": host})


def start(asked: Served, size_bytes: int, host: str = "127.0.0.1") -> Any:
    return asked.client.post("/api/maps", json={"place": "Andorra", "host": host, "size_bytes": size_bytes})


def over(asked: Served) -> Any:
    until = time.monotonic() + 120
    while (job := asked.client.get("/api/maps").json()["job"])["state"] in ("downloading", "importing"):
        assert time.monotonic() < until, job
        time.sleep(0.05)
    return job


def test_the_host_is_named_before_it_is_asked(asked: Served, extracts: ExtractServer) -> None:
    assert asked.client.get("/api/maps").json()["host"] == "127.0.0.1"
    for refused in (offer(asked, host=""), offer(asked, host="download.geofabrik.de"), start(asked, 1, host="")):
        assert refused.status_code == 409
        assert refused.json()["error"]["kind"] == "consent"
        assert refused.json()["error"]["hosts"] == ["127.0.0.1"]
    asked.client.put("/api/settings", json={"offline": True}).raise_for_status()
    for refused in (offer(asked), start(asked, 1)):
        assert refused.status_code == 400
        assert "offline" in refused.json()["error"]["message"]
    assert extracts.asked == []


def test_faults_are_one_line_and_leave_nothing(asked: Served, extracts: ExtractServer) -> None:
    wrong = offer(asked, "Qqqqzzz")
    assert (wrong.status_code, wrong.json()["error"]["kind"]) == (400, "input")
    assert "no country, region or city is called" in wrong.json()["error"]["message"]
    absent = offer(asked, "Switzerland")
    assert (absent.status_code, absent.json()["error"]["kind"]) == (503, "service")
    found = offer(asked).json()
    assert "another file" in failed(asked, found["size_bytes"] + 1)
    content = extracts.files["/andorra-latest.osm.pbf"]
    extracts.offer("andorra", content, checksum="0" * 32)
    assert "checksum of andorra-latest.osm.pbf is wrong" in failed(asked, found["size_bytes"])
    extracts.offer("andorra", content)
    assert asked.client.get("/api/maps").json()["regions"] == []


def failed(asked: Served, size_bytes: int) -> str:
    assert start(asked, size_bytes).status_code == 202
    job = over(asked)
    assert job["state"] == "failed"
    assert job["trouble"].isprintable()
    return str(job["trouble"])


def test_a_download_can_be_stopped_and_goes_on(asked: Served, extracts: ExtractServer) -> None:
    found = offer(asked).json()
    extracts.stall_after = 3000
    assert start(asked, found["size_bytes"]).status_code == 202
    busy = start(asked, found["size_bytes"])
    assert (busy.status_code, busy.json()["error"]["kind"]) == (409, "state")
    until = time.monotonic() + 60
    while not (extracts.bodies_asked() and asked.client.get("/api/maps").json()["job"]["share"] > 0):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert asked.client.delete("/api/maps/job").status_code == 204
    extracts.stall_after = None
    assert asked.client.get("/api/maps").json()["job"]["state"] == "cancelled"
    assert start(asked, found["size_bytes"]).status_code == 202
    assert over(asked)["state"] == "done"
    assert extracts.bodies_asked()[-1] == "bytes=3000-"
    (region,) = asked.client.get("/api/maps").json()["regions"]
    assert (region["name"], region["day"], region["source"]) == ("andorra", "2026-11-16", "127.0.0.1")
    assert region["south"] < 42.55 < region["north"]
    again = offer(asked).json()
    assert (again["there"][:10], again["up_to_date"]) == ("2026-11-16", True)
    assert asked.client.get("/api/about").json()["regions"] == ["andorra"]


def test_another_machine_is_refused(asked: Served) -> None:
    from fastapi import FastAPI
    from fastapi.testclient import TestClient

    from geosleuth.server.http import maps
    from geosleuth.server.http.responses import RequestRefused

    app = FastAPI()
    app.include_router(maps.router)
    app.add_exception_handler(RequestRefused, lambda _, error: error.response())
    for peer, status in (("192.168.1.20", 403), ("::ffff:10.0.0.1", 403)):
        reply = TestClient(app, client=(peer, 5)).get("/api/maps")
        assert reply.status_code == status
        assert "geosleuth atlas get" in reply.json()["error"]["message"]
    assert asked.client.get("/api/maps").status_code == 200
