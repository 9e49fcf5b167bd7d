"""From opened photos to a finding, and a trajectory that tells no place finer than allowed.

All text is removed: thoughts, replies, arguments, results, prompts and the user's hint can all name a street. Kept
are kinds and times of events, the names of tools, pictures by their handles, failures, what was spent, and the answer
and the candidates as `geosleuth.answer.granularity` caps them. Such a trajectory is stored and shown like any other;
it can't be replayed to the same end, nor trained on.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from geosleuth.agent.setup import NO_HINTS, AgentSetup, PhotoQuestion, Resources
from geosleuth.answer import Address, Answer
from geosleuth.answer.answer import envelope, is_wide, percent_words, radius_words
from geosleuth.answer.granularity import Gazetteer, Granularity, build_withheld_note, cap, cap_sources, cap_text
from geosleuth.geo import coordinates, distance_km
from geosleuth.models import Prompt, Step
from geosleuth.names import country_code
from geosleuth.photo import Album, Claims, OpenedPhoto, Photo, cut_views
from geosleuth.photo.nature import looks_like
from geosleuth.support.text.numbers import distance
from geosleuth.tools import Case, Observation, ToolCall

from .completion import FAR_KM
from .events import (
    Answered,
    Body,
    Doubt,
    Ended,
    Event,
    Hypothesis,
    Noted,
    Prompted,
    Resumed,
    Said,
    Started,
    Task,
    ToolObserved,
)
from .loop import run
from .method import Method, PanoramaShown
from .trajectory import Trajectory, TrajectoryWriter
from .turns import Sink

# Method name recorded in the trajectories of a verifier that compares several tries.
VERIFIER = "verifier"

# Recorded instead of the name of a tool that was never enabled: a policy may call any name.
UNKNOWN_TOOL = "unknown"

PANORAMA_VIEWS = 6
_PLANAR = "is a whole panorama, drawn flat: its left and right edges meet"
# Where an answer gives no radius: a claim further away than a city is wide contradicts it.
_DEFAULT_RADIUS_KM = 25.0
_COMPASS = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")


async def cap_trajectory(
    trajectory: Trajectory, granularity: Granularity, gazetteer: Gazetteer | None = None
) -> Trajectory:
    """The trajectory with nothing in it finer than allowed; its id and time stay."""
    if granularity == "exact":
        return trajectory
    blank = EventBlanker(granularity)
    events = [await _restore_places(event, blank(event), granularity, gazetteer) for event in trajectory.events]
    return replace(trajectory, events=tuple(events))


class EventBlanker:
    """Takes every place out of events as they happen, for logs and screens that can't wait for a gazetteer.

    Answers and candidates come out without any place at all; `cap_trajectory` has them as finely as is allowed. Give it
    the events of one run in their order: tool calls get ids of their own, since a policy writes those too.
    """

    def __init__(self, granularity: Granularity) -> None:
        self._granularity = granularity
        self._tools: set[str] = set()
        self._ids: dict[str, str] = {}
        self._candidates: dict[str, str] = {}

    def __call__(self, event: Event) -> Event:
        """The event as it may be told; at ``exact`` the event itself."""
        return event if self._granularity == "exact" else replace(event, body=self._body(event.body))

    def _body(self, body: Body) -> Body:  # noqa: PLR0911  (one return a kind of event)
        match body:
            case Started():
                self._tools.update(body.tools)
                task = replace(
                    body.task, hint=self._hidden(body.task.hint), area=self._hidden(body.task.area), views=()
                )
                return replace(body, task=task, system=self._blank_text(body.system))
            case Resumed():
                self._tools.update(body.tools)
                return replace(body, rejected=())
            case Prompted():
                return replace(body, prompt=Prompt(self._blank_text(body.prompt.text), body.prompt.images))
            case Said():
                return replace(body, step=self._step(body.step))
            case ToolObserved():
                return replace(body, observation=self._observation(body.observation))
            case Noted():
                return Noted(self._hypothesis(body.hypothesis))
            case Answered():
                return replace(
                    body,
                    answer=Answer(explanation=build_withheld_note(self._granularity)),
                    derived=None if body.derived is None else "",
                    doubts=tuple(Doubt(doubt.kind) for doubt in body.doubts),
                )
            case Ended():
                return replace(body, trouble=self._hidden(body.trouble))

    def _step(self, step: Step) -> Step:
        calls = tuple(ToolCall(self._id(call.id), self._tool(call.name)) for call in step.calls)
        return replace(
            step, text=self._blank_text(step.text), thinking=self._blank_text(step.thinking), calls=calls, model=""
        )

    def _observation(self, seen: Observation) -> Observation:
        return replace(
            seen,
            call_id=self._id(seen.call_id),
            name=self._tool(seen.name),
            text=self._blank_text(seen.text),
            data=None,
            sources=cap_sources(seen.sources, self._granularity),
        )

    def _hypothesis(self, hypothesis: Hypothesis) -> Hypothesis:
        return Hypothesis(
            self._candidates.setdefault(hypothesis.id, f"h{len(self._candidates) + 1}"),
            build_withheld_note(self._granularity),
            confidence=hypothesis.confidence,
            evidence_for=self._blank_lines(hypothesis.evidence_for),
            evidence_against=self._blank_lines(hypothesis.evidence_against),
            checks=self._blank_lines(hypothesis.checks),
            fate=hypothesis.fate,
        )

    def _tool(self, name: str) -> str:
        return name if name in self._tools else UNKNOWN_TOOL

    def _id(self, call_id: str) -> str:
        return self._ids.setdefault(call_id, f"call-{len(self._ids) + 1}")

    def _blank_text(self, text: str) -> str:
        return cap_text(text, self._granularity)

    def _hidden(self, text: str | None) -> str | None:
        return None if text is None else self._blank_text(text)

    def _blank_lines(self, lines: Iterable[str]) -> tuple[str, ...]:
        """As many as there were, each left out: how much spoke for a candidate may be told."""
        return tuple(self._blank_text(line) for line in lines)


async def _restore_places(event: Event, blank: Event, granularity: Granularity, gazetteer: Gazetteer | None) -> Event:
    match event.body, blank.body:
        case Answered() as full, Answered() as bare:
            return replace(blank, body=replace(bare, answer=await cap(full.answer, granularity, gazetteer)))
        case Noted(hypothesis=full), Noted(hypothesis=bare):
            address = Address.create(country=full.country, precise=full.place)
            capped = await cap(Answer(full.point, address, radius_km=full.radius_km), granularity, gazetteer)
            country = country_code(capped.address.country.conclusion or "")
            place = str(capped.address) or bare.place
            told = replace(bare, place=place, point=capped.point, radius_km=capped.radius_km, country=country)
            return replace(blank, body=Noted(told))
        case _:
            return blank


@dataclass(frozen=True, slots=True, repr=False)
class Finding:
    """Result of a run: its trajectory and, apart from it, the claims of the photos' files.

    ``album`` has the pictures of the run, for reports. ``judged`` is set where the finding was capped: what the claims
    contradict was decided before. ``team`` has the trajectories of those who worked towards it, where several did, and
    ``gave_way`` that of a verifier that failed and was replaced by the one in code.
    """

    trajectory: Trajectory
    claims: tuple[Claims, ...]
    album: Album | None = field(default=None, repr=False, compare=False)
    judged: tuple[bool | None, ...] | None = None
    granularity: Granularity = "exact"
    team: tuple[Trajectory, ...] = field(default=(), repr=False)
    gave_way: tuple[Trajectory, ...] = field(default=(), repr=False)

    @property
    def answer(self) -> Answer:
        """The answer; without point and place where the run found none."""
        return self.whole_answer

    @property
    def whole_answer(self) -> Answer:
        """The answer with the point that stands for a whole country, where it is one."""
        return self.trajectory.answer or Answer()

    @property
    def substitute_place(self) -> str | None:
        """The place whose point on the map stands in for one that the model did not give; see `Answered`."""
        return self.trajectory.answered.derived if self.trajectory.answered else None

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """The inconsistencies of the answer, with non-photographic pictures first."""
        own = self._no_photos + (self.trajectory.answered.doubts if self.trajectory.answered else ())
        point, tried = (
            self.whole_answer.point,
            [item.answer.point for item in self.team if item.answer and item.answer.point],
        )
        if not self.is_verified or point is None or not tried or self.granularity != "exact":
            return own
        away_km = min(distance_km(point, item) for item in tried)
        far = away_km > max(FAR_KM, self.whole_answer.radius_km or 0.0)
        return (*own, Doubt("tries", f"the nearest says {distance(away_km)} away")) if far else own

    @property
    def _no_photos(self) -> tuple[Doubt, ...]:
        natures = [claim.not_a_photo for claim in self.claims]
        who = "it" if len(natures) == 1 else "photo {}"
        return tuple(
            Doubt("not_a_photo", f"{who.format(number)} {looks_like(nature)}")
            for number, nature in enumerate(natures, 1)
            if nature is not None
        )

    @property
    def is_verified(self) -> bool:
        """Return whether a verifier read the tries in ``team``."""
        return bool(self.team) and self.trajectory not in self.team and self.trajectory.started.method == VERIFIER

    @property
    def best_attempt(self) -> Trajectory | None:
        """The try that the verifier's answer is, or lies nearest to; None where there was none, or it lies far off."""
        point = self.whole_answer.point
        if not self.is_verified:
            return None
        near = [
            (distance_km(one.answer.point, point), -len(one.answer.address.precise.clues), at)
            for at, one in enumerate(self.team)
            if point is not None and one.answer is not None and one.answer.point is not None
        ]
        away_km, _, at = min(near, default=(0.0, 0, -1))
        return self.team[at] if near and away_km <= _DEFAULT_RADIUS_KM else None

    @property
    def conflicts(self) -> tuple[bool | None, ...]:
        """For each photo: whether its claimed place contradicts the finding; None where there is nothing to compare."""
        if self.judged is not None:
            return self.judged
        answer = self.whole_answer
        if answer.point is None:
            return tuple(None for _ in self.claims)
        if (code := self._country_code) is not None and is_wide(answer.radius_km, "country"):
            return tuple(_lies_elsewhere(claims, code) for claims in self.claims)
        radius_km = answer.radius_km or _DEFAULT_RADIUS_KM
        return tuple(claims.contradicts(answer.point, radius_km) for claims in self.claims)

    @property
    def _country_code(self) -> str | None:
        from .display import whole_country

        return whole_country(self.trajectory, self.granularity)

    def __repr__(self) -> str:
        return f"<Finding: {self}>"

    def __str__(self) -> str:
        """Return place, odds and point in one line."""
        answer = self.whole_answer
        if answer.point is None and not answer.address:
            return "no place was found"
        place = envelope(answer.address) or "an unnamed place"
        odds = None if answer.probability is None else percent_words(answer.probability)
        if self._country_code:
            return f"{place}{'; ' if odds else ''}{odds or ''}"
        within = None if answer.radius_km is None else f"within {radius_words(answer.radius_km)}"
        point = None if answer.point is None else f"of {coordinates(answer.point, answer.radius_km)}"
        sure = " ".join(part for part in (odds, within, point) if part)
        return f"{place}{'; ' if sure else ''}{sure}"

    def _repr_html_(self) -> str:
        from .display import notebook_card

        return notebook_card(self)


