"""Every command of README.md runs to the letter, in the order in which it stands there, as after a fresh clone."""

import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from clips import board, still, write_clip
from foreground import hear_ctrl_c
from geosleuth.geo import LatLon
from geosleuth.support import errors
from geosleuth.support.errors import install_command
from homes import home_with_base
from in_process import parsed
from locating import FINAL
from openai_server import openai_server
from scenery import save, scene

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
(SHOWN,) = [text for _, text in BLOCKS if text[0] == "$"]
COMMANDS = [line for language, text in BLOCKS if not language and text[0] != "$" for line in text.splitlines()]
TABLE = [
    command
    for row in re.findall(r"^\| (`geosleuth .*?`) \|", README, re.MULTILINE)
    for command in row.strip("`").split("`, `")
]
ALL = [*COMMANDS, *TABLE]

NOT_RUN = {
    "python -m pip install": "downloads packages",
    "geosleuth locate my-photo.jpg --model hf:": "needs weights of 17 GB",
    "geosleuth train grpo": "needs weights and a GPU",
}
"""How a command begins, and why it is not run."""
SERVES = ("geosleuth review", "geosleuth serve")
MODEL_SERVER = "http://127.0.0.1:8000/v1"


@dataclass(frozen=True)
class Clone:
    """A clone with its environment, a home without anything of ours, and a model server on loopback."""

    folder: Path
    variables: dict[str, str]
    server: str

    def shell(self, line: str, before: list[str]) -> "subprocess.Popen[str]":
        """Start a command in a shell of its own in which ``before`` has happened."""
        script = "\n".join(["set -e", *before, f"exec {line}" if line.startswith(SERVES) else line])
        return subprocess.Popen(
            ["bash", "-c", script.replace(MODEL_SERVER, self.server)],
            cwd=self.folder,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=hear_ctrl_c,  # noqa: PLW1509  (one call, before any other)
        )


@pytest.fixture
def clone(tmp_path: Path, base_file: Path) -> Iterator[Clone]:
    folder, home = tmp_path / "geosleuth", tmp_path / "home"
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("nano"))
    shutil.copytree(ROOT / "scripts", folder / "scripts", ignore=shutil.ignore_patterns("data"))
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy2(ROOT / name, folder)
    make_environment(folder / ".venv")
    # What every first command would spend half a minute on.
    for place in (home / ".local/share/geosleuth", home / ".cache/geosleuth", folder / "out/demo-home"):
        place.mkdir(parents=True)
    home_with_base(folder / "out/demo-home", base_file)
    shutil.copytree(folder / "out/demo-home/cache", home / ".cache/geosleuth", symlinks=True, dirs_exist_ok=True)
    give_own_files(folder)
    with openai_server([FINAL]) as server:
        team = folder / "examples/team.yaml"
        team.write_text(team.read_text(encoding="utf-8").replace(MODEL_SERVER, server), encoding="utf-8")
        yield Clone(
            folder,
            {
                "HOME": str(home),
                "PATH": "/usr/local/bin:/usr/bin:/bin",
                "LANG": "C.UTF-8",
                "BROWSER": "true",
                "COLUMNS": "80",
                "OLLAMA_BASE_URL": server,
                "OPENAI_BASE_URL": server,
                "OPENAI_API_KEY": "no-real-key",
            },
            server,
        )


