"""Every way things fail here, in one place.

A failure belongs to the party that can do something about it:

    GeosleuthError
    ├── UserError          the person at the keyboard can fix it: one line, what is wrong and what to do; exit code 2
    │   ├── BadInput       a file, an option or a record that can't be read as what it claims to be
    │   │   └── BadFile    the content of one file: code that downloaded it blames the server that sent it
    │   ├── MissingExtra   an optional part is not installed; the message is the install command
    │   └── BrokenPlugin   a part of another package can't be loaded; the message names it
    ├── ServiceFault       an online service failed or answered nonsense; names the host, says whether to try again
    │   └── Offline        the host can't be reached at all: no network, no such name, nothing listens there
    ├── NotRecorded        a run that is repeated from a record asks what the record has no answer to; exit code 1
    └── DataFault          something shipped with the package is broken; a bug of ours, exit code 1

What is *not* an error: a reply without coordinates. Parsers return an answer with no point, and scorers count it
as unlocated; they never raise on what a model wrote. Any other exception that reaches the command line is a bug and
keeps its traceback.
"""

import os
import shlex
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class GeosleuthError(Exception):
    """Base of all errors that this package raises on purpose.

    Messages quote files and replies: with any content, a message is one line of at most 2,000 characters.
    """

    exit_code = 1

    def __str__(self) -> str:
        words = super().__str__()[:2000]
        return words if words.isprintable() else "".join(word if word.isprintable() else " " for word in words)


class UserError(GeosleuthError):
    """The caller can fix this; the message says how in one line."""

    exit_code = 2


class BadInput(UserError):
    """A file, option or record is not what it claims to be."""


class BadFile(BadInput):
    """The content of a file is not what it should be."""

    def __init__(self, path: "Path", trouble: str, advice: str = "") -> None:
        """Name the file, what is wrong with it in words that go after its name, and what its owner can do."""
        super().__init__(f"{path} {trouble}{f'; {advice}' if advice else ''}")
        self.path = path
        self.trouble = trouble


class MissingExtra(UserError):
    """An optional part of the package is not installed."""

    def __init__(self, module: str, extra: str) -> None:
        """Name the module that is missing and the extra that brings it."""
        super().__init__(f"this needs {module}, which is not installed; run: {install_command(extra)}")
        self.module = module
        self.extra = extra


class BrokenPlugin(UserError):
    """A part that another package adds can't be loaded."""

    def __init__(self, plugin: str, trouble: str) -> None:
        """Name the part, as PACKAGE:NAME, and what went wrong."""
        package = plugin.partition(":")[0]
        super().__init__(f"the plug-in {plugin} can't be loaded: {trouble}; update or uninstall {package}")
        self.plugin = plugin


class ServiceFault(GeosleuthError):
    """An online service failed or answered something unusable; the message names the host and what was wrong.

    ``retryable`` says whether the same request may well succeed later: the service was busy, slow or broken, and did
    not refuse the request itself. ``service`` is the name under which its calls are counted, if they are.
    """

    service: str | None = None

    def __init__(self, host: str, trouble: str, *, retryable: bool = False) -> None:
        """Name the host and what went wrong there, in words that go after "host: "."""
        super().__init__(f"{host}: {trouble}")
        self.host = host
        self.trouble = trouble
        self.retryable = retryable


class Offline(ServiceFault):
    """The host can't be reached at all; what lies on this machine still answers."""

    def __init__(self, host: str, trouble: str) -> None:
        """Name the host and why it can't be reached."""
        super().__init__(host, trouble, retryable=True)


class NotRecorded(GeosleuthError):
    """A repetition asks what was not asked when its answers were recorded; nothing may stand in for the answer."""


class DataFault(GeosleuthError):
    """A table shipped with the package is missing or damaged."""


def install_command(extra: str) -> str:
    """The exact shell command that installs one extra where this Python looks for it.

    A plain ``pip`` may belong to another Python than the one that runs. Where geosleuth was installed from a folder or
    a file of this machine, the extra comes from there too: an index may not have the package, or another version. A
    folder's own constraints are followed.
    """
    source, editable = _find_install_source()
    wanted = f"{source or 'geosleuth'}[{extra}]"
    # Without pathlib, which every command would have to import.
    constraints = os.path.join(source or "", "constraints.txt")  # noqa: PTH118
    options = ["-c", shlex.quote(constraints)] if source and os.path.isfile(constraints) else []  # noqa: PTH113
    words = [shlex.quote(sys.executable or "python3"), "-m pip install", *options, *(["-e"] if editable else [])]
    return " ".join([*words, shlex.quote(wanted)])


def _find_install_source() -> tuple[str | None, bool]:
    """Return the local folder or file that geosleuth was installed from (PEP 610), and whether it is editable."""
    # Imported here: only those pay for it who lack something.
    import json
    from importlib import metadata
    from pathlib import Path
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        record = json.loads(metadata.distribution("geosleuth").read_text("direct_url.json") or "{}")
        address = urlsplit(record.get("url", ""))
        editable = bool(record.get("dir_info", {}).get("editable"))
    except (metadata.PackageNotFoundError, ValueError, AttributeError):
        return None, False
    path = url2pathname(address.path)
    return (path, editable) if address.scheme == "file" and Path(path).exists() else (None, False)


def require(module: str, *, extra: str) -> ModuleType:
    """Import an optional module, or raise the error that names the command which installs it.

    Only the absence of the module itself counts: an import that fails deeper down is a broken
    installation and surfaces as it is.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not (module == error.name or module.startswith(f"{error.name}.")):
            raise
        raise MissingExtra(module, extra) from error
