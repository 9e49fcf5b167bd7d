"""The journal: lines that come back as they went, half lines, damage, and what it adds up to."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.agent import Spent
from geosleuth.answer import Address, Answer
from geosleuth.geo import LatLon
from geosleuth.lab.bench.run.folder import LineWriter
from geosleuth.lab.bench.run.journal import (
    Index,
    TryRecord,
    header_line,
    read_tries,
    record_from_line,
    record_to_line,
    scan,
)
from geosleuth.models import Usage
from geosleuth.support.errors import BadInput

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def record(name: str = "00112233aabbccdd", number: int = 1, **changes: Any) -> TryRecord:
    answer = Answer(LatLon(43.7, 7.4), Address.create("Monaco"), 0.7, 2.0, "a \u2028 sign")
    spent = Spent(2, 3, 1, 1, 4.5, Usage(100, 20, 10, 0.25, 3.5, 2))
    plain = TryRecord(name, "paris-1", number, "answered", "answered", "policy", answer, spent, NOON, NOON, "ab" * 32)
    return replace(plain, **changes)


def write(path: Path, *records: TryRecord, end: bytes = b"") -> Path:
    path.write_bytes(header_line("run") + b"".join(record_to_line(one) for one in records) + end)
    return path


texts = st.none() | st.text(max_size=20)


@given(
    id=st.text(max_size=30),
    trouble=texts,
    host=texts,
    node=texts,
    cost=st.none() | st.floats(0, 1e6),
    point=st.none() | st.builds(LatLon, st.floats(-90, 90), st.floats(-180, 179)),
)
def test_a_line_comes_back_as_it_went(
    id: str,  # noqa: A002
    trouble: str | None,
    host: str | None,
    node: str | None,
    cost: float | None,
    point: LatLon | None,
) -> None:
    spent = Spent(1, 2, 3, 4, 5.5, Usage(6, 7, 8, cost, 9.5, 10))
    told = record(id=id, trouble=trouble, host=host, node=node, spent=spent, answer=Answer(point))
    line = record_to_line(told)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    if not any("\ud800" <= one <= "\udfff" for text in (id, trouble, host, node) for one in text or ""):
        assert record_from_line(line) == told


def test_the_newest_try_decides_unless_it_was_cut_off() -> None:
    index = Index()
    failed = record(outcome="failed", reason="service", answer=Answer(), trouble="is busy")
    index.add(failed, 100)
    index.add(replace(failed, number=2, outcome="interrupted"), 200)
    known = index.find_known(failed.image)
    assert known is not None
    assert (known.offset, known.tries, known.state) == (100, 2, "failed")
    index.add(record(number=3), 300)
    known = index.find_known(failed.image)
    assert known is not None
    assert (known.offset, known.tries, known.state) == (300, 3, "located")
    assert [index.count(one) for one in ("located", "failed", "interrupted", "unlocated")] == [1, 0, 0, 0]
    assert (index.tries, index.failed_tries, index.interrupted_tries) == (3, 1, 1)
    assert index.spent.usage.input_tokens == 300
    assert index.find_known("ffffffffffffffff") is None


def index_of(*spans: tuple[int, int]) -> Index:
    index = Index()
    for number, span in enumerate(spans):
        since, until = (NOON + timedelta(seconds=at_s) for at_s in span)
        index.add(record(f"{number:016x}", began=since, ended=until), 0)
    return index


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=20))
def test_time_is_that_of_all_seconds_in_which_a_try_went_on(spans: list[tuple[int, int]]) -> None:
    worked = {second for began, ended in spans for second in range(began, ended)}
    assert index_of(*spans).seconds == len(worked)


def test_a_line_without_an_end_is_not_read_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "j.jsonl", record())
    with path.open("ab") as stream:
        stream.truncate(path.stat().st_size + 65 * 1024 * 1024)
    for reading in (scan, lambda path: list(read_tries(path))):
        with pytest.raises(BadInput, match=r"j\.jsonl:3: a line of more than 64 MiB is not a line of a journal"):
            reading(path)


def test_a_torn_last_line_is_left_out_wherever_it_is_torn(tmp_path: Path) -> None:
    whole = [record(f"{number:016x}") for number in range(3)]
    last = record_to_line(record("f" * 16))
    kept = write(tmp_path / "j.jsonl", *whole).read_bytes()
    for cut in (1, 2, len(last) // 2, len(last) - 1):
        path = write(tmp_path / "j.jsonl", *whole, end=last[:cut])
        scanned = scan(path)
        assert (scanned.end, scanned.torn, scanned.index.tries) == (len(kept), True, 3)
        assert list(read_tries(path)) == whole


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (b"{\n", "line 3: this is not a line of JSON"),
        (b"\x00\x00\x00\n", "line 3: this is not a line of JSON"),
        (b"[]\n", "line 3: this is not a JSON object"),
        (b'{"image": "00"}\n', "line 3: not a line of a journal"),
        (record_to_line(record("0" * 16)), "line 3: try 1 of 0000000000000000 comes after try 1"),
        (record_to_line(record()).replace(b'"answered"', b'"perhaps"'), "line 3: not a line of a journal"),
        (record_to_line(record()).replace(b'"00112233aabbccdd"', b'"../../x"'), "line 3: not a line of"),
        (record_to_line(record()).replace(b'Z"', b'"'), "line 3: not a line of .*timezone"),
        (record_to_line(record(trouble="T")).replace(b'"T"', b'{"T":1}'), "line 3: not a line of"),
        (record_to_line(record()).replace(b'"turns":2', b'"turns":1e999'), "line 3: not a line of"),
    ],
)
def test_damage_in_the_middle_is_named_with_its_line(tmp_path: Path, damage: bytes, words: str) -> None:
    end = damage + record_to_line(record("e" * 16))
    path = write(tmp_path / "j.jsonl", record("0" * 16), end=end)
    with pytest.raises(BadInput, match=words):
        scan(path)


@pytest.mark.parametrize(
    "content", [b"", b"{}\n", b'{"format":"geosleuth-journal","version":9,"run":"x"}\n', b"\xff\n"]
)
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"j\.jsonl"):
        scan(path)


def test_lines_that_wait_share_one_turn_of_the_disk(tmp_path: Path) -> None:
    path = write(tmp_path / "j.jsonl")
    batches: list[int] = []
    after: list[tuple[str, int]] = []

    async def through() -> None:
        writer = LineWriter(
            path,
            path.stat().st_size,
            before=lambda records: batches.append(len(records)),
            after=lambda one, offset: after.append((one.image, offset)),
        )
        try:
            many = [record(f"{number:016x}") for number in range(500)]
            await asyncio.gather(*(writer.add(one) for one in many))
        finally:
            writer.close()
            writer.close()

    asyncio.run(through())
    assert sum(batches) == 500
    assert len(batches) < 250
    index = scan(path).index
    assert [index.find_known(name) for name, _ in after] == [
        known for name, offset in after if (known := index.find_known(name)) and known.offset == offset
    ]


def test_a_line_whose_writer_was_called_off_still_counts_and_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "j.jsonl")
    told: list[TryRecord] = []

    async def through() -> None:
        writer = LineWriter(
            path, path.stat().st_size, before=lambda _records: None, after=lambda one, _offset: told.append(one)
        )
        adding = asyncio.create_task(writer.add(record()))
        await asyncio.sleep(0)
        adding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await adding
        await writer.flush()
        assert told == [record()]
        writer.close()

    asyncio.run(through())
    assert list(read_tries(path)) == [record()]
