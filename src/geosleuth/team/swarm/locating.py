"""From opened photos to a finding by a team."""

import asyncio
import random
import secrets
from collections.abc import Sequence
from dataclasses import replace

from geosleuth.agent import Budget
from geosleuth.agent.locating import Finding, open_case
from geosleuth.agent.methods import method as method_of
from geosleuth.agent.setup import NO_HINTS, UNWATCHED, Question, Resources, Watch
from geosleuth.answer import Answer, Candidate
from geosleuth.errors import BadInput
from geosleuth.geo import Disc, Extent, LatLon, distance_km
from geosleuth.photo import OpenedPhoto
from geosleuth.policies import Sampling, Wire
from geosleuth.team import Outcome, Placer, Request, agree
from geosleuth.tools import image_info

from .composing import Scribe
from .making import Team
from .members import Surroundings
from .settings import SwarmSettings
from .swarm import first_failure, run_swarm

_SEED_BITS = 31


async def locate_with_team(
    photos: Sequence[OpenedPhoto],
    team: Team,
    resources: Resources,
    *,
    question: Question = NO_HINTS,
    budget: Budget | None = None,
    sampling: Sampling | None = None,
    wire: Wire | None = None,
    watch: Watch = UNWATCHED,
) -> Finding:
    """Find out where photos of one place were taken, by a team that reviews and discusses.

    The finding's trajectory has one step for each turn of a member; its team are the members' own runs. An answer that
    names a place and no point gets the middle of the place, as the atlas has it, and its radius. Where other answer
    agents ended elsewhere are the answer's candidates.

    Args:
        photos: opened by `geosleuth.photo.open_photo`.
        team: who works; it is not closed here.
        resources: what tools may ask; places that answers name are looked up in its atlas too.
        question: what is asked and known beside the photos; what is known about views is found out here.
        budget: seconds, tokens and money of the whole team, in place of its settings; turns and calls are each agent's.
        sampling: for whatever agents leave open; its seed makes the team's draws repeat. Without one, chance chooses:
            the trajectory says which, and models get none.
        wire: in place of the methods' own.
        watch: who follows the team.

    Raises:
        BadInput: there is no photo, or the file can't be written.
    """
    asking = method_of("smilegeo")
    case, views = await asyncio.to_thread(open_case, photos, asking, Resources(resources.atlas))
    images = tuple(image_info(case, case.album[handle]) for handle in case.album.handles)
    if not images:
        raise BadInput("there is no photo to look at; give at least one")
    task = replace(question, views=views).task(images)
    settings = _limited(team.settings, budget)
    seed = sampling.seed if sampling is not None else None
    lot = secrets.randbits(_SEED_BITS) if seed is None else seed
    placer = Placer(resources.atlas)
    scribe = Scribe(watch.store, watch.sinks)
    try:
        told = replace(sampling or Sampling(), seed=lot)
        scribe.begin(task, asking.prompt(task, ()), team.name, _budget(settings), told)
        outcome = await run_swarm(
            team.members(Surroundings(resources), sampling=sampling, wire=wire),
            Request(
                tuple(photos),
                hint=question.hint,
                area=question.area,
                seed=seed,
                force_answer=question.force_answer,
            ),
            society=team.society,
            placer=placer,
            settings=settings,
            rng=random.Random(lot),  # noqa: S311
            heard=scribe.hear,
        )
        answer = _with_point(outcome.answer, await placer.extent(outcome.answer))
        others = await _others(outcome, placer, settings.within_km)
        scribe.decided(outcome.decided, outcome.voice)
    except asyncio.CancelledError:
        scribe.close(Answer(explanation="No answer: the run was called off."), "nobody", "cancelled")
        raise
    except Exception as error:
        trouble = str(error) if isinstance(error, BadInput) else f"a bug: {type(error).__name__}"
        scribe.close(Answer(explanation="No answer: the run broke."), "nobody", "error", trouble)
        raise
    answered = any(turn.reply.failure is None for turn in outcome.turns)
    trajectory = scribe.close(
        replace(answer, candidates=others),
        "policy" if answered else "nobody",
        "answered" if answered else "service",
        None if answered else first_failure(outcome),
    )
    runs = tuple(turn.reply.trajectory for turn in outcome.turns if turn.reply.trajectory is not None)
    return Finding(trajectory, tuple(opened.claims for opened in photos), case.album, team=runs)


async def _others(outcome: Outcome, placer: Placer, within_km: float) -> tuple[Candidate, ...]:
    """Where other answer agents ended who do not agree with the answer, in the order in which they came up."""
    last = {turn.member: turn.reply.answer for turn in outcome.turns if turn.stage != "review" and turn.reply.stands}
    chosen = await placer.extent(outcome.answer)
    return tuple(
        [
            Candidate(str(answer.address) or None, answer.point, answer.probability, answer.explanation)
            for member, answer in last.items()
            if member != outcome.voice and not agree(await placer.extent(answer), chosen, within_km)
        ]
    )


def _limited(settings: SwarmSettings, budget: Budget | None) -> SwarmSettings:
    if budget is None:
        return settings
    return replace(
        settings,
        seconds=settings.seconds if budget.seconds is None else budget.seconds,
        tokens=settings.tokens if budget.tokens is None else budget.tokens,
        usd=settings.usd if budget.usd is None else budget.usd,
    )


def _budget(settings: SwarmSettings) -> Budget:
    """What the team may use, as a trajectory says it: every answer agent answers, sums up and has its rounds."""
    turns = settings.answerers * (2 + settings.reviewers + settings.rounds)
    return Budget(turns, tokens=settings.tokens, seconds=settings.seconds, usd=settings.usd)


def _with_point(answer: Answer, extent: Extent | None) -> Answer:
    if answer.point is not None or extent is None:
        return answer
    if isinstance(extent, Disc):
        middle, radius_km = extent.centre, extent.radius_km
    else:
        middle = extent.centre
        corners = [LatLon(lat, lon) for lat in (extent.south, extent.north) for lon in (extent.west, extent.east)]
        radius_km = max(distance_km(middle, corner) for corner in corners)
    return replace(answer, point=middle, radius_km=radius_km or answer.radius_km)
