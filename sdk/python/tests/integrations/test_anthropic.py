"""Anthropic: the memory tool of Claude."""

from __future__ import annotations

import asyncio
import os
import random
import re
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest

pytest.importorskip("anthropic.lib.tools", reason="the package anthropic is not installed")

from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool
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
        assert call(tool, "view", path="/memories/plan.md") == "Here's the content of /memories/plan.md with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree\n     4\t"
        assert call(tool, "view", path="/memories/plan.md", view_range=[2, -1]).endswith("numbers:\n     2\ttwo\n     3\tthree\n     4\t")
        assert call(tool, "str_replace", path="/memories/plan.md", old_str="two", new_str="2") == "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tone\n     2\t2\n     3\tthree\n     4\t"
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
            ({"command": "delete", "path": "/memories"}, "Cannot delete"),
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
            assert sorted(str(await tool.call({"command": "view", "path": "/memories/a.md", "view_range": [2, 7]})).split("\t")[1:])[0].startswith("line 0")
            assert str(await tool.call({"command": "view", "path": "/memories/a.md"})).count("\n") == 8
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


@pytest.mark.parametrize("name", [*HOSTILE[:5], HOSTILE[7], "..", "a/../../b", "a/../..//memories/b", ".git/config", "a\\..\\b", "con\x00", "con", "-rf", "a:b", "🧵"])
def test_hostile_paths_are_refused(home: str, name: str) -> None:
    with Amber(user_id="ada") as amber:
        tool = AmberMemoryTool(amber)
        for path in (f"/memories/{name}", f"/memories{name}", name):
            with pytest.raises(ToolError) as refused:
                call(tool, "create", path=path, file_text="x")
            assert tool._folder._prefix not in str(refused.value)
        assert amber.note.list().items == []


NAMES = ["a.txt", "b.md", "notes.md", "x/a.txt", "x/b.json", "x/y/c.txt", "x/y/z/d.txt", "x y/ü.txt", "名前/前.md", "a.txt/b.txt", "node_modules/p.js"]
TEXTS = ["", "\n", "one", "one\ntwo\nthree\n", "a\r\nb\r\n", "aaa", "x\n" * 30, "\n\n\n", "  two  \n\ttab", "ü 🧵 \u202e\n", "k" * 1023, "k" * 1024, "k" * 1536, "amber:pop"]
FOLDERS = ["x", "x/y", "x y", "名前"]
OUTSIDE = ["/memories/../etc/passwd", "/memories/x/../../y", "memories/a.txt", "/etc/passwd", "", "/memories/..", "../memories/a.txt"]


def a_path(r: random.Random, new: bool = False) -> str:
    name = r.choice(NAMES if new else NAMES + FOLDERS)
    return r.choice(["/memories/" + name] * 12 + [f"/memories/{name}/", f"/memories//{name}", f"/memories/./{name}", f"/memories/q/../{name}", "/memories", "/memories/", r.choice(OUTSIDE)])


def a_command(r: random.Random) -> Dict[str, Any]:
    command = r.choice(["view", "view", "create", "create", "create", "str_replace", "insert", "delete", "rename"])
    if command == "rename":  # not to .md: a folder has no such ending here
        return {"command": command, "old_path": a_path(r), "new_path": re.sub(r"\.md(?=/?$)", ".txt", a_path(r, new=True))}
    asked: Dict[str, Any] = {"command": command, "path": a_path(r, new=command == "create")}
    if command == "view" and r.random() < 0.4:
        asked["view_range"] = [r.choice([0, 1, 2, 3, 99, -1]), r.choice([-1, 1, 2, 3, 99])]
    if command == "create":
        asked["file_text"] = r.choice(TEXTS)
    if command == "str_replace":
        asked.update(old_str=r.choice(["one", "two", "a", "aa", "x", "\n", "nowhere", "amber"]), new_str=r.choice(["", "1", "one\nmore", "two", "\n"]))
    if command == "insert":
        asked.update(insert_line=r.choice([-1, 0, 1, 2, 3, 30, 99]), insert_text=r.choice(["new", "new\n", "\n", "", "two\nlines\n\n"]))
    return asked


def outcome(tool: Any, asked: Dict[str, Any]) -> Tuple[bool, str]:
    """What a tool says. Sizes of folders and of tiny files are left out: a folder has that of what is in it, and an empty file a mark."""
    try:
        said = str(tool.call(asked))
    except (ToolError, OSError, ValueError) as e:
        return False, str(e) if isinstance(e, ToolError) else "?"
    if said.startswith("Here're"):
        header, folder, *rest = said.split("\n")
        rest = [re.sub(r"^(\S+(?=\t.*/$)|[\d]+B)", "", line).replace("//", "/") for line in rest]
        said = "\n".join([re.sub("/?, ", ", ", header), folder.split("\t")[1].rstrip("/"), *rest])
    return True, said


@pytest.mark.parametrize("seed", range(2))
def test_it_does_what_the_tool_of_the_sdk_does_with_files(home: str, tmp_path: Path, seed: int) -> None:
    """Left out are the differences that docs/frameworks.md names. Empty folders are removed from the disk."""
    r, done = random.Random(seed), {True: 0, False: 0}
    real = BetaLocalFilesystemMemoryTool(str(tmp_path / "disk"))
    with Amber(user_id="ada") as amber:
        tool = AmberMemoryTool(amber)
        history: List[Dict[str, Any]] = []
        for _ in range(250):
            asked = a_command(r)
            history.append(asked)
            want, got = outcome(real, asked), outcome(tool, asked)
            for at, _, _ in os.walk(real.memory_root, topdown=False):
                if at != str(real.memory_root) and not os.listdir(at):
                    os.rmdir(at)
            assert got[0] == want[0] and (want[1] == "?" or got == want), (seed, history[-5:], got, want)
            done[got[0]] += 1
        files = {str(p.relative_to(real.memory_root)): p.read_bytes().decode() for p in real.memory_root.rglob("*") if p.is_file()}
        for name, text in files.items():
            assert tool.call({"command": "view", "path": f"/memories/{name}"}) == real.call({"command": "view", "path": f"/memories/{name}"}), text
        assert len(tool._folder._below("")) == len(files)
    assert min(done.values()) > 50, done
