"""From a request to the words of ``geosleuth locate``, with what the settings say and what a person adds."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from geosleuth.answer.granularity import GRANULARITIES, Granularity, coarsest
from geosleuth.errors import BadInput

from .model import Feedback, NeedsConsent, RunRequest, Settings

if TYPE_CHECKING:
    from geosleuth.pipeline.plan import Plan
    from geosleuth.pipeline.request import LocateRequest
    from geosleuth.policies.feedback import Rejected

_ON_THIS_DISK = ("", "detective", "same", "hf", "replay")


def allowed_granularity(wanted: Granularity, cap: Granularity) -> Granularity:
    """The coarser of two levels.

    Raises:
        BadInput: there is no such level.
    """
    if wanted not in GRANULARITIES:
        raise BadInput(f"there is no granularity {wanted[:40]!r}; there are {', '.join(GRANULARITIES)}")
    return coarsest((wanted, cap))


def settled(request: RunRequest, settings: Settings) -> RunRequest:
    """A request with what it leaves open taken from the settings.

    Raises:
        BadInput: it asks for something that can't be.
    """
    from geosleuth.pipeline.area import names_file

    if request.within is not None and names_file(request.within):
        raise BadInput("within takes a place or numbers here, not a file; give the outline as the area")
    own = request.model is None
    model = settings.model if own else request.model
    if settings.offline:
        for asked in (model, request.verifier):
            _check_offline(asked)
    return replace(
        request,
        model=model,
        base_url=(request.base_url or settings.base_url) if own else request.base_url,
        granularity=allowed_granularity(request.granularity, settings.granularity),
    )


def _check_offline(model: str | None) -> None:
    if model is None or model in _ON_THIS_DISK or model.partition(":")[0] in _ON_THIS_DISK:
        return
    raise BadInput(f'{model[:60]} is asked over the network; switch off "offline" in the settings to allow it')


def locate_request(
    request: RunRequest, *, offline: bool, rejected: "Rejected | None" = None, check: str | None = None
) -> "LocateRequest":
    """Build the request of a run."""
    from geosleuth.pipeline.plan import DETECTIVE
    from geosleuth.pipeline.request import LocateRequest

    model = None if request.model in (None, "", DETECTIVE) else request.model
    return LocateRequest(
        model=model,
        base_url=request.base_url if model is not None else None,
        method=request.method,
        parallel=request.parallel,
        verifier=request.verifier,
        within=request.within,
        drawn=request.area,
        rejected=rejected,
        hint=request.hint,
        taken=request.taken,
        drives_on=request.drives_on,
        granularity=request.granularity,
        turns=request.turns,
        calls=request.calls,
        tokens=request.tokens,
        seconds=request.seconds,
        usd=request.usd,
        force_answer=request.force_answer,
        offline=offline,
        check=check,
    )


def check_consent(plan: "Plan", send_to: Iterable[str]) -> None:
    """Refuse to send photos to a host that nobody agreed to.

    Raises:
        NeedsConsent: there is one.
    """
    from geosleuth.policies import consent_line

    sending, hosts = plan.sent_to
    if missing := hosts - frozenset(send_to):
        words = "; ".join(consent_line(one) for one in sending)
        raise NeedsConsent(missing, words or f"the image search sends the photo to {' and '.join(sorted(hosts))}")


def continued(request: RunRequest, feedback: Feedback) -> RunRequest:
    """The request of a run that goes on from another: what a person adds comes on top, an area replaces an area."""
    hint = "; ".join(part for part in (request.hint, feedback.hint) if part) or None
    changed = replace(request, hint=hint, send_to=tuple(dict.fromkeys((*request.send_to, *feedback.send_to))))
    if feedback.area is not None or feedback.within is not None:
        changed = replace(changed, area=feedback.area, within=feedback.within)
    return changed
