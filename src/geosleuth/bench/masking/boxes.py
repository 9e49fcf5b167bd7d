"""What is hidden in each photo of a masked run: where its boxes come from, and when they are worked out.

Boxes of the data set and of an earlier run are looked up where the run is led, as each photo's turn comes; that costs
one small file a photo. Text is searched by whoever opens the photo, on whichever machine that is: it takes seconds, and
the photo is open there anyway.
"""

from pathlib import Path

from geosleuth.agent import read_trajectory
from geosleuth.bench.run.feeding import JobOf
from geosleuth.bench.run.folder import RunFolder
from geosleuth.bench.run.model import Job
from geosleuth.bench.sets import Box, BoxKind, DataSet, Item
from geosleuth.errors import BadInput
from geosleuth.photo import Photo

from .blanking import ALL_TEXT
from .clues import clue_boxes
from .text import text_boxes

HOW_TO_GIVE = (
    'give the table a column "boxes" with entries such as '
    '[{"kind": "%s", "box": [0.1, 0.2, 0.5, 0.3]}]: left, top, right, bottom in shares of width and height'
)


def boxes_for(kind: BoxKind, item: Item, photo: Photo) -> tuple[Box, ...]:
    """The boxes of one kind in one photo: those of the data set, or for text those that our reader finds.

    A photo without such a box has nothing of the kind, as far as the data set knows.
    """
    own = own_boxes(kind, item)
    return own or (text_boxes(photo) if kind == "text" else ())


def own_boxes(kind: BoxKind, item: Item) -> tuple[Box, ...]:
    """The boxes of one kind that the data set has for a photo."""
    return tuple(box for box in item.boxes if box.kind == kind)


def masking_job_of(kind: BoxKind, unmasked: Path | None = None, data: DataSet | None = None) -> JobOf:
    """What makes the jobs of a masked run, for `run_set`.

    Args:
        kind: what is hidden.
        unmasked: for ``clue``, the run without a mask, whose trajectories say what was looked at.
        data: the photos of the run; where given, it is checked that there are boxes for them.

    Raises:
        BadInput: there is nothing to hide, or nobody said where it is; the message says how to.
    """
    if kind == "clue" and unmasked is not None:
        return _ClueJobs(unmasked, data)
    if unmasked is not None:
        raise BadInput("--unmasked is the run whose clues are hidden; it goes with --mask clue")
    if data is not None and kind != "text" and not any(own_boxes(kind, item) for item in data):
        if kind == "clue":
            raise BadInput(
                "--mask clue hides what a run looked at; name that run, made without --mask: --unmasked RUN/"
            )
        raise BadInput(f"--mask {kind}: no photo of {data.card.name} has a box of that kind; {HOW_TO_GIVE % kind}")
    return _BoxJobs(kind)


class _BoxJobs:
    """Jobs that hide the data set's own boxes."""

    def __init__(self, kind: BoxKind) -> None:
        self._kind = kind

    def __call__(self, item: Item, name: str, number: int, content: bytes) -> Job:
        hide = own_boxes(self._kind, item) or ((ALL_TEXT,) if self._kind == "text" else ())
        return Job(name, item.id, number, content, hide)


class _ClueJobs:
    """Jobs that hide what an earlier run looked at."""

    def __init__(self, unmasked: Path, data: DataSet | None) -> None:
        self._folder = RunFolder.read(unmasked)
        if self._folder.manifest.mask is not None:
            raise BadInput(f"{unmasked}: is a run with a mask itself; --unmasked takes the run without one")
        self._answered = {one.id: one.number for one in self._folder.tries() if one.outcome == "answered"}
        missing = [item.id for item in data or () if item.id not in self._answered]
        if missing:
            raise BadInput(
                f"{unmasked}: has no answer for {len(missing):,} of the photos, such as {missing[0][:80]}; go on with "
                "that run first, or leave those photos out of this one"
            )

    def __call__(self, item: Item, name: str, number: int, content: bytes) -> Job:
        return Job(name, item.id, number, content, self._clues(item.id))

    def _clues(self, photo_id: str) -> tuple[Box, ...]:
        """What whoever answered looked at; of several minds, what any of them did."""
        number = self._answered.get(photo_id)
        if number is None:
            return ()
        files = self._folder.files_of(self._folder.name_of(photo_id), number)
        kept = [file for file in files if file.suffix == ".jsonl"]
        return tuple(dict.fromkeys(box for file in kept for box in clue_boxes(read_trajectory(file))))
