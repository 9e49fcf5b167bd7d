"""Evidence packages: a changed byte anywhere is found and named, and hostile zip files meet caps."""

import asyncio
import hashlib
import io
import json
import random
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import geosleuth
from forgeries import forged_levels, forged_lines, forged_reports, forged_results
from geosleuth.agent import ToolObserved
from geosleuth.atlas import OfflineAtlas
from geosleuth.cli.handlers.verify import reproduce_package
from geosleuth.photo import OpenedPhoto, open_photo
from geosleuth.report import report_html
from geosleuth.report.evidence_package import MANIFEST, MAX_FILES, Changed, evidence_package, open_package, pack_zip
from geosleuth.support.errors import BadInput
from in_process import whole_command
from serving import photo_bytes, recording, served_here

pytestmark = pytest.mark.usefixtures("atlas_home")
NAMES = {"README.txt", "report.html", "result.json", "tools.jsonl", "versions.json", "trajectory.jsonl", MANIFEST}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("evidence")
    (made / "photo.jpg").write_bytes(photo_bytes("Rue Grimaldi"))
    (made / "other.jpg").write_bytes(photo_bytes("Rue Grimaldi", size=(481, 320)))
    return made


@pytest.fixture(scope="module")
def model(folder: Path) -> str:
    return f"replay:{recording(folder / 'recorded.jsonl')}"


@pytest.fixture(scope="module")
def small(folder: Path, model: str) -> bytes:
    """A package with a short report, so that every part of it is met."""
    return evidence_package(geosleuth.locate(folder / "photo.jpg", model=model), "<p>report</p>")


def changed(folder: Path, data: bytes) -> str:
    """What is said about a package."""
    path = folder / "changed.zip"
    path.write_bytes(data)
    with pytest.raises(Changed) as caught:
        open_package(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def contents(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        assert file.testzip() is None
        return {name: file.read(name) for name in file.namelist()}


def with_manifest(files: Mapping[str, bytes]) -> bytes:
    """A package whose digests are right, whatever is in it."""
    inside = {name: content for name, content in files.items() if name != MANIFEST}
    told = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in inside.items())
    return pack_zip({**inside, MANIFEST: told.encode()})


def test_the_command_writes_one_and_verifies_it(folder: Path, model: str) -> None:
    case = folder / "case.zip"
    done = whole_command("locate", folder / "photo.jpg", "--model", model, "--out", case)
    assert done.returncode == 0, done.stderr
    digest = hashlib.sha256(case.read_bytes()).hexdigest()
    assert f"the SHA-256 of {case} is {digest}" in done.stderr
    files = contents(case.read_bytes())
    assert set(files) == NAMES
    result = json.loads(files["result.json"])
    assert result["photos"][0]["sha256"] == hashlib.sha256((folder / "photo.jpg").read_bytes()).hexdigest()
    asked = [json.loads(line)["asked"]["name"] for line in files["tools.jsonl"].splitlines()]
    assert len(asked) == result["spent"]["calls"]
    assert json.loads(files["versions.json"])["geosleuth"] == geosleuth.__version__
    told = whole_command("verify", case, "--photo", folder / "photo.jpg", "--sha256", digest.upper())
    assert told.returncode == 0, told.stdout
    assert "whole: 7 files" in told.stdout
    assert "the same when asked again" in told.stdout
    finding = next(line for line in told.stdout.splitlines() if line.startswith("finding: "))
    assert finding.endswith(result["answer"]["country"]["conclusion"])
    document = json.loads(whole_command("verify", case, "--json").stdout)
    assert (document["whole"], document["sha256"]) == (True, digest)


@pytest.mark.slow
def test_a_photo_is_opened_once(folder: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []

    def open_and_count(path: Path) -> OpenedPhoto:
        opened.append(path)
        return open_photo(path)

    for name in ("verify", "trajectory"):
        monkeypatch.setattr(f"geosleuth.cli.handlers.{name}.open_photo", open_and_count)
    case = folder / "once.zip"
    case.write_bytes(whole)
    reproduce_package(open_package(case), [folder / "photo.jpg"])
    assert opened == [folder / "photo.jpg"]


def test_another_photo_and_another_digest_are_named(folder: Path, small: bytes) -> None:
    case = folder / "small.zip"
    case.write_bytes(small)
    other = whole_command("verify", case, "--photo", folder / "other.jpg")
    assert (other.returncode, "other.jpg: is not photo 1 of the package" in other.stdout) == (1, True)
    digest = whole_command("verify", case, "--sha256", "0" * 64, "--json")
    assert (digest.returncode, "another than you were told" in json.loads(digest.stdout)["changed"]) == (1, True)
    many = whole_command("verify", case, "--photo", folder / "photo.jpg", "--photo", folder / "photo.jpg")
    assert (many.returncode, "about 1 photo" in many.stderr) == (2, True)


def test_other_programs_can_check_it_too(folder: Path, small: bytes) -> None:
    if shutil.which("sha256sum") is None:
        pytest.skip("sha256sum is not installed")
    with zipfile.ZipFile(io.BytesIO(small)) as file:
        file.extractall(folder / "unpacked")
    subprocess.run(["sha256sum", "--check", "--strict", MANIFEST], cwd=folder / "unpacked", check=True)


def test_every_byte_of_the_zips_own_is_watched(folder: Path, small: bytes) -> None:
    """All of them: those of contents are drawn below."""
    inside = set[int]()
    for content in contents(small).values():
        begin = small.index(content)
        inside |= set(range(begin, begin + len(content)))
    for at in sorted(set(range(len(small))) - inside):
        told = changed(folder, small[:at] + bytes([small[at] ^ 1]) + small[at + 1 :])
        named = "zip" in told or any(told.startswith(f"{name}:") for name in NAMES)
        assert named or "SHA256SUMS does not name it" in told, told


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=200)
@given(data=st.data())
def test_a_changed_byte_is_named_by_its_file(folder: Path, small: bytes, data: st.DataObject) -> None:
    files = contents(small)
    name = data.draw(st.sampled_from(sorted(files)))
    begin = small.index(files[name])
    at = begin + data.draw(st.integers(0, len(files[name]) - 1))
    flipped = small[at] ^ data.draw(st.integers(1, 255))
    assert changed(folder, small[:at] + bytes([flipped]) + small[at + 1 :]).startswith(f"{name}:")


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=100)
@given(cut=st.integers(1, 400), more=st.binary(max_size=40))
@example(cut=0, more=b"\0")
def test_what_is_cut_off_or_added_is_found(folder: Path, small: bytes, cut: int, more: bytes) -> None:
    spoilt = small[: len(small) - cut] + more
    if spoilt != small:
        changed(folder, spoilt)


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=200)
@given(noise=st.binary(max_size=300), keep=st.integers(0, 22))
def test_noise_is_no_package(folder: Path, small: bytes, noise: bytes, keep: int) -> None:
    path = folder / "noise.zip"
    path.write_bytes(noise + small[len(small) - keep :])
    with pytest.raises(BadInput, match=r"noise\.zip: no evidence package|^the (end of the zip file|zip's directory): "):
        open_package(path)


