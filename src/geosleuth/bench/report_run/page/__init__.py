"""What ``bench report`` writes as HTML: the ruler's page, and on it what only the folder of a run tells."""

from collections.abc import Sequence
from importlib.resources import files

from geosleuth.bench.compare import PairReport
from geosleuth.bench.page import render_page
from geosleuth.bench.page.page import MoreSections
from geosleuth.bench.report_run.told import Told
from geosleuth.score import PublishedRow

from .behaviour import behaviour_section
from .costs import costs_section
from .facts import facts_section
from .failures import coverage_section, failures_section
from .gallery import gallery_section
from .hung_on import hung_on_section

__all__ = ["render_run_page"]


def render_run_page(
    told: Told,
    *,
    published: Sequence[PublishedRow] = (),
    pairs: Sequence[PairReport] = (),
    generated: str,
    command: str = "",
) -> str:
    """The whole page as text, to be written as UTF-8.

    Args:
        told: the runs.
        published: rows from papers to stand beneath ours.
        pairs: paired comparisons of runs.
        generated: when the page was made, as it is to be read.
        command: the command line that made it.
    """
    many = len(told.runs) > 1
    return render_page(
        [run.report for run in told.runs],
        published=published,
        pairs=pairs,
        title="How the runs went" if many else "How the run went",
        generated=generated,
        command=command,
        more=MoreSections(
            after_figures=(coverage_section(told),),
            after_charts=(
                costs_section(told),
                behaviour_section(told.runs),
                failures_section(told.runs),
                hung_on_section(told.hung_on),
            ),
            before_worst=(gallery_section(told.runs), facts_section(told.runs)),
            style=files(__package__).joinpath("run.css").read_text(encoding="utf-8"),
        ),
    )
