"""A Python in which nothing can reach for the network, and which writes down who tried.

    subprocess.run([...], env={**os.environ, **no_sockets(folder)})
    assert tries(folder) == ""

Two doors are shut. An audit hook sees whatever Python does: sockets other than those between threads of one process
(asyncio makes such a pair, AF_UNIX and without an address), connections, names looked up. On Linux a filter in the
kernel ends the process at once with SIGSYS if anything at all, a library in C too, makes such a socket.
"""

import platform
import sys
from pathlib import Path

from python_path import python_path

_HOOK = """
import os, socket, sys, traceback

_LOG = {log!r}
_REFUSED = {{
    "socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname",
    "socket.gethostbyaddr", "socket.getnameinfo",
}}


def _watch(event, arguments):
    if event == "socket.__new__" and arguments[1] == socket.AF_UNIX:
        return
    if event == "socket.__new__" or event in _REFUSED:
        with open(_LOG, "a") as log:
            callers = [f"{{frame.filename}}:{{frame.lineno}}" for frame in traceback.extract_stack()[-8:-1]]
            log.write(f"{{event}} {{arguments[1:]}} from {{' '.join(callers)}}\\n")
        raise PermissionError(f"no network here: {{event}}")


sys.addaudithook(_watch)
"""

# The numbers of the system call socket(2).
_SOCKET_CALL = {"x86_64": 41, "aarch64": 198}

_FILTER = """
import ctypes, struct


def _instruction(code, value, yes=0, no=0):
    return struct.pack("HBBI", code, yes, no, value)


_LOAD, _EQUAL, _RETURN, _ALLOW, _KILL = 0x20, 0x15, 0x06, 0x7FFF0000, 0x80000000
_program = b"".join((
    _instruction(_LOAD, 0),                           # the number of the call
    _instruction(_EQUAL, {call}, 0, 3),               # socket(2) or else: on to the last line
    _instruction(_LOAD, 16),                          # its first argument: the family
    _instruction(_EQUAL, int(socket.AF_UNIX), 1, 0),  # between processes of one machine: on to the last line
    _instruction(_RETURN, _KILL),
    _instruction(_RETURN, _ALLOW),
))
_buffer = ctypes.create_string_buffer(_program, len(_program))
_pointer = struct.pack("HP", len(_program) // 8, ctypes.addressof(_buffer))
_holder = ctypes.create_string_buffer(_pointer, len(_pointer))
_libc = ctypes.CDLL(None, use_errno=True)
if _libc.prctl(38, 1, 0, 0, 0) or _libc.prctl(22, 2, ctypes.byref(_holder), 0, 0):
    raise OSError(ctypes.get_errno(), "the kernel takes no filter")
"""


def kernel_can_watch() -> bool:
    """Whether the second door is there too."""
    return sys.platform == "linux" and platform.machine() in _SOCKET_CALL


def no_sockets(folder: Path) -> dict[str, str]:
    """What to add to the environment of a Python; its tries are kept in the folder."""
    code = _HOOK.format(log=str(folder / "tries.txt"))
    if kernel_can_watch():
        code += _FILTER.format(call=_SOCKET_CALL[platform.machine()])
    (folder / "sitecustomize.py").write_text(code, encoding="utf-8")
    return {"PYTHONPATH": python_path(folder)}


def tries(folder: Path) -> str:
    """Who tried, a line each."""
    path = folder / "tries.txt"
    return path.read_text(encoding="utf-8") if path.exists() else ""
