"""Text in photos: lines, where they stand, their script, without being told the language and without the network.

RapidOCR finds the lines and reads Latin, Chinese and Japanese. What it can't read goes to Tesseract, whose trained data
for the other scripts come with the package; the script is found by trying. Nothing heavy is imported before the first
picture is read.
"""

from .lines import Corner, TextLine
from .reader import PictureText, ReadingOptions, read_picture, read_text
from .script import OTHER_SCRIPTS, RIGHT_TO_LEFT, SCRIPTS, detect_script

__all__ = [
    "OTHER_SCRIPTS",
    "RIGHT_TO_LEFT",
    "SCRIPTS",
    "Corner",
    "PictureText",
    "ReadingOptions",
    "TextLine",
    "detect_script",
    "read_picture",
    "read_text",
]  # fmt: skip
