"""From a request to all that a run needs: model, maps, searches, prior, MCP tools; any error in it is reported here."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from geosleuth.agent import Budget, Method
from geosleuth.agent.policy_card import (
    PolicyCard,
    card_of_server,
    scale_of_policy,
)
from geosleuth.answer.granularity import GRANULARITIES, Granularity
from geosleuth.geo import LatLon
from geosleuth.models import Policy, Sampling, Wire
from geosleuth.models.detective import Detective
from geosleuth.tools import TextReader, Toolset
from geosleuth.tools.toolset import all_tools

from .area import Area, build_area, parse_point, parse_taken
from .borrowed import parse_borrowed
from .model_choice import DETECTIVE, as_trained, build_budget, build_method, build_sampling, check_words, choose_model
from .outputs import Outputs, build_outputs, check_new_file
from .request import LocateRequest, check_choice, join_words
from .searches import Searches, build_searches
from .team import Several, check_several, files_beside, parse_parallel

if TYPE_CHECKING:
    from geosleuth.tools.borrowed import Borrowing

# How the sentences begin that follow the user's own hint.
TAKEN, SEEN = "It was taken at ", "Somebody sees in it: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run that can begin: nothing has been sent, built or written yet.

    ``notes`` are for the user: what the plan leaves out, and why. With ``completes``
    what a model's answer leaves out is filled in: benchmark runs take it as it is. ``reader`` reads text in place of
    the text reading that comes with the package. ``card`` says how the model was trained, where that
    is known. What the model itself says, `load` finds out by the ``request``.
    """

    policy: Policy
    method: Method
    toolset: Toolset
    budget: Budget
    sampling: Sampling
    wire: Wire
    hint: str | None
    area: str | None
    within: Area | None
    check: LatLon | None
    force_answer: bool
    granularity: Granularity
    searches: Searches
    outputs: Outputs
    several: Several | None = None
    borrowed: "Borrowing | None" = None
    notes: tuple[str, ...] = ()
    completes: bool = True
    reader: TextReader | None = None
    card: PolicyCard | None = None
    request: LocateRequest | None = field(default=None, repr=False)

    @property
    def by_detective(self) -> bool:
        """Return whether no model is asked."""
        return isinstance(self.policy, Detective) and (self.several is None or self.several.team is None)

    @property
    def usual_jobs(self) -> int:
        """The default number of photos in parallel: reading uses two cores, and models are waited for."""
        return 2 if self.by_detective else 4

    @property
    def missing_tools(self) -> str:
        """The missing tools of the method's own choice, and how to add each; empty for none."""
        lacking: dict[str, list[str]] = {}
        for item in self.toolset.missing:
            lacking.setdefault(f"{item.lacks}; {item.brought_by}", []).append(item.name)
        if not lacking:
            return ""
        each = "; ".join(f"{', '.join(names)} ({why})" for why, names in lacking.items())
        return f"{self.method.name} lacks {len(self.toolset.missing)} of its {len(self.method.tools)} tools: {each}"

    @property
    def needs_atlas(self) -> bool:
        """Return whether the offline atlas may be used: by tools and verifiers, or to coarsen names."""
        return len(self.toolset) > 0 or self.several is not None or self.granularity != "exact"

    @property
    def thinkers(self) -> list[Policy]:
        """Every model that gets to see the photo, each once, in the order in which they do."""
        if self.several is not None and self.several.team is not None:
            return list(self.several.team.policies)
        verifier = self.several.verifier if self.several else None
        return [self.policy] if verifier is None or verifier is self.policy else [self.policy, verifier]

    @property
    def sent_to(self) -> tuple[list[Policy], frozenset[str]]:
        """The models that photos leave this machine for, and every host they go to, that of an image search too."""
        sending = [thinker for thinker in self.thinkers if thinker.hosts]
        return sending, self.searches.image_hosts.union(*(item.hosts for item in sending))

    def announcing(self, say: Callable[[str], None] | None) -> AbstractContextManager[None]:
        """Have it said, once, that a map service failed and the offline atlas takes over."""
        if self.searches.maps is None or say is None:
            return nullcontext()
        from geosleuth.atlas.online import announcing_takeovers

        return announcing_takeovers(say, exact=self.granularity == "exact")

    async def load(self, held: AsyncExitStack, say: Callable[[str], None] = lambda _line: None) -> "Plan":
        """Load the models that must be loaded, and have all of them and the services closed with ``held``.

        Returns the plan as the models want it shown, see `settled`; ``say`` hears what was found out.
        """
        for thinker in (*self.thinkers, self.searches.maps, self.searches.web):
            if close := getattr(thinker, "aclose", None):
                held.push_async_callback(close)
        for thinker in self.thinkers:
            if load := getattr(thinker, "load", None):
                await load()
        return await self.resolve_model_details(say)

    async def resolve_model_details(self, say: Callable[[str], None] = lambda _line: None) -> "Plan":
        """Return the plan with what a model without a card says itself: its server's card, or its scale of boxes.

        The caller has the user's consent to ask the models; `geosleuth.models.box_probe` asks once.

        Raises:
            BadInput: something is asked for that the model was not trained with.
        """
        request, several = self.request, self.several
        if several is not None and several.team is not None:
            return replace(self, several=replace(several, team=await several.team.resolve_model_details(say)))
        if request is None or self.card is not None:
            return self
        card = await card_of_server(self.policy) if request.policy_card is None else None
        if card is not None:
            method = as_trained(card, request)
            return replace(
                self,
                card=card,
                method=method,
                toolset=method.toolset(all_tools(), card.tools),
                budget=build_budget(request, method.budget),
                sampling=build_sampling(request, method.sampling),
                wire=card.wire,
            )
        usual = self.method.box_scale
        scale = await scale_of_policy(self.policy, self.toolset, usual, say) if request.boxes == "auto" else usual
        return self if scale == usual else replace(self, method=build_method(request, scale))


