"""A plugin for the own tests of frameworks: `pytest -p integrations.left_out`, with the file of tests that are left out in $AMBER_LEFT_OUT.

A line of it is the exact id of a test, a tab, and the reason. Such a test is run, and has to fail: one that passes, or that
does not exist any more, is an error, so that the list stays true. Empty lines and those that begin with # are passed over.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List, Set

import pytest


def _listed() -> Dict[str, str]:
    file = os.environ.get("AMBER_LEFT_OUT")
    found: Dict[str, str] = {}
    for line in Path(file).read_text(encoding="utf-8").splitlines() if file else []:
        if line and not line.startswith("#"):
            id, _, reason = line.partition("\t")
            if not reason or id in found:
                raise pytest.UsageError(f"{file}: {line!r}: want the id of a test, once, a tab, and a reason")
            found[id] = reason
    return found


_LEFT_OUT = _listed()
_used: Set[str] = set()


def use() -> None:
    """Note that the test that runs uses Amber. What does so calls it; the others in the same files do not count."""
    _used.add(os.environ.get("PYTEST_CURRENT_TEST", "").rsplit(" ", 1)[0])


def pytest_collection_modifyitems(items: List[pytest.Item]) -> None:
    """Expect what is listed to fail."""
    missing = sorted(_LEFT_OUT.keys() - {i.nodeid for i in items})
    if missing:
        raise pytest.UsageError("left out, but not there any more: " + ", ".join(missing))
    for item in items:
        if item.nodeid in _LEFT_OUT:
            item.add_marker(pytest.mark.xfail(reason=_LEFT_OUT[item.nodeid], strict=True))
            item.add_marker(pytest.mark.timeout(3))  # some wait for what does not come


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many passed, and why others were left out."""
    ran = {name: {r.nodeid for r in terminalreporter.stats.get(name, ())} for name in ("passed", "failed", "error", "xfailed")}
    passed, failed = ran["passed"] & _used, ran["failed"] | ran["error"]
    total = len(passed | failed | ran["xfailed"])
    terminalreporter.write_line(f"own tests: passed {len(passed)} of {total} that use Amber, left out {len(ran['xfailed'])}, failed {len(failed)}")
    for reason, n in Counter(_LEFT_OUT.values()).most_common():
        terminalreporter.write_line(f"  left out {n}: {reason}")
