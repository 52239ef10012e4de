"""Anthropic: the memory tool of Claude, a folder /memories that lasts.

    memory = AmberMemoryTool(Amber(user_id="ada"))
    client.beta.messages.tool_runner(model=..., max_tokens=..., tools=[memory], messages=[...])
"""

from __future__ import annotations

import re
from typing import Callable, Dict, List, Optional, Tuple

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaMemoryTool20250818Command,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from .._client import Amber
from .._errors import AmberError, ConflictError, NotFoundError
from .._models import Note
from ._common import Client, blocking, digest, identity, in_thread, retries

__all__ = ["AmberMemoryTool", "AsyncAmberMemoryTool"]

_ROOT = "/memories"
_OF = "of-"  # the folder of an identity begins with this
_VIEW = 100_000  # bytes that are shown at once
_LINES = 999_999
_NAME = 200  # bytes of the name of a note


class _Folder:
    """The notes of an agent as files below /memories. Texts are those of the tool `memory` of Amber's MCP server."""

    def __init__(self, client: Amber) -> None:
        self._client = client
        who = identity(client)
        self._prefix = f"{_OF}{digest('memories', who)[:24]}/" if who else ""

    def view(self, path: str, span: Optional[List[int]]) -> str:
        name = self._name(path)
        note = self._find(name) if name else None
        if note is not None:
            return _show(path, note.content, span)
        inside = self._below(name)
        if name and not inside:
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        return _listing(path.rstrip("/"), name, inside)

    def create(self, path: str, text: str) -> str:
        name = self._name(path)
        if not name:
            raise ToolError("path is the folder itself")
        self._free(name, f"Error: File {path} already exists")
        self._client.note.write(self._prefix + name, content=text)
        return f"File created successfully at: {path}"

    def replace(self, path: str, old: str, new: str) -> str:
        if not old:
            raise ToolError("old_str is missing")

        def edit(content: str) -> Tuple[str, str]:
            at = [m.start() for m in re.finditer(f"(?={re.escape(old)})", content)]
            if not at:
                raise ToolError(f"No replacement was performed, old_str `{old[:1000]}` did not appear verbatim in {path}.")
            if len(at) > 1:
                lines = ", ".join(str(content.count("\n", 0, i) + 1) for i in at[:100])
                raise ToolError(f"No replacement was performed. Multiple occurrences of old_str `{old[:1000]}` in lines: {lines}. Please ensure it is unique")
            edited = content[: at[0]] + new + content[at[0] + len(old) :]
            return edited, "The memory file has been edited.\n" + _snippet(edited, at[0], at[0] + len(new))

        return self._edit(path, f"Error: The path {path} does not exist. Please provide a valid path.", edit)

    def insert(self, path: str, line: int, text: str) -> str:
        def edit(content: str) -> Tuple[str, str]:
            lines = _lines(content)
            if not 0 <= line <= len(lines):
                raise ToolError(f"Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, {len(lines)}]")
            return "\n".join([*lines[:line], text.removesuffix("\n"), *lines[line:]]) + "\n", f"The file {path} has been edited."

        return self._edit(path, f"Error: The path {path} does not exist", edit)

    def delete(self, path: str) -> str:
        name = self._name(path)
        if not name:
            raise ToolError("the root folder of notes cannot be deleted")
        for found in self._meant(name, f"Error: The path {path} does not exist"):
            self._remove(found)
        return f"Successfully deleted {path}"

    def rename(self, old: str, new: str) -> str:
        """Write every note under its new name before one is deleted: whatever interrupts it, nothing is lost."""
        source, target = self._name(old), self._name(new)
        if not source or not target or target.startswith(source + "/"):
            raise ToolError("a folder cannot be moved into itself")
        found = self._meant(source, f"Error: The path {old} does not exist")
        self._free(target, f"Error: The destination {new} already exists")
        for name in found:
            note = self._find(name)
            if note is not None:
                self._client.note.write(self._prefix + target + name[len(source) :], content=note.content)
        for name in found:
            self._remove(name)
        return f"Successfully renamed {old} to {new}"

    def clear(self) -> str:
        for name in self._below(""):
            self._remove(name)
        return "All memory cleared"

    def _edit(self, path: str, missing: str, edit: Callable[[str], Tuple[str, str]]) -> str:
        """Change a note over the version that was read, as often as others come first."""
        name = self._name(path)
        conflict: Optional[ConflictError] = None
        for _ in retries():
            note = self._find(name) if name else None
            if note is None:
                raise ToolError(missing)
            content, said = edit(note.content)
            try:
                self._client.note.write(self._prefix + name, content=content, if_match=f'"{note.commit}"' if note.commit else None)
                return said
            except ConflictError as e:
                conflict = e
        raise conflict or AssertionError

    def _name(self, path: str) -> str:
        """Return the name of the note at a path, "" for the root. Amber checks what is in it."""
        rest = path[len(_ROOT) :] if path.startswith(_ROOT) else None
        if rest is None or rest and not rest.startswith("/"):
            raise ToolError(f"{path[:100]!r} is not in {_ROOT}")
        name = rest.removeprefix("/").removesuffix("/").removesuffix(".md")
        parts = name.split("/")
        if name and any(p in ("", ".", "..") for p in parts) or "\\" in name or any(not c.isprintable() for c in name):
            raise ToolError(f"{path[:100]!r} is not a plain path")
        if len((self._prefix + name).encode("utf-8", "replace")) > _NAME:
            raise ToolError(f"the path {path[:40]!r} is too long: the limit is {_NAME - len(self._prefix)} bytes")
        if not self._prefix and parts[0].startswith(_OF):
            raise ToolError(f"{path[:100]!r} belongs to somebody else")
        return name

    def _find(self, name: str) -> Optional[Note]:
        try:
            return self._client.note.get(self._prefix + name)
        except NotFoundError:
            return None

    def _below(self, folder: str) -> Dict[str, int]:
        """Return the notes in a folder, and their sizes."""
        found: Dict[str, int] = {}
        for note in self._client.note.list().items:
            name = note.name[len(self._prefix) :]
            mine = note.name.startswith(self._prefix) if self._prefix else not note.name.startswith(_OF)
            if mine and (not folder or name.startswith(folder + "/")):
                found[name] = note.bytes
        return found

    def _meant(self, name: str, missing: str) -> List[str]:
        found = [name] if self._find(name) is not None else [*self._below(name)]
        if not found:
            raise ToolError(missing)
        return found

    def _free(self, name: str, taken: str) -> None:
        if self._find(name) is not None or self._below(name):
            raise ToolError(taken)

    def _remove(self, name: str) -> None:
        try:
            self._client.note.delete(self._prefix + name)
        except NotFoundError:
            pass  # it is gone


