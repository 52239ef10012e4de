"""What the tests share: a program and a home of their own."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Iterator

import pytest


@pytest.fixture(scope="session")
def binary() -> str:
    """The program under test: $AMBER_BINARY."""
    path = os.environ.get("AMBER_BINARY") or shutil.which("amber")
    assert path, "AMBER_BINARY names the program to test with"
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, binary: str) -> Iterator[str]:
    """A home that no server has."""
    monkeypatch.setenv("AMBER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AMBER_BINARY", binary)
    for name in ("AMBER_REMOTE", "AMBER_TOKEN_FILE", "AMBER_REMOTE_CA", "AMBER_TENANT", "AMBER_AGENT"):
        monkeypatch.delenv(name, raising=False)
    yield str(tmp_path / "home")
