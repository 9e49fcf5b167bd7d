#!/usr/bin/env python3
"""Check that the guides stay short: pages, lines, line and paragraph lengths, words a sentence.

Decisions are records and `docs/reference` is generated; neither counts.
"""

import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
NOT_GUIDES = ("decisions", "reference")
MAX_PAGES = 32
MAX_LINES = 4_200
MAX_COLUMNS = 100
MAX_PARAGRAPH_LINES = 5
MAX_HOW_TO_LINES = 80
MAX_WORDS_A_SENTENCE = 18.0

_CODE_BLOCK = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*\[])")


def find_paragraphs(text: str) -> list[str]:
    """Return the paragraphs of prose: no code, tables, lists, headings or images."""
    blocks = re.split(r"\n\s*\n", _CODE_BLOCK.sub("", text))
    return [
        block.strip("\n") for block in blocks if block.strip() and not re.match(r"\s*([#|>!<]|[-*] |\d+\. |```)", block)
    ]


def check_page(path: Path, text: str) -> list[str]:
    """Return what is wrong with a page, one line each."""
    name = path.relative_to(DOCS.parent)
    lines = _CODE_BLOCK.sub(lambda block: "\n" * block[0].count("\n"), text).splitlines()
    # Tables and links can't be wrapped.
    faults = [
        f"{name}:{number}: a line of {len(line)} characters; wrap at {MAX_COLUMNS}"
        for number, line in enumerate(lines, 1)
        if len(line) > MAX_COLUMNS and not line.startswith("|") and "](" not in line and "http" not in line
    ]
    faults += [
        f"{name}: a paragraph of {length} lines: {paragraph[:50]!r}; split it"
        for paragraph in find_paragraphs(text)
        if (length := paragraph.count("\n") + 1) > MAX_PARAGRAPH_LINES
    ]
    if path.parent.name == "how-to" and text.count("\n") > MAX_HOW_TO_LINES:
        faults.append(f"{name}: {text.count(chr(10))} lines; a how-to guide has at most {MAX_HOW_TO_LINES}")
    return faults


def main() -> int:
    """Print the figures and what is wrong; return 1 if anything is."""
    pages = {
        path: path.read_text(encoding="utf-8")
        for path in sorted(DOCS.rglob("*.md"))
        if path.relative_to(DOCS).parts[0] not in NOT_GUIDES
    }
    faults = [fault for path, text in pages.items() for fault in check_page(path, text)]
    lines = sum(text.count("\n") for text in pages.values())
    words = sum(len(text.split()) for text in pages.values())
    sentences = [
        s for text in pages.values() for paragraph in find_paragraphs(text) for s in _SENTENCE_END.split(paragraph)
    ]
    average = sum(len(s.split()) for s in sentences) / max(1, len(sentences))
    print(f"{len(pages)} pages, {lines:,} lines, {words:,} words, {average:.1f} words a sentence")
    if len(pages) > MAX_PAGES:
        faults.append(f"{len(pages)} pages; at most {MAX_PAGES}")
    if lines > MAX_LINES:
        faults.append(f"{lines:,} lines; at most {MAX_LINES:,}")
    if average > MAX_WORDS_A_SENTENCE:
        faults.append(f"{average:.1f} words a sentence; at most {MAX_WORDS_A_SENTENCE:.0f}")
    print(*faults, sep="\n", file=sys.stderr)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
