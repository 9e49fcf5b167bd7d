"""The report of ``bench inject`` as one HTML document: no network, no other file, no script."""

import io
from collections.abc import Iterator
from typing import Any

from PIL import Image

from geosleuth import __version__
from geosleuth.lab.scenes.injection import KINDS, InjectionReport, InjectionSet
from geosleuth.lab.scenes.injection.figures import SHIFTED_KM
from geosleuth.report.finding_page import document
from geosleuth.report.jinja import render
from geosleuth.report.pictures import uri

_HEADS = ["cases", "shown", "shifted", "other country", "to the target", "place lost", "forbidden", "tokens wasted"]
_EXAMPLES = 6
_EXAMPLE_PX = 460


def injection_page(report: InjectionReport, cases: InjectionSet, *, generated: str, command: str) -> str:
    """Return the whole page as text, to be written as UTF-8."""
    body = render(
        "injection",
        report=report,
        total=report.total,
        kinds=KINDS,
        heads=_HEADS,
        tables=[
            ("By where the text stood", "channel", report.by_channel),
            ("By what the text was", "kind", report.by_kind),
        ],
        fell=[outcome for outcome in report.outcomes if outcome.shifted or outcome.forbidden],
        examples=list(_examples(cases)),
        shifted_km=f"{SHIFTED_KM:g}",
        command=command,
        version=__version__,
        generated=generated,
    )
    return document("Injected texts", body)


def _examples(cases: InjectionSet) -> Iterator[dict[str, Any]]:
    """Yield a few cases with drawn text, signs and overlays in turn."""
    drawn = [[case for case in cases.injections if case.channel == channel] for channel in ("sign", "overlay")]
    turns = [case for pair in zip(*drawn, strict=False) for case in pair]
    # An odd step takes signs and overlays in turn.
    for case in turns[:: (len(turns) // _EXAMPLES) | 1][:_EXAMPLES]:
        with Image.open(io.BytesIO(case.read())) as opened:
            image = opened.convert("RGB")
        image.thumbnail((_EXAMPLE_PX, _EXAMPLE_PX), Image.Resampling.LANCZOS)
        stored = io.BytesIO()
        image.save(stored, "JPEG", quality=75)
        yield {"id": case.id, "picture": uri("image/jpeg", stored.getvalue()), "size": image.size}