def make_plan(
    request: LocateRequest, photos: Sequence[Path] = (), *, batch: bool = False, thinker: Policy | None = None
) -> Plan:
    """Check every field and open what is named, all but the photos; the cheapest checks come first.

    A recording says itself how it was made: what the user leaves out is taken from it. ``thinker`` thinks in place of
    the model that ``request.model`` names.

    Raises:
        UserError: the user must fix an option or a file; nothing has been written or sent.
    """
    granularity = check_choice(request.granularity, GRANULARITIES, "--granularity")
    taken, checked = parse_taken(request.taken), None if request.check is None else parse_point(request.check)
    check_words(request)
    check_several(request)
    borrowed = parse_borrowed(request)
    outputs = build_outputs(request, photos, batch=batch)
    area = build_area(request)
    searches = build_searches(request, photos)
    model = choose_model(request, area, taken, searches, thinker)
    several, notes = parse_parallel(request, model.policy)
    for path in files_beside(request.trajectory, several) if request.trajectory else ():
        check_new_file(path, overwrite=request.overwrite)
    task = model.began.task if model.began else None
    return Plan(
        policy=model.policy,
        several=several,
        method=model.method,
        toolset=model.toolset,
        budget=model.budget,
        sampling=model.sampling,
        wire=model.wire,
        hint=_hint(request, taken, checked) or (task.hint if task else None),
        area=join_words(area.words if area else None, request.area) or (task.area if task else None),
        within=area,
        check=checked,
        force_answer=request.force_answer or bool(task and task.force_answer),
        granularity=granularity,
        searches=searches,
        outputs=outputs,
        borrowed=borrowed,
        card=model.card,
        request=None if model.began else request,
        notes=(*notes, *_not_seen(request.seen)),
    )


def _hint(request: LocateRequest, taken: datetime | None, checked: LatLon | None) -> str | None:
    """Return the hint for a model; the detective gets it more exactly."""
    when = None if taken is None else f"{TAKEN}{taken.isoformat(sep=' ', timespec='minutes')}."
    claim = None
    if checked is not None and request.model not in (None, DETECTIVE):
        claim = (
            f"Somebody claims that it was taken at {checked.lat:.5f}, {checked.lon:.5f}. Check the claim: look for "
            "what speaks for it and against it, look there and elsewhere on the map, and answer with the place where "
            "you find that it was taken. Begin the explanation with FOR, AGAINST or UNDECIDED."
        )
    seen = None if request.seen is None else f"{SEEN}{request.seen}."
    return join_words(request.hint, seen, when, claim, by=" ")


def _not_seen(seen: str | None) -> Iterator[str]:
    """Yield the parts of the sightings for which the field guide has no words.

    Raises:
        BadInput: an attribute or value is named that the guide does not have.
    """
    if seen is not None:
        from geosleuth.evidence.guide import read_sightings

        _, unknown = read_sightings(seen)
        if unknown:
            yield f"not in the field guide, and left out: {'; '.join(unknown)}"
