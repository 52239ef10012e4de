"""Anthropic: the memory tool of Claude, a folder /memories that lasts.

    memory = AmberMemoryTool(Amber(user_id="ada"))
    client.beta.messages.tool_runner(model=..., max_tokens=..., tools=[memory], messages=[...])
"""

from __future__ import annotations

import itertools
import re
from typing import Callable, Dict, List, Optional, Tuple

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
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
_BLANK = "<!-- empty -->"
_ECHO = 1000  # characters of what was sent that an answer repeats

_MISSING = "The path {} does not exist. Please provide a valid path."
_SNIPPET = "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"


class _Folder:
    """The notes of an agent as files below /memories. What is said is what the SDK's own tool for a folder on disk says."""

    def __init__(self, client: Amber) -> None:
        self._client = client
        who = identity(client)
        self._prefix = f"{_OF}{digest('memories', who)[:24]}/" if who else ""

    def view(self, path: str, span: Optional[List[int]]) -> str:
        name = self._name(path)
        note = self._find(name) if name else None
        if note is not None:
            return _show(path, _meant(note.content), span)
        inside = self._below(name)
        if name and not inside:
            raise ToolError(_MISSING.format(path))
        return _listing(path, name, inside)

    def create(self, path: str, text: str) -> str:
        name = self._name(path)
        self._free(name, f"File {path} already exists")
        self._client.note.write(self._prefix + name, content=_kept(text))
        return f"File created successfully at: {path}"

    def replace(self, path: str, old: str, new: str) -> str:
        if not old:
            raise ToolError("old_str is missing")

        def edit(content: str) -> Tuple[str, str]:
            if old not in content:
                raise ToolError(f"No replacement was performed, old_str `{old[:_ECHO]}` did not appear verbatim in {path}.")
            if content.count(old) > 1:
                at = (m.start() for m in re.finditer(f"(?={re.escape(old)})", content))
                lines = ", ".join(str(content.count("\n", 0, i) + 1) for i in itertools.islice(at, 100))
                raise ToolError(f"No replacement was performed. Multiple occurrences of old_str `{old[:_ECHO]}` in lines: {lines}. Please ensure it is unique")
            edited = content.replace(old, new)
            return edited, _SNIPPET + _snippet(edited, content.count("\n", 0, content.index(old)))

        return self._edit(path, edit)

    def insert(self, path: str, line: int, text: str) -> str:
        def edit(content: str) -> Tuple[str, str]:
            lines = content.removesuffix("\n").split("\n") if content else []
            if not 0 <= line <= len(lines):
                raise ToolError(f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}].")
            edited = "\n".join([*lines[:line], text.rstrip("\n"), *lines[line:]])
            return edited if edited.endswith("\n") else edited + "\n", f"The file {path} has been edited."

        return self._edit(path, edit)

    def delete(self, path: str) -> str:
        name = self._name(path)
        if not name:
            raise ToolError("Cannot delete the /memories directory itself")
        for found in self._meant(path, name):
            self._remove(found)
        return f"Successfully deleted {path}"

    def rename(self, old: str, new: str) -> str:
        """Write every note under its new name before one is deleted: whatever interrupts it, nothing is lost."""
        source, target = self._name(old), self._name(new)
        if not source:
            raise ToolError("Cannot rename the /memories directory itself")
        if not target or self._there(target):
            raise ToolError(f"The destination {new} already exists")
        found = self._meant(old, source)
        if target.startswith(source + "/"):
            raise ToolError(f"{old} cannot be moved into itself")
        self._free(target, f"The destination {new} already exists")
        for name in found:
            note = self._find(name)
            if note is not None:
                self._client.note.write(self._prefix + target + name[len(source) :], content=note.content)
        for name in found:
            self._remove(name)
        return f"Successfully renamed {old} to {new}"

    def refused(self, e: AmberError) -> ToolError:
        """Return what the model is told of an error: not in which folder it is."""
        return ToolError(e.message.replace(self._prefix, "") if self._prefix else e.message)

    def clear(self) -> str:
        for name in self._below(""):
            self._remove(name)
        return "All memory cleared"

    def _edit(self, path: str, edit: Callable[[str], Tuple[str, str]]) -> str:
        """Change a note over the version that was read, as often as others come first."""
        name = self._name(path)
        conflict: Optional[ConflictError] = None
        for _ in retries():
            note = self._find(name) if name else None
            if note is None:
                raise ToolError(f"The path {path} is not a file." if not name or self._below(name) else _MISSING.format(path))
            content, said = edit(_meant(note.content))
            try:
                self._client.note.write(self._prefix + name, content=_kept(content), if_match=f'"{note.commit}"' if note.commit else None)
                return said
            except ConflictError as e:
                conflict = e
        raise conflict or AssertionError

    def _name(self, path: str) -> str:
        """Return the name of the note at a path, "" for the root. Amber checks what is in it."""
        rest = path[len(_ROOT) :] if path.startswith(_ROOT) else None
        if rest is None or rest and not rest.startswith("/"):
            raise ToolError(f"Path must start with {_ROOT}, got: {path[:_ECHO]}")
        parts: List[str] = []
        for part in rest.split("/"):
            if part == ".." and not parts:
                raise ToolError(f"Path {path[:_ECHO]} would escape {_ROOT} directory")
            if part == "..":
                parts.pop()
            elif part not in ("", "."):
                parts.append(part)
        name = "/".join(parts).removesuffix(".md")
        if "\\" in name or any(not c.isprintable() for c in name):
            raise ToolError(f"{path[:_ECHO]!r} is not a plain path")
        if len((self._prefix + name).encode("utf-8", "replace")) > _NAME:
            raise ToolError(f"the path {path[:40]!r} is too long: the limit is {_NAME - len(self._prefix)} bytes")
        if not self._prefix and name.startswith(_OF):
            raise ToolError(f"{path[:_ECHO]!r} belongs to somebody else")
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

    def _there(self, name: str) -> bool:
        return self._find(name) is not None or bool(self._below(name))

    def _meant(self, path: str, name: str) -> List[str]:
        found = [name] if self._find(name) is not None else [*self._below(name)]
        if not found:
            raise ToolError(f"The path {path} does not exist")
        return found

    def _free(self, name: str, taken: str) -> None:
        """Check that a file can be made: nothing is there, and no file is above it."""
        if not name or self._there(name):
            raise ToolError(taken)
        parts = name.split("/")
        for n in range(1, len(parts)):
            above = "/".join(parts[:n])
            if self._find(above) is not None:
                raise ToolError(f"{_file(above)} is a file: nothing can be in it")

    def _remove(self, name: str) -> None:
        try:
            self._client.note.delete(self._prefix + name)
        except NotFoundError:
            pass  # it is gone


