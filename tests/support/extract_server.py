"""A real server of extracts on this machine: a catalogue in Geofabrik's form, files with ranges and checksums, faults.

with extract_server() as server:
    server.offer("europe/andorra", tiny_extract(tmp_path))
    ...  # geosleuth atlas get andorra --mirror server.url
"""

import hashlib
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

OFFICIAL = "https://download.geofabrik.de"

# West, south, east, north; as coarse as a test allows.
WORLD: Mapping[str, tuple[Mapping[str, Any], tuple[float, float, float, float]]] = {
    "europe": ({"name": "Europe"}, (-25, 34, 45, 72)),
    "andorra": ({"name": "Andorra", "parent": "europe", "iso3166-1:alpha2": ["AD"]}, (1.4, 42.4, 1.8, 42.7)),
    "switzerland": ({"name": "Switzerland", "parent": "europe", "iso3166-1:alpha2": ["CH"]}, (5.9, 45.8, 10.5, 47.9)),
    "germany": ({"name": "Germany", "parent": "europe", "iso3166-1:alpha2": ["DE"]}, (5.8, 47.2, 15.1, 55.1)),
    "bayern": ({"name": "Bayern", "parent": "germany", "iso3166-2": ["DE-BY"]}, (8.9, 47.2, 13.9, 50.6)),
    "georgia": ({"name": "Georgia", "parent": "europe", "iso3166-1:alpha2": ["GE"]}, (39.9, 41, 46.8, 43.6)),
    "great-britain": ({"name": "Great Britain", "iso3166-1:alpha2": ["GB"]}, (-8.7, 49.8, 1.8, 60.9)),
    "united-kingdom": ({"name": "United Kingdom", "iso3166-1:alpha2": ["GB"]}, (-9, 49.7, 2, 61)),
    "italy": ({"name": "Italy", "parent": "europe", "iso3166-1:alpha2": ["IT"]}, (6.6, 35.2, 18.6, 47.1)),
    "centro": ({"name": "Centro", "parent": "italy"}, (9.5, 40.7, 14.1, 44.5)),
    "asia": ({"name": "Asia"}, (25, -12, 180, 82)),
    "japan": ({"name": "Japan", "parent": "asia", "iso3166-1:alpha2": ["JP"]}, (122, 20, 154, 46)),
    "kanto": ({"name": "Kantō", "parent": "japan"}, (138.3, 34.8, 140.9, 37.2)),
    "malaysia-singapore-brunei": (
        {"name": "Malaysia, Singapore, and Brunei", "parent": "asia", "iso3166-1:alpha2": ["MY", "SG", "BN"]},
        (99, 0.8, 119.5, 7.6),
    ),
    "russia": ({"name": "Russian Federation", "iso3166-1:alpha2": ["RU"]}, (27, 41, 180, 82)),
    "central-fed-district": ({"name": "Central Federal District", "parent": "russia"}, (30.7, 49.5, 47.7, 59.7)),
    "africa": ({"name": "Africa"}, (-20, -36, 52, 38)),
    "egypt": ({"name": "Egypt", "parent": "africa", "iso3166-1:alpha2": "EG"}, (24.6, 21.9, 37, 31.8)),
    "us": ({"name": "United States of America", "iso3166-1:alpha2": ["US"]}, (-125, 24, -66, 49.5)),
    "us/california": ({"name": "us/california", "iso3166-2": ["US-CA"]}, (-124.6, 32.4, -114.1, 42.1)),
    "us/georgia": ({"name": "Georgia", "iso3166-2": ["US-GA"]}, (-85.7, 30.3, -80.7, 35.1)),
    "us/texas": ({"name": "us/texas", "iso3166-2": ["US-TX"]}, (-106.7, 25.8, -93.5, 36.6)),
}


def entry(name: str, about: Mapping[str, Any], box: tuple[float, float, float, float], url: str = "") -> dict[str, Any]:
    """A feature of a catalogue, as Geofabrik writes it."""
    west, south, east, north = box
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    return {
        "type": "Feature",
        "properties": {"id": name, **about, "urls": {"pbf": url or f"{OFFICIAL}/{name}-latest.osm.pbf"}},
        "geometry": {"type": "MultiPolygon", "coordinates": [[ring]]},
    }


def catalogue(*more: dict[str, Any]) -> bytes:
    """The test's catalogue of the world, and what else is given."""
    features = [entry(name, about, box) for name, (about, box) in WORLD.items()]
    return json.dumps({"type": "FeatureCollection", "features": [*features, *more]}).encode()


