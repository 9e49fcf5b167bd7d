"""Evidence packages: a finding with all that led to it in one zip file, and the check that nothing in it was changed.

A package is written in one way only: files in the order of `SHA256SUMS`, none of them compressed, no dates, nothing
between or behind them. So the bytes follow from the names and contents, and a reader can write the same package again
and compare: whatever was changed shows, the zip's own headers included. Nothing is unpacked, so there is no bomb; names
are plain, so none leads out of a folder.
"""

import hashlib
import json
import platform
import re
import struct
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from geosleuth import __version__
from geosleuth.agent import Said, ToolObserved, Trajectory, event_to_dict, read_trajectory, write_trajectory
from geosleuth.agent.locate import Finding
from geosleuth.answer import answer_to_dict, to_precision
from geosleuth.errors import BadInput
from geosleuth.pipeline.result import Checked, answer_document, result_document

ENDING = ".zip"
MANIFEST: Final = "SHA256SUMS"
REPORT, RESULT, TOOLS, TRAJECTORY, VERSIONS = (
    "report.html", "result.json", "tools.jsonl", "trajectory.jsonl", "versions.json",
)  # fmt: skip
README: Final = "README.txt"

MOST_BYTES: Final = 256 * 1024 * 1024
MOST_FILES: Final = 1000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_TO_TRAIN = re.compile("extra == ['\"](train|all)")
_LINE = re.compile(r"([0-9a-f]{64})  ([^\n]*)\n")

_LOCAL, _ENTRY, _END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_FIXED = struct.Struct("<HHHHHLLLHH")
_MADE, _PLACE, _TAIL = struct.Struct("<H"), struct.Struct("<HHHLL"), struct.Struct("<HHHHLLH")
_VERSION, _DAY, _UNIX, _MODE = 20, 0x21, 3 << 8, 0o100644 << 16
_HEAD_BYTES, _ENTRY_BYTES, _END_BYTES = 30, 46, 22

_ABOUT = """An evidence package of geosleuth {version}: what a run found out about a photo, and all that led to it.

  report.html       the finding, to read
  result.json       the finding, for programs; holds the SHA-256 of each photo's file
  trajectory.jsonl  every step of the run (further ones: attempts, agents of a team)
  tools.jsonl       every tool call with its answer
  versions.json     the software and the maps that were used
  SHA256SUMS        the SHA-256 of each file

The photo itself is not a file of the package. Check the package with one of

  geosleuth verify case.zip
  geosleuth verify case.zip --photo photo.jpg
  unzip case.zip && sha256sum --check SHA256SUMS

Anyone who rewrites a whole package can make it consistent again. Compare the SHA-256 of the package with the one that
the sender gave you another way, or give the photo: the tools are then asked again.
"""


def evidence_package(finding: Finding, report: str, checked: Checked | None = None) -> bytes:
    """Return a finding as a package; nothing in it is finer than the finding may be told.

    Args:
        finding: capped already, if it is to be.
        report: its report, as HTML.
        checked: the verdict on a claimed place.
    """
    others = [one for one in (*finding.team, *finding.gave_way) if one is not finding.trajectory]
    runs = {TRAJECTORY: finding.trajectory} | {f"trajectory-{at}.jsonl": one for at, one in enumerate(others, 1)}
    files = {
        README: _ABOUT.format(version=__version__).encode(),
        REPORT: report.encode("utf-8", "backslashreplace"),
        RESULT: _json(result_document(finding, checked)),
        TOOLS: _tools(runs.values()),
        VERSIONS: _json(_versions(finding)),
        **{name: _lines(one) for name, one in runs.items()},
    }
    return packed({**files, MANIFEST: _manifest(files)})


def _manifest(files: Mapping[str, bytes]) -> bytes:
    return "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items()).encode()


def _json(document: Any) -> bytes:
    return f"{json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)}\n".encode(
        "utf-8", "backslashreplace"
    )


def _lines(trajectory: Trajectory) -> bytes:
    with tempfile.TemporaryDirectory(prefix="geosleuth-") as folder:
        path = Path(folder) / TRAJECTORY
        write_trajectory(path, trajectory)
        return path.read_bytes()


def _tools(runs: Iterable[Trajectory]) -> bytes:
    """Return every call with its answer, one a line, in the order of the runs."""
    answers = []
    for run in runs:
        calls = {
            call.id: call for event in run.events if isinstance(event.body, Said) for call in event.body.step.calls
        }
        for event in run.events:
            if isinstance(event.body, ToolObserved):
                seen = event_to_dict(event)
                call = calls.get(event.body.observation.call_id)
                asked = None if call is None else {"name": call.name, "arguments": call.arguments}
                answers.append(
                    {"run": run.id, "asked": asked, **{k: v for k, v in seen.items() if k not in ("seq", "kind")}}
                )
    return "".join(f"{json.dumps(one, ensure_ascii=False, default=str)}\n" for one in answers).encode(
        "utf-8", "backslashreplace"
    )