def _kept(text: str) -> str:
    """Make of a text one that can be a note: those have to say something."""
    return text if text.strip() else _BLANK + text


def _meant(content: str) -> str:
    """Undo _kept."""
    text = content.removeprefix(_BLANK)
    return content if text.strip() else text


def _file(name: str) -> str:
    return f"{_ROOT}/{name}" + ("" if "." in name.split("/")[-1] else ".md")


def _show(path: str, content: str, span: Optional[List[int]]) -> str:
    lines = content.split("\n")
    if len(lines) > _LINES:
        raise ToolError(f"File {path} exceeds maximum line limit of 999,999 lines.")
    first, last = 1, len(lines)
    if span and len(span) == 2:
        first, last = max(1, span[0]), last if span[1] == -1 else min(span[1], last)
    said, size = [f"Here's the content of {path} with line numbers:"], 0
    for n in range(first, last + 1):
        size += len(lines[n - 1]) + 8
        if size > _VIEW and n > first:
            said.append(f"[cut: call again with view_range [{n}, -1]]")
            break
        said.append(_numbered(n, lines[n - 1][:_VIEW]))
    return "\n".join(said) if len(said) > 1 else said[0] + "\n"


def _numbered(n: int, line: str) -> str:
    return f"{n:6}\t{line}"


def _listing(path: str, folder: str, notes: Dict[str, int]) -> str:
    """List two levels of a folder, what is in a folder behind it. The size of a folder is that of all that is in it."""
    sizes: Dict[Tuple[str, ...], int] = {}
    files: Dict[Tuple[str, ...], str] = {}
    for name, size in notes.items():
        file = tuple(_file(name)[len(f"{_ROOT}/{folder}") :].strip("/").split("/"))
        files[file] = name
        for n in range(1, min(2, len(file)) + 1):
            sizes[file[:n]] = sizes.get(file[:n], 0) + size
    path = path.rstrip("/")
    shown = [f"{_size(sum(notes.values()))}\t{path}"]
    shown += [f"{_size(sizes[e])}\t{path}/{'/'.join(e)}{'' if e in files else '/'}" for e in sorted(sizes)]
    return f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:\n" + "\n".join(shown)


def _size(n: int) -> str:
    unit = 0
    while n >= 1024 << 10 * unit and unit < 3:
        unit += 1
    size = n / (1 << 10 * unit)
    return (f"{int(size)}" if size == int(size) else f"{size:.1f}") + "BKMG"[unit]


def _snippet(content: str, at: int) -> str:
    """Show the line that was changed, counted from 0, and two before and behind it."""
    lines = content.split("\n")
    return "\n".join(_numbered(n + 1, lines[n][:_ECHO]) for n in range(max(0, at - 2), min(len(lines), at + 3)))


class AmberMemoryTool(BetaAbstractMemoryTool):
    """The memory tool of Claude over the notes of Amber; every change is a commit that can be looked up.

    A client that is bound to somebody has a folder of its own, which neither others nor unbound clients see through this
    tool. Notes belong to the agent: through the API and the MCP server, who may read the notes of an agent may read all
    of them. Secrets are taken out of what is written.
    """

    def __init__(self, client: Client, *, cache_control: Optional[BetaCacheControlEphemeralParam] = None) -> None:
        super().__init__(cache_control=cache_control)
        self._folder = _Folder(blocking(client))

    def execute(self, command: BetaMemoryTool20250818Command) -> str:
        """Run a command. What Amber refuses is told to the model."""
        try:
            return str(super().execute(command))
        except AmberError as e:
            raise self._folder.refused(e) from e

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

    def __init__(self, client: Client, *, cache_control: Optional[BetaCacheControlEphemeralParam] = None) -> None:
        super().__init__(cache_control=cache_control)
        self._folder = _Folder(blocking(client))

    async def execute(self, command: BetaMemoryTool20250818Command) -> str:
        """Run a command. What Amber refuses is told to the model."""
        try:
            return str(await super().execute(command))
        except AmberError as e:
            raise self._folder.refused(e) from e

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
