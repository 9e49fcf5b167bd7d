"""What a masked run hides: where its boxes come from, and what is said where there are none."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from geosleuth.agent import Event, ToolObserved, Trajectory, read_trajectory
from geosleuth.agent.trajectory import write_trajectory
from geosleuth.geo import LatLon
from geosleuth.lab.bench.masking import ALL_TEXT, build_masking_jobs
from geosleuth.lab.bench.run.folder import RunFolder
from geosleuth.lab.bench.sets import Card, DataSet, DatasetBox, Item
from geosleuth.lab.score import Truth
from geosleuth.support.errors import BadInput
from geosleuth.tools import ImageInfo, Observation
from run_folders import Called, PhotoMade, TryMade, answer_at, write_run

HERE = Truth(LatLon(43.7, 7.4))
SIGN = DatasetBox("signs", 0.1, 0.2, 0.3, 0.4)
LINE = DatasetBox("text", 0.5, 0.5, 0.6, 0.55)


@dataclass(frozen=True)
class NoPicture:
    where: str = "nowhere"

    def read(self) -> bytes:
        return b""

    def size_bytes(self) -> int | None:
        return 0


def item(photo_id: str, *boxes: DatasetBox) -> Item:
    return Item(photo_id, NoPicture(), HERE, boxes=boxes)


def data_of(*items: Item) -> DataSet:
    card = Card(
        name="table", title="A table", photos=None, licence="", home="", get="", layout="", thresholds_km=()
    )  # fmt: skip
    return DataSet(card, Path(), lambda: items)


def run_that_zoomed(folder: Path, photo_id: str, boxes: Sequence[tuple[int, int, int, int]]) -> Path:
    """A finished run whose one photo of 640 x 480 pixels was zoomed into."""
    made = TryMade(answer_at(43.7, 7.4), calls=tuple(Called("image_zoom_in_tool") for _ in boxes))
    write_run(folder, [PhotoMade(photo_id, HERE, (made,))])
    run = RunFolder.read(folder)
    file = run.trajectory(run.build_name(photo_id), 1)
    trajectory = read_trajectory(file)
    left = list(boxes)

    def zoomed(event: Event) -> Event:
        if not isinstance(event.body, ToolObserved):
            return event
        image = ImageInfo(f"image-{event.index}", (800, 600), 1, left.pop(0))
        seen = event.body.observation
        observation = Observation(seen.call_id, seen.name, seen.text, images=(image,))
        return Event(event.index, event.at_s, ToolObserved(event.body.turn, observation))

    file.unlink()
    write_trajectory(file, Trajectory(tuple(map(zoomed, trajectory.events))))
    return folder


def test_the_data_set_says_where_signs_are() -> None:
    marked, other = item("a", SIGN, LINE), item("b", LINE)
    job_of = build_masking_jobs("signs", data=data_of(marked, other))
    assert job_of(marked, "00ff", 2, b"photo").hide == (SIGN,)
    job = job_of(other, "00fe", 1, b"photo")
    assert (job.hide, job.name, job.id, job.number, job.content) == ((), "00fe", "b", 1, b"photo")


@pytest.mark.parametrize("kind", ["signs", "poles", "foreground"])
def test_a_set_without_boxes_is_told_how_to_give_them(kind: str) -> None:
    with pytest.raises(BadInput, match=rf'no photo of table has a box .*"kind": "{kind}", "box": \[0\.1'):
        build_masking_jobs(kind, data=data_of(item("a", LINE)))  # type: ignore[arg-type]  # parametrize knows no literals


def test_text_is_searched_where_the_set_does_not_say_where_it_is() -> None:
    job_of = build_masking_jobs("text", data=data_of(item("a"), item("b", LINE)))
    assert job_of(item("a"), "00ff", 1, b"").hide == (ALL_TEXT,)
    assert job_of(item("b", LINE), "00fe", 1, b"").hide == (LINE,)


def test_clues_come_from_the_run_without_a_mask(tmp_path: Path) -> None:
    run = run_that_zoomed(tmp_path / "run", "a.jpg", [(0, 0, 320, 240), (64, 48, 128, 96), (320, 240, 480, 360)])
    job_of = build_masking_jobs("clue", run, data_of(item("a.jpg")))
    boxes = job_of(item("a.jpg"), "00ff", 1, b"").hide
    assert boxes == (DatasetBox("clue", 0.1, 0.1, 0.2, 0.2), DatasetBox("clue", 0.5, 0.5, 0.75, 0.75))


def test_clues_need_that_run_whole_and_without_a_mask(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--unmasked RUN/"):
        build_masking_jobs("clue", data=data_of(item("a.jpg")))
    run = run_that_zoomed(tmp_path / "run", "a.jpg", [])
    with pytest.raises(BadInput, match=r"no answer for 1 of the photos, such as b\.jpg"):
        build_masking_jobs("clue", run, data_of(item("a.jpg"), item("b.jpg")))
    masked = write_run(tmp_path / "masked", [], mask="text")
    with pytest.raises(BadInput, match="has a mask itself"):
        build_masking_jobs("clue", masked)
    with pytest.raises(BadInput, match="goes with --mask clue"):
        build_masking_jobs("text", run)
