"""Hooks of the documentation site: pages made from files at the repository's root, and links that leave `docs/`.

Pages are written to be read in the repository, where ``../NOTICE`` is a link. The site holds pages only: there such a
link becomes the file's path, and a path that does not exist stops a strict build.
"""

import logging
import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Page on the site: file at the root.
PAGES = {
    "index.md": "README.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security-policy.md": "SECURITY.md",
}
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<path>[^)#\s:]+)(?P<anchor>#[^)\s]*)?\)")
_IMAGE = re.compile(r"(!\[[^\]]*\]\()docs/")
_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_log = logging.getLogger("mkdocs.hooks.site")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made from files at the root."""
    from mkdocs.structure.files import File

    for page, name in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=_IMAGE.sub(r"\1", text)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return a page's text with links that hold on the site."""
    at = PAGES.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    parts = _FENCED.split(markdown)
    return "".join(part if part.startswith("```") else site_links(part, at) for part in parts)


def site_links(markdown: str, source: str) -> str:
    """Return `markdown`, written for the repository's file `source`, with links that hold on the site."""
    folder = posixpath.dirname(source)
    here = posixpath.dirname(_page_of(source) or "")

    def link(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, match["path"]))
        page = _page_of(target)
        if page is not None:
            return f"[{match['text']}]({posixpath.relpath(page, here or '.')}{match['anchor'] or ''})"
        if not (ROOT / target).exists():
            _log.warning("%s links to %s, which does not exist", source, target)
        return match["text"] if match["text"].strip("`") == target else f"{match['text']} (`{target}`)"

    return _LINK.sub(link, markdown)


def _page_of(path: str) -> str | None:
    """Return a repository file's place on the site, or None where the site does not hold it."""
    for page, name in PAGES.items():
        if path == name:
            return page
    if path in ("docs/decisions", "docs/decisions/"):
        return "decisions/README.md"
    return path.removeprefix("docs/") if path.startswith("docs/") else None