def _lies_elsewhere(claims: Claims, code: str) -> bool | None:
    """Return whether a claimed place is outside a country, decided by its border and not by distance."""
    from geosleuth.atlas.borders import Borders

    if claims.own_point is None:
        return None
    region = Borders.load().find_region(claims.own_point)
    return region is None or region.country != code


async def cap_finding(finding: Finding, granularity: Granularity, gazetteer: Gazetteer | None = None) -> Finding:
    """The finding with nothing in it finer than allowed: neither the trajectory, nor what the files claim.

    Whether a claim contradicts the finding is judged by the capped ones: the exact ones would tell where in the place
    the finding lies.
    """
    if granularity == "exact":
        return finding
    trajectory = await cap_trajectory(finding.trajectory, granularity, gazetteer)
    claims = tuple([await _cap_claims(claim, granularity, gazetteer) for claim in finding.claims])
    team = tuple([await cap_trajectory(item, granularity, gazetteer) for item in finding.team])
    gave_way = tuple([await cap_trajectory(item, granularity, gazetteer) for item in finding.gave_way])
    capped = Finding(trajectory, claims, team=team, gave_way=gave_way)
    return replace(capped, judged=capped.conflicts, granularity=granularity, album=finding.album)


async def _cap_claims(claims: Claims, granularity: Granularity, gazetteer: Gazetteer | None) -> Claims:
    """Heights, headings and free texts can tell a place too."""
    point = claims.point
    if point is not None:
        point = (await cap(Answer(point), granularity, gazetteer)).point
    return replace(claims, point=point, altitude_m=None, heading_deg=None, panorama=None, notes=(), sidecars=())


