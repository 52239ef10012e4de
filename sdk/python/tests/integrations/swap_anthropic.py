"""Puts Amber in the place of what the Anthropic SDK's own tests of its memory tool test: `pytest -p integrations.swap_anthropic` in the folder of its source."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Dict, List, Union

import anthropic.lib.tools._beta_builtin_memory_tool as tools
import pytest
from integrations import left_out

from amber_memory import Amber
from amber_memory.integrations.anthropic import AmberMemoryTool, AsyncAmberMemoryTool

_amber = Amber(agent="own")


def _client(base: Union[str, Path]) -> Amber:
    """The client of a folder on disk: each has another project."""
    return _amber.scoped(project_id=hashlib.sha256(str(base).encode()).hexdigest()[:20])


class _File:
    """What tests do to a file behind the tool's back."""

    def __init__(self, base: str, name: str) -> None:
        self._folder, self._name = AmberMemoryTool(_client(base))._folder, name

    def write_bytes(self, data: bytes) -> None:
        self._folder._client.note.write(self._folder._prefix + self._name, content=data.decode())

    def read_bytes(self) -> bytes:
        return self._folder._client.note.get(self._folder._prefix + self._name).content.encode()


class _Root:
    """The folder of a tool, as tests look at it."""

    def __init__(self, base: str) -> None:
        self._base = base

    def __truediv__(self, name: str) -> _File:
        return _File(self._base, name)

    def is_dir(self) -> bool:
        return "/memories" in str(AmberMemoryTool(_client(self._base)).call({"command": "view", "path": "/memories"}))


class _AsyncRoot(_Root):
    async def is_dir(self) -> bool:  # type: ignore[override]
        return super().is_dir()


class Tool(AmberMemoryTool):
    def __init__(self, base_path: str = "./memory") -> None:
        left_out.use()
        super().__init__(_client(base_path))
        self.base_path, self.memory_root = base_path, _Root(base_path)


class AsyncTool(AsyncAmberMemoryTool):
    def __init__(self, base_path: str = "./memory") -> None:
        left_out.use()
        super().__init__(_client(base_path))
        self.base_path, self.memory_root = base_path, _AsyncRoot(base_path)


def _files(base: str) -> Dict[str, str]:
    folder = AmberMemoryTool(_client(base))._folder
    return {f"memories/{name}": folder._client.note.get(folder._prefix + name).content for name in folder._below("")}


tools.BetaLocalFilesystemMemoryTool = Tool  # type: ignore[assignment, misc]
tools.BetaAsyncLocalFilesystemMemoryTool = AsyncTool  # type: ignore[assignment, misc]


def pytest_collection_modifyitems(items: List[pytest.Item]) -> None:
    """Let the tests read what is stored, not what is on disk."""
    for item in items:
        item.module.get_directory_snapshot = _files  # type: ignore[attr-defined]
