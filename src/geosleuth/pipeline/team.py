"""Several attempts with a verifier, or a team: read from a request, and what each model said in the end."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from geosleuth.agent import Spent, Trajectory
from geosleuth.agent.locate import Finding
from geosleuth.agent.methods.smilegeo import read_answer
from geosleuth.answer import Answer
from geosleuth.answer.answer import envelope, percent_words
from geosleuth.geo import coordinates, distance_km
from geosleuth.models import EndpointSettings, Policy, Wire, make_policy
from geosleuth.models.detective import Detective
from geosleuth.models.protocol import ReplayPolicy
from geosleuth.support.errors import BadInput
from geosleuth.support.text.safe import one_line
from geosleuth.teams.parallel import VERIFIER, Chains, has_answer

from .request import LocateRequest, check_choice

if TYPE_CHECKING:
    from geosleuth.teams.swarm import Team

# Verifier name for using the same model as the tries.
SAME_MODEL = "same"

# Tries agree if their points lie within this distance of one of them.
NEAR_KM = 1.0


@dataclass(frozen=True, slots=True)
class Several:
    """So many tries, and who verifies them: a model, or None for the verifier in code. Or else a team."""

    tries: int
    verifier: Policy | None = None
    chains: Chains | None = None
    team: "Team | None" = None
    wire: Wire | None = None


def parse_parallel(request: LocateRequest, policy: Policy) -> tuple[Several | None, tuple[str, ...]]:
    """Read ``--parallel``, ``--verifier``, ``--chains`` and ``--team``; None where one try is all there is.

    Beside it stands what the user should know about it.

    Raises:
        UserError: they contradict each other, there is no such verifier, or the user must fix the team's file.
    """
    if request.team is not None:
        return Several(1, team=_team(request, request.team), wire=policy_wire(request)), ()
    chains = _chains(request)
    if request.parallel == 1 and request.verifier is None:
        return None, ()
    if isinstance(policy, ReplayPolicy):
        raise BadInput("a recording is always the same; leave out --parallel and --verifier")
    verifier = _verifier(request, policy)
    if isinstance(policy, Detective):
        same = "the detective works by rule, so all its tries would be the same: one is made"
        notes = (same,) if request.parallel > 1 else ()
        return (None if verifier is None else Several(1, verifier, chains)), notes
    return Several(request.parallel, verifier, chains), ()


def check_several(request: LocateRequest) -> None:
    """Complain about words that contradict each other, before anything is opened or made.

    Raises:
        BadInput: they do.
    """
    if request.team is None:
        _chains(request)
        return
    told = {
        "--model": request.model,
        "--base-url": request.base_url,
        "--parallel": None if request.parallel == 1 else request.parallel,
        "--verifier": request.verifier,
        "--chains": request.chains,
        "--method": request.method,
        "--tools": request.tools,
        "--policy-card": request.policy_card,
    }
    if option := next((option for option, value in told.items() if value is not None), None):
        raise BadInput(f"{option} is each agent's own, which {request.team} says; leave out {option} or --team")


def _team(request: LocateRequest, path: Path) -> "Team":
    from geosleuth.teams.swarm import make_team, read_team

    spec = read_team(path)
    endpoints = endpoint_settings(request, len(spec.agents))
    return make_team(spec, offline=request.offline, endpoints=endpoints, prompts=request.prompts)


def policy_wire(request: LocateRequest) -> Wire | None:
    """Return the call format, where the user sets it for all agents of a team."""
    return next((wire for wire in get_args(Wire) if wire == request.wire), None)


def _chains(request: LocateRequest) -> Chains | None:
    if request.chains is None:
        return None
    if request.verifier is None:
        raise BadInput("--chains is what a model reads that verifies; name it with --verifier, or leave --chains out")
    chains: Chains = check_choice(request.chains, get_args(Chains), "--chains")
    return chains


def _verifier(request: LocateRequest, policy: Policy) -> Policy | None:
    if request.verifier is None:
        return None
    if request.verifier == Detective.name or (request.verifier == SAME_MODEL and isinstance(policy, Detective)):
        raise BadInput(
            "the detective reads no tries; name a model with --verifier, or leave it out: code verifies then"
        )
    if request.verifier in (SAME_MODEL, request.model):
        return policy
    kind, own = (spec.partition(":")[0] for spec in (request.verifier, request.model or ""))
    base_url = request.base_url if kind == own else None
    return make_policy(
        request.verifier, base_url=base_url, settings=endpoint_settings(request), offline=request.offline
    )


def endpoint_settings(request: LocateRequest, minds: int = 1) -> EndpointSettings:
    """Return request settings of a model's server, shared by all tries or members unless set by the user."""
    usual = EndpointSettings()
    return EndpointSettings(concurrency=request.requests or max(usual.concurrency, request.parallel, minds))