def test_a_photo_is_no_package_and_half_a_package_is_a_changed_one(folder: Path, small: bytes) -> None:
    photo = whole_command("verify", folder / "photo.jpg")
    assert (photo.returncode, photo.stdout) == (2, "")
    assert f"{folder / 'photo.jpg'}: no evidence package" in photo.stderr
    half = folder / "half.zip"
    half.write_bytes(small[: len(small) // 2])
    cut = whole_command("verify", half)
    assert (cut.returncode, cut.stdout.startswith("changed: the end of the zip file")) == (1, True)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("result.json", b'{"answer": {"lat": 1}, "trajectory": "x"}', "result.json: allowed_granularity is not one of"),
        ("result.json", b"[]", "result.json: is no JSON object"),
        ("versions.json", b"[" * 100_000, "versions.json: is no JSON object"),
        ("trajectory.jsonl", b"{}\n", "trajectory.jsonl: "),
        ("tools.jsonl", b"{}\n", "tools.jsonl: does not have the tool answers"),
    ],
)
def test_parts_that_contradict_each_other_are_named(
    folder: Path, small: bytes, name: str, content: bytes, told: str
) -> None:
    """Whoever makes digests anew has to make up the run as well."""
    assert changed(folder, with_manifest({**contents(small), name: content})).startswith(told)


@pytest.fixture(scope="module")
def whole(folder: Path, model: str) -> bytes:
    """A package as the command writes it."""
    case = folder / "whole.zip"
    done = whole_command("locate", folder / "photo.jpg", "--model", model, "--out", case)
    assert done.returncode == 0, done.stderr
    return case.read_bytes()


