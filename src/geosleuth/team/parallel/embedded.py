"""The verifier in code: it asks the atlas about every claim of the tries and answers with the best supported place."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from geosleuth.agent import Budget, Context, Method, Task, Trajectory
from geosleuth.agent.methods import method as method_of
from geosleuth.agent.methods.shared import question
from geosleuth.answer import Address, Answer, Candidate, Level, render
from geosleuth.geo import distance_km
from geosleuth.policies import Conversation, Step
from geosleuth.policies.detective.asking import Call
from geosleuth.policies.detective.notebook import Notebook
from geosleuth.tools import ToolCall

from .checking import TOOLS, Check, calls_for, checks_of, placed
from .claims import ClaimKind, stands_of
from .verifying import VERIFIER
from .weighing import SAME_SPOT_KM, Checked, Place, weigh

MOST_CALLS = 48
_LEVELS: dict[ClaimKind, str] = {"country": "country", "region": "region", "phone": "country"}

_SYSTEM = """\
No model reads this. The claims of several tries are held against the atlas by rule, and the best supported place is
the answer; geosleuth.team.parallel.weighing tells how support is counted."""


class EmbeddedVerifier:
    """A policy in code. It reads tries and results of tools as data; no word of theirs changes what it does."""

    name = VERIFIER
    hosts: frozenset[str] = frozenset()

    def __init__(self, tries: Sequence[Trajectory]) -> None:
        """Take in the tries, those that failed too."""
        self._stands = stands_of(tries)
        self._count = len(tries)

    async def step(self, conversation: Conversation) -> Step:
        """Ask about all claims at once; then answer."""
        notebook = Notebook(conversation, TOOLS)
        calls = self._calls(notebook) if notebook.may_call else []
        if calls:
            made = tuple(ToolCall("", notebook.tools.shown(one.name), dict(one.arguments)) for one in calls)
            thinking = "I hold what the tries claim against the atlas."
            return Step(thinking=thinking, calls=made, finish="calls", model=self.name)
        return Step(text=render(self._answer(notebook)), model=self.name)

    async def aclose(self) -> None:
        """Nothing to let go of."""

    def _calls(self, notebook: Notebook) -> list[Call]:
        """Every question once; of many tries the first questions of each come before the second ones."""
        if notebook.called:
            return []
        lists = [list(calls_for(stand)) for stand in self._stands]
        longest = max(map(len, lists), default=0)
        wanted = [calls[turn] for turn in range(longest) for calls in lists if turn < len(calls)]
        unique = {f"{one.name} {sorted(one.arguments.items())}": one for one in wanted if one.name in notebook.tools}
        return list(unique.values())[:MOST_CALLS]

    def _answer(self, notebook: Notebook) -> Answer:
        tries = [
            Checked(stand, point, tuple(checks_of(stand, notebook)))
            for stand in self._stands
            if (point := placed(stand, notebook)) is not None
        ]
        if not tries:
            return self._without_a_point()
        places = weigh(tries)
        best = places[0]
        chosen, answer = best.best, best.best.stand.answer
        spread = max(best.spread_km, answer.radius_km or 0.0)
        return Answer(
            point=chosen.point,
            address=_address(answer.address, chosen.checks),
            probability=round(best.probability, 3),
            radius_km=max(spread, SAME_SPOT_KM) if answer.radius_km is None else spread,
            explanation=self._explanation(best, len(tries)),
            candidates=tuple(map(_candidate, places)) if len(places) > 1 else (),
        )

    def _without_a_point(self) -> Answer:
        """Nobody has a point: the first that names a place is taken as it is, else the first that says why not."""
        if not self._stands:
            return Answer(explanation="No try came to an answer.")
        named = next((stand for stand in self._stands if stand.places), None)
        stand = named or self._stands[0]
        said = stand.answer.explanation or "it gave no reason"
        return replace(stand.answer, explanation=f"No try has a point that could be checked. {stand.mark} says: {said}")

    def _explanation(self, best: Place, placed_tries: int) -> str:
        chosen = best.best
        near = [one for one in best.members if distance_km(one.point, chosen.point) <= SAME_SPOT_KM]
        agreeing = "stands alone" if len(best.members) == 1 else f"is one of {len(best.members)} that lie near it"
        told = [
            f"{self._count} tries, {placed_tries} of them with a place. The answer is that of try "
            f"{chosen.stand.number} ({chosen.stand.mark}), which {agreeing}"
            + (f", {len(near)} within 1 km." if len(near) > 1 else "."),
            *(f"{check}." for check in chosen.checks),
        ]
        if not chosen.checks:
            told.append("It claims nothing that the atlas could be asked about.")
        return " ".join(told)


def embedded_method(count: int) -> Method:
    """How the embedded verifier works in the loop: our own form of answer, the atlas's tools, one round of calls."""
    base = method_of("default")
    return replace(
        base,
        name=VERIFIER,
        summary="no model: claims of several tries held against the atlas",
        tools=TOOLS,
        budget=Budget(turns=4, calls=MOST_CALLS, calls_per_turn=MOST_CALLS),
        context=Context("whole"),
        system=_system,
        prompt=partial(_prompt, count),
    )


def _system(_task: Task, _tools: tuple[str, ...]) -> str:
    return _SYSTEM


def _prompt(count: int, task: Task, _tools: tuple[str, ...]) -> str:
    return question(task, f"Where was this photo taken? {count} tries were made; their claims are checked.")


def _address(address: Address, checks: Sequence[Check]) -> Address:
    """The try's own address; its clues give way to the claims that hold, level by level. The others are explained."""

    def level(name: str, own: Level) -> Level:
        held = [check for check in checks if check.verdict == "holds"]
        clues = tuple(str(check) for check in held if _LEVELS.get(check.claim.kind, "precise") == name)
        return Level(own.conclusion, clues if own.conclusion else (), own.reasoning, own.uncertainty)

    return Address(
        level("country", address.country), level("region", address.region), level("precise", address.precise)
    )


def _candidate(place: Place) -> Candidate:
    chosen = place.best
    held = [str(check) for check in chosen.checks if check.verdict == "holds"]
    failed = [str(check) for check in chosen.checks if check.verdict == "fails"]
    said = ", ".join(str(one.stand.number) for one in place.members)
    noun = "try" if len(place.members) == 1 else "tries"
    evidence = f"For: {noun} {said}{'; ' if held else ''}{'; '.join(held)}."
    if failed:
        evidence += f" Against: {'; '.join(failed)}."
    return Candidate(str(chosen.stand.answer.address) or None, chosen.point, round(place.probability, 3), evidence)