def _versions(finding: Finding) -> dict[str, Any]:
    from geosleuth.atlas import regions_dir
    from geosleuth.atlas.regions import RegionStore

    asked = [one for one in metadata.requires("geosleuth") or () if not _TO_TRAIN.search(one)]
    needed = {re.split(r"[ <>=!~;\[(]", one, maxsplit=1)[0] for one in asked}
    there = {one.metadata["Name"]: one.version for one in metadata.distributions() if one.metadata["Name"] in needed}
    regions = RegionStore(regions_dir()).list() if finding.granularity == "exact" else ()
    return {
        "geosleuth": __version__,
        "recorded_by": finding.trajectory.geosleuth,
        "python": platform.python_version(),
        "packages": dict(sorted(there.items())),
        "regions": [{"name": one.name, "sha256": one.sha256, "data_date": one.data_date} for one in regions],
    }


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return files as a zip file, in the one way that packages are written."""
    out, directory = bytearray(), bytearray()
    for name, content in files.items():
        spelled = name.encode("ascii")
        size = len(content)
        fixed = _FIXED.pack(_VERSION, 0, 0, 0, _DAY, zlib.crc32(content), size, size, len(spelled), 0)
        directory += _ENTRY + _MADE.pack(_UNIX | _VERSION) + fixed + _PLACE.pack(0, 0, 0, _MODE, len(out)) + spelled
        out += _LOCAL + fixed + spelled + content
    tail = _TAIL.pack(0, 0, len(files), len(files), len(directory), len(out), 0)
    return bytes(out + directory + _END + tail)


class Changed(BadInput):
    """A package is not as it was written; the message names the file in it, or the part of the zip."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package whose every byte is as it was written."""

    sha256: str
    files: Mapping[str, bytes]
    result: Mapping[str, Any]
    versions: Mapping[str, Any]

    def trajectory(self) -> Trajectory:
        """Return the run.

        Raises:
            Changed: it is none.
        """
        with tempfile.TemporaryDirectory(prefix="geosleuth-") as folder:
            path = Path(folder) / TRAJECTORY
            path.write_bytes(self.files[TRAJECTORY])
            try:
                return read_trajectory(path)
            except BadInput as error:
                raise Changed(f"{TRAJECTORY}: {str(error).removeprefix(f'{path}: ')}") from error


