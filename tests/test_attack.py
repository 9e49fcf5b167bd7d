"""What spoilt files once did, done again; and a small part of the attack that `make attack` runs whole."""

from pathlib import Path

import pytest

from attack_process import CASES, attack, can_guide, fault_in
from attack_targets import TARGETS

KEPT = sorted(path for path in CASES.rglob("*.case"))
SERVERS = ("mcp", "http")


@pytest.mark.parametrize("path", KEPT, ids=[f"{path.parent.name}-{path.stem}" for path in KEPT])
def test_what_was_a_fault_is_taken_or_refused_in_one_line(path: Path, tmp_path: Path) -> None:
    with TARGETS[path.parent.name].reading(tmp_path) as take:
        assert fault_in(take, path.read_bytes())[1] is None


def test_a_fault_is_found_made_small_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader with a hole, attacked as all others are: in a process of its own."""
    (tmp_path / "attack_targets.py").write_text(
        """
from contextlib import contextmanager
from types import SimpleNamespace
from mutations import spoilt_bytes
MEMORY_LIMIT = 1 << 31
@contextmanager
def reading(folder):
    def take(data):
        if b"hole" not in data:
            raise LookupError("fell in")
    yield take
seeds = lambda: [b"there is a hole here"]
TARGETS = {"made": SimpleNamespace(name="made", seeds=seeds, reading=reading, spoil=spoilt_bytes, seconds=10.0)}
"""
    )
    monkeypatch.setenv("ATTACK_TARGETS", str(tmp_path))
    came = attack("made", 0, 40, keep=tmp_path / "kept")
    assert came.taken + len(came.faults) == 40
    assert came.taken > 0
    assert came.faults[0].what.startswith("LookupError")
    (kept,) = (tmp_path / "kept" / "made").iterdir()
    assert kept.read_bytes() == b""


@pytest.mark.slow
@pytest.mark.parametrize("target", [name for name in TARGETS if not name.startswith("photo-")])
def test_spoilt_files_are_taken_or_refused(target: str, base_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTACK_BASE", str(base_file))
    came = attack(target, 7_000_000, 150 if target in SERVERS else 200)
    assert [fault.what for fault in came.faults] == []
    assert came.refused > 0 or target == "model-reply"
    assert came.taken > 0


@pytest.mark.slow
@pytest.mark.skipif(not can_guide(), reason="atheris is not installed: pip install --group attack")
def test_files_that_reach_new_lines_are_taken_or_refused() -> None:
    came = attack("recipe", 7_000_000, 300, guided=True)
    assert [fault.what for fault in came.faults] == []
    assert came.files == 300
