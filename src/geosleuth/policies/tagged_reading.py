"""Reads the calls, the thinking and the words out of a tagged reply, however sloppily it was written.

Forgiven: tags left open, several calls, code fences, almost-JSON, other names for the keys, the XML-like form
``<function=name><parameter=x>`` of some models, a reply that was cut. Not forgiven: half an argument. What can't be
read as an object stays text in the call, and comes back to the model as an error.

What a call quotes is data: nothing inside the strings of its JSON counts as a tag or as another call.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from geosleuth.answer.loose_json import find_objects
from geosleuth.tools import ToolCall

from .tagged_escaping import DATA, SPOKEN

_FLAGS = re.IGNORECASE | re.ASCII | re.DOTALL
_THINK = re.compile(r"<(/?)think(?:ing)?\s*>", _FLAGS)
# A model that forgot to close its thinking starts its call or its answer on a line of its own.
_SPEAKS_UP = re.compile(r"^<(?:tool_calls?|answer|function=[^>\s]{1,80})\s*>", _FLAGS | re.MULTILINE)
_OPENS = re.compile(r"<(?:tool_calls?|(function)=([^>\s]{1,80}))\s*>|<(tool_response)\s*>", _FLAGS)
_CLOSES = re.compile(r"</tool_calls?\s*>", _FLAGS)
_STRAY = re.compile(r"</(?:tool_calls?|function)\s*>", _FLAGS)
_FUNCTION = re.compile(r"<function=([^>\s]{1,80})\s*>", _FLAGS)
_FUNCTION_END = re.compile(r"</function\s*>", _FLAGS)
_PARAMETER = re.compile(r"<parameter=([^>\s]{1,80})\s*>(.*?)(</parameter\s*>|(?=<parameter=)|\Z)", _FLAGS)
_FENCE = re.compile(r"\A\s*```[a-z]*\s*\n?|\s*```\s*\Z", _FLAGS)
_BARE_NAME = re.compile(r"\s*([A-Za-z_][\w.-]{0,80})\s*+(?::\s*+)?(?=\{)")
_BEFORE_JSON = re.compile(
    rf"(?:<tool_calls?\s*>\s*+(?:```[a-z]*\s*+)?(?:{_BARE_NAME.pattern})?|<answer\s*>\s*+(?:```[a-z]*\s*+)?|<(parameter)=[^>\s]{{1,80}}\s*>\s*+)(?=[{{\[])",
    re.IGNORECASE,
)
_PARAMETER_END = re.compile(r"\s*</parameter\s*>", re.IGNORECASE)
_NAME_SOMEWHERE = re.compile(r"[\"'](?:name|tool|function)[\"']\s*:\s*[\"']([\w.-]{1,80})[\"']", _FLAGS)
_NAME_KEYS = ("name", "tool", "tool_name", "function", "function_name", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "tool_input", "action_input", "input")
# Models put raw line breaks into strings; they are still strings.
_DECODER = json.JSONDecoder(strict=False)
_FIRST_WINDOW = 1000
# "-Infinity", which the decoder reads too, and some room.
_LONGEST_WORD = 16
_BRACES_FORGOTTEN = 2
_MAX_DEPTH = 40
_BETWEEN = re.compile(r"[\s,;]*")
_QUOTES = "\"'`\u201c\u2018"


@dataclass(frozen=True, slots=True)
class TaggedReply:
    """A reply taken apart; ``text`` keeps the ``<answer>`` tag."""

    text: str
    thinking: str
    calls: tuple[ToolCall, ...]


def read_reply(text: str, *, first_id: int) -> TaggedReply:
    """Take a reply apart. Total: any text gives a reply.

    Calls get the ids ``call-{first_id}`` and on. Calls within the thinking don't count. What a model makes up as the
    response to its own call is dropped, with all that it builds on it.
    """
    thinking, spoken = _split_thinking(_without_quoted_tags(text))
    words, calls = _split_calls(_without_quoted_tags(spoken))
    return TaggedReply(
        SPOKEN.unescape(_joined(words)),
        SPOKEN.unescape(_joined(thinking)),
        tuple(ToolCall(f"call-{number}", name, arguments) for number, (name, arguments) in enumerate(calls, first_id)),
    )


def _joined(parts: list[str]) -> str:
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _without_quoted_tags(text: str) -> str:
    """The same reply, with JSON's own escape for whatever looks like a tag inside the JSON of a call."""
    parts: list[str] = []
    at = 0
    while opening := _BEFORE_JSON.search(text, at):
        start = opening.end()
        _, end = _leading_json(text, start)
        if opening[2] and not _PARAMETER_END.match(text, end):
            end = start
        parts += [text[at:start], DATA.escape_in_json(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def _leading_json(text: str, at: int) -> tuple[list[Any], int]:
    """The objects and lists that stand one after the other from here on, and where the last of them ends."""
    found: list[Any] = []
    end = at
    while text.startswith(("{", "["), at):
        decoded = _json_at(text, at)
        if decoded is None:
            break
        end = decoded[1]
        found.append(decoded[0])
        between = _BETWEEN.match(text, end)
        at = between.end() if between else end
    return found, end


def _json_at(text: str, at: int) -> tuple[Any, int] | None:
    """A JSON value and where it ends.

    A failing decoder counts the lines of all that it was given. It gets as little as shows the failure, or a reply
    with many broken calls would cost the square of its length.
    """
    size = _FIRST_WINDOW
    while True:
        window = text[at : at + size]
        try:
            value, length = _DECODER.raw_decode(window)
        except json.JSONDecodeError as error:
            cut = error.msg.startswith("Unterminated string") or error.pos > len(window) - _LONGEST_WORD
            if not cut or at + size >= len(text):
                return None
            size *= 4
        except (ValueError, RecursionError):
            return None
        else:
            return value, at + length


def _split_thinking(text: str) -> tuple[list[str], str]:
    """The thinking, and the rest with the thinking cut out."""
    thinking: list[str] = []
    spoken: list[str] = []
    at, opened = 0, None
    for tag in _THINK.finditer(text):
        opens = not tag[1]
        if opens and opened is None:
            spoken.append(text[at : tag.start()])
            opened = tag.end()
        elif not opens and opened is not None:
            thinking.append(text[opened : tag.start()])
            at, opened = tag.end(), None
        elif not opens:
            # Some chat templates open the thinking themselves; then the reply only closes it.
            (spoken if thinking else thinking).append(text[at : tag.start()])
            at = tag.end()
    if opened is None:
        return thinking, "".join([*spoken, text[at:]])
    speaks_up = _SPEAKS_UP.search(text, opened)
    end = speaks_up.start() if speaks_up else len(text)
    return [*thinking, text[opened:end]], "".join([*spoken, text[end:]])


_Call = tuple[str, Mapping[str, Any] | str]


def _split_calls(text: str) -> tuple[list[str], list[_Call]]:
    """The words between the calls, and the calls."""
    words: list[str] = []
    calls: list[_Call] = []
    at = 0
    while opening := _OPENS.search(text, at):
        words.append(text[at : opening.start()])
        if opening[3]:
            if calls:
                return words, calls
            words[-1] += opening[0]
            at = opening.end()
            continue
        start = opening.start() if opening[1] else opening.end()
        body, at, closed = _body(text, start, opening)
        found = list(_calls_in(body, closed=closed))
        if not found and not closed:
            # An open tag with no call behind it is a model speaking of the tag.
            words[-1] += text[opening.start() : at]
        calls.extend(found)
    words.append(text[at:])
    return [_STRAY.sub("", part) for part in words], calls


def _body(text: str, start: int, opening: re.Match[str]) -> tuple[str, int, bool]:
    """What a tag holds, where the text goes on, and whether the tag was closed."""
    # A tag that is open when the next one opens ended there.
    following = next((one for one in _OPENS.finditer(text, opening.end()) if opening[1] or not one[1]), None)
    end = following.start() if following else len(text)
    closing = (_FUNCTION_END if opening[1] else _CLOSES).search(text, start, end)
    if closing:
        return text[start : closing.start()], closing.end(), True
    return text[start:end], end, following is not None


def _calls_in(body: str, *, closed: bool) -> Iterator[_Call]:
    body = _FENCE.sub("", body).strip()
    if not body:
        return
    function = _FUNCTION.search(body)
    # Behind a brace it is quoted in JSON, however badly that is written.
    if function and "{" not in body[: function.start()]:
        yield from _functions_in(body[function.start() :], closed=closed)
        return
    bare = _BARE_NAME.match(body)
    objects = list(_objects_in(body[bare.end() :] if bare else body, closed=closed))
    if bare and len(objects) == 1 and _named(objects[0]) is None:
        yield bare[1], objects[0]
        return
    named = [call for one in objects if (call := _named(one))]
    if named:
        yield from named
    elif closed or body[0] in "{[":
        name = _NAME_SOMEWHERE.search(body)
        yield (name[1] if name else ""), body


def _functions_in(text: str, *, closed: bool) -> Iterator[_Call]:
    starts = [*_FUNCTION.finditer(text)]
    ends = [one.start() for one in starts[1:]] + [len(text)]
    for start, end in zip(starts, ends, strict=True):
        finish = _FUNCTION_END.search(text, start.end(), end)
        inside = text[start.end() : finish.start() if finish else end].strip()
        parameters = [*_PARAMETER.finditer(inside)]
        whole = bool(finish or closed or end < len(text) or (parameters and parameters[-1][3]))
        values = {parameter[1]: _parameter_value(parameter[2]) for parameter in parameters}
        yield start[1], values if whole else inside


def _parameter_value(raw: str) -> Any:
    value = raw.strip()
    decoded = _decoded(value) if value[:1] in ("[", "{") else None
    return value if decoded is None else decoded


def _objects_in(body: str, *, closed: bool) -> Iterator[Mapping[str, Any]]:
    values, end = _leading_json(body, 0)
    if values:
        flat = [inner for value in values for inner in (value if isinstance(value, list) else [value])]
        if not any(_too_deep(value) for value in flat):
            yield from (value for value in flat if isinstance(value, dict))
            yield from _loose_objects(body[end:])
        return
    # With a brace forgotten, the forgiving reader would take the arguments for the whole: mend the end first.
    mend = _BRACES_FORGOTTEN if closed or body.endswith("}") else 0
    for braces in range(mend + 1):
        loose = list(_loose_objects(body + "}" * braces))
        if any(_named(one) for one in loose):
            yield from loose
            return
    if closed:
        yield from _loose_objects(body)


def _loose_objects(body: str) -> Iterator[Mapping[str, Any]]:
    """What the forgiving reader finds, up to an object that it gave up: what comes next may be quoted in that one."""
    at = 0
    for found in find_objects(body):
        _, brace, given_up = body[at : found.start].partition("{")
        if brace and any(quote in given_up for quote in _QUOTES):
            return
        yield found.value
        at = found.end


def _named(value: Mapping[str, Any]) -> _Call | None:
    """The call that an object means, whatever it calls its keys."""
    inner = value.get("function")
    if isinstance(inner, Mapping):
        value = inner
    key = next((key for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
    if key is None:
        return None
    given = next((value[key] for key in _ARGUMENT_KEYS if key in value), None)
    if given is None and not any(key in value for key in _ARGUMENT_KEYS):
        given = {other: value[other] for other in value if other not in (key, "id", "type")}
    return value[key], _arguments(given)


def _arguments(given: Any) -> Mapping[str, Any] | str:
    if given is None:
        return {}
    if isinstance(given, str):
        decoded = _decoded(given)
        return decoded if isinstance(decoded, dict) else given
    return given if isinstance(given, dict) else json.dumps(given, ensure_ascii=False)


def _decoded(text: str) -> Any:
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return None if _too_deep(value) else value


def _too_deep(value: Any) -> bool:
    """Whether writing it down again could overflow the stack; no tool takes anything like it."""
    layer = [value]
    for _ in range(_MAX_DEPTH):
        layer = [
            inner
            for outer in layer
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not layer:
            return False
    return True
