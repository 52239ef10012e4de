"""What the tests of the adapters share."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

HOSTILE = ["../../etc/passwd", "a/b\\c", "x" * 100_000, "名前 🧵 \u202e", "tab\tline\nnul\x00", "\ud800", "ghp_" + "a1B2c3D4e5" * 3 + "abcdef", "%2e%2e", " ", "'; drop table x; --"]
"""Names that nobody should be harmed by."""
