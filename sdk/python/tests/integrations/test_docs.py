"""Every block of Python in the documents about this package runs, each in a program and a home of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator, Tuple

import pytest
from integrations.shared import environment

DOCS = Path(__file__).parents[4] / "docs"


def blocks() -> Iterator[Tuple[str, str]]:
    for name in ("frameworks.md", "python.md"):
        title, number = "", 0
        for heading, code in re.findall(r"^#+ ([^\n]+)$|^```python\n(.*?)^```$", (DOCS / name).read_text(encoding="utf-8"), re.M | re.S):
            if heading:
                title, number = heading, 0
            else:
                number += 1
                yield f"{name}: {title}, {number}", code


BLOCKS = dict(blocks())
PACKAGES = {"openai_agents": "agents", "langchain": "langchain_core"}


def test_there_is_a_block_for_each_adapter() -> None:
    adapters = {p.stem for p in (Path(__file__).parents[2] / "src/amber_memory/integrations").glob("[a-z]*.py")}
    assert {m for code in BLOCKS.values() for m in re.findall(r"from amber_memory\.integrations\.(\w+) import", code)} == adapters


def test_graphs_are_run_with_the_durability_that_loses_nothing() -> None:
    examples = (Path(__file__).parents[2] / "examples").glob("*.py")
    texts = [*BLOCKS.values(), *(p.read_text(encoding="utf-8") for p in examples)]
    runs = [line for text in texts for line in text.splitlines() if re.search(r"\bgraph\.a?(invoke|stream)\(", line)]
    assert len(runs) >= 3 and all('durability="sync"' in line for line in runs)


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_runs(home: str, tmp_path: Path, name: str) -> None:
    for adapter in re.findall(r"from amber_memory\.integrations\.(\w+) import", BLOCKS[name]):
        pytest.importorskip(PACKAGES.get(adapter, adapter), reason=f"the package for {adapter} is not installed")
    done = subprocess.run([sys.executable, "-W", "error::SyntaxWarning", "-c", BLOCKS[name]], cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
