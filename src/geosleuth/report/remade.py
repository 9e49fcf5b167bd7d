"""The report of an evidence package, made again from its runs and held against the one in the package."""

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Literal, get_args

from geosleuth import __version__
from geosleuth.agent.locate import Finding
from geosleuth.atlas import OfflineAtlas
from geosleuth.pipeline.result import format_claim_check
from geosleuth.report import report_html
from geosleuth.report.evidence_package import REPORT, Changed, Package, collect_versions
from geosleuth.report.pictures import Pictures
from geosleuth.support.text.safe import one_line

_MADE = re.compile(r"<dt>Page made</dt><dd>(\d{4}-\d\d-\d\d \d\d:\d\d UTC)</dd>")
_VERSIONS = re.compile(r"<dt>Versions</dt><dd>(geosleuth \S+ for the run, \S+ for this page; [\w .,+-]{0,400})</dd>")
_VOID = frozenset({"area", "br", "col", "hr", "img", "input", "link", "meta", "wbr"})
_Kind = Literal["words", "claims", "maps", "credits", "photos"]
_KINDS: dict[str, _Kind] = {"maps": "maps", "shots": "photos", "parts": "photos", "cuts": "photos", "cut": "photos"}


async def check_report(package: Package, finding: Finding, pictures: Pictures | None) -> list[str]:
    """Make a report again and compare it; return what could not be compared, in words.

    Args:
        package: holds the report.
        finding: with the photos' own claims, where ``pictures`` gives their pixels.
        pictures: of the run, by their handles; without them, what the report shows of the photos is not compared.

    Raises:
        Changed: the report says something else.
    """
    text = package.files[REPORT].decode("utf-8", "replace")
    written_by = str(package.versions.get("geosleuth"))
    if written_by != __version__:
        return [f"{REPORT}: geosleuth {one_line(written_by)[:40]} wrote it; install that version to compare it"]
    made, versions = _MADE.search(text), _VERSIONS.search(text)
    if made is None or versions is None:
        raise Changed(f"{REPORT}: does not say when and with what it was made")
    claim = () if package.claim_check is None else tuple(format_claim_check(package.claim_check))
    told = _Parts(text)

    async def again(atlas: OfflineAtlas | None) -> _Parts:
        page = await report_html(finding, atlas=atlas, pictures=pictures, generated=made[1], claim=claim)
        return _Parts(_VERSIONS.sub(lambda _: versions[0], page))

    # Maps take the longest to draw, and no words depend on them.
    _compare(told.parts["words"], (await again(None)).parts["words"])
    ours, here, then = await again(OfflineAtlas()), collect_versions(finding), package.versions
    unproved = []
    if told.parts["credits"] != ours.parts["credits"] or here["regions"] != then.get("regions"):
        unproved.append(f"the maps in {REPORT}: they were drawn from others than are installed here")
    elif told.parts["maps"] != ours.parts["maps"]:
        raise Changed(f"{REPORT}: shows other maps than are drawn from the same data")
    if pictures is None:
        return [*unproved, f"the photos in {REPORT}, and what it says of their metadata: give them with --photo"]
    _compare(told.parts["claims"], ours.parts["claims"])
    if told.parts["photos"] != ours.parts["photos"]:
        if here["packages"].get("pillow") == (then.get("packages") or {}).get("pillow"):
            raise Changed(f"{REPORT}: shows other pictures than the run's")
        unproved.append(f"the photos in {REPORT}: another version of Pillow is installed here")
    return unproved


def _compare(told: Sequence[str], again: Sequence[str]) -> None:
    for item, other in zip(told, again, strict=False):
        if item != other:
            raise Changed(f"{REPORT}: has {one_line(item)[:80]!r} where the run comes to {one_line(other)[:80]!r}")
    if len(told) != len(again):
        more = [*told[len(again) :], *again[len(told) :]][0]
        raise Changed(f"{REPORT}: {'has' if len(told) > len(again) else 'lacks'} {one_line(more)[:80]!r}")


class _Parts(HTMLParser):
    """The tags and texts of a page in their order; what shows photos, claims and maps apart."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: dict[_Kind, list[str]] = {name: [] for name in get_args(_Kind)}
        self._open: list[tuple[str, _Kind]] = []
        self.feed(text)
        self.close()

    @property
    def _open_kind(self) -> _Kind:
        return self._open[-1][1] if self._open else "words"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        names = (values.get("class") or "").split()
        kind = self._open_kind
        if kind == "words":
            own = next((_KINDS[name] for name in names if name in _KINDS), None)
            kind = own or ("claims" if (tag, values.get("id")) == ("section", "claims") else kind)
        elif kind == "maps" and "map-note" in names:
            kind = "credits"
        # Only this class depends on whether there are photos.
        shown = [attr for attr in attrs if attr not in (("class", "views"), ("class", "views alone"))]
        self.parts[kind].append(f"<{tag} {shown}>")
        if tag not in _VOID:
            self._open.append((tag, kind))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        self.parts[self._open_kind].append(f"</{tag}>")
        if self._open and self._open[-1][0] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.parts[self._open_kind].append(" ".join(data.split()))

    def handle_comment(self, data: str) -> None:
        self.parts["words"].append(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self.parts["words"].append(f"<!{decl}>")

    def handle_pi(self, data: str) -> None:
        self.parts["words"].append(f"<?{data}>")

    def unknown_decl(self, data: str) -> None:
        self.parts["words"].append(f"<![{data}]>")
