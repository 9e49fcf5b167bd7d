"""From a request to the options of ``geosleuth locate``, with settings, and what a person rejects or adds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

from geosleuth.agent import Event, Hypothesis, Noted, Trajectory
from geosleuth.agent.spoken_of import without_evidence
from geosleuth.answer.granularity import GRANULARITIES, Granularity, coarsest
from geosleuth.geo import LatLon
from geosleuth.models.detective.ruled_out import BY_A_PERSON
from geosleuth.models.feedback import CorrectedReading, Rejected, RejectedPlace, build_rejected_place
from geosleuth.names import fold, whole_country
from geosleuth.support.errors import BadInput

from .records import Feedback, NeedsConsent, RunRequest, RunSettings
from .shapes import ClueView, PlaceView

if TYPE_CHECKING:
    from geosleuth.pipeline.plan import Plan
    from geosleuth.pipeline.request import LocateRequest

# Fields of a run's request that differ in `LocateRequest`; all others have the same names there.
_DIFFERING_FIELDS = ("model", "base_url", "area", "profile", "send_to")

_ON_THIS_DISK = ("", "detective", "same", "hf", "replay")


def coarsen_granularity(wanted: Granularity, cap: Granularity) -> Granularity:
    """Return the coarser of two levels.

    Raises:
        BadInput: there is no such level.
    """
    if wanted not in GRANULARITIES:
        raise BadInput(f"there is no granularity {wanted[:40]!r}; there are {', '.join(GRANULARITIES)}")
    return coarsest((wanted, cap))


def fill_from_settings(request: RunRequest, settings: RunSettings) -> RunRequest:
    """Return a request with what it leaves open taken from the settings.

    Raises:
        BadInput: it asks for something that can't be.
    """
    from geosleuth.pipeline.area import names_file
    from geosleuth.pipeline.defaults import NO_MODEL
    from geosleuth.pipeline.profiles import read_profile

    if request.within is not None and names_file(request.within):
        raise BadInput("within takes a place or numbers here, not a file; give the outline as the area")
    own = request.model is None
    saved = {} if request.profile is None else read_profile(request.profile).options
    usual = (saved["model"], saved.get("base_url")) if "model" in saved else (settings.model, settings.base_url)
    model = usual[0] if own else request.model
    model = None if model == NO_MODEL else model
    if settings.offline:
        for asked in (model, request.verifier):
            _check_offline(asked)
    return replace(
        request,
        model=model,
        base_url=(request.base_url or usual[1]) if own else request.base_url,
        granularity=coarsen_granularity(request.granularity, settings.granularity),
    )


def _check_offline(model: str | None) -> None:
    if model is None or model in _ON_THIS_DISK or model.partition(":")[0] in _ON_THIS_DISK:
        return
    raise BadInput(f'{model[:60]} is asked over the network; switch off "offline" in the settings to allow it')


def locate_request(
    request: RunRequest, *, offline: bool, rejected: "Rejected | None" = None, check: str | None = None
) -> "LocateRequest":
    """Build the request of a run."""
    from geosleuth.pipeline.model_choice import DETECTIVE
    from geosleuth.pipeline.profiles import read_profile
    from geosleuth.pipeline.request import LocateRequest

    model = None if request.model in (None, "", DETECTIVE) else request.model
    same = {
        field.name: getattr(request, field.name) for field in fields(request) if field.name not in _DIFFERING_FIELDS
    }
    asked = LocateRequest(
        **same,
        model=model,
        base_url=request.base_url if model is not None else None,
        drawn=request.area,
        rejected=rejected,
        offline=offline,
        check=check,
    )
    if request.profile is None:
        return asked
    usual = LocateRequest()
    told = {
        field.name: value
        for field in fields(asked)
        if (value := getattr(asked, field.name)) != getattr(usual, field.name)
    }
    return replace(asked, **read_profile(request.profile).beside({"model": model, **told}))


def check_consent(plan: "Plan", send_to: Iterable[str]) -> None:
    """Refuse to send photos to a host without consent.

    Raises:
        NeedsConsent: there is one.
    """
    from geosleuth.models import consent_line

    sending, hosts = plan.sent_to
    if missing := hosts - frozenset(send_to):
        words = "; ".join(consent_line(item) for item in sending)
        raise NeedsConsent(missing, words or f"the image search sends the photo to {' and '.join(sorted(hosts))}")


def add_feedback(request: RunRequest, feedback: Feedback) -> RunRequest:
    """Return the request of a run that continues another: feedback is added, an area replaces an area."""
    hint = "; ".join(part for part in (request.hint, feedback.hint) if part) or None
    changed = replace(request, hint=hint, send_to=tuple(dict.fromkeys((*request.send_to, *feedback.send_to))))
    if feedback.area is not None or feedback.within is not None:
        changed = replace(changed, area=feedback.area, within=feedback.within)
    return changed


def build_rejected(
    clues: Iterable[ClueView],
    candidates: Iterable[PlaceView],
    *,
    reject_clues: Sequence[str] = (),
    reject_candidates: Sequence[str] = (),
    reject_texts: Sequence[str] = (),
    readings: Iterable[Mapping[str, Any]] = (),
) -> Rejected:
    """Return what a person has ruled out, by the ids that the page knows.

    Args:
        clues: those of the run, from its events or its result.
        candidates: from its events, the result's pool and its answer; the last of an id counts.
        reject_clues: ids of clues.
        reject_candidates: ids of candidates.
        reject_texts: lines as they were read that are not about the place.
        readings: what a person reads, as `CorrectedReading` has it.

    Raises:
        BadInput: there is no such clue or candidate.
    """
    seen = {clue["id"]: clue["seen"] for clue in clues}
    places = {candidate["id"]: candidate for candidate in candidates}
    for name, wanted, known in (("clue", reject_clues, seen), ("candidate", reject_candidates, places)):
        # An empty id is none, too.
        if (missing := next((item for item in wanted if item not in known), None)) is not None:
            raise BadInput(f"this run has no {name} {missing[:40]!r}; reload it and choose again")
    chosen = [places[candidate] for candidate in reject_candidates]
    return Rejected(
        clues=tuple(dict.fromkeys(reject_clues)),
        seen=tuple(dict.fromkeys(seen[clue] for clue in reject_clues)),
        places=tuple(
            dict.fromkeys(build_rejected_place(item["name"], _view_point(item), item["radius_km"]) for item in chosen)
        ),
        texts=tuple(dict.fromkeys(reject_texts)),
        readings=tuple(map(_reading, readings)),
    )


def with_rejected(trajectory: Trajectory, rejected: Rejected) -> Trajectory:
    """Return the trajectory with the rejected candidates of its pool dropped, and rejected evidence left out of it.

    So that a model that fails, or says nothing, can't fall back on what a person has ruled out.
    """
    events, gone = list(trajectory.events), rejected.said
    for item in trajectory.pool:
        now = without_evidence(item, gone, quoting=True)
        if item.fate != "dropped" and any(_holds(place, item) for place in rejected.places):
            against = tuple(dict.fromkeys((*now.evidence_against, BY_A_PERSON)))
            now = replace(now, fate="dropped", confidence=0.0, evidence_against=against)
        if now != item:
            events.append(Event(len(events), events[-1].at_s, Noted(now)))
    return replace(trajectory, events=tuple(events))


def _holds(place: RejectedPlace, hypothesis: Hypothesis) -> bool:
    """Return whether a candidate is, or lies in, a rejected place; a country does not lie in its largest town."""
    if fold(hypothesis.place) == fold(place.name) or (
        hypothesis.country is not None and hypothesis.country == place.country
    ):
        return True
    extent = place.extent
    inside = extent is not None and hypothesis.point is not None and extent.contains(hypothesis.point)
    return inside and whole_country(hypothesis.place) is None


def encode_rejected(rejected: Rejected) -> dict[str, Any]:
    """Return JSON to store with a run."""
    return {
        "clues": list(rejected.clues),
        "texts": list(rejected.texts),
        "seen": list(rejected.seen),
        "readings": [asdict(reading) | {"box": list(reading.box)} for reading in rejected.readings],
        "places": [
            {
                "name": place.name,
                "lat": None if place.point is None else place.point.lat,
                "lon": None if place.point is None else place.point.lon,
                "radius_km": place.radius_km,
                "country": place.country,
            }
            for place in rejected.places
        ],
    }


def decode_rejected(data: Mapping[str, Any]) -> Rejected:
    """Read the output of `encode_rejected`; what is missing is empty."""
    return Rejected(
        clues=tuple(data.get("clues", ())),
        texts=tuple(data.get("texts", ())),
        seen=tuple(data.get("seen", ())),
        readings=tuple(map(_reading, data.get("readings", ()))),
        places=tuple(
            RejectedPlace(item["name"], _view_point(item), item["radius_km"], item["country"])
            for item in data.get("places", ())
        ),
    )


def _reading(mapping: Mapping[str, Any]) -> CorrectedReading:
    left, top, right, bottom = mapping["box"]
    return CorrectedReading(mapping["text"], mapping["photo"], (left, top, right, bottom), mapping["was"])


def _view_point(mapping: Mapping[str, Any]) -> LatLon | None:
    lat, lon = mapping["lat"], mapping["lon"]
    return None if lat is None or lon is None else LatLon(lat, lon)