def try_file(path: Path, number: int) -> Path:
    """Return the file of a try, beside the verifier's own trajectory."""
    return path.with_name(f"{path.stem}.try{number}{path.suffix}")


def verifier_file(path: Path) -> Path:
    """Return the file of a verifier that failed and was replaced."""
    return path.with_name(f"{path.stem}.verifier{path.suffix}")


def member_file(path: Path, number: int) -> Path:
    """Return the file of a member's run, beside the team's own trajectory, numbered in order of turns."""
    return path.with_name(f"{path.stem}.run{number}{path.suffix}")


def files_beside(path: Path, several: Several | None) -> Iterator[Path]:
    """The files that a run with several minds writes beside the trajectory's own; of a team's, those that are there."""
    if several is not None and several.team is not None:
        for found in sorted(path.parent.glob(f"{escape(path.stem)}.run*{escape(path.suffix)}")):
            number = found.name.removeprefix(f"{path.stem}.run").removesuffix(path.suffix)
            if number.isdecimal():
                yield found
    elif several is not None:
        yield verifier_file(path)
        yield from (try_file(path, number) for number in range(1, several.tries + 1))


@dataclass(frozen=True, slots=True)
class Voice:
    """Latest answer of a member or try, and its end where it has none."""

    who: str
    answer: Answer = field(default_factory=Answer)
    failed: str = ""

    @property
    def place(self) -> str:
        """The place of the answer."""
        point = "" if self.answer.point is None else coordinates(self.answer.point, self.answer.radius_km)
        return envelope(self.answer.address) or point or "no place found"

    @property
    def sure(self) -> str:
        """The confidence of the answer."""
        return "" if self.answer.probability is None else percent_words(self.answer.probability)


@dataclass(frozen=True, slots=True)
class FailedVerifier:
    """A model that was to verify and failed, and why: the verifier in code decided instead."""

    model: str
    reason: str

    def __str__(self) -> str:
        return f"the verifier {self.model} failed ({self.reason}); decided in code instead"


def find_failed_verifier(finding: Finding) -> FailedVerifier | None:
    """The verifier that failed, if one did; why it did in one word where no more may be told."""
    if not finding.gave_way or not are_tries(finding):
        return None
    failed = finding.gave_way[-1]
    ended = failed.ended
    trouble = ended.trouble if ended and finding.granularity == "exact" else None
    reason = trouble or ("it came to no answer" if ended is None or ended.reason == "answered" else ended.reason)
    return FailedVerifier(one_line(failed.started.policy), one_line(reason))


def are_tries(finding: Finding) -> bool:
    """Return whether the answers are tries that a verifier read, rather than members of a team."""
    return finding.trajectory.started.method == VERIFIER or finding.trajectory in finding.team


def voices(finding: Finding) -> list[Voice]:
    """Return the last word of every try or member, in order, no finer than the finding may be told."""
    if are_tries(finding):
        return [_try(f"try {number}", one) for number, one in enumerate(finding.team, 1)]
    return list(_members(finding)) if finding.granularity == "exact" else []


def _try(who: str, trajectory: Trajectory) -> Voice:
    if has_answer(trajectory):
        return Voice(who, trajectory.answer or Answer())
    ended = trajectory.ended
    return Voice(who, failed=f"no answer ({ended.reason if ended else 'broken off'})")


def _members(finding: Finding) -> Iterator[Voice]:
    """The newest answer of every member; what it said about the answers of others is none."""
    said: dict[str, Voice] = {}
    for step in finding.trajectory.steps:
        _, _, words = step.text.partition("\n")
        answer = read_answer(words)
        if answer.located or answer.address:
            said[step.model] = Voice(step.model, answer)
        else:
            said.setdefault(step.model, Voice(step.model, failed="no answer of its own"))
    yield from said.values()


def agreement(finding: Finding) -> int:
    """Return how many tries agree: within a kilometre of a common try.

    Where less than everything may be told: at a place of the same name.
    """
    answers = [item.answer or Answer() for item in finding.team if has_answer(item)]
    if finding.granularity != "exact":
        names = Counter(str(answer.address) for answer in answers if answer.address)
        return max(names.values(), default=0)
    points = [answer.point for answer in answers if answer.point is not None]
    return max((sum(distance_km(point, other) <= NEAR_KM for other in points) for point in points), default=0)


def spent_together(finding: Finding) -> Spent:
    """Return the total usage. Tries are concurrent: their seconds add up to more than passed.

    The trajectory of a team counts what its members used; that of a verifier counts its own alone. A verifier that
    failed has cost something too.
    """
    own = finding.trajectory
    if not are_tries(finding):
        return own.spent
    others = [item for item in (*finding.team, *finding.gave_way) if item != own]
    return sum((other.spent for other in others), start=own.spent)
