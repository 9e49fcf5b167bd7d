"""What the ``trajectory`` commands do once their words are read; imported only when one runs."""

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import typer

from geosleuth.agent import Method, Trajectory, first_difference, read_trajectory, rebuild_album, replay
from geosleuth.agent import write_trajectory as write_file
from geosleuth.agent.exports import export, image_path, import_, record_line, records_in, write_images
from geosleuth.agent.locating import album_photos
from geosleuth.agent.methods import METHODS, made_with
from geosleuth.app.atlas_work import building
from geosleuth.app.console import show, show_json, talk
from geosleuth.app.overwriting import refuse_to_replace
from geosleuth.app.trajectory_views import run_document, run_view
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.base import ensure_base
from geosleuth.errors import BadInput
from geosleuth.files import replacing
from geosleuth.photo import Album, BoxScale, Photo, open_photo
from geosleuth.photo.views import FIRST_VIEW_PIXELS
from geosleuth.tools import Case, Toolset, image_info
from geosleuth.tools.catalogue import all_tools


def show_run(file: Path, *, whole: bool, as_json: bool) -> None:
    """A run for people, or what came of it for programs."""
    trajectory = read_trajectory(file)
    if as_json:
        show_json(run_document(trajectory))
    else:
        show(run_view(trajectory, whole=whole))
    if trajectory.torn:
        talk("the file ends in the middle of a line: whoever wrote it was killed; that line is left out")


def export_runs(
    files: Sequence[Path], dialect: str, out: Path, photos: Sequence[Path], images: Path | None, *, overwrite: bool
) -> None:
    """One record a run, one run in memory at a time; nothing is written unless all can be."""
    if photos and len(files) > 1:
        raise BadInput("photos belong to one run: export each run with its own photos")
    if images is not None and not photos:
        raise BadInput("--images needs the photos of the run: --photo PHOTO")
    if any(file.exists() and out.exists() and file.samefile(out) for file in files):
        raise BadInput(f"{out}: is one of the trajectories; choose another name")
    refuse_to_replace([out], overwrite=overwrite)
    with replacing(out) as neighbour, neighbour.open("wb") as stream:
        for file in files:
            trajectory = read_trajectory(file)
            try:
                stream.write(record_line(export(trajectory, dialect)))
            except BadInput as error:
                raise BadInput(f"{file}: {error}") from error
            if photos:
                _export_images(trajectory, photos, out.parent if images is None else images)
    talk(f"wrote {len(files)} {'record' if len(files) == 1 else 'records'} to {out}")


def _export_images(trajectory: Trajectory, photos: Sequence[Path], folder: Path) -> None:
    rebuilt = rebuild_album(trajectory, _photos_in(photos), max_pixels=_first_view_pixels(trajectory))
    missing = write_images(trajectory, rebuilt, folder)
    home = (folder / image_path(trajectory.id, "image-1")).parent
    talk(f"wrote {len({image.handle for image in trajectory.images}) - len(missing)} images to {home}")
    if missing:
        talk(f"not written, since no photo shows them: {', '.join(missing)}")


def _photos_in(paths: Sequence[Path]) -> list[Photo]:
    """What the album of a run on these photos begins with; of a panorama its views."""
    return [photo for path in paths for photo, _ in album_photos(open_photo(path))]


def import_runs(file: Path, dialect: str, folder: Path, *, as_json: bool) -> None:
    """One trajectory file a record, named by its id; no file is overwritten, and none is written unless all can be."""
    records = 0
    try:
        for path, _ in _imports(file, dialect, folder):
            records += 1
            if path.exists() or path.is_symlink():
                raise BadInput(f"{path}: is there already; choose another folder")
        if not records:
            raise BadInput(f"{file}: holds no record")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder}: can't be made: {error.strerror or error}") from error
    written: list[str] = []
    # Read a second time, so that only one run is in memory however many there are.
    for path, trajectory in _imports(file, dialect, folder):
        write_file(path, trajectory)
        written.append(str(path))
        if not as_json:
            sys.stdout.write(f"{path}\n")
    if as_json:
        show_json({"written": written})
    talk(f"wrote {len(written)} {'trajectory' if len(written) == 1 else 'trajectories'}")


def _imports(file: Path, dialect: str, folder: Path) -> Iterator[tuple[Path, Trajectory]]:
    """Every record as a trajectory, with the file that it goes to."""
    names: Counter[str] = Counter()
    taken: set[str] = set()
    for number, record in records_in(file):
        try:
            trajectory = import_(record, dialect)
        except BadInput as error:
            raise BadInput(f"{file}, record {number}: {error}") from error
        name = Path(image_path(trajectory.id, "")).parent.name
        own = name
        # Variants of one run keep its id; their files need names of their own, also where case makes no difference.
        while own.casefold() in taken or not names[name]:
            names[name] += 1
            own = name if names[name] == 1 else f"{name}-{names[name]}"
        taken.add(own.casefold())
        yield folder / f"{own}.jsonl", trajectory


def replay_run(file: Path, photos: Sequence[Path], *, as_json: bool) -> None:
    """Whether the loop, or the loop and its tools, do once more what was recorded."""
    trajectory = read_trajectory(file)
    method = _method_of(trajectory)
    toolset, case = _live(trajectory, method, _photos_in(photos)) if photos else (None, None)
    again = asyncio.run(replay(trajectory, method=method, toolset=toolset, case=case))
    difference = first_difference(trajectory, again)
    if as_json:
        tools = "live" if photos else "recorded"
        show_json({"same": difference is None, "events": len(again.events), "tools": tools, "difference": difference})
    elif difference is None:
        sys.stdout.write(f"the same: {len(again.events)} events\n")
    else:
        sys.stdout.write(f"not the same: {difference}\n")
    if difference is not None:
        raise typer.Exit(1)


def _live(trajectory: Trajectory, method: Method, photos: Sequence[Photo]) -> tuple[Toolset, Case]:
    """The tools of a run and a case as it was when the run began."""
    album = Album(method.first_view_pixels)
    for photo in photos:
        album.add(photo)
    case = Case(album, OfflineAtlas(), method.box_scale)
    if tuple(image_info(case, album[handle]) for handle in album.handles) != trajectory.task.images:
        sizes = ", ".join(f"{image.size[0]} x {image.size[1]}" for image in trajectory.task.images)
        raise BadInput(f"these are not the photos of this run, which were shown with {sizes} pixels, in this order")
    toolset = method.toolset(all_tools(), trajectory.started.tools)
    with building() as progress:
        ensure_base(progress)
    return toolset, case


def _method_of(trajectory: Trajectory) -> Method:
    """The method of a run, asking for boxes as it did then: its words tell."""
    started = trajectory.started
    if started.method not in METHODS:
        raise BadInput(
            f"this run was made with the method {started.method[:40]!r}, which can't be replayed here; "
            f"there are: {', '.join(METHODS)}"
        )
    scales: tuple[BoxScale, ...] = get_args(BoxScale)
    methods = [METHODS[started.method](scale) for scale in scales]
    return next((one for one in methods if one.system(started.task, started.tools) == started.system), methods[0])


def _first_view_pixels(trajectory: Trajectory) -> int:
    method = made_with(trajectory.started.method)
    return method.first_view_pixels if method else FIRST_VIEW_PIXELS
