"""Evidence packages: a finding with all that led to it in one zip file, and the check that nothing in it was changed.

A package is written in one way only: files in the order of `SHA256SUMS`, none of them compressed, no dates, nothing
between or behind them. So the bytes follow from the names and contents, and a reader can write the same package again
and compare: any change shows, the zip's own headers included. Nothing is unpacked, so there is no bomb; names
are plain, so none leads out of a folder.
"""

import hashlib
import json
import platform
import re
import struct
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from geosleuth import __version__
from geosleuth.agent import (
    Answered,
    Noted,
    Said,
    ToolObserved,
    Trajectory,
    event_to_dict,
    read_trajectory,
    write_trajectory,
)
from geosleuth.agent.locate import EventBlanker, Finding
from geosleuth.answer import Granularity
from geosleuth.answer.granularity import GRANULARITIES, build_withheld_note
from geosleuth.geo import LatLon
from geosleuth.photo import Claims, SidecarClaim
from geosleuth.photo.nature import NATURES
from geosleuth.pipeline.result import ClaimCheck, result_document
from geosleuth.support.errors import BadInput

MANIFEST: Final = "SHA256SUMS"
REPORT, RESULT, TOOLS, TRAJECTORY, VERSIONS = (
    "report.html", "result.json", "tools.jsonl", "trajectory.jsonl", "versions.json",
)  # fmt: skip
README: Final = "README.txt"

MAX_BYTES: Final = 256 * 1024 * 1024
MAX_FILES: Final = 1000
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

