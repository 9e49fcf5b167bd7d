"""Starting a small Ray of our own, or joining a cluster that is there."""

import logging
import os
import secrets
import shutil
import socket
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from geosleuth.errors import BadInput, require

LOCAL = "local"
_CONNECT_S = 10.0
_QUIET = {
    # Ray sends its makers statistics of use unless it is told not to.
    "RAY_USAGE_STATS_ENABLED": "0",
    # Otherwise Ray warns that it will stop hiding GPUs from those who asked for none.
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
# Nodes then know this machine as 127.0.0.1; the name is that of systems where this is the rule.
_ON_LOOPBACK = ("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")


def quiet_environment() -> None:
    """Tell Ray to keep to itself; before it is imported."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)


def closed_environment() -> None:
    """Have a Ray that this process starts listen on loopback, and to nobody without this process's token.

    Left alone, newer versions of Ray put a token into the user's home, which changes how every later Ray there starts.
    Call it before Ray is imported.
    """
    os.environ.setdefault(*_ON_LOOPBACK)
    if "RAY_AUTH_MODE" not in os.environ:
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ.setdefault("RAY_AUTH_TOKEN", _token())


@cache
def _token() -> str:
    """One for the process, because Ray remembers the first that it has seen."""
    return secrets.token_hex(32)


@contextmanager
def joined(address: str) -> Iterator[Any]:
    """The module ray, connected; what was started for it ends with the block. Call it in a thread: it takes seconds.

    Raises:
        UserError: Ray is not installed, or there is no cluster at this address that this Python can join.
    """
    check_address(address)
    _check_listening(address)
    quiet_environment()
    if address == LOCAL:
        closed_environment()
    ray: Any = require("ray", extra="cluster")
    if ray.is_initialized():
        yield ray
        return
    # Short, because the sockets in it may have no longer path than about a hundred characters; and ours alone, since
    # photos pass through it.
    folder = tempfile.mkdtemp(prefix="gs-", dir=_short_folder()) if address == LOCAL else None
    try:
        with _not_on_stdout():
            _init(ray, address, folder)
            try:
                yield ray
            finally:
                ray.shutdown()
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def check_address(address: str) -> None:
    """Refuse what can't be the address of a cluster.

    Raises:
        BadInput: it is none.
    """
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if address not in (LOCAL, "auto") and not (host and colon and port.isdecimal()):
        raise BadInput(f"{address[:80]!r} is no address of a cluster; give local, auto, HOST:PORT or ray://HOST:PORT")


def _check_listening(address: str) -> None:
    """Ray takes minutes to say that nobody is there."""
    if address in (LOCAL, "auto"):
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_S):
            return
    except (OSError, OverflowError) as error:
        raise BadInput(
            f"nobody listens at {address}: {error}; is the cluster running, and is this the port of its head?"
        ) from error


def _init(ray: Any, address: str, folder: str | None) -> None:
    options: dict[str, Any] = {}
    if folder is not None:
        # One further down: Ray opens its own folder to everybody.
        options = {"include_dashboard": False, "_temp_dir": os.path.join(folder, "r")}  # noqa: PTH118  # Ray wants text
    try:
        with without_api_server():
            ray.init(
                address=address,
                namespace=f"geosleuth-{uuid.uuid4().hex}",
                log_to_driver=False,
                logging_level=logging.ERROR,
                **options,
            )
    except (ImportError, ConnectionError, ValueError, RuntimeError, AssertionError, TimeoutError, OSError) as error:
        ray.shutdown()
        said = " ".join(str(error).split())[:200]
        raise BadInput(f"the Ray cluster {address!r} can't be joined: {said}; {_advice(address)}") from error


def _advice(address: str) -> str:
    if address == LOCAL:
        return "is there room in /dev/shm and in the folder for temporary files?"
    if address == "auto":
        return "start one here with: ray start --head, or give its address"
    if address.startswith("ray://"):
        return "it wants the same Ray and Python here as there, and 'ray[client]' installed"
    return "run this on a machine of the cluster; where that wants a token, set RAY_AUTH_MODE=token here too"


@contextmanager
def without_api_server() -> Iterator[None]:
    """A Ray that is started in this block has no server for a dashboard, which its head would start in any case.

    Even with the dashboard and all statistics off, it asks cloud providers' metadata services where it runs. A run that
    is meant to stay on this machine must not ask anybody.
    """
    with _silenced(require("ray._private.node", extra="cluster").Node, "start_api_server"):
        yield


@contextmanager
def _not_on_stdout() -> Iterator[None]:
    """Ray prints what it notices about nodes on the driver's stdout, whatever it is told about logging.

    Stdout is for results; that a node was lost is said in words of our own.
    """
    with _silenced(require("ray._private.worker", extra="cluster"), "print_to_stdstream"):
        yield


@contextmanager
def _silenced(holder: Any, name: str) -> Iterator[None]:
    """Have a function of Ray's do nothing; where a version does not have it, there is nothing to do."""
    usual = getattr(holder, name, None)
    if usual is None:
        yield
        return

    def nothing(*_given: Any, **_options: Any) -> None:
        """Do nothing."""

    setattr(holder, name, nothing)
    try:
        yield
    finally:
        setattr(holder, name, usual)


def _short_folder() -> str | None:
    return "/tmp" if sys.platform != "win32" and os.access("/tmp", os.W_OK) else None  # noqa: S108  # made with mkdtemp
