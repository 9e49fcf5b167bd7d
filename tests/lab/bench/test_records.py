"""Reading recorded answers: three layouts, hostile files, and errors that name their line."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.answer import Address, Answer, Level, answer_to_dict
from geosleuth.geo import LatLon
from geosleuth.lab.bench.records import Record, read_records
from geosleuth.lab.bench.scored import score_file
from geosleuth.lab.score import Truth
from geosleuth.support.errors import BadInput

# str.splitlines breaks at each of these; a record file must not.
LINE_LIKE = "\u2028 \u2029 \u0085 \x0b \x0c \x1c \x1d \x1e \r"
OWN: dict[str, Any] = {"id": "a", "truth": {"lat": 1.5, "lon": 2.5}, "reply": "lat: 1.0, lon: 2.0"}


def read(path: Path) -> list[Record]:
    return list(read_records(path))


def jsonl(folder: Path, *records: object, name: str = "answers.jsonl") -> Path:
    path = folder / name
    path.write_bytes(b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records))
    return path


def own(**changes: Any) -> dict[str, Any]:
    return {**OWN, **changes}


def refused(path: Path) -> str:
    """The error's message, which must be one line that begins with the file's name."""
    with pytest.raises(BadInput) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert len(message) < len(str(path)) + 400
    return message.removeprefix(str(path))


def test_own_layout_with_a_reply(tmp_path: Path) -> None:
    truth = {"lat": 48.86, "lon": 2.35, "country": "France", "region": "Île-de-France", "city": "Paris"}
    path = jsonl(tmp_path, own(truth=truth, kind="street", score=3, sure=True, nested={"x": 1}, nothing=None))
    (record,) = read(path)
    assert record.id == "a"
    assert record.truth == Truth(LatLon(48.86, 2.35), "France", "Île-de-France", "Paris")
    assert record.fields == {"kind": "street", "score": "3", "sure": "True"}
    assert record.read("lenient").point == LatLon(1.0, 2.0)
    assert record.read("strict").point is None


def test_own_layout_with_an_answer(tmp_path: Path) -> None:
    answer = Answer(LatLon(-33.9, 151.2), Address(country=Level("Australia")), probability=0.75, radius_km=3.0)
    bare = {key: value for key, value in answer_to_dict(answer).items() if key != "format"}
    path = jsonl(tmp_path, own(answer=answer_to_dict(answer)), own(answer=bare, reply=None), own(answer={}))
    full, short, empty = read(path)
    assert full.read("strict") == full.read("lenient") == answer
    assert short.read("strict") == answer
    assert empty.read("lenient") == Answer()


@pytest.mark.parametrize("name", ["pipe.jsonl", "pipe.csv", "pipe"])
def test_pipes_are_refused_at_once(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    assert "plain file" in refused(path) or ".jsonl or .csv" in refused(path)
    with pytest.raises(BadInput, match=name):
        score_file(path, parser="strict", distance="geodesic")


def test_published_layout(tmp_path: Path) -> None:
    truth = {"lat": 36.1, "lon": "120.4", "city": "青岛", "country": "中国", "image": "images/x.jpg", "split": "test"}
    line = {"index": 7, "data_source": "MAPBench_V1", "ground_truth": truth, "solution_str": '{"lat": 1}'}
    (record,) = read(jsonl(tmp_path, line))
    assert (record.id, record.repeat, record.reply) == ("images/x.jpg", "7", '{"lat": 1}')
    assert record.truth == Truth(LatLon(36.1, 120.4), country="中国", city="青岛")
    assert record.fields == {"data_source": "MAPBench_V1", "split": "test"}


def test_csv_with_points(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(
        "id,true_lat,true_lon,true_country,true_region,true_city,lat,lon,country,region,city,probability,radius_km,kind\n"
        "a,1,2,France,Normandie,Rouen,1.5,2.5,France,Normandie,Rouen,0.5,10,street\n"
        "b,-1,-2,,,,,,,,,,,\n",
        encoding="utf-8",
    )
    near, nowhere = read(path)
    assert near.truth == Truth(LatLon(1, 2), "France", "Normandie", "Rouen")
    said = near.read("lenient")
    assert (said.point, said.probability, said.radius_km) == (LatLon(1.5, 2.5), 0.5, 10)
    assert said.address == Address.create("France", "Normandie", "Rouen")
    assert near.fields == {"kind": "street"}
    assert nowhere.read("lenient") == Answer()
    assert (nowhere.fields, nowhere.truth) == ({}, Truth(LatLon(-1, -2)))


def test_csv_with_replies_that_hold_quotes_and_line_breaks(tmp_path: Path) -> None:
    reply = 'It says "here",\r\nso:\n\n{"lat": 1.0, "lon": 2.0, "city": "A, B", "country": "C"}'
    path = tmp_path / "answers.CSV"
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([["id", "true_lat", "true_lon", "reply"], ["a", 1, 2, reply], ["b", 1, 2, "no"]])
    first, second = read(path)
    assert first.reply == reply
    assert first.read("strict").point == LatLon(1, 2)
    assert second.id == "b"


def test_characters_that_look_like_line_ends_do_not_split(tmp_path: Path) -> None:
    reply = f"before {LINE_LIKE} after"
    first, second = read(jsonl(tmp_path, own(reply=reply), own(id="b")))
    assert (first.reply, second.id) == (reply, "b")
    table = tmp_path / "answers.csv"
    table.write_bytes(f'id,true_lat,true_lon,reply\na,1,2,"{reply}"\nb,1,2,x\n'.encode())
    first, second = read(table)
    assert (first.reply, second.id) == (reply, "b")


@given(reply=st.text(max_size=80), name=st.text(min_size=1, max_size=20))
def test_any_reply_and_id_survive_jsonl(tmp_path_factory: pytest.TempPathFactory, reply: str, name: str) -> None:
    path = jsonl(tmp_path_factory.mktemp("any"), own(id=name, reply=reply), own(id="end"))
    first, last = read(path)
    assert (first.id, first.reply, last.id) == (name, reply, "end")


def test_byte_order_mark_crlf_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "answers.ndjson"
    line = json.dumps(OWN).encode()
    path.write_bytes(b"\xef\xbb\xbf" + line + b"\r\n\r\n  \t\n" + line)
    assert [record.id for record in read(path)] == ["a", "a"]


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_an_empty_file_holds_no_record(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_bytes(content)
    assert read(path) == []
    with pytest.raises(BadInput, match=r"empty\.jsonl: no records found"):
        score_file(path, parser="lenient", distance="geodesic")


BAD_LINES = {
    "cut off": (b'{"id": "b", "truth": {"lat"', "not JSON"),
    "not UTF-8": (b'{"id": "\xff\xfe"}', "not UTF-8"),
    "lat word": (b'{"id": "b", "truth": {"lat": "north", "lon": 2}, "reply": ""}', "'north' is not a number"),
    "lat too high": (b'{"id": "b", "truth": {"lat": 90.01, "lon": 2}, "reply": ""}', "90.01"),
    "lat of 5000 digits": (b'{"id": "b", "truth": {"lat": 1%s, "lon": 2}, "reply": ""}' % (b"0" * 5000), "digits"),
    "no reply": (b'{"id": "b", "truth": {"lat": 1, "lon": 2}}', "'reply' is missing"),
    "half a point": (b'{"id": "b", "truth": {"lat": 1, "lon": 2}, "answer": {"lat": 1}}', "must be given together"),
    "sure of 2": (b'{"id": "b", "truth": {"lat": 1, "lon": 2}, "answer": {"probability": 2}}', "probability"),
    "long value": (b'{"id": "b", "truth": {"lat": 1, "lon": 2}, "answer": {"lat": "%s"}}' % (b"x" * 99_999), "xxx"),
    "deep": (b"[" * 200_000, "nested too deeply"),
}


@pytest.mark.parametrize("kind", BAD_LINES)
def test_a_bad_line_stops_the_reading_and_is_named(tmp_path: Path, kind: str) -> None:
    line, reason = BAD_LINES[kind]
    path = tmp_path / "answers.jsonl"
    path.write_bytes(json.dumps(OWN).encode() + b"\n\n" + line + b"\n" + json.dumps(OWN).encode())
    message = refused(path)
    assert message.startswith(":3: ")
    assert reason in message


CSV_HEAD = "id,true_lat,true_lon,lat,lon"
BAD_ROWS = {
    "too many cells": (CSV_HEAD, "b,1,2,3,4,5", "more cells"),
    "half a point": (CSV_HEAD, "b,1,2,3,", "lat and lon must be given together"),
    "point infinite": (CSV_HEAD, "b,1,2,inf,4", "inf"),
    "open quote": (f"{CSV_HEAD},reply", 'b,1,2,3,4,"never closed', "not CSV"),
}


@pytest.mark.parametrize("kind", BAD_ROWS)
def test_a_bad_row_stops_the_reading_and_is_named(tmp_path: Path, kind: str) -> None:
    header, row, reason = BAD_ROWS[kind]
    path = tmp_path / "answers.csv"
    good = "a,1,2,3,4" + "," * (header.count(",") - 4)
    path.write_text(f"{header}\n{good}\n{row}", encoding="utf-8")
    message = refused(path)
    assert message.startswith(":3: ")
    assert reason in message


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("", "it names nothing"),
        ("id,true_lat,true_lon", "it names id, true_lat, true_lon"),
        ("id,true_lat,true_lon,lat", "either reply or lat, lon"),
        ("name,lat,lon", "it names lat, lon, name"),
        ('{"id": "a", "reply": "x"}', "it names"),
        ("x" * 99_999, "it names xxx"),
        ("id,true_lat,true_lon,lat,lon,lat", "'lat' more than once"),
    ],
)
def test_a_wrong_header_says_what_is_wanted(tmp_path: Path, header: str, reason: str) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(f"{header}\na,1,2,3,4\n")
    assert reason in refused(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "missing.jsonl")
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    assert "directory" in refused(folder)
    for path in (tmp_path / "missing.jsonl", folder):
        with pytest.raises(BadInput, match=path.name):
            score_file(path, parser="strict", distance="geodesic")


def test_a_large_reply_is_read_and_an_endless_line_refused(tmp_path: Path) -> None:
    (record,) = read(jsonl(tmp_path, own(reply="x" * 5_000_000)))
    assert len(record.reply or "") == 5_000_000
    for name in ("endless.jsonl", "endless.csv"):
        path = tmp_path / name
        with path.open("wb") as stream:
            stream.write(b"" if name.endswith("l") else b"id,true_lat,true_lon,reply\n")
            stream.write(b'"')
            for _ in range(65):
                stream.write(b"x" * 1024 * 1024)
        assert "more than 64 MiB" in refused(path)


SCORED = """
import json, resource, sys
from pathlib import Path
from geosleuth.lab.bench.scored import score_file

scored = score_file(Path(sys.argv[1]), parser="strict", distance="great-circle")
try:
    # What getrusage says begins with what the parent had.
    (peak,) = (int(row.split()[1]) for row in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in row)
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([len(scored), scored.distance_km.min(), scored.distance_km.max(), peak]))
"""


@pytest.mark.slow
def test_a_million_records_fit(tmp_path: Path) -> None:
    n = 1_000_000
    path = tmp_path / "million.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for number in range(n):
            reply = rf"{{\"lat\": {number % 90}.25, \"lon\": {number % 180}.5, \"city\": \"A\", \"country\": \"B\"}}"
            stream.write(
                f'{{"id":"{number}","truth":{{"lat":{number % 90},"lon":{number % 180}}},"reply":"{reply}"}}\n'
            )
    # In a process of its own: what others of this one have taken counts for it, too.
    done = subprocess.run([sys.executable, "-c", SCORED, path], check=True, stdout=subprocess.PIPE, text=True)
    count, nearest, farthest, peak = json.loads(done.stdout)
    assert count == n
    assert 0 <= nearest < farthest < 100
    assert peak / (1024**2 if sys.platform == "darwin" else 1024) < 1500
