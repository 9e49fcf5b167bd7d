"""Keeps words and tags apart: what only looks like a tag is written so that nobody takes it for one.

Only the ``<`` of something tag-like is touched, and it becomes ``&lt;``, which models read as what it is. Whatever
already looks escaped gets one ``&amp;`` more, so that unescaping gives back the very same text.
"""

import re

_FLAGS = re.IGNORECASE | re.ASCII
_SPACE_CODES = "#(9|1[0-3]|2[89]|3[0-2]|133|160|5760|819[2-9]|820[0-2]|8232|8233|8239|8287|12288);"


class Escaping:
    """One set of tags that must not be forged; ``unescape`` undoes ``escape`` exactly."""

    def __init__(self, *reserved: str, ends: bool = False) -> None:
        """Name the beginnings of what counts as tag-like after a ``<`` or ``</``, in any letter case.

        With ``ends``, white space at the ends of a text is written as numbers, so that it outlives a reader who
        strips what stands between tags.
        """
        looks = "/?(?:" + "|".join(re.escape(word) for word in reserved) + ")"
        entity = f"lt;(?={looks})" + (f"|{_SPACE_CODES}" if ends else "|(?!)()")
        self._ends = ends
        self._raw = re.compile(f"<(?={looks})", _FLAGS)
        self._escaped = re.compile(f"&(?=(?:amp;)*(?:{entity}))", _FLAGS)
        self._entity = re.compile(f"&(?:amp;(?=(?:amp;)*(?:{entity}))|{entity})", _FLAGS)

    def escape(self, text: str) -> str:
        """The text with nothing tag-like in it."""
        text = self._raw.sub("&lt;", self._escaped.sub("&amp;", text))
        if not self._ends:
            return text
        inner = text.strip()
        start = text.index(inner) if inner else len(text)
        return _numbers(text[:start]) + inner + _numbers(text[start + len(inner) :])

    def unescape(self, text: str) -> str:
        """What ``escape`` was given."""
        return self._entity.sub(_unescaped, text)

    def escape_in_json(self, text: str) -> str:
        """The same for JSON, which has an escape of its own."""
        return self._raw.sub(r"\\u003c", text)


def _numbers(space: str) -> str:
    return "".join(f"&#{ord(character)};" for character in space)


def _unescaped(match: re.Match[str]) -> str:
    entity = match[0].lower()
    if entity.startswith("&#"):
        return chr(int(entity[2:-1]))
    return "&" if entity == "&amp;" else "<"


# Chat templates mark turns and images with tokens such as <|im_start|>: no text may spell one.
_TEMPLATE_MARK = "|"

PROMPTS = Escaping(_TEMPLATE_MARK)
"""For words of the method and the user, who may well speak of tags."""

SPOKEN = Escaping(_TEMPLATE_MARK, "think", "tool_", "function", "parameter", ends=True)
"""For what a policy said: its ``<answer>`` stays a tag."""

DATA = Escaping(_TEMPLATE_MARK, "think", "tool", "function", "parameter", "answer", "system", "user", "assistant")
"""For what tools brought: it is data and can't pass for anything else."""
