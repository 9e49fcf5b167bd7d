"""Uploads that are meant to do harm: each is taken or refused in one line, and the server goes on, no larger."""

import random
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from attack_targets import PHOTO_FORMATS, photo_seeds
from mutations import spoilt_bytes
from serving import MOST_BYTES, Served, photo_bytes

MIB = 1024**2


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, packed: bytes) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def bombs() -> list[bytes]:
    """Small files that say or hold far more than they should."""
    zeros = zlib.compress(bytes(8 * MIB), 9)
    whole = photo_bytes("Rue Grimaldi")
    return [
        png(100_000, 100_000, zeros),
        png(2**31 - 1, 2**31 - 1, zeros),
        png(16_000, 12_400, zlib.compress(bytes(3 * 16_000 * 200), 9)),
        b"\xff\xd8\xff\xc0\x00\x11\x08\xff\xff\xff\xff\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01\xff\xd9",
        whole[: len(whole) // 2],
        whole[:20],
        b"GIF89a" + bytes(500),
        b"%PDF-1.7 <script>",
        b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
        bytes(5000),
        b"\x00",
    ]


def hostile(count: int) -> Iterator[bytes]:
    originals = [seed for form in PHOTO_FORMATS for seed in photo_seeds(form)]
    yield from bombs()[:count]
    for seed in range(count - len(bombs())):
        rng = random.Random(seed)
        yield spoilt_bytes(rng.choice(originals), rng.choice(originals), rng)


def memory_mib(pid: int) -> tuple[float, float]:
    """What a process holds, and the most that it ever held."""
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return tuple(int(lines[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))  # type: ignore[return-value]


def test_what_is_refused_leaves_nothing_behind(server: Served, home: Path) -> None:
    case = server.case()
    assert server.upload(case, photo_bytes()[:300]).status_code == 400
    assert server.client.get(f"/api/cases/{case}").json()["photos"] == []
    left = [path for path in (home / "data" / "service" / "cases" / case).rglob("*") if path.is_file()]
    assert left == []


def test_a_body_over_the_cap_is_cut_off_while_it_comes(cramped: Served) -> None:
    case = cramped.case()
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while sent < 50 * MIB:
            sent += MIB // 4
            yield bytes(MIB // 4)

    kind = {"Content-Type": "application/octet-stream"}
    # The server hangs up on us: whether its answer still reaches us is up to the system.
    with suppress(httpx.TransportError):
        reply = cramped.client.post(f"/api/cases/{case}/photos", content=endless(), headers=kind)
        assert (reply.status_code, reply.json()["error"]["kind"]) == (413, "size")
    assert sent < 25 * MIB
    assert cramped.client.get(f"/api/cases/{case}").json()["photos"] == []


def test_a_body_that_is_a_bit_too_large_gets_an_answer(cramped: Served) -> None:
    case = cramped.case()
    for photo in (bytes(MOST_BYTES + 1), bytes(MOST_BYTES * 2)):
        reply = cramped.upload(case, photo)
        assert (reply.status_code, reply.json()["error"]["kind"]) == (413, "size")
    words = cramped.client.post("/api/cases", json={"title": "x" * 2 * MIB})
    assert (words.status_code, words.json()["error"]["kind"]) == (413, "size")


@pytest.mark.parametrize("count", [15, pytest.param(1000, marks=pytest.mark.slow)])
def test_hostile_files_are_taken_or_refused_and_the_server_stays_small(server: Served, count: int) -> None:
    assert server.process is not None
    before, _ = memory_mib(server.process.pid)
    case, statuses = server.case(), []
    for number, data in enumerate(hostile(count)):
        if number % 20 == 0:
            server.client.delete(f"/api/cases/{case}")
            case = server.case()
        reply = server.upload(case, data, name=f"{number}.jpg")
        statuses.append(reply.status_code)
        if reply.status_code != 201:
            error = reply.json()["error"]
            assert (reply.status_code, error["kind"]) == (400, "input"), error
            assert "\n" not in error["message"]
            assert "Traceback" not in error["message"]
    assert len(statuses) == count
    # Both ways must be walked, or this proves nothing.
    assert min(statuses.count(201), statuses.count(400)) >= count / 20
    assert server.process.poll() is None
    after, peak = memory_mib(server.process.pid)
    assert after - before < 64
    assert peak < 600
    assert server.client.get("/api/health").status_code == 200