Verifying makes result, report and tool list again from the trajectory; with the photo the tools are asked again, too.
What a model said is taken as recorded: whoever rewrites a whole package can make up another model's words. Compare the
SHA-256 of the package with the one that the sender gave you another way, or ask for a signature (case.zip.sig).
"""


def evidence_package(finding: Finding, report: str, checked: ClaimCheck | None = None) -> bytes:
    """Return a finding as a package; nothing in it is finer than the finding may be told.

    Args:
        finding: capped already, if it is to be.
        report: its report, as HTML.
        checked: the verdict on a claimed place.
    """
    others = [item for item in (*finding.team, *finding.gave_way) if item is not finding.trajectory]
    runs = {TRAJECTORY: finding.trajectory} | {f"trajectory-{at}.jsonl": one for at, one in enumerate(others, 1)}
    files = {
        README: _ABOUT.format(version=__version__).encode(),
        REPORT: report.encode("utf-8", "backslashreplace"),
        RESULT: _json(result_document(finding, checked)),
        TOOLS: _tools(runs.values()),
        VERSIONS: _json(collect_versions(finding)),
        **{name: _encode_trajectory(one) for name, one in runs.items()},
    }
    return pack_zip({**files, MANIFEST: _manifest(files)})


def _manifest(files: Mapping[str, bytes]) -> bytes:
    return "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items()).encode()


def _json(document: Any) -> bytes:
    return f"{json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)}\n".encode(
        "utf-8", "backslashreplace"
    )


def _encode_trajectory(trajectory: Trajectory) -> bytes:
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
    return "".join(f"{json.dumps(answer, ensure_ascii=False, default=str)}\n" for answer in answers).encode(
        "utf-8", "backslashreplace"
    )


def collect_versions(finding: Finding) -> dict[str, Any]:
    """Return the software and the maps that are installed here, as far as a finding may tell them."""
    from geosleuth.atlas import regions_dir
    from geosleuth.atlas.regions import RegionStore

    asked = [require for require in metadata.requires("geosleuth") or () if not _TO_TRAIN.search(require)]
    needed = {re.split(r"[ <>=!~;\[(]", item, maxsplit=1)[0] for item in asked}
    there = {
        distribution.metadata["Name"]: distribution.version
        for distribution in metadata.distributions()
        if distribution.metadata["Name"] in needed
    }
    regions = RegionStore(regions_dir()).list() if finding.granularity == "exact" else ()
    return {
        "geosleuth": __version__,
        "recorded_by": finding.trajectory.geosleuth,
        "python": platform.python_version(),
        "packages": dict(sorted(there.items())),
        "regions": [
            {"name": region.name, "sha256": region.sha256, "data_date": region.data_date} for region in regions
        ],
    }


def pack_zip(files: Mapping[str, bytes]) -> bytes:
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


@dataclass(frozen=True)
class Package:
    """A package whose every byte is as it was written."""

    sha256: str
    files: Mapping[str, bytes]
    result: Mapping[str, Any]
    versions: Mapping[str, Any]

    @property
    def granularity(self) -> Granularity:
        """The granularity of the finding, as the result says."""
        said = self.result.get("allowed_granularity")
        if said not in GRANULARITIES:
            raise Changed(f"{RESULT}: allowed_granularity is not one of {', '.join(GRANULARITIES)}")
        return said  # type: ignore[no-any-return]  # checked above

    @cached_property
    def runs(self) -> Mapping[str, Trajectory]:
        """The runs by their files' names, the finding's own first.

        Raises:
            Changed: one is none.
        """
        names = [TRAJECTORY, *(f"trajectory-{at}.jsonl" for at in range(1, len(self.files)))]
        return {name: self._load_run(name) for name in names if name in self.files}

    def _load_run(self, name: str) -> Trajectory:
        with tempfile.TemporaryDirectory(prefix="geosleuth-") as folder:
            path = Path(folder) / name
            path.write_bytes(self.files[name])
            try:
                return read_trajectory(path)
            except BadInput as error:
                raise Changed(f"{name}: {str(error).removeprefix(f'{path}: ')}") from error

    def finding(self, claims: Sequence[Claims] | None = None) -> Finding:
        """Return the finding as the runs have it; of claims that no photo gives, those that the result tells.

        Raises:
            Changed: the result names other runs, or tells claims that can't be.
        """
        told = self.result.get("team", {})
        try:
            ids = told["runs"] if "runs" in told else [item["trajectory"] for item in told.get("said", ())]
            stated = [_decode_claims(row) for row in self.result["photos"]]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Changed(f"{RESULT}: its team or its photos are not as they are written") from error
        by_id = {run.id: run for run in self.runs.values()}
        own = self.runs[TRAJECTORY]
        if missing := [item for item in ids if item not in by_id]:
            raise Changed(f"{RESULT}: names the run {str(missing[0])[:60]!r}, which is not in the package")
        # What lies beside the photo's file today says nothing of what lay there then, and pictures may be judged anew.
        known = (
            stated
            if claims is None
            else [
                replace(a, sidecars=b.sidecars, not_a_photo=b.not_a_photo) for a, b in zip(claims, stated, strict=True)
            ]
        )
        team = tuple(by_id[item] for item in ids)
        gave_way = tuple(item for item in by_id.values() if item.id not in ids and item is not own)
        return Finding(own, tuple(known), granularity=self.granularity, team=team, gave_way=gave_way)

    @property
    def claim_check(self) -> ClaimCheck | None:
        """The verdict on a claimed place, as the result tells it."""
        told = self.result.get("check")
        if told is None:
            return None
        try:
            lines = {name: tuple(map(str, told[name])) for name in ("speaks_for", "speaks_against")}
            return ClaimCheck(LatLon(**told["claimed"]), told["verdict"], str(told["reason"]), **lines)
        except (KeyError, TypeError, ValueError) as error:
            raise Changed(f"{RESULT}: its check is not as it is written") from error


def open_package(path: Path) -> Package:
    """Check every byte of a package, and that its parts agree.

    Raises:
        BadInput: it can't be read, is larger than any package, or is none at all.
        Changed: something in it was changed; the message says what.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: can't be read: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > MAX_BYTES:
        raise BadInput(f"{path}: is larger than {MAX_BYTES // 1024**2} MiB; no package is")
    # One of both is left of a package that was cut off, or changed in any one byte.
    if not data.startswith(_LOCAL) and data[-_END_BYTES : -_END_BYTES + 4] != _END:
        raise BadInput(f"{path}: no evidence package")
    files = _read_package(data)
    result, versions = _object(files, RESULT), _object(files, VERSIONS)
    package = Package(hashlib.sha256(data).hexdigest(), files, result, versions)
    _check_agreement(package)
    return package


