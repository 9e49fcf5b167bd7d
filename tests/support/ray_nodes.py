"""A Ray cluster of several nodes on this machine, and the killing of one of them."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from geosleuth.lab.bench.run.cluster import close_environment, quiet_environment, without_api_server
from python_path import python_path

SUPPORT = Path(__file__).parent
# A dead node is noticed after five seconds instead of fifteen, yet a busy machine is not taken for a dead one.
_HEALTH = {
    "health_check_initial_delay_ms": 2000,
    "health_check_period_ms": 1000,
    "health_check_timeout_ms": 4000,
    "health_check_failure_threshold": 4,
}
_STORE_BYTES = 80 * 1024 * 1024


class Nodes:
    """The nodes; ``folder`` is where Ray keeps its logs and sockets."""

    def __init__(self, cluster: Any, folder: Path) -> None:
        self._cluster, self.folder = cluster, folder
        self._parents: dict[int, str] = {}

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def make_three(self) -> None:
        """See to it that there are three."""
        with without_api_server():
            while len(self._cluster.list_all_nodes()) < 3:
                head = {"_system_config": _HEALTH} if self._cluster.head_node is None else {}
                self._cluster.add_node(
                    num_cpus=1,
                    object_store_memory=_STORE_BYTES,
                    include_dashboard=False,
                    temp_dir=str(self.folder),
                    **head,
                )

    def of_process(self, pid: int) -> Any:
        """The node whose child a process is; None for the head's, which can't be killed."""
        if pid not in self._parents:
            found = subprocess.run(["ps", "-o", "ppid=", "-p", str(pid)], capture_output=True, text=True, check=False)
            self._parents[pid] = found.stdout.strip()
        parent = self._parents[pid]
        workers = [node for node in self._cluster.list_all_nodes() if node is not self._cluster.head_node]
        for node in workers:
            if any(str(one.process.pid) == parent for one in node.all_processes.get("raylet", [])):
                return node
        return None

    def kill(self, node: Any, *pids: int) -> None:
        """Kill a node with its processes: these might finish their tasks otherwise."""
        for one in node.all_processes.get("raylet", []):
            one.process.kill()
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self._cluster.remove_node(node, allow_graceful=False)


@contextmanager
def ray_nodes(**environment: str) -> Iterator[Nodes]:
    """Three nodes with a core each; what is in the environment is in theirs too."""
    # Sockets may have no longer paths than about a hundred characters.
    folder = Path(tempfile.mkdtemp(prefix="gs-", dir="/tmp"))
    before = dict(os.environ)
    (folder / "ray").mkdir()
    # In the folder for temporary files Ray notes which cluster is the newest: another one's tests may run beside these.
    os.environ.update(environment, PYTHONPATH=python_path(SUPPORT), RAY_TMPDIR=str(folder))
    quiet_environment()
    close_environment()
    from ray.cluster_utils import Cluster

    cluster: Any = Cluster(shutdown_at_exit=False)
    try:
        nodes = Nodes(cluster, folder)
        nodes.make_three()
        yield nodes
    finally:
        cluster.shutdown()
        os.environ.clear()
        os.environ.update(before)
        shutil.rmtree(folder, ignore_errors=True)
