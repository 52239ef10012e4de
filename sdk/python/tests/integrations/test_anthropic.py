"""Anthropic: the memory tool of Claude."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("anthropic.lib.tools", reason="the package anthropic is not installed")

from anthropic.lib.tools import ToolError
from integrations.shared import HOSTILE
from test_contract import kill_private

from amber_memory import Amber, AsyncAmber
from amber_memory.integrations.anthropic import AmberMemoryTool, AsyncAmberMemoryTool


def call(tool: AmberMemoryTool, command: str, **args: Any) -> str:
    return str(tool.call({"command": command, **args}))


def test_the_commands(home: str) -> None:
    with Amber(user_id="ada") as amber:
        tool = AmberMemoryTool(amber)
        assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}
        assert "/memories" in call(tool, "view", path="/memories")
        assert call(tool, "create", path="/memories/plan.md", file_text="one\ntwo\nthree\n") == "File created successfully at: /memories/plan.md"
        kill_private()
        assert call(tool, "view", path="/memories/plan.md") == "Here's the content of /memories/plan.md with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree"
        assert call(tool, "view", path="/memories/plan.md", view_range=[2, -1]).endswith("numbers:\n     2\ttwo\n     3\tthree")
        assert call(tool, "str_replace", path="/memories/plan.md", old_str="two", new_str="2") == "The memory file has been edited.\n     1\tone\n     2\t2\n     3\tthree"
        assert call(tool, "insert", path="/memories/plan.md", insert_line=0, insert_text="zero") == "The file /memories/plan.md has been edited."
        assert call(tool, "view", path="/memories/plan.md", view_range=[1, 2]).endswith("     1\tzero\n     2\tone")
        assert call(tool, "rename", old_path="/memories/plan.md", new_path="/memories/old/plan.md") == "Successfully renamed /memories/plan.md to /memories/old/plan.md"
        assert "/memories/old/plan.md" in call(tool, "view", path="/memories")
        for wrong, text in (
            ({"command": "create", "path": "/memories/old/plan.md", "file_text": "x"}, "already exists"),
            ({"command": "str_replace", "path": "/memories/old/plan.md", "old_str": "gone", "new_str": "x"}, "did not appear verbatim"),
            ({"command": "str_replace", "path": "/memories/old/plan.md", "old_str": "e", "new_str": "x"}, "Multiple occurrences"),
            ({"command": "insert", "path": "/memories/old/plan.md", "insert_line": 99, "insert_text": "x"}, "Invalid `insert_line`"),
            ({"command": "view", "path": "/memories/nowhere.md"}, "does not exist"),
            ({"command": "delete", "path": "/memories"}, "cannot be deleted"),
            ({"command": "rename", "old_path": "/memories/old", "new_path": "/memories/old/deeper"}, "into itself"),
            ({"command": "create", "path": "/memories/large.md", "file_text": "x" * (1 << 20) + "x"}, "limit"),
        ):
            with pytest.raises(ToolError, match=text):
                tool.call(wrong)
        assert call(tool, "delete", path="/memories/old") == "Successfully deleted /memories/old"
        assert "plan" not in call(tool, "view", path="/memories")


def test_the_commands_without_waiting(home: str) -> None:
    async def run() -> None:
        async with AsyncAmber() as amber:
            tool = AsyncAmberMemoryTool(amber)
            await tool.call({"command": "create", "path": "/memories/a.md", "file_text": "hello\n"})
            await asyncio.gather(*(tool.call({"command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": f"line {n}"}) for n in range(6)))
            assert sorted(str(await tool.call({"command": "view", "path": "/memories/a.md", "view_range": [2, -1]})).split("\t")[1:])[0].startswith("line 0")
            assert str(await tool.call({"command": "view", "path": "/memories/a.md"})).count("\n") == 7
            await tool.call({"command": "delete", "path": "/memories/a.md"})
            with pytest.raises(ToolError):
                await tool.call({"command": "view", "path": "/memories/a.md"})

    asyncio.run(run())


def test_users_have_folders_of_their_own(home: str) -> None:
    with Amber() as amber:
        ada, bob, nobody = (AmberMemoryTool(c) for c in (amber.scoped(user_id="ada"), amber.scoped(user_id="bob"), amber))
        call(ada, "create", path="/memories/mine.md", file_text="of ada")
        for other in (bob, nobody):
            assert "mine" not in call(other, "view", path="/memories") and "of-" not in call(other, "view", path="/memories")
            with pytest.raises(ToolError):
                call(other, "view", path="/memories/mine.md")
            folder = amber.note.list().items[0].name.split("/")[0]
            for path in (f"/memories/{folder}", f"/memories/{folder}/mine.md", f"/memories/../{folder}/mine.md"):
                with pytest.raises(ToolError):
                    call(other, "view", path=path)
        call(bob, "create", path="/memories/mine.md", file_text="of bob")
        bob.clear_all_memory()
        assert call(ada, "view", path="/memories/mine.md").endswith("of ada")


@pytest.mark.parametrize("name", [*HOSTILE[:5], HOSTILE[7], "..", "a/../b", "a//b", ".git/config", "a\\..\\b", "con\x00"])
def test_hostile_paths_are_refused(home: str, name: str) -> None:
    with Amber(user_id="ada") as amber:
        tool = AmberMemoryTool(amber)
        for path in (f"/memories/{name}", f"/memories{name}", name):
            with pytest.raises(ToolError):
                call(tool, "create", path=path, file_text="x")
        assert amber.note.list().items == []