def _read_package(data: bytes) -> dict[str, bytes]:
    """Return the files of a package, each as its manifest says, in a zip that is as we write one."""
    files = dict(_read_entries(data))
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
    if count > MAX_FILES:
        raise Changed(f"the zip's directory: it lists {count:,} files; a package has {MAX_FILES:,} at most")
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


def _read_entries(data: bytes) -> Iterator[tuple[str, bytes]]:
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
    anew = pack_zip(files)
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


def _decode_claims(row: Mapping[str, Any]) -> Claims:
    sides = [
        SidecarClaim(_decode_point(item["point"]), item["place"], item["estimated"], item["trouble"])
        for item in row["sidecar_claims"]
    ]
    claims = Claims("JPEG", 0, str(row["sha256"]), (0, 0), _decode_point(row["claimed_point"]))
    return replace(
        claims,
        estimated=bool(row["claim_estimated"]),
        sidecars=tuple(sides),
        not_a_photo=_decode_nature(row.get("not_a_photo")),
    )


def _decode_nature(nature: object) -> str | None:
    if nature not in (None, *NATURES):
        raise ValueError(f"{nature!r} is nothing that a picture looks like")
    return None if nature is None else str(nature)


def _decode_point(told: Mapping[str, float] | None) -> LatLon | None:
    return None if told is None else LatLon(**told)


def check_result(package: Package, finding: Finding) -> None:
    """Make the result again from the runs and compare it field by field.

    Raises:
        Changed: a field is another; the message names it.
    """
    again = json.loads(json.dumps(result_document(finding, package.claim_check)))
    if (difference := _first_difference(package.result, again)) is not None:
        raise Changed(f"{RESULT}: {difference}, and {TRAJECTORY} comes to something else")


def _first_difference(told: Any, again: Any, where: str = "") -> str | None:
    if isinstance(told, Mapping) and isinstance(again, Mapping):
        for name in {**told, **again}:
            place = f"{where}.{name}" if where else str(name)
            if name not in told or name not in again:
                return f"{place[:80]} is {'missing' if name not in told else 'no field of it'}"
            if (difference := _first_difference(told[name], again[name], place)) is not None:
                return difference
        return None
    if isinstance(told, list) and isinstance(again, list) and len(told) == len(again):
        pairs = enumerate(zip(told, again, strict=True))
        return next((found for at, (a, b) in pairs if (found := _first_difference(a, b, f"{where}.{at}"))), None)
    return None if told == again and type(told) is type(again) else f"{where} is {json.dumps(told)[:80]}"


def _check_granularity(package: Package) -> None:
    """Check that the runs tell what the result's granularity lets them tell, neither more nor less."""
    allowed = package.granularity
    notes = {build_withheld_note(level) for level in GRANULARITIES}
    for name, run in package.runs.items():
        blank = EventBlanker(allowed)
        for event in run.events:
            if isinstance(event.body, Answered | Noted):
                continue  # their places are capped by a gazetteer
            if blank(event) != event:
                raise Changed(f"{RESULT}: allowed_granularity is {allowed!r}, and {name} tells more")
            if allowed == "exact" and isinstance(event.body, ToolObserved) and event.body.observation.text in notes:
                raise Changed(f"{RESULT}: allowed_granularity is 'exact', and {name} withholds what the tools answered")


def _check_agreement(package: Package) -> None:
    """Complain about parts that contradict each other: digests can be made anew, and what follows from a run, too."""
    for name in (REPORT, TOOLS, TRAJECTORY):
        if name not in package.files:
            raise Changed(f"{name}: is not in the package")
    extra = package.files.keys() - {README, REPORT, RESULT, TOOLS, VERSIONS, MANIFEST} - package.runs.keys()
    if extra:
        raise Changed(f"{min(extra)}: is no part of a package")
    if package.files.get(README) != _ABOUT.format(version=package.versions.get("geosleuth")).encode():
        raise Changed(f"{README}: is not the one that packages have")
    if package.versions.get("recorded_by") != package.runs[TRAJECTORY].geosleuth:
        raise Changed(f"{VERSIONS}: recorded_by is not what {TRAJECTORY} says")
    if package.files[TOOLS] != _tools(package.runs.values()):
        raise Changed(f"{TOOLS}: does not have the tool answers of {TRAJECTORY}")
    _check_granularity(package)
    check_result(package, package.finding())