def verdict(folder: Path, data: bytes) -> str | None:
    """Return what `verify --photo` names as changed, or as maps that it can't draw; None where nothing is."""
    (folder / "forged.zip").write_bytes(data)
    try:
        package = open_package(folder / "forged.zip")
        reproduce_package(package, [])
        _, unproved = reproduce_package(package, [folder / "photo.jpg"])
    except BadInput as error:
        return str(error)
    return next((one for one in unproved if one.startswith("the maps in report.html")), None)


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_two_hundred_forgeries_are_named(folder: Path, whole: bytes, step: int) -> None:
    """Each states something else, with every digest made anew; the part of the package is named."""
    files = contents(whole)
    assert verdict(folder, whole) is None
    rng = random.Random(44)
    forgeries = [
        *forged_results(files, rng, 70),
        *forged_reports(files, rng, 40),
        *forged_lines("tools.jsonl", files, rng, 40),
        *forged_lines("trajectory.jsonl", files, rng, 50),
        *forged_levels(files),
    ]
    assert len(forgeries) >= 200
    unnoticed = []
    for what, forged in forgeries[::step]:
        said = verdict(folder, with_manifest(forged))
        if said is None or "\n" in said or not any(name in said for name in NAMES):
            unnoticed.append((what, said))
    assert unnoticed == []


@pytest.mark.parametrize(
    "forged",
    [{"handle": "Springfield"}, {"handle": ""}, {"handle": "a\nb"}, {"photo": 2}, {"photo": -5}, {"size": [1, 1]},
     {"box_in_original": [0, 0, 9999, 9999]}],
    ids=str,
)  # fmt: skip
def test_names_the_file_of_a_forged_picture(folder: Path, whole: bytes, forged: dict[str, Any]) -> None:
    files = contents(whole)
    lines = [json.loads(line) for line in files["trajectory.jsonl"].splitlines()]
    image = next(line for line in lines if "task" in line)["task"]["images"][0]
    assert image.keys() >= forged.keys()
    image.update(forged)
    spoilt = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines).encode()
    said = verdict(folder, with_manifest({**files, "trajectory.jsonl": spoilt}))
    assert said is not None
    assert said.partition(":")[0] in NAMES


def test_a_consistent_forgery_meets_the_photo_and_its_limits(folder: Path, model: str) -> None:
    """A run that is made up, with all that follows from it, is known by its tools; a model's words are not."""
    finding = geosleuth.locate(folder / "photo.jpg", model=model)
    events = list(finding.trajectory.events)
    at = next(at for at, event in enumerate(events) if isinstance(event.body, ToolObserved))
    seen = replace(events[at].body.observation, text="The sign says Springfield, Illinois.")
    events[at] = replace(events[at], body=replace(events[at].body, observation=seen))
    forged = replace(finding, trajectory=replace(finding.trajectory, events=tuple(events)))
    report = asyncio.run(report_html(forged, atlas=OfflineAtlas()))
    case = folder / "forged.zip"
    case.write_bytes(evidence_package(forged, report))
    alone = whole_command("verify", case)
    assert (alone.returncode, "not proved: the photos and what the tools answered" in alone.stdout) == (0, True)
    told = whole_command("verify", case, "--photo", folder / "photo.jpg")
    assert told.returncode == 1
    assert told.stdout.startswith("changed: trajectory.jsonl: asked again, the tools answer something else")
    assert "not proved: what a model said" in alone.stdout
    assert "not proved: who wrote it" in alone.stdout


