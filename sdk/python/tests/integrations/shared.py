"""What the tests of the adapters share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Dict

HOSTILE = ["../../etc/passwd", "a/b\\c", "x" * 100_000, "名前 🧵 \u202e", "tab\tline\nnul\x00", "\ud800", "ghp_" + "a1B2c3D4e5" * 3 + "abcdef", "%2e%2e", " ", "'; drop table x; --"]
"""Names that nobody should be harmed by."""


def environment() -> Dict[str, str]:
    """What a second program needs to find the package and the tests."""
    here = Path(__file__).parents[1]
    return {**os.environ, "PYTHONPATH": f"{here}:{here.parent / 'src'}"}
