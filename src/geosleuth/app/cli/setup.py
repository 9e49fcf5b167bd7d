"""``geosleuth setup``: which model is asked from now on."""

from dataclasses import dataclass
from typing import Annotated, Optional

import typer

from geosleuth.app.cli.options import JsonFlag, takes


@dataclass(frozen=True, kw_only=True)
class SetupOptions:
    """The options of ``setup``."""

    model: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="NAME", help="Use this model; none is the detective. Without it, models are listed."),
    ] = None
    base_url: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="URL", help="Where the model is served."),
    ] = None
    pull: Annotated[
        bool,
        typer.Option("--pull", help="Have Ollama on this machine fetch a small open vision model, and use it."),
    ] = False
    untried: Annotated[bool, typer.Option("--untried", help="Do not try the model on an example photo first.")] = False
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing.")] = False
    as_json: JsonFlag = False


@takes(SetupOptions)
def setup(options: SetupOptions) -> None:
    """Find models within reach, try one on an example photo, and make it the default.

    Servers on this machine are asked for their models, and nobody else. Photos go to a host only after a yes.

    Examples:

      geosleuth setup

      geosleuth setup --model ollama:qwen3-vl:4b --yes

      geosleuth setup --pull

      geosleuth setup --model none
    """
    from geosleuth.app.cli.handlers.setup import set_up

    set_up(options)