def test_a_package_says_that_it_is_coarse_only_where_it_is(folder: Path, small: bytes) -> None:
    files = contents(small)
    result = json.loads(files["result.json"]) | {"allowed_granularity": "city", "granularity": "city"}
    forged = with_manifest({**files, "result.json": json.dumps(result).encode()})
    assert changed(folder, forged) == "result.json: allowed_granularity is 'city', and trajectory.jsonl tells more"


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed: install OpenSSH")
def test_a_signature_is_of_this_package_and_this_key(whole: bytes, tmp_path: Path) -> None:
    for name in ("own", "other"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    case, own = tmp_path / "case.zip", tmp_path / "own.pub"
    case.write_bytes(whole)
    missing = whole_command("verify", case, "--signed-by", own)
    assert (missing.returncode, "case.zip.sig: is not there" in missing.stdout) == (1, True)
    signed = whole_command("verify", case, "--sign", tmp_path / "own")
    assert (signed.returncode, f"wrote {case}.sig" in signed.stdout) == (0, True), signed.stdout + signed.stderr
    good = whole_command("verify", case, "--signed-by", own)
    assert (good.returncode, f"proved: signed with the key in {own}" in good.stdout) == (0, True), good.stdout
    assert "who wrote it" not in good.stdout
    other = whole_command("verify", case, "--signed-by", tmp_path / "other.pub")
    assert (other.returncode, "is no signature of this package by" in other.stdout) == (1, True)
    again = whole_command("verify", case, "--sign", tmp_path / "own")
    assert (again.returncode, "is there already" in again.stderr) == (2, True)
    private = whole_command("verify", case, "--signed-by", tmp_path / "own")
    assert (private.returncode, "is no public key of OpenSSH" in private.stderr) == (2, True)
    shutil.copy(f"{case}.sig", tmp_path / "small.zip.sig")
    (tmp_path / "small.zip").write_bytes(whole[:-40] + whole[-40:].replace(b"\0", b"\1", 1))
    assert whole_command("verify", tmp_path / "small.zip", "--signed-by", own).returncode == 1
    absent = whole_command("verify", case, "--signed-by", own, PATH=str(tmp_path))
    assert absent.returncode == 2
    assert "signatures need the program ssh-keygen, which is not installed; install OpenSSH" in absent.stderr


def made_by_zipfile(files: list[tuple[str, bytes]], **how: Any) -> bytes:
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", **how) as file:
        for name, content in files:
            file.writestr(name, content)
    return kept.getvalue()


def test_hostile_zip_files_meet_caps(folder: Path, small: bytes) -> None:
    files = contents(small)
    listed = list(files.items())
    bomb = made_by_zipfile([*listed, ("bomb", bytes(50_000_000))], compression=zipfile.ZIP_DEFLATED)
    assert "is packed, and packages are not" in changed(folder, bomb)
    for name in ("../../etc/passwd", "/etc/passwd", "a/b", "a\\b", ".hidden", "ä", "x" * 101):
        assert "is no name of a file in a package" in changed(folder, made_by_zipfile([(name, b"x"), *listed]))
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = made_by_zipfile([*listed, ("report.html", b"another")])
    assert "is in the package twice" in changed(folder, twice)
    many = made_by_zipfile([(f"f{at}", b"") for at in range(MAX_FILES + 1)])
    assert "1,001 files" in changed(folder, many)
    # The same bytes as many files: each would be read, and together they are far more than there is.
    large = pack_zip({"a": bytes(300_000)})
    entry, tail = large[large.rindex(b"PK\x01\x02") : -22], bytearray(large[-22:])
    tail[8:12], tail[12:16] = b"\x05\0\x05\0", (5 * len(entry)).to_bytes(4, "little")
    same = b"".join(entry[:-1] + letter.encode() for letter in "abcde")
    told = changed(folder, large[: -22 - len(entry)] + same + bytes(tail))
    assert "larger together than the package" in told


def test_a_file_that_is_missing_or_not_named_is_found(folder: Path, small: bytes) -> None:
    files = contents(small)
    fewer = {name: content for name, content in files.items() if name != "report.html"}
    assert changed(folder, pack_zip(fewer)).startswith("report.html: SHA256SUMS names it")
    assert changed(folder, with_manifest(fewer)).startswith("report.html: is not in the package")
    assert changed(folder, pack_zip({"note.txt": b"x", **files})).startswith("note.txt: is in the package, and")
    assert changed(folder, pack_zip({name: files[name] for name in files if name != MANIFEST})).startswith(MANIFEST)


def test_a_capped_package_tells_nothing_finer(folder: Path, model: str) -> None:
    case = folder / "capped.zip"
    done = whole_command("locate", folder / "photo.jpg", "--model", model, "--granularity", "country", "--out", case)
    assert done.returncode == 0, done.stderr
    for name, content in contents(case.read_bytes()).items():
        assert b"43.738" not in content, name
        assert b"photo.jpg" not in content or name == "README.txt", name
    told = whole_command("verify", case, "--photo", folder / "photo.jpg")
    assert (told.returncode, "the tools were not asked again" in told.stdout) == (0, True)


def test_the_server_hands_out_the_same_package(folder: Path, model: str) -> None:
    with served_here(folder / "cases") as server:
        run = server.start(server.case((folder / "photo.jpg").read_bytes()), model=model)
        assert server.over(run) == "done"
        reply = server.client.get(f"/api/runs/{run}/files/zip")
    (folder / "served.zip").write_bytes(reply.content)
    told = whole_command("verify", folder / "served.zip", "--photo", folder / "photo.jpg")
    assert told.returncode == 0, told.stdout + told.stderr


def test_a_batch_has_no_package(folder: Path) -> None:
    done = whole_command("locate", folder / "photo.jpg", folder / "other.jpg", "--out", folder / "both.zip")
    assert (done.returncode, "holds one finding" in done.stderr) == (2, True)


def test_what_is_not_there_can_not_be_verified(folder: Path) -> None:
    with pytest.raises(BadInput, match=r"nothing\.zip: can't be read"):
        open_package(folder / "nothing.zip")
    assert whole_command("verify", folder).returncode == 2
