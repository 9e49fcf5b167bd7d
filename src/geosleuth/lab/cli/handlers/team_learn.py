"""Handlers of ``team learn`` and ``team show``; imported only when one runs."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from geosleuth.agent.setup import Resources
from geosleuth.atlas.placing import Placer
from geosleuth.cli.preparation import offline_atlas, run_until_stopped
from geosleuth.lab.cli.handlers.bench import format_current_time
from geosleuth.lab.cli.handlers.team_compare import ask_consent_for_team, describe_seat
from geosleuth.lab.cli.handlers.team_sources import load_photos
from geosleuth.lab.teams.learning import (
    PAPER_ROUNDS,
    PAPER_TRAINING,
    QUICK_TRAINING,
    LearningBudget,
    LearnSettings,
    LearnSummary,
    Overview,
    find_best,
    learn,
    overview,
)
from geosleuth.lab.teams.learning.learning import LearnPlan
from geosleuth.lab.teams.team_page import TeamDrawing, country_words, network_page, network_svg
from geosleuth.photo import open_photo
from geosleuth.support.console import (
    cancel_on_ctrl_c,
    facts_view,
    progress,
    show_result,
    table_view,
    talk,
)
from geosleuth.support.errors import BadInput, GeosleuthError
from geosleuth.support.files import refuse_to_replace, write_text_atomically
from geosleuth.support.text.numbers import plural
from geosleuth.support.text.safe import printable
from geosleuth.teams import StrangersSociety, TrustWeights
from geosleuth.teams.network import TrainedSociety
from geosleuth.teams.swarm import Surroundings, TeamSpec, make_team, read_team
from geosleuth.tools.calls import MISSING, OFFLINE
from geosleuth.tools.toolset import all_tools

if TYPE_CHECKING:
    from geosleuth.lab.cli.team import LearnOptions

_BAR = 20
_COUNTRIES_SHOWN = 12
_KINDS = (".html", ".svg", ".json")


def learn_team(wanted: "LearnOptions") -> None:
    """Ask the team about photos with known places, and print a summary."""
    spec = read_team(wanted.team)
    usual = spec.society or spec.beside
    state = wanted.state or usual
    if state is None:
        raise BadInput(f"{wanted.team}: it has no society; name one there, or give --state")
    if not state.parent.is_dir():
        raise BadInput(f"{state}: the folder {state.parent} does not exist")
    kept = f"{state} holds every finished photo; run the same command to resume"
    summary = run_until_stopped(_learn_photos(wanted, spec, state), kept)
    used = usual is not None and usual.resolve() == state.resolve()
    document, view = _summary_document(summary, state), _summary_view(summary, state, wanted.team, used=used)
    show_result({**document, "used_by_team": used}, view, as_json=wanted.as_json)
    if summary.nobody_answered:
        why = printable(summary.failure or "no member named a place")
        raise GeosleuthError(f"nothing was learned, as no member answered: {why}")


async def _learn_photos(wanted: "LearnOptions", spec: TeamSpec, state: Path) -> LearnSummary:
    photos = load_photos(wanted.dataset)
    society = StrangersSociety(len(spec.agents))
    team = make_team(spec, offline=wanted.offline, society=society, prompts=wanted.prompts)
    ask_consent_for_team(team, yes=wanted.yes)
    for tool in all_tools().select(team.tools):
        if lacking := tool.lacks(OFFLINE):
            talk(f"{tool.name} finds nothing while a team learns: there is {MISSING[lacking[0]]} here")
    atlas = offline_atlas(needed=True)
    as_printed = wanted.preset == "paper"
    usual = PAPER_ROUNDS if as_printed else LearnSettings()
    settings = replace(
        usual,
        rounds=wanted.rounds,
        within_km=wanted.within_km,
        reviewers=spec.settings.reviewers,
        judged=wanted.judged or usual.judged,
        labels=wanted.labels or usual.labels,
        link_rule=wanted.link_rule,
        ask_anew=wanted.ask_anew or usual.ask_anew,
        seed=wanted.seed,
    )
    try:
        team = await team.load(talk)
        with progress("learning", len(photos)) as bar, cancel_on_ctrl_c():
            return await learn(
                photos,
                team.members(Surroundings(Resources(atlas))),
                state,
                placer=Placer(atlas),
                encoder=wanted.encoder,
                plan=LearnPlan(
                    settings=settings,
                    swarm=spec.settings,
                    training=replace(PAPER_TRAINING if as_printed else QUICK_TRAINING, seed=wanted.seed),
                    budget=LearningBudget(wanted.photos, wanted.max_tokens, wanted.max_seconds),
                    identities=tuple(map(describe_seat, team.seats)),
                    prompts=team.prompts_sha256,
                ),
                at_once=wanted.at_once,
                progress=lambda what, done, total: bar.update(done, total, what),
            )
    finally:
        await team.aclose()


def _summary_document(summary: LearnSummary, state: Path) -> dict[str, Any]:
    return {
        "state": str(state),
        "learned": summary.learned,
        "again": summary.again,
        "known": summary.known,
        "left_out": dict(summary.left_out),
        "replies": summary.replies,
        "tokens": summary.tokens,
        "stopped": summary.stopped,
        "first_failure": summary.failure,
        "version": summary.version,
        "lessons": 0 if summary.weights is None else summary.weights.lessons,
        "figures": {} if summary.weights is None else dict(summary.weights.figures),
    }


def _summary_view(summary: LearnSummary, state: Path, team: Path, *, used: bool) -> RenderableType:
    weights = summary.weights
    again = f"{summary.again} again with other settings, " if summary.again else ""
    facts: dict[str, Any] = {
        "state": str(state),
        "photos": f"{summary.learned} learned from now, {again}{summary.known} known before",
        "left out": [f"{count} x {printable(reason)}" for reason, count in summary.left_out.items()],
        "asked": f"{plural(summary.replies, 'reply', 'replies')}, {summary.tokens:,} tokens by the team's tariff",
    }
    if summary.failure:
        facts["first failure"] = printable(summary.failure)
    if summary.stopped:
        facts["stopped"] = f"{summary.stopped}; run the same command to resume"
    if weights is None:
        facts["learned"] = "nothing yet"
    else:
        facts["learned"] = f"version {summary.version} from {plural(weights.lessons, 'photo', 'photos')}"
        facts["believed"] = trust_words(weights.trust, weights.trust_links)
        facts["written to"] = (
            f"{state}; geosleuth locate --team {team} goes by it"
            if used
            else f"{state}; write society: {state.resolve()} into {team}, and geosleuth locate goes by it"
        )
        facts["look at it"] = f"geosleuth team show {state}"
    return facts_view(facts)


def trust_words(trust: float, trust_links: float) -> str:
    """Return how far what was learned is believed."""
    if not trust and not trust_links:
        return "nothing: on photos the network had not seen, its word was no better than chance; all stand alike"
    return f"election {trust:.0%}, links {trust_links:.0%} (how much of it held on photos the network had not seen)"


def describe_state(society: TrainedSociety, seen: Overview) -> str:
    """Return what a state holds, and how far it is believed."""
    photos = plural(seen.photos, "photo", "photos")
    if not society.version:
        kept = f"; {photos} stored; run the same team learn command to resume" if seen.photos else ""
        return f"nothing was learned yet: all stand alike{kept}"
    return f"version {society.version}, learned from {photos}; believed: {trust_words(*society.trust)}"


def show_team(state: Path, photo: Path | None, out: Path | None, *, overwrite: bool, as_json: bool) -> None:
    """Print and draw the social network of a team."""
    if out is not None:
        if out.suffix.lower() not in _KINDS:
            raise BadInput(f"{out}: give a name that ends in {', '.join(_KINDS)}")
        refuse_to_replace([out], overwrite=overwrite)
    society = TrainedSociety.open(state)
    seen = overview(state)
    trust_weights = None if photo is None else society.trust_weights([open_photo(photo)])
    document = _build_state_document(society, seen, trust_weights)
    if out is not None:
        drawn = TeamDrawing(state.stem, society, seen, trust_weights)
        text = {
            ".json": lambda: json.dumps(document, ensure_ascii=False, indent=1) + "\n",
            ".svg": lambda: f"{network_svg(society.members, drawn.shown, drawn.title, alone=True)}\n",
            ".html": lambda: network_page(drawn, describe_state(society, seen), format_current_time()),
        }[out.suffix.lower()]()
        write_text_atomically(out, text)
        talk(f"written: {out}")
    show_result(document, _view(society, seen, trust_weights), as_json=as_json)


def _build_state_document(
    society: TrainedSociety, seen: Overview, trust_weights: TrustWeights | None
) -> dict[str, Any]:
    def weights_document(weights: TrustWeights) -> Mapping[str, Any]:
        return {"election": weights.election, "links": weights.links}

    order = [seen.members.index(name) for name in society.members]
    return {
        "members": society.members,
        "version": society.version,
        "photos": seen.photos,
        "trust": {"election": society.trust[0], "links": society.trust[1]},
        "usual": weights_document(society.usual()),
        "photo": None if trust_weights is None else weights_document(trust_weights),
        "right": [seen.right[i] for i in order] if seen.right else None,
        "countries": [
            {
                "country": country.code,
                "photos": country.photos,
                "right": [country.right[i] for i in order],
                "election": [country.election[i] for i in order],
            }
            for country in seen.countries
        ],
    }


def _view(society: TrainedSociety, seen: Overview, trust_weights: TrustWeights | None) -> RenderableType:
    shown = society.usual() if trust_weights is None else trust_weights
    rows = []
    for i in sorted(range(len(society.members)), key=lambda i: -shown.election[i]):
        chance, right = shown.election[i], f"{seen.right[i]:.0%}" if seen.right else ""
        asks = _asks(society.members, shown, i)
        rows.append((printable(society.members[i]), f"{chance:.0%}", "#" * round(_BAR * chance), right, asks))
    chances = "this photo" if trust_weights is not None else "elected with"
    parts: list[RenderableType] = [table_view(("member", chances, "", ">right before", "asks for reviews"), rows)]
    if seen.countries:
        parts.append(_render_countries(seen))
    parts.append(Text(describe_state(society, seen)))
    return Group(*parts)


def _asks(members: tuple[str, ...], trust_weights: TrustWeights, i: int) -> str:
    row = trust_weights.links[i]
    total = sum(row)
    if not total:
        return ""
    order = sorted((j for j in range(len(row)) if j != i), key=lambda j: -row[j])[:3]
    return ", ".join(f"{printable(members[j])} {row[j] / total:.0%}" for j in order)


def _first(members: tuple[str, ...], shares: tuple[float, ...], alike: str) -> str:
    best = find_best(shares)
    return f"{alike} {max(shares):.0%}" if best is None else f"{printable(members[best])} {shares[best]:.0%}"


def _render_countries(seen: Overview) -> RenderableType:
    rows = [
        (
            country_words(country.code), str(country.photos), _first(seen.members, country.election, "by lot"),
            _first(seen.members, country.right, "several alike"),
        )
        for country in seen.countries[:_COUNTRIES_SHOWN]
    ]  # fmt: skip
    more = len(seen.countries) - _COUNTRIES_SHOWN
    caption = f"and {more} more countries; --out page.html has them all" if more > 0 else None
    heads = ("country", ">photos", "elected first", "right most often")
    return table_view(heads, rows, title="by country, as learned", caption=caption)
