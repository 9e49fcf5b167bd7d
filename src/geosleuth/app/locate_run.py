"""One run as it was planned, and nothing of it finer than allowed: neither in the finding, nor in its file."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from geosleuth.agent import Event, Sink, Trajectory, TrajectoryWriter, rebuild_album, resume, write_trajectory
from geosleuth.agent.capping import EventBlanker
from geosleuth.agent.locating import Finding, album_photos, cap_finding, locate
from geosleuth.answer.granularity import Granularity
from geosleuth.app.locate_borrowed import with_borrowed
from geosleuth.app.locate_setup import Plan
from geosleuth.app.locate_team import Say, member_file, run_several, try_file
from geosleuth.atlas import Atlas, OfflineAtlas
from geosleuth.atlas.granular import OfflineGazetteer
from geosleuth.files import replacing
from geosleuth.photo import OpenedPhoto
from geosleuth.policies import Prompt
from geosleuth.tools import Case, ImageSearch


class BlankWriter(TrajectoryWriter):
    """Keeps the events of a run with every place taken out, so that a run that is killed leaves none behind."""

    def __init__(self, path: Path, granularity: Granularity) -> None:
        """Begin a file.

        Raises:
            BadInput: there is such a file already, or it can't be written.
        """
        super().__init__(path)
        self._blank = EventBlanker(granularity)

    def write(self, event: Event) -> None:
        """Add one event, blanked."""
        super().write(self._blank(event))

    __call__ = write


@dataclass(frozen=True, slots=True)
class Onwards:
    """A run on the same photos to go on from, and what a person says about it."""

    trajectory: Trajectory = field(repr=False)
    words: str


async def run_plan(
    plan: Plan,
    photos: Sequence[OpenedPhoto],
    atlas: Atlas,
    gazetteer_atlas: OfflineAtlas,
    *,
    similar: ImageSearch | None = None,
    keep_in: Path | None = None,
    sinks: Iterable[Sink] = (),
    say: Say | None = None,
    onwards: Onwards | None = None,
) -> Finding:
    """Work on photos of one place; the finding is capped as the plan wants it.

    Args:
        plan: what was asked for.
        photos: the photos.
        atlas: the world that tools ask.
        gazetteer_atlas: knows the names that may be told.
        similar: where pictures like these are looked for; it is closed here, in the loop that it was used in.
        keep_in: the trajectory's file.
        sinks: who gets the events as they happen, uncapped; of several tries and a verifier, the verifier's.
        say: gets a line for each of several tries as it ends.
        onwards: what to go on from, at ``exact`` and with one mind: several begin anew, and what was capped has no
            words to go on from. Its events come first in ``keep_in``; sinks get the new ones only.

    Raises:
        BadInput: these are not the photos of the run to go on from, or a file can't be written.
    """
    capped = plan.granularity != "exact"
    async with AsyncExitStack() as held:
        if close := getattr(similar, "aclose", None):
            held.push_async_callback(close)
        plan = await with_borrowed(plan, held)

        def keep(path: Path) -> TrajectoryWriter:
            made = BlankWriter(path, plan.granularity) if capped else TrajectoryWriter(path)
            return held.enter_context(made)

        if plan.several is not None:
            finding = await run_several(
                plan,
                plan.several,
                photos,
                atlas,
                similar=similar,
                keep_in=keep_in,
                keep=keep,
                sinks=sinks,
                say=say,
            )
        elif onwards is not None and not capped:
            finding = await _go_on(plan, onwards, photos, atlas, similar, keep_in, sinks)
        else:
            finding = await locate(
                photos,
                policy=plan.policy,
                method=plan.method,
                toolset=plan.toolset,
                atlas=atlas,
                web=plan.web,
                similar=similar,
                visual=plan.visual,
                hint=plan.hint,
                area=plan.area,
                force_answer=plan.force_answer,
                budget=plan.budget,
                sampling=plan.sampling,
                wire=plan.wire,
                store=None if keep_in is None else keep(keep_in),
                sinks=sinks,
            )
    told = await cap_finding(finding, plan.granularity, OfflineGazetteer(gazetteer_atlas)) if capped else finding
    if keep_in is not None and plan.several is not None and plan.several.team is not None:
        for number, one in enumerate(told.team, 1):
            write_trajectory(member_file(keep_in, number), one)
    if capped and keep_in is not None:
        beside = [(try_file(keep_in, number), one) for number, one in enumerate(told.team, 1)]
        for path, trajectory in [(keep_in, told.trajectory), *beside]:
            if path.exists():
                with replacing(path) as neighbour:
                    neighbour.unlink()
                    write_trajectory(neighbour, trajectory)
    return told


async def _go_on(
    plan: Plan,
    onwards: Onwards,
    photos: Sequence[OpenedPhoto],
    atlas: Atlas,
    similar: ImageSearch | None,
    keep_in: Path | None,
    sinks: Iterable[Sink],
) -> Finding:
    method, before = plan.method, onwards.trajectory
    shown = [photo for opened in photos for photo, _ in album_photos(opened)]
    rebuilt = rebuild_album(before, shown, max_pixels=method.first_view_pixels)
    case = Case(rebuilt.album, atlas, method.box_scale, plan.web, similar, plan.visual)
    with _begun_with(before, keep_in) as store:
        trajectory = await resume(
            before,
            Prompt(onwards.words),
            case=case,
            method=method,
            policy=plan.policy,
            toolset=plan.toolset,
            budget=plan.budget,
            sampling=plan.sampling,
            store=store,
            sinks=sinks,
            missing=rebuilt.missing,
        )
    return Finding(trajectory, tuple(opened.claims for opened in photos), rebuilt.album)


@contextmanager
def _begun_with(before: Trajectory, path: Path | None) -> Iterator[TrajectoryWriter | None]:
    """A file that has what happened before in it already."""
    if path is None:
        yield None
        return
    write_trajectory(path, before)
    with TrajectoryWriter(path, resuming=True) as store:
        yield store
