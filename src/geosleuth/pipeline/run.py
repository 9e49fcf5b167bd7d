"""One run as it was planned, and nothing of it finer than allowed: neither in the finding, nor in its file."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from geosleuth.agent import Event, Sink, Trajectory, TrajectoryWriter, rebuild_album, resume, write_trajectory
from geosleuth.agent.locate import EventBlanker, Finding, album_photos, build_case, cap_finding, locate
from geosleuth.agent.setup import AgentSetup, PhotoQuestion, Resources
from geosleuth.answer.answer import envelope
from geosleuth.answer.granularity import Granularity
from geosleuth.atlas import Atlas, OfflineAtlas
from geosleuth.atlas.granular import OfflineGazetteer
from geosleuth.geo import coordinates
from geosleuth.models import Prompt, Sampling
from geosleuth.photo import OpenedPhoto
from geosleuth.photo.nature import add_nature_verdict
from geosleuth.support.errors import GeosleuthError
from geosleuth.support.files import replacing
from geosleuth.support.text.numbers import plural
from geosleuth.support.text.safe import one_line
from geosleuth.teams.parallel import Try, Watch, has_answer, locate_in_parallel
from geosleuth.teams.parallel.locate import Followers, Verification
from geosleuth.tools import ImageSearch

from .borrowed import with_borrowed
from .plan import Plan
from .team import Several, member_file, try_file, verifier_file

if TYPE_CHECKING:
    from geosleuth.teams.swarm import Team

Say = Callable[[str], None]
Keep = Callable[[Path], TrajectoryWriter]
_SHOWN_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class ResumeFrom:
    """A run on the same photos to go on from, and what a person says about it, or has ruled out."""

    trajectory: Trajectory = field(repr=False)
    words: str
    rejected: tuple[str, ...] = ()


class NoAnswer(GeosleuthError):
    """No try came to an answer; ``finding`` has them all."""

    def __init__(self, finding: Finding) -> None:
        ended = finding.trajectory.ended
        super().__init__(f"no try came to an answer: {ended.reason if ended else 'broken off'}")
        self.finding = finding


async def run_plan(
    plan: Plan,
    photos: Sequence[OpenedPhoto],
    atlas: OfflineAtlas,
    *,
    similar: ImageSearch | None = None,
    keep_in: Path | None = None,
    sinks: Iterable[Sink] = (),
    say: Say | None = None,
    resume_from: ResumeFrom | None = None,
) -> Finding:
    """Work on photos of one place; the finding is capped as the plan wants it.

    Args:
        plan: what was asked for.
        photos: the photos; the finding says which of them are no photographs.
        atlas: the offline atlas: the map, where the plan has no map service, and the names that may be told.
        similar: where pictures like these are looked for; it is closed here, in the loop that it was used in.
        keep_in: the trajectory's file.
        sinks: who gets the events as they happen, uncapped; of several tries and a verifier, the verifier's.
        say: gets a line for each of several tries as it ends, and where the offline atlas takes over.
        resume_from: what to go on from, at ``exact`` and with one model: several begin anew, and what was capped has
            no words to go on from. Its events come first in ``keep_in``; sinks get the new ones only.

    Raises:
        BadInput: these are not the photos of the run to go on from, or a file can't be written.
        NoAnswer: no try of several came to an answer, though the model did not fail.
    """
    capped = plan.granularity != "exact"
    async with AsyncExitStack() as held:
        if close := getattr(similar, "aclose", None):
            held.push_async_callback(close)
        held.enter_context(plan.announcing(say))
        photos = await asyncio.to_thread(lambda: [add_nature_verdict(photo) for photo in photos])
        toolset = await with_borrowed(plan.toolset, plan.borrowed, held)

        def keep(path: Path) -> TrajectoryWriter:
            made = BlankWriter(path, plan.granularity) if capped else TrajectoryWriter(path)
            return held.enter_context(made)

        run = _Run(
            replace(plan, toolset=toolset), photos, plan.searches.maps or atlas, similar, keep_in, keep, sinks, say
        )
        if plan.several is not None:
            finding = await (run.tries(plan.several) if plan.several.team is None else run.team(plan.several.team))
        elif resume_from is not None and not capped:
            finding = await run.continue_run(resume_from)
        else:
            finding = await run.alone()
    told = await cap_finding(finding, plan.granularity, OfflineGazetteer(atlas)) if capped else finding
    if keep_in is not None and plan.several is not None and plan.several.team is not None:
        for number, item in enumerate(told.team, 1):
            write_trajectory(member_file(keep_in, number), item)
    if capped and keep_in is not None:
        beside = [(try_file(keep_in, number), one) for number, one in enumerate(told.team, 1)]
        for path, trajectory in [(keep_in, told.trajectory), *beside]:
            if path.exists():
                with replacing(path) as neighbour:
                    neighbour.unlink()
                    write_trajectory(neighbour, trajectory)
    return told


@dataclass(frozen=True, slots=True)
class _Run:
    """A run while it goes on; the finding is not capped yet."""

    plan: Plan
    photos: Sequence[OpenedPhoto]
    atlas: Atlas
    similar: ImageSearch | None
    keep_in: Path | None
    keep: Keep
    sinks: Iterable[Sink]
    say: Say | None

    @property
    def _store(self) -> TrajectoryWriter | None:
        return None if self.keep_in is None else self.keep(self.keep_in)

    @property
    def _setup(self) -> AgentSetup:
        plan = self.plan
        return AgentSetup(
            method=plan.method,
            policy=plan.policy,
            toolset=plan.toolset,
            budget=plan.budget,
            sampling=plan.sampling,
            wire=plan.wire,
            completes=plan.completes and not plan.by_detective,
        )

    @property
    def _resources(self) -> Resources:
        return Resources(self.atlas, self.plan.searches.web, self.similar, self.plan.searches.visual, self.plan.reader)

    @property
    def _question(self) -> PhotoQuestion:
        return PhotoQuestion(hint=self.plan.hint, area=self.plan.area, force_answer=self.plan.force_answer)

    async def alone(self) -> Finding:
        """One model, or the detective."""
        return await locate(
            self.photos, self._setup, self._resources, store=self._store, sinks=self.sinks, question=self._question
        )

    async def continue_run(self, resume_from: ResumeFrom) -> Finding:
        """Go on from an earlier run."""
        method, before = self.plan.method, resume_from.trajectory
        shown = [photo for opened in self.photos for photo, _ in album_photos(opened, method.panorama)]
        rebuilt = rebuild_album(before, shown, max_pixels=method.first_view_pixels)
        case = build_case(rebuilt.album, method, self._resources)
        with _open_continued(before, self.keep_in) as store:
            trajectory = await resume(
                before,
                Prompt(resume_from.words),
                case=case,
                setup=replace(self._setup, method=method),
                store=store,
                sinks=self.sinks,
                missing=rebuilt.missing,
                rejected=resume_from.rejected,
            )
        return Finding(trajectory, tuple(opened.claims for opened in self.photos), rebuilt.album)

    async def tries(self, several: Several) -> Finding:
        """Make the tries and let the verifier decide.

        Raises:
            NoAnswer: no try came to an answer, though the model did not fail.
        """
        plan, say = self.plan, self.say
        files = _Files(self.keep_in, self.keep)
        exact = plan.granularity == "exact"

        def done(item: Try) -> None:
            if say is not None:
                say(try_line(item, several.tries, exact=exact))

        def instead(failed: Trajectory) -> None:
            files.put_aside()
            if say is not None:
                why = failed.ended.trouble if failed.ended and exact else None
                say(
                    _short(f"the verifier came to no answer ({why or 'it failed'}); claims are checked in code instead")
                )

        if say is not None and several.tries > 1:
            say(f"{several.tries} tries by {one_line(plan.policy.name)} begin")
        finding = await locate_in_parallel(
            self.photos,
            self._setup,
            self._resources,
            count=several.tries,
            question=self._question,
            verification=Verification(verifier=several.verifier, chains=several.chains),
            followers=Followers(
                store=files.of_verifier,
                sinks=self.sinks,
                watch=lambda number: Watch(files.of_try(number)),
                done=done,
                instead=instead,
            ),
        )
        ended = finding.trajectory.ended
        if not any(map(has_answer, finding.team)) and (ended is None or ended.reason != "service"):
            raise NoAnswer(finding)
        return finding

    async def team(self, team: "Team") -> Finding:
        """Let a team work."""
        from geosleuth.teams.swarm import locate_with_team

        plan = self.plan
        store = self._store
        if self.say is not None:
            learned = "" if team.learned else "; it has learned nothing yet about whom to trust"
            self.say(_short(f"the team {team.name} begins: {plural(len(team.seats), 'agent', 'agents')}{learned}"))
        return await locate_with_team(
            self.photos,
            team,
            self._resources,
            budget=plan.budget,
            sampling=None if plan.sampling == Sampling() else plan.sampling,
            wire=plan.several.wire if plan.several else None,
            question=self._question,
            watch=Watch(store, tuple(self.sinks)),
        )


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


@contextmanager
def _open_continued(before: Trajectory, path: Path | None) -> Iterator[TrajectoryWriter | None]:
    """A file that has what happened before in it already."""
    if path is None:
        yield None
        return
    write_trajectory(path, before)
    with TrajectoryWriter(path, resuming=True) as store:
        yield store


@dataclass(slots=True)
class _Files:
    path: Path | None
    keep: Keep
    newest: TrajectoryWriter | None = field(default=None)

    def of_try(self, number: int) -> TrajectoryWriter | None:
        return None if self.path is None else self.keep(try_file(self.path, number))

    def of_verifier(self) -> TrajectoryWriter | None:
        self.newest = None if self.path is None else self.keep(self.path)
        return self.newest

    def put_aside(self) -> None:
        """Make room for another verifier."""
        if self.newest is not None and self.path is not None:
            self.newest.close()
            self.path.rename(verifier_file(self.path))


def try_line(item: Try, count: int, *, exact: bool) -> str:
    """Return the result of a try in a line, without a place unless everything may be shown."""
    head = f"try {item.number} of {count}"
    trajectory = item.trajectory
    if not item.has_answer or trajectory is None:
        ended = trajectory.ended if trajectory else None
        why = (ended.trouble or f"no answer ({ended.reason})") if ended else str(item.error)
        return _short(f"{head} failed{f': {why}' if exact else ''}")
    spent, answer = trajectory.spent, trajectory.answer
    place = (envelope(answer.address) if answer else "") or (
        coordinates(answer.point, answer.radius_km) if answer and answer.point else "no place found"
    )
    took = f"{plural(spent.turns, 'turn', 'turns')}, {spent.seconds:.1f} s"
    return _short(f"{head}{f': {place}' if exact else ' is done'} ({took})")


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + "…"