def _lines(text: str) -> List[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _file(name: str) -> str:
    return f"{_ROOT}/{name}" + ("" if "." in name.split("/")[-1] else ".md")


def _show(path: str, content: str, span: Optional[List[int]]) -> str:
    lines = _lines(content)
    if len(lines) > _LINES:
        raise ToolError(f"File {path} exceeds maximum line limit of 999,999 lines.")
    first, last = 1, len(lines)
    if span:
        if len(span) != 2 or span[0] < 1 or span[1] != -1 and span[1] < span[0]:
            raise ToolError("view_range is the first and the last line, as in [1, 10] or [11, -1]")
        if span[0] > len(lines):
            raise ToolError(f"view_range begins at line {span[0]}, there are {len(lines)}")
        first, last = span[0], len(lines) if span[1] == -1 else min(span[1], len(lines))
    said = f"Here's the content of {path} with line numbers:"
    for n in range(first, last + 1):
        if len(said) + len(lines[n - 1]) > _VIEW and n > first:
            return said + f"\n[cut: call again with view_range [{n}, -1]]"
        said += f"\n{n:6}\t{lines[n - 1][:_VIEW]}"
    return said


def _listing(path: str, folder: str, notes: Dict[str, int]) -> str:
    sizes: Dict[str, int] = {}
    for name, size in notes.items():
        parts = name[len(folder) :].strip("/").split("/")
        for n in range(1, min(2, len(parts)) + 1):
            entry = _file(name) if n == len(parts) else f"{_ROOT}/" + "/".join([folder, *parts[:n]]).strip("/")
            sizes[entry] = sizes.get(entry, 0) + size
    shown = [f"{_size(sum(notes.values()))}\t{path or _ROOT}", *(f"{_size(sizes[e])}\t{e}" for e in sorted(sizes))]
    return f"Here're the files and directories up to 2 levels deep in {path or _ROOT}, excluding hidden items and node_modules:\n" + "\n".join(shown)


def _size(n: int) -> str:
    if n < 1024:
        return f"{n}B"
    return f"{n / 1024:.1f}K" if n < 1 << 20 else f"{n / (1 << 20):.1f}M"


def _snippet(content: str, start: int, end: int) -> str:
    lines = _lines(content)
    first, last = max(1, content.count("\n", 0, start) - 1), min(len(lines), content.count("\n", 0, end) + 3)
    return "\n".join(f"{n:6}\t{lines[n - 1][:1000]}" for n in range(first, min(last, first + 200) + 1))


class AmberMemoryTool(BetaAbstractMemoryTool):
    """The memory tool of Claude over the notes of Amber; every change is a commit that can be looked up.

    A client that is bound to somebody has a folder of its own, which neither others nor unbound clients see through this
    tool. Notes belong to the agent: through the API and the MCP server, who may read the notes of an agent may read all
    of them. Secrets are taken out of what is written.
    """

    def __init__(self, client: Client) -> None:
        super().__init__()
        self._folder = _Folder(blocking(client))

    def execute(self, command: BetaMemoryTool20250818Command) -> str:
        """Run a command. What Amber refuses is told to the model."""
        try:
            return str(super().execute(command))
        except AmberError as e:
            raise ToolError(f"Error: {e.message}") from e

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file, or what is in a folder."""
        return self._folder.view(command.path, command.view_range)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Make a file."""
        return self._folder.create(command.path, command.file_text)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that is there once."""
        return self._folder.replace(command.path, command.old_str, command.new_str or "")

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert a text behind a line."""
        return self._folder.insert(command.path, command.insert_line, command.insert_text)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Remove a file, or a folder with what is in it."""
        return self._folder.delete(command.path)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Give a file or a folder another name."""
        return self._folder.rename(command.old_path, command.new_path)

    def clear_all_memory(self) -> str:
        """Remove everything in the folder of this client."""
        return self._folder.clear()


class AsyncAmberMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool of Claude for programs that do not wait. See AmberMemoryTool."""

    def __init__(self, client: Client) -> None:
        super().__init__()
        self._folder = _Folder(blocking(client))

    async def execute(self, command: BetaMemoryTool20250818Command) -> str:
        """Run a command. What Amber refuses is told to the model."""
        try:
            return str(await super().execute(command))
        except AmberError as e:
            raise ToolError(f"Error: {e.message}") from e

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file, or what is in a folder."""
        return await in_thread(self._folder.view, command.path, command.view_range)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Make a file."""
        return await in_thread(self._folder.create, command.path, command.file_text)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that is there once."""
        return await in_thread(self._folder.replace, command.path, command.old_str, command.new_str or "")

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert a text behind a line."""
        return await in_thread(self._folder.insert, command.path, command.insert_line, command.insert_text)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Remove a file, or a folder with what is in it."""
        return await in_thread(self._folder.delete, command.path)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Give a file or a folder another name."""
        return await in_thread(self._folder.rename, command.old_path, command.new_path)

    async def clear_all_memory(self) -> str:
        """Remove everything in the folder of this client."""
        return await in_thread(self._folder.clear)
