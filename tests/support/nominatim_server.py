"""A real Nominatim 5 on this machine, with a PostgreSQL of its own in a folder of its own: for tests and benchmarks.

Debian has the database (``apt-get install postgresql postgresql-postgis osm2pgsql``), PyPI has Nominatim, which gets a
virtual environment of its own. PostgreSQL does not run as root: where we are root, the user ``postgres`` runs it.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

import httpx

PACKAGES = ("nominatim-db==5.3.3", "nominatim-api==5.3.3", "psycopg[binary]", "falcon", "uvicorn")
DEBIAN = "apt-get install postgresql postgresql-postgis postgresql-postgis-scripts osm2pgsql"
_ROOT = Path(__file__).resolve().parents[2]
_TUNING = {
    # Of Nominatim's installation guide, made smaller for extracts; what is lost in a power cut is made again.
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
    "work_mem": "50MB",
    "random_page_cost": "1.0",
    "synchronous_commit": "off",
    "fsync": "off",
    "full_page_writes": "off",
    "max_wal_size": "1GB",
}
_START_S = 60.0


class Missing(Exception):
    """A part is not installed; the message says which, and how to get it."""


def nominatim_python() -> Path:
    """Return the Python of the virtual environment with Nominatim, made where it is not there.

    Raises:
        Missing: it can't be installed.
    """
    folder = Path(os.environ.get("NOMINATIM_VENV") or _ROOT / ".cache" / "test-venvs" / "nominatim-5.3.3")
    python = folder / "bin" / "python"
    if not (folder / "done").is_file():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        done = subprocess.run(
            [python, "-m", "pip", "install", "-q", *PACKAGES], check=False, capture_output=True, text=True
        )
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            raise Missing(f"Nominatim can't be installed from PyPI: {lines[-1] if lines else 'pip failed'}")
        (folder / "done").touch()
    return python


def postgres_programs() -> Path:
    """Return the folder of the newest PostgreSQL's programs.

    Raises:
        Missing: PostgreSQL, PostGIS or osm2pgsql is not installed.
    """
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[4]))
    if not found or not shutil.which("osm2pgsql"):
        raise Missing(f"there is no PostgreSQL or no osm2pgsql here: {DEBIAN}")
    version = found[-1].parts[4]
    if not Path(f"/usr/share/postgresql/{version}/extension/postgis.control").is_file():
        raise Missing(f"there is no PostGIS for PostgreSQL {version} here: {DEBIAN}")
    return found[-1].parent


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@dataclass(frozen=True)
class Postgres:
    """A database server in a folder of its own, reached through a file alone."""

    folder: Path
    programs: Path

    def run(self, program: str, *arguments: str) -> str:
        """Run one of PostgreSQL's programs as the user who owns the folder; return what it prints."""
        as_other = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        command = [*as_other, str(self.programs / program), *arguments]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=self.folder, timeout=300)
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr[-2000:] or done.stdout[-2000:]}")
        return done.stdout

    def start(self) -> None:
        """Make the server's files, start it, and make the roles that Nominatim wants."""
        data = str(self.folder / "data")
        self.run("initdb", "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8")
        settings = {**_TUNING, "listen_addresses": "''", "unix_socket_directories": f"'{self.folder}'"}
        with (self.folder / "data" / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = {value}\n" for name, value in settings.items())
        self.run("pg_ctl", "-D", data, "-l", str(self.folder / "log"), "-w", "-t", "60", "start")
        self.run("createuser", "-h", str(self.folder), "-U", "postgres", "www-data")

    def stop(self) -> None:
        """Stop the server; connections are cut."""
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", "fast", "-w", "stop")

    def seconds_used(self) -> float:
        """Return the CPU seconds that the server's processes have used so far, those that ended included."""
        ticks, main = 0, int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(stat.parent.name) == main:
                ticks += sum(map(int, fields[11:15]))  # its own, and of children that ended
            elif int(fields[1]) == main:
                ticks += sum(map(int, fields[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Nominatim:
    """An imported extract: its database, its project folder, and the Python that answers from it."""

    postgres: Postgres
    project: Path
    python: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment of Nominatim's commands."""
        return {
            **os.environ,
            "NOMINATIM_DATABASE_DSN": f"pgsql:host={self.postgres.folder};dbname=nominatim;user=postgres",
            "NOMINATIM_DATABASE_WEBUSER": "www-data",
        }

    def command(self, *words: str) -> list[str]:
        """A command of Nominatim's."""
        return [str(self.python.with_name("nominatim")), *words, "--project-dir", str(self.project)]

    def import_extract(self, extract: Path, threads: int = 2) -> float:
        """Import an extract; return the seconds of CPU that it took, those of the database included."""
        begin, ours = self.postgres.seconds_used(), _children_seconds()
        words = ("import", "--osm-file", str(extract.resolve()), "--no-updates", "--threads", str(threads))
        done = subprocess.run(
            self.command(*words), env=self.environment, cwd=self.project, check=False, capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(f"nominatim import failed: {done.stderr[-3000:]}")
        return self.postgres.seconds_used() - begin + _children_seconds() - ours

    @contextmanager
    def serving(self) -> Iterator["Served"]:
        """Answer over HTTP on loopback, until the end or until it is stopped."""
        port = _free_port()
        with (self.project / "serve.log").open("w") as log:
            process = subprocess.Popen(
                self.command("serve", "--server", f"127.0.0.1:{port}"),
                env=self.environment, cwd=self.project, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        served = Served(f"http://127.0.0.1:{port}", process)
        try:
            served.wait()
            yield served
        finally:
            served.stop()


@dataclass(frozen=True)
class Served:
    """Nominatim's own web server."""

    url: str
    process: "subprocess.Popen[bytes]"

    def wait(self) -> None:
        """Wait until it answers."""
        end = time.monotonic() + _START_S
        while time.monotonic() < end and self.process.poll() is None:
            try:
                if httpx.get(f"{self.url}/status", timeout=5, trust_env=False).status_code == 200:
                    return
            except httpx.HTTPError:
                time.sleep(0.2)
        raise RuntimeError("nominatim serve did not answer")

    def stop(self) -> None:
        """Kill it, as a power cut would."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(30)


@contextmanager
def nominatim_of(extracts: Sequence[Path], folder: Path | None = None) -> Iterator[Nominatim]:
    """Set up a PostgreSQL and import extracts; both are gone afterwards.

    Raises:
        Missing: something is not installed.
    """
    python, programs = nominatim_python(), postgres_programs()
    own = Path(mkdtemp(prefix="nom-", dir=folder))  # a short path: the one of a socket has 107 characters at most
    try:
        database = own / "pg"
        database.mkdir()
        if os.geteuid() == 0:
            own.chmod(0o755)
            shutil.chown(database, "postgres")
        postgres = Postgres(database, programs)
        postgres.start()
        try:
            made = Nominatim(postgres, own / "project", python)
            made.project.mkdir()
            for extract in extracts:
                made.import_extract(extract)
            yield made
        finally:
            postgres.stop()
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _children_seconds() -> float:
    used = os.times()
    return used.children_user + used.children_system
