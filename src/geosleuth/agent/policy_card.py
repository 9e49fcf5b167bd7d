"""Policy card: how a policy was trained, in a small file beside its weights, so that inference matches.

    {"format": "geosleuth-policy-card/1", "method": "spotagent", "wire": "native", "tools": ["image_zoom_in_tool", ...],
     "box_scale": "thousandths", "turns": 8, "words_sha256": "..."}

Training writes ``policy_card.json`` into the folder of weights; every command that plays a policy reads it. What is
asked for otherwise is refused with one line that says what to pass: a policy that is shown other words, tools or boxes
than it learned is another policy. The budget of turns may be changed, and so may the boxes, by name.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args

from geosleuth.models import Policy, Wire
from geosleuth.models.box_probe import probe_scale
from geosleuth.photo import BoxScale
from geosleuth.support.errors import BadInput
from geosleuth.support.files import read_json, write_text_atomically
from geosleuth.tools import Tool, Toolset

from .events import Started, Task
from .method import Method
from .methods import METHODS
from .methods import method as method_of
from .methods.shared import own_names
from .prompt_files import read_prompts, with_prompts

FILE = "policy_card.json"
FORMAT = "geosleuth-policy-card/1"
# Value of ``--policy-card`` that allows running a policy with settings other than those it was trained with.
NO_CARD = "none"

_ANYWAY = f"--policy-card {NO_CARD} to play it otherwise"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCard:
    """Training setup of a policy.

    Attributes:
        method: the preset.
        wire: how calls travelled: "native" is the chat template's own tool calling.
        tools: those that it was offered, by our names, in their order.
        box_scale: in what boxes were asked for.
        turns: the most turns of a run.
        words_sha256: the fingerprint of system text and question, see `words_sha256`.
    """

    method: str
    wire: Wire
    tools: tuple[str, ...]
    box_scale: BoxScale
    turns: int
    words_sha256: str

    @classmethod
    def from_method(cls, method: Method, tools: Sequence[str], *, turns: int | None = None) -> "PolicyCard":
        """Return the card of a policy that is trained by a method with these tools, by either of their names."""
        own = own_names(tools, method.shown_as)
        return cls(
            method=method.name,
            wire=method.wire,
            tools=own,
            box_scale=method.box_scale,
            turns=turns or method.budget.turns,
            words_sha256=words_sha256(method, own),
        )

    def write(self, folder: Path) -> None:
        """Write the card into a folder of weights; it is complete or absent."""
        write_text_atomically(folder / FILE, json.dumps({"format": FORMAT, **asdict(self)}, indent=1) + "\n")

    def build_method(
        self,
        *,
        method: str | Method | None = None,
        tools: Iterable[str | Tool] | None = None,
        wire: str | None = None,
        prompts: Path | None = None,
        boxes: BoxScale | None = None,
    ) -> Method:
        """Return the method to play the policy by: its words, wire, tools, boxes and turns are those of training.

        Args:
            method: what is asked for, if anything; the same for ``tools`` and ``wire``.
            tools: as `Method.toolset` takes them.
            wire: native or tagged.
            prompts: the user's own words, which training must have had too.
            boxes: the user's own choice of the scale, in place of the card's.

        Raises:
            BadInput: something is asked for that the policy was not trained with; the line says what to pass.
        """
        named = method.name if isinstance(method, Method) else method
        if named is not None and named.strip().casefold() != self.method.casefold():
            raise _mismatch("--method", self.method, named)
        self.check_wire(wire)
        own = method if isinstance(method, Method) else method_of(self.method, box_scale=self.box_scale)
        if tools is not None and (asked := _own_tools(own, tools)) != self.tools:
            raise _mismatch("--tools", ",".join(self.tools) or "none", ",".join(asked) or "none")
        own = with_folder(own, prompts)
        if words_sha256(own, self.tools) != self.words_sha256:
            given = "leave --prompts out" if prompts else "pass their folder with --prompts"
            raise BadInput(f"this policy was trained with other words; {given}, or {_ANYWAY}")
        if boxes is not None and boxes != self.box_scale and not isinstance(method, Method):
            own = with_folder(method_of(self.method, box_scale=boxes), prompts)
        return replace(own, wire=self.wire, tools=self.tools, budget=replace(own.budget, turns=self.turns))

    def check_wire(self, wire: str | None) -> None:
        """Check that the user asks for no other wire than the policy learned.

        Raises:
            BadInput: the user does.
        """
        if wire is not None and wire != self.wire:
            raise _mismatch("--wire", self.wire, wire)


def _mismatch(option: str, learned: str, asked: str) -> BadInput:
    return BadInput(
        f"this policy was trained with {option} {learned}, not {asked[:80]}; leave {option} out, or {_ANYWAY}"
    )


def _own_tools(method: Method, names: Iterable[str | Tool]) -> tuple[str, ...]:
    # Tools import much, and cards are read by commands that may need none.
    from geosleuth.tools.toolset import all_tools

    return own_names(method.toolset(all_tools(), names).names, method.shown_as)


def with_folder(method: Method, prompts: Path | None) -> Method:
    """Return the method with the words of a user's folder, if there is one.

    Raises:
        BadInput: it holds none for the method, or can't be read.
    """
    return method if prompts is None else with_prompts(method, read_prompts(prompts, method.name))


def words_sha256(method: Method, tools: Sequence[str]) -> str:
    """Return the fingerprint of what a policy is told of a task without photos: system text, tools named, question."""
    shown = tuple(method.shown_as.get(name, name) for name in tools)
    task = Task(())
    return sha256(f"{method.system(task, shown)}\0{method.prompt(task, shown)}".encode()).hexdigest()


def method_of_run(started: Started, prompts: Path | None = None, *, boxes: BoxScale | None = None) -> Method | None:
    """Return the method of a recorded run, asking for boxes as it did then; None if the method is unknown.

    A run without boxes says nothing about their scale; then it is ``boxes``, where that is given.

    Raises:
        BadInput: the folder of the user's own words can't be read, or has none for the method.
    """
    if started.method not in METHODS:
        return None
    scales: list[BoxScale] = sorted(get_args(BoxScale), key=lambda scale: scale != boxes)
    methods = [with_folder(METHODS[started.method](scale), prompts) for scale in scales]
    return next(
        (method for method in methods if method.system(started.task, started.tools) == started.system), methods[0]
    )


def card_of_run(
    started: Started, wire: Wire, prompts: Path | None = None, *, boxes: BoxScale | None = None
) -> PolicyCard | None:
    """Return the card of a policy that learns from such runs; None if their method is unknown.

    ``boxes`` is the model's own scale, which counts where the runs have none.

    Words that are neither ours nor the folder's get a fingerprint of their own, so that no other words pass for them.

    Raises:
        BadInput: the runs were made with other words than the folder's.
    """
    method = method_of_run(started, prompts, boxes=boxes)
    if method is None:
        return None
    if started.prompts != method.prompts_sha256:
        pass_it = "leave rollout.prompts out" if started.prompts is None else "name their folder as rollout.prompts"
        raise BadInput(f"these runs of {method.name} were made with other words; {pass_it}")
    card = PolicyCard.from_method(replace(method, wire=wire), started.tools, turns=started.budget.turns)
    if method.system(started.task, started.tools) != started.system:
        return replace(card, words_sha256=sha256(started.system.encode()).hexdigest())
    return card


def read_card(path: Path) -> PolicyCard:
    """Read a card: the file, or the folder that holds it.

    Raises:
        BadInput: there is none, or it is damaged.
    """
    file = path / FILE if path.is_dir() else path
    try:
        return decode_card(read_json(file))
    except (OSError, ValueError, TypeError, KeyError, BadInput) as error:
        raise BadInput(f"{file}: is no policy card; pass the {FILE} that training writes beside weights") from error


def decode_card(plain: Any) -> PolicyCard:
    """Return the card of a JSON object.

    Raises:
        ValueError: it is none. TypeError and KeyError say the same.
    """
    card = PolicyCard(
        **{field.name: plain[field.name] for field in fields(PolicyCard)} | {"tools": tuple(plain["tools"])}
    )
    words = (card.method, card.words_sha256, *card.tools)
    known = card.wire in get_args(Wire) and card.box_scale in get_args(BoxScale)
    if plain["format"] != FORMAT or not known or not isinstance(plain["turns"], int) or card.turns < 1:
        raise ValueError(FORMAT)
    if not all(isinstance(word, str) for word in words):
        raise TypeError(FORMAT)
    return card


def card_of_model(model: str | None, asked: str | None) -> PolicyCard | None:
    """Return the card of a model by its name, as ``--model`` gives it; None where it has none.

    Raises:
        BadInput: it is damaged, or the file that is asked for is none.
    """
    prefix, _, name = (model or "").partition(":")
    return card_beside(Path(name).expanduser() if prefix == "hf" else None, asked)


async def card_of_server(policy: Policy) -> PolicyCard | None:
    """Return the card that a server's list of models has for a policy; None where it has none.

    An entry may hold it as ``policy_card``, or name a folder of this machine with a card as its ``root``.

    Raises:
        BadInput: it is damaged.
    """
    listed: Callable[[], Awaitable[Mapping[str, Any]]] | None = getattr(policy, "listed", None)
    if listed is None:
        return None
    entry = await listed()
    if (own := entry.get("policy_card")) is not None:
        try:
            return decode_card(own)
        except (ValueError, TypeError, LookupError) as error:
            raise BadInput(f"{policy.name}: its server lists a card that can't be read; pass --policy-card") from error
    # Folders of other machines are none of ours.
    root = None if policy.hosts else entry.get("root")
    return card_beside(Path(root)) if isinstance(root, str) and "\0" not in root else None


async def scale_of_policy(
    policy: Policy, toolset: Toolset, guess: BoxScale, say: Callable[[str], None] = lambda _line: None
) -> BoxScale:
    """Return in what a policy without a card gives boxes, asking it once where the scale is unknown; see `box_probe`.

    Args:
        policy: who is asked; recordings, baselines and the detective have nothing to say.
        toolset: the policy is not asked where no tool takes a box.
        guess: what its name says.
        say: hears what was found.
    """
    where = getattr(policy, "probe_key", None)
    if where is None or not any(item.takes_box for item in toolset):
        return guess
    return await probe_scale(policy, where, guess=guess, say=say)


def card_beside(folder: Path | None, asked: str | None = None) -> PolicyCard | None:
    """Return the card in a folder of weights; None where training wrote none.

    Args:
        folder: of the weights, or of the run that makes them; None where they are not on this machine.
        asked: what ``--policy-card`` says: another file, or none.

    Raises:
        BadInput: it is damaged, or the file that is asked for is none.
    """
    if asked is not None:
        return None if asked == NO_CARD else read_card(Path(asked).expanduser())
    return read_card(folder) if folder is not None and (folder / FILE).is_file() else None
