"""The formats that a run can be had in, by the endings of their files."""

from collections.abc import Mapping

from geosleuth.answer.formats import FORMATS, Format

PAGE = "html"
TRAJECTORY = "jsonl"
BY_ENDING: Mapping[str, Format] = {one.ending.removeprefix("."): one for one in FORMATS.values()}
FILES: tuple[str, ...] = (PAGE, *BY_ENDING, TRAJECTORY)
"""All of them: a report to read, files for other programs, and the trajectory itself."""
