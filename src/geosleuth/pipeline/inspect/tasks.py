"""Tasks that Inspect AI finds through the entry point of this package."""

import hashlib
from collections.abc import Sequence

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample

from geosleuth.bench.run.journal import name_of
from geosleuth.bench.scored import truth_to_dict
from geosleuth.bench.sets import DataSet, Picture, open_set, subset
from geosleuth.errors import BadInput
from geosleuth.pipeline.attempt import open_atlas
from geosleuth.pipeline.plan import DETECTIVE, make_plan
from geosleuth.pipeline.request import LocateRequest

from .policy import NobodyYet
from .refusals import in_one_line
from .scorer import TRUTH_KEY, place
from .solver import Photos, locating

QUESTION = "Where was this photo taken?"
"""What the log shows as a sample's input. What the model is told is the method's own."""


@task
def locate(
    data: str = "",
    method: str = "default",
    tools: str | Sequence[str] | None = None,
    turns: int | None = None,
    calls: int | None = None,
    seconds: float | None = None,
    limit: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    wire: str | None = None,
    boxes: str = "pixels",
    prior: str | None = None,
    force_answer: bool = False,  # noqa: FBT001, FBT002  (Inspect gives arguments by name)
) -> Task:
    """Locate the photos of a data set with our loop, our tools and our scorer.

    Args:
        data: a data set, as for ``geosleuth bench run --data``.
        method: how to go about it: default, geovista, spotagent, geoagent, twm or smilegeo.
        tools: only these tools, separated by commas; "none" for no tool at all.
        turns: replies of the model per photo, at most.
        calls: tool calls per photo, at most.
        seconds: time per photo, at most.
        limit: only the first so many photos.
        sample: so many photos drawn by ``seed``.
        seed: which photos are drawn.
        wire: how calls travel, native or tagged; by default as the method has it.
        boxes: how the model gives boxes, pixels or thousandths.
        prior: what places look like, see ``geosleuth locate --prior``.
        force_answer: ask for a best guess in any case.
    """
    with in_one_line():
        if not data:
            raise BadInput("no data set is named; add -T data=NAME:PATH, or -T data=FOLDER")
        if method == DETECTIVE:
            raise BadInput("the detective asks no model; use geosleuth bench run")
        request = LocateRequest(
            method=method,
            tools=tools if tools is None or isinstance(tools, str) else ",".join(tools),
            turns=turns,
            calls=calls,
            seconds=seconds,
            wire=wire,
            boxes=boxes,
            prior=prior,
            force_answer=force_answer,
        )
        plan = make_plan(request, (), batch=True, thinker=NobodyYet())
        chosen = subset(open_set(data), limit=limit, sample=sample, seed=seed)
        samples, pictures = _samples(chosen)
        photos = Photos(pictures, plan, open_atlas(needed=plan.needs_atlas))
    return Task(
        dataset=MemoryDataset(samples, name=chosen.card.name),
        solver=locating(photos),
        scorer=place(),
        metadata={"data": chosen.card.title, "method": plan.method.name, "tools": list(plan.toolset.names)},
    )


def _samples(data: DataSet) -> tuple[list[Sample], dict[str, Picture]]:
    """Samples that tell nothing, and the pictures by their names; what is known of a photo is for the scorer alone.

    Names are the same each time, so that Inspect can take up an evaluation that broke off.
    """
    key = hashlib.sha256(f"geosleuth/locate {data.card.name}".encode()).hexdigest()
    samples, pictures = [], {}
    for item in data:
        name = name_of(key, item.id)
        known = {TRUTH_KEY: truth_to_dict(item.truth), "id": item.id, "fields": dict(item.fields)}
        point = item.truth.point
        samples.append(Sample(input=QUESTION, target=f"{point.lat}, {point.lon}", id=name, metadata=known))
        pictures[name] = item.picture
    if not samples:
        raise BadInput(f"{data.root}: no photo of the data set is left to locate")
    return samples, pictures