def tiny_extract(folder: Path, cafes: int = 300, day: str = "2026-11-16") -> bytes:
    """A sound extract of a few cafés in Andorra, large enough to be cut in two."""
    import osmium

    path = folder / f"tiny-{cafes}-{day}.osm.pbf"
    path.unlink(missing_ok=True)
    header = osmium.io.Header()
    header.set("osmosis_replication_timestamp", f"{day}T20:21:00Z")
    with osmium.SimpleWriter(str(path), header=header) as writer:
        for number in range(1, cafes + 1):
            where = (1.5 + (number * 7 % 97) / 1000, 42.5 + (number * 13 % 89) / 1000)
            name = hashlib.sha256(str(number).encode()).hexdigest()[:20]
            tags = {"amenity": "cafe", "name": f"Cafè {name}"}
            writer.add_node(osmium.osm.mutable.Node(id=number, location=where, tags=tags, version=1))
    return path.read_bytes()


@dataclass
class ExtractServer:
    """What the server has, and how it misbehaves.

    Attributes:
        files: path to content; each has the ETag of its content.
        redirects: path to where it is sent instead.
        cuts: how many bytes each of the next answers with a file gives before the connection breaks; None is all.
        headers: put into, or over, those of every answer with a file; an empty value leaves one out.
        has_ranges: whether ranges are heeded.
        drip_s: seconds between single bytes, which is how files are sent then; 0 sends them at once.
        stall_after: after how many bytes an answer with a file waits, until this is None again.
        asked: (method, path, headers) of every request.
    """

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    cuts: list[int | None] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    has_ranges: bool = True
    drip_s: float = 0.0
    stall_after: int | None = None
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)

    def offer(self, name: str, content: bytes, checksum: str | None = None) -> None:
        """Have an extract and the checksum beside it."""
        told = checksum or hashlib.md5(content, usedforsecurity=False).hexdigest()
        file = f"{name.rpartition('/')[2]}-latest.osm.pbf"
        self.files[f"/{name}-latest.osm.pbf"] = content
        self.files[f"/{name}-latest.osm.pbf.md5"] = f"{told}  {file}\n".encode()

    def bodies_asked(self) -> list[str]:
        """The ranges of all requests for extracts themselves; empty for a whole one."""
        return [
            headers.get("range", "")
            for method, path, headers in self.asked
            if method == "GET" and path.endswith((".pbf", ".zip", ".zstd.parquet", ".zim"))
        ]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    made: ExtractServer

    def _answer(self) -> None:
        heard = {name.lower(): value for name, value in self.headers.items()}
        self.made.asked.append((self.command, self.path, heard))
        if self.path in self.made.redirects:
            self._head(302, {"location": self.made.redirects[self.path]}, 0)
        elif self.path not in self.made.files:
            self._head(404, {}, 0)
        elif self.path.endswith((".pbf", ".zip", ".zstd.parquet", ".zim")):
            self._send_file(self.made.files[self.path], heard)
        else:
            self._head(200, {}, len(self.made.files[self.path]))
            self.wfile.write(self.made.files[self.path])

    do_GET = do_HEAD = _answer  # noqa: N815

    def _send_file(self, content: bytes, heard: Mapping[str, str]) -> None:
        etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        extra = {"etag": etag, "last-modified": "Mon, 16 Nov 2026 21:00:00 GMT"}
        begin, status = 0, 200
        if "range" in heard and self.made.has_ranges and heard.get("if-range", etag) == etag:
            first, _, last = heard["range"].removeprefix("bytes=").partition("-")
            begin, status = int(first), 206
            extra["content-range"] = f"bytes {begin}-{last or len(content) - 1}/{len(content)}"
            content = content[: int(last) + 1] if last else content
        self._head(status, extra | self.made.headers, len(content) - begin)
        if self.command == "GET":
            cut = self.made.cuts.pop(0) if self.made.cuts else None
            rest = content[begin:][:cut]
            if self.made.stall_after is not None:
                at_once = max(0, self.made.stall_after - begin)
                self.wfile.write(rest[:at_once])
                while self._stalls():
                    time.sleep(0.02)
                rest = rest[at_once:]
            while rest and self.made.drip_s:
                self.wfile.write(rest[:1])
                rest = rest[1:]
                time.sleep(self.made.drip_s)
            self.wfile.write(rest)
            self.close_connection = cut is not None

    def _stalls(self) -> bool:
        return self.made.stall_after is not None

    def _head(self, status: int, extra: Mapping[str, str], length: int) -> None:
        self.send_response(status)
        for name, value in {"content-length": str(length), **extra}.items():
            if value:
                self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def handle(self) -> None:
        with suppress(OSError):  # the client hung up
            super().handle()


@contextmanager
def extract_server() -> Iterator[ExtractServer]:
    """Serve until the block ends."""
    made = ExtractServer(files={"/index-v1.json": catalogue()})
    handler = type("Handler", (_Handler,), {"made": made})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.block_on_close = False
    made.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