def open_case(photos: Sequence[OpenedPhoto], method: Method, resources: Resources) -> tuple[Case, tuple[str, ...]]:
    """A case with the photos' first views in it, and what is known about the views themselves.

    Panoramas are cut into flat views or shown whole, as the method has it, see `album_photos`; each view is noted with
    its heading.
    """
    album = Album(method.first_view_pixels)
    notes: list[str] = []
    for opened in photos:
        for photo, note in album_photos(opened, method.panorama):
            view = album.add(photo)
            if note is not None:
                notes.append(f"{view.handle} {note}")
    return build_case(album, method, resources), tuple(notes)


def build_case(album: Album, method: Method, resources: Resources) -> Case:
    """A case with an album as it is."""
    asked = (resources.web, resources.similar, resources.visual, resources.reader)
    return Case(album, resources.atlas, method.box_scale, *asked)


def album_photos(opened: OpenedPhoto, panorama: PanoramaShown = "views") -> list[tuple[Photo, str | None]]:
    """Return the album photos of a photo with what is known of each: itself, or a panorama's views.

    A panorama is cut into flat views all the way round, unless it is wanted whole. The heading of each counts from
    north where the file claims where north is; that claim is about the camera, not about the place.
    """
    if opened.photo.kind != "panorama":
        return [(opened.photo, None)]
    if panorama == "planar":
        return [(opened.photo, _PLANAR)]
    claimed = opened.claims.panorama.pose_heading_deg if opened.claims.panorama else None
    cuts = cut_views(opened.photo, PANORAMA_VIEWS, centre_heading_deg=claimed or 0.0)
    return [(cut.photo, _looks(cut.heading_deg, from_north=claimed is not None)) for cut in cuts]