def open_package(path: Path) -> Package:
    """Check every byte of a package, and that its parts agree.

    Raises:
        BadInput: it can't be read, is larger than any package, or is none at all.
        Changed: something in it was changed; the message says what.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: can't be read: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > MOST_BYTES:
        raise BadInput(f"{path}: is larger than {MOST_BYTES // 1024**2} MiB; no package is")
    # One of both is left of a package that was cut off, or changed in any one byte.
    if not data.startswith(_LOCAL) and data[-_END_BYTES : -_END_BYTES + 4] != _END:
        raise BadInput(f"{path}: no evidence package")
    files = _checked(data)
    result, versions = _object(files, RESULT), _object(files, VERSIONS)
    package = Package(hashlib.sha256(data).hexdigest(), files, result, versions)
    _check_agreement(package)
    return package


def _checked(data: bytes) -> dict[str, bytes]:
    """Return the files of a package, each as its manifest says, in a zip that is as we write one."""
    files = dict(_entries(data))
    if MANIFEST not in files:
        raise Changed(f"{MANIFEST}: is not in the package")
    others = {name: content for name, content in files.items() if name != MANIFEST}
    if files[MANIFEST] != _manifest(others):
        # The zip's own checksums tell which of two that contradict each other was changed, unless it was with care.
        for name, crc, *_ in _directory(data):
            if zlib.crc32(files[name]) != crc:
                raise Changed(f"{name}: its content was changed")
        _check_manifest(files[MANIFEST], others)
    _check_bytes(data, files)
    return files


def _check_manifest(manifest: bytes, others: Mapping[str, bytes]) -> None:
    digests = _digests(manifest)
    for name, content in others.items():
        if name not in digests:
            raise Changed(f"{name}: is in the package, and {MANIFEST} does not name it")
        if hashlib.sha256(content).hexdigest() != digests[name]:
            raise Changed(f"{name}: its content is not what {MANIFEST} says")
    if missing := digests.keys() - others.keys():
        raise Changed(f"{min(missing)}: {MANIFEST} names it, and it is not in the package")
    raise Changed(f"{MANIFEST}: does not have the files in their order")


def _digests(manifest: bytes) -> dict[str, str]:
    lines = manifest.decode("ascii", "replace")
    found = _LINE.findall(lines)
    digests = {name: digest for digest, name in found}
    if "".join(f"{digest}  {name}\n" for digest, name in found) != lines or len(digests) != len(found):
        raise Changed(f"{MANIFEST}: is not a list of digests and names")
    return digests


def _directory(data: bytes) -> Iterator[tuple[str, int, int, int]]:
    """Yield name, checksum, place and size of each file, as the directory at the end has them."""
    if len(data) < _END_BYTES or data[-_END_BYTES : -_END_BYTES + 4] != _END:
        raise Changed("the end of the zip file: it is not where it should be")
    _, _, _, count, size, at, _ = _TAIL.unpack(data[-_END_BYTES + 4 :])
    if count > MOST_FILES:
        raise Changed(f"the zip's directory: it lists {count:,} files; a package has {MOST_FILES:,} at most")
    if at + size + _END_BYTES != len(data):
        raise Changed("the zip's directory: it does not lie where the end of the file says")
    for number in range(1, count + 1):
        fixed = data[at + 6 : at + 6 + _FIXED.size]
        if data[at : at + 4] != _ENTRY or len(fixed) < _FIXED.size or at + _ENTRY_BYTES > len(data):
            raise Changed(f"the zip's directory: entry {number} is damaged")
        _, _, method, _, _, crc, stored, whole, letters, more = _FIXED.unpack(fixed)
        name = data[at + _ENTRY_BYTES : at + _ENTRY_BYTES + letters].decode("ascii", "replace")
        *_, place = _PLACE.unpack(data[at + 6 + _FIXED.size : at + _ENTRY_BYTES])
        if not _NAME.fullmatch(name):
            raise Changed(f"the zip's directory: {name[:100]!r} is no name of a file in a package")
        if method or stored != whole or more:
            raise Changed(f"the zip's directory: {name} is packed, and packages are not")
        yield name, crc, place, whole
        at += _ENTRY_BYTES + letters


def _entries(data: bytes) -> Iterator[tuple[str, bytes]]:
    seen, together = set[str](), 0
    for name, _, place, size in _directory(data):
        if name in seen:
            raise Changed(f"{name}: is in the package twice")
        seen.add(name)
        begin = place + _HEAD_BYTES + len(name)
        if begin + size > len(data):
            raise Changed(f"the zip's directory: {name} would end behind the end of the file")
        # Files may overlap in the directory of a hostile zip: together they can't be more than there is.
        together += size
        if together > len(data):
            raise Changed("the zip's directory: its files are larger together than the package")
        yield name, data[begin : begin + size]


def _check_bytes(data: bytes, files: Mapping[str, bytes]) -> None:
    """Hold the zip against one that is written anew from the same files: names and contents leave no choice."""
    anew = packed(files)
    if anew == data:
        return
    at = next((at for at, (one, other) in enumerate(zip(anew, data, strict=False)) if one != other), len(anew))
    begin = 0
    for name, content in files.items():
        begin += _HEAD_BYTES + len(name) + len(content)
        if at < begin:
            raise Changed(f"the zip header of {name}: byte {at:,} of the package was changed")
    raise Changed(f"the zip's directory: byte {at:,} of the package was changed")


def _object(files: Mapping[str, bytes], name: str) -> dict[str, Any]:
    if name not in files:
        raise Changed(f"{name}: is not in the package")
    try:
        found = json.loads(files[name])
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Changed(f"{name}: is no JSON object")
    return found


def _check_agreement(package: Package) -> None:
    """Complain about parts that contradict each other: digests can be made anew, a run is harder to make up."""
    for name in (REPORT, TOOLS, TRAJECTORY):
        if name not in package.files:
            raise Changed(f"{name}: is not in the package")
    run = package.trajectory()
    # Packages of former days have rounded points, and do not say which candidates are whole countries.
    answers = () if run.answer is None else (run.answer, to_precision(run.answer))
    came_to = [json.loads(json.dumps(form(one))) for one in answers for form in (answer_document, answer_to_dict)]
    if package.result.get("trajectory") != run.id or (came_to and package.result.get("answer") not in came_to):
        raise Changed(f"{RESULT}: does not say what {TRAJECTORY} came to")
    if not package.files[TOOLS].startswith(_tools([run])):
        raise Changed(f"{TOOLS}: does not have the tool answers of {TRAJECTORY}")
