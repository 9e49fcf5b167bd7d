"""A Slurm cluster of two nodes on this machine: its own daemons, with their files in one folder."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

_PATH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin"))
_DAEMONS = ("munged", "slurmctld", "slurmd")
_SETTINGS = """\
ClusterName=here
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={0}
SlurmUser=root
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=here0 NodeHostname={host} NodeAddr=127.0.0.1 Port={1} CPUs=2
NodeName=here1 NodeHostname={host} NodeAddr=127.0.0.1 Port={2} CPUs=2
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def why_no_slurm() -> str | None:
    """Why there can be no cluster here; None where there can."""
    if absent := [name for name in (*_DAEMONS, "sbatch") if shutil.which(name, path=_PATH) is None]:
        return f"{', '.join(absent)} not installed: apt-get install slurmctld slurmd slurm-client munge"
    return None if os.geteuid() == 0 else "Slurm's daemons start jobs as root only"


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at."""
    with ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in found]


@contextmanager
def slurm_nodes(environment: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The nodes, as long as the block runs; gives the environment in which ``sbatch`` finds them."""
    folder = Path(tempfile.mkdtemp(prefix="gs-slurm-", dir="/tmp"))
    (folder / "state").mkdir()
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o400)
    host = socket.gethostname().partition(".")[0]
    settings = _SETTINGS.format(*free_ports(3), host=host, folder=folder)
    (folder / "slurm.conf").write_text(settings, encoding="utf-8")
    inside = {**environment, "SLURM_CONF": str(folder / "slurm.conf")}
    names = {
        "socket": "munge.socket",
        "key-file": "munge.key",
        "log-file": "log",
        "pid-file": "pid",
        "seed-file": "seed",
    }
    munge = ["--foreground", "--force", *(f"--{option}={folder / name}" for option, name in names.items())]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for command in (
            ["munged", *munge],
            ["slurmctld", "-D"],
            *(["slurmd", "-D", "-N", f"here{n}"] for n in range(2)),
        ):
            program = shutil.which(command[0], path=_PATH)
            with (folder / "output.txt").open("ab") as output:
                started.append(subprocess.Popen([str(program), *command[1:]], env=inside, stdout=output, stderr=output))
            _wait((folder / "munge.socket").exists, folder)
        _wait(lambda: _idle(inside) == 2, folder)
        yield inside
    finally:
        for one in reversed(started):
            one.send_signal(signal.SIGTERM)
        for one in reversed(started):
            one.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _idle(environment: dict[str, str]) -> int:
    asked = ["sinfo", "--noheader", "--states=idle", "--format=%D"]
    told = subprocess.run(asked, env=environment, capture_output=True, text=True, check=False)
    return int(told.stdout.strip() or 0)


def _wait(until: Callable[[], bool], folder: Path) -> None:
    end = time.monotonic() + 60
    while not until():
        assert time.monotonic() < end, (folder / "output.txt").read_text(encoding="utf-8")[-2000:]
        time.sleep(0.2)
