"""A user's own words for a method: system, question and verifier, from a folder.

The papers print their prompts, and released checkpoints were trained on them. Ours are our own words; a user who wants
others brings them::

    FOLDER/twm/system.txt        what the model is told first
    FOLDER/twm/question.txt      the first message, with the photo
    FOLDER/twm/verifier.txt      what a model that verifies several tries is told first
    FOLDER/twm/review.txt        what a member of a team is asked about another's answer; so are summary.txt, after the
                                 reviews, and discussion.txt

Files that lie in FOLDER itself count for every method that has none of its own. Where a file is missing our words stay.
``{{name}}`` in them is replaced: see `PLACEHOLDERS`. Nothing else is: single braces are text.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from geosleuth.support.errors import BadInput

from .events import Task
from .method import Method
from .methods.shared import PLACEHOLDER, boxes, fill, from_user, own_names, photos, tool_list

# Stages in which team members are prompted after their first answers; see `geosleuth.agent.methods.smilegeo`.
STAGES = ("review", "summary", "discussion")
PARTS = ("system", "question", "verifier", *STAGES)
PLACEHOLDERS: Mapping[str, str] = {
    "tools": "a line for each tool that is on: its name, and what it is good for",
    "schemas": "the tools as JSON schemas, one a line",
    "boxes": "how boxes are given, where a tool takes one",
    "photos": "the handles and sizes of the photos",
    "user": "the user's hint and area",
    "own": "our own words for this part",
    "task": "in verifier.txt: what each try was told first",
    "answer": "in review.txt, summary.txt, discussion.txt: the answer that is reviewed, or one's own last one",
    "comments": "in summary.txt: the reviews of it",
    "opinions": "in discussion.txt: the newest replies of the others",
}
_OF_STAGES = {"review": {"own", "answer"}, "summary": {"own", "answer", "comments"}}
_OF_STAGES["discussion"] = {"own", "answer", "opinions"}
_OF_ALL = {"tools", "schemas", "boxes", "photos", "user", "own"}
_MAX_BYTES = 1_000_000

Words = Callable[[Task, tuple[str, ...]], str]


@dataclass(frozen=True, slots=True)
class Prompts:
    """A user's words by part, and the fingerprint that trajectories and recipes keep."""

    parts: Mapping[str, str]
    sha256: str


def read_prompts(folder: Path, method: str) -> Prompts:
    """Read the words for a method.

    Raises:
        BadInput: there are none, a file can't be read, or a placeholder is unknown.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder}: there is no such folder")
    found = {}
    for part in PARTS:
        path = next(
            (item for item in (folder / method / f"{part}.txt", folder / f"{part}.txt") if item.is_file()), None
        )
        if path is not None:
            found[part] = _read_prompt_file(path)
    if not found:
        looked = ", ".join(f"{part}.txt" for part in PARTS)
        raise BadInput(f"{folder}: no words for the method {method}; looked for {looked} there and in {method}/")
    digest = hashlib.sha256(json.dumps(found, sort_keys=True, ensure_ascii=False).encode())
    return Prompts(found, digest.hexdigest())


def _read_prompt_file(path: Path) -> str:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise BadInput(f"{path}: has more than a million bytes; words for a model are shorter")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: can't be read as UTF-8 text: {error}") from error
    usual = _OF_ALL | {"task"} if path.stem == "verifier" else _OF_ALL
    own = _OF_STAGES.get(path.stem, usual)
    for name in PLACEHOLDER.findall(text):
        if name not in own:
            known = ", ".join(f"{{{{{item}}}}}" for item in PLACEHOLDERS if item in own)
            raise BadInput(f"{path}: there is no {{{{{name}}}}} here; known are {known}")
    return text.strip()


def with_prompts(method: Method, prompts: Prompts) -> Method:
    """Return the method with a user's words in place of ours; its tools, budget and form of answer stay."""
    parts = prompts.parts

    def replace_part(part: str, own: Words) -> Words:
        return partial(_fill_placeholders, method, parts[part], own) if part in parts else own

    return replace(
        method,
        system=replace_part("system", method.system),
        prompt=replace_part("question", method.prompt),
        verifier_words=parts.get("verifier"),
        stage_words={name: parts[name] for name in STAGES if name in parts},
        prompts_sha256=prompts.sha256,
    )


def verifier_words(method: Method, own: Words) -> Words:
    """Return what a verifier of a method's tries is told first: the user's words, or else our own."""
    if method.verifier_words is None:
        return own
    return partial(_fill_placeholders, method, method.verifier_words, own)


def _fill_placeholders(method: Method, text: str, own: Words, task: Task, tools: tuple[str, ...]) -> str:
    values: Mapping[str, Callable[[], str | None]] = {
        "tools": lambda: tool_list(tools, method.shown_as),
        "schemas": lambda: _schemas(method, tools),
        "boxes": lambda: boxes(own_names(tools, method.shown_as), method.box_scale),
        "photos": lambda: photos(task),
        "user": lambda: from_user(task),
        "own": lambda: own(task, tools),
        "task": lambda: method.system(task, tools),
    }
    return fill(text, values)


def _schemas(method: Method, tools: tuple[str, ...]) -> str:
    # What the tools need is imported only where words about them are written.
    from geosleuth.tools.toolset import all_tools

    chosen = method.toolset(all_tools(), own_names(tools, method.shown_as))
    return "\n".join(json.dumps({"type": "function", "function": item.schema()}, ensure_ascii=False) for item in chosen)
