"""``geosleuth team replay``: answers that are already known, and whom to trust when."""

import os
from pathlib import Path
from typing import Annotated, Optional

import typer

replaying = typer.Typer(add_completion=False)
"""The command by itself; ``geosleuth team`` takes it in."""


@replaying.command()
def replay(
    files: Annotated[
        list[str],
        typer.Argument(metavar="[NAME=]FILE…", help="Recorded answers, a file an agent: .jsonl or .csv."),
    ],
    *,
    folds: Annotated[int, typer.Option(min=2, max=50, help="How many parts; each is answered from the others.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="What the split depends on.")] = 0,
    out: Annotated[
        Optional[Path],  # noqa: UP045  -- the option's type is read at run time
        typer.Option("--out", "-o", metavar="FILE.jsonl", help="Also write the answers, as records to score."),
    ] = None,
    save: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE.json", help="Learn from all images, and keep what was learned."),
    ] = None,
    model: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE.json", help="Answer with what was learned before; truths are not read."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that are there already.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")
    ] = False,
) -> None:
    """Learn from recorded answers whom to trust when, and measure it on images it never saw.

    Each file is an agent whose answers are known. Every image is answered by what was learned from the other parts;
    images of one name, or taken within 100 m of each other, are never split. Beside it stand the best agent, a plain
    vote, smileGeo's election and the oracle.

    Examples:

      geosleuth team replay gpt5.jsonl o3.jsonl qwen.jsonl --out answers.jsonl

      geosleuth team replay first=a/run.jsonl second=b/run.jsonl --folds 10 --json

      geosleuth team replay gpt5.jsonl o3.jsonl --save trust.json

      geosleuth team replay gpt5=new/a.jsonl o3=new/b.jsonl --model trust.json --out answers.jsonl
    """
    # Several threads sum in another order, so that figures would hang on the machine; one is also faster here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from geosleuth.app import team_replay_work as work
    from geosleuth.app.console import show, show_json

    named = work.named_files(files)
    work.check_outputs(named, out, save, model, overwrite=overwrite)
    if model is not None:
        applied = work.apply_model(named, model, out)
        if as_json:
            show_json(work.applied_document(applied))
        else:
            show(work.applied_view(applied))
        return
    report = work.measure(named, folds=folds, seed=seed)
    if out is not None:
        work.write_answers(out, report)
    if save is not None:
        work.save_trust(save, report, seed=seed)
    if as_json:
        show_json(work.replay_document(report))
    else:
        show(work.replay_view(report))