def make_environment(folder: Path) -> None:
    """Make what `make demo` installs from the developers' packages, which are there already."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    paths = (ROOT / "src", *dict.fromkeys(path for path in sys.path if path.endswith("site-packages")))
    (site / "developers.pth").write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
    command = folder / "bin" / "geosleuth"
    command.write_text(
        f'#!{folder}/bin/python\nfrom geosleuth.cli import main\nif __name__ == "__main__":\n    main()\n',
        encoding="utf-8",
    )
    command.chmod(0o755)
    (folder / "ready").touch()


def give_own_files(folder: Path) -> None:
    """Add what the README calls `my-…`."""
    save(scene(1, (200, 150)), folder / "my-holiday" / "1.jpg", LatLon(46.5, 2.5))
    shutil.copy(folder / "examples/photos/way-sign.jpg", folder / "my-photo.jpg")
    write_clip(folder / "my-clip.mp4", [still(board(1, "Rue Grimaldi"), 1.0)], rate=6, size=(854, 480))
    (folder / "my-photos.csv").write_text("image,lat,lon\nmy-photo.jpg,43.7354,7.4211\n", encoding="utf-8")


def test_every_command_runs_in_its_order(clone: Clone) -> None:
    before: list[str] = []
    said: dict[str, str] = {}
    for line in ALL:
        begin = cpu_seconds()
        if line.startswith(". "):
            before.append(line)
        elif line.startswith(SERVES):
            open_and_stop(clone, line, before)
        elif not line.startswith(tuple(NOT_RUN)):
            process = clone.shell(line, before)
            said[line], _ = process.communicate(timeout=300)
            assert process.returncode == 0, f"{line}\n{said[line][-4000:]}"
        print(f"{cpu_seconds() - begin:5.1f} s of CPU  {line}", flush=True)

    out = ""
    for line in SHOWN.splitlines():
        if line.startswith("$ "):
            # There it writes no report.
            out = next(words for command, words in said.items() if command.startswith(line.removeprefix("$ ")))
        elif line.strip() and line != "…":
            assert line in out, f"{line}\n{out}"


def cpu_seconds() -> float:
    """Return what the commands that have ended took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def open_and_stop(clone: Clone, line: str, before: list[str]) -> None:
    """Start a command that serves until Ctrl-C, open its page, and end it."""
    process = clone.shell(line.partition("#")[0] + " --port 0", before)
    clock = threading.Timer(180, process.kill)
    clock.start()
    with process:
        assert process.stdout is not None
        told = ""
        for said in process.stdout:
            told += said
            if address := re.search(r"http://127\.0\.0\.1:\d+\S*", said):
                assert httpx.get(address[0], trust_env=False).status_code == 200
                process.send_signal(signal.SIGINT)
                break
        told += process.stdout.read()
        assert process.wait(30) in (0, 130), f"{line}\n{told}"
        clock.cancel()
    assert address, f"{line}\n{told}"


def test_what_is_not_run_is_a_command_of_the_readme_and_is_understood() -> None:
    for beginning in NOT_RUN:
        assert [line for line in ALL if line.startswith(beginning)], beginning
    for line in ALL:
        if line.startswith(tuple(NOT_RUN)) and line.startswith("geosleuth "):
            assert parsed(shlex.split(line, comments=True)[1:])


def test_extras_are_installed_as_doctor_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Apart from where the environment and the clone lie."""
    monkeypatch.setattr(errors, "_find_install_source", lambda: (str(ROOT), True))
    (line,) = [line.partition("  ")[0] for line in COMMANDS if line.startswith("python -m pip")]
    (extras,) = re.findall(r"\[(.*)\]", line)
    said = install_command(extras).replace(sys.executable, "python").replace(f"{ROOT}/", "").replace(str(ROOT), ".")
    assert said == line
    assert set(extras.split(",")) <= set(
        tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    )


def test_figures_stand_on_the_pages_that_are_linked_beside_them() -> None:
    text = re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)
    compared = 0
    for paragraph in re.split(r"\n\s*\n", text):
        figures = re.findall(r"(\d+(?:\.\d+)?) %", paragraph)
        pages = [ROOT / page for page in re.findall(r"\]\((docs/[^)#]+\.md)", paragraph)]
        beside = "".join(page.read_text(encoding="utf-8") for page in pages)
        for figure in figures:
            assert figure in beside, f"{figure} is on none of {[str(page.relative_to(ROOT)) for page in pages]}"
        compared += len(figures)
    assert compared >= 2