def panorama_shown(task: Task) -> PanoramaShown:
    """Return how a run showed its panoramas, by what it was told about its views."""
    return "planar" if any(view.endswith(_PLANAR) for view in task.views) else "views"


def list_album_photos(opened: Iterable[OpenedPhoto], task: Task) -> list[Photo]:
    """Return what the album of a run on these photos begins with; of a panorama its views, or itself."""
    shown = panorama_shown(task)
    return [photo for item in opened for photo, _ in album_photos(item, shown)]


def _looks(heading_deg: float, *, from_north: bool) -> str:
    if not from_north:
        return f"is cut from a panorama, {heading_deg:g} degrees to the right of its middle"
    direction = _COMPASS[round(heading_deg / 45) % 8]
    return f"is cut from a panorama and looks {direction} ({heading_deg:g} degrees)"


async def locate(
    photos: Sequence[OpenedPhoto],
    setup: AgentSetup,
    resources: Resources,
    *,
    question: PhotoQuestion = NO_HINTS,
    store: TrajectoryWriter | None = None,
    sinks: Iterable[Sink] = (),
) -> Finding:
    """Find out where photos of one place were taken.

    Args:
        photos: opened by `geosleuth.photo.open_photo`.
        setup: who works and how.
        resources: what tools may ask.
        question: what is asked and known beside the photos; what is known about views is found out here.
        store: the file that keeps the trajectory; it is not closed here.
        sinks: who else gets the events as they happen.

    Raises:
        BadInput: there is no photo, or the file can't be written.
        UserError: a policy or a tool can't work as it is set up.
    """
    case, views = open_case(photos, setup.method, resources)
    trajectory = await run(case, setup, question=replace(question, views=views), store=store, sinks=sinks)
    return Finding(trajectory, tuple(opened.claims for opened in photos), case.album)
