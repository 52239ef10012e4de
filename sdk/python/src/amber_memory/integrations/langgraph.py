"""LangGraph: checkpoints of threads, and the store for long-term memory.

    saver = AmberSaver(Amber(user_id="ada"))
    graph = builder.compile(checkpointer=saver, store=AmberStore(Amber(user_id="ada")))
    graph.invoke(question, config, durability="sync")  # a checkpoint is stored before the next node begins
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import random
import threading
import uuid
import weakref
from collections import OrderedDict
from concurrent.futures import Future
from datetime import datetime, timedelta, timezone
from typing import Any, AsyncIterator, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Union, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.store.base import (
    BaseStore,
    Embeddings,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
    validate_op_namespace,
)

from .._errors import ConflictError, DamagedError, InvalidError, NotFoundError, UnreachableError
from .._models import Memory, MemoryKind
from ._common import (
    CHUNK,
    Client,
    Documents,
    Locks,
    binding_for,
    blocking,
    decode,
    digest,
    encode,
    identity,
    in_thread,
    label,
    near,
    pack_vector,
    retries,
    same,
    session_for,
    unpack_vector,
)

__all__ = ["AmberSaver", "AmberStore"]

_RUN = "langgraph"  # the run that the loop of a thread belongs to
_INLINE = 2048  # bytes of a value up to which it is stored with its checkpoint
_PAGE = 64  # entries of the index that are written at each step
_SWEEP = 1000  # checkpoints that are removed in one step
_KNOWN = 4096  # checkpoints that a saver remembers to be in the index

Ref = Dict[str, Any]  # where a value is: in place (t, d), or in a state of its own (t, k, n, h)
Head = Dict[str, Any]


class _Entry:
    """A checkpoint in the index of its thread: its namespace, id, parent and run, and the states that its values are in."""

    def __init__(self, raw: List[Any]) -> None:
        self.ns: str = raw[0]
        self.id: str = raw[1]
        self.parent: Optional[str] = raw[2]
        self.run: Optional[str] = raw[3]
        self.blobs: List[List[Any]] = raw[4]

    @property
    def key(self) -> Tuple[str, str]:
        return self.ns, self.id


class _Missing(Exception):
    """A value whose state is not there: its writer was interrupted."""


class AmberSaver(BaseCheckpointSaver[str]):
    """Keeps checkpoints in Amber.

    A thread is a session. Its suspended loop is the index of its checkpoints, and is replaced only over the revision
    that was read, so that two writers lose nothing of each other. A checkpoint is a state of its own, and so is each of
    its larger values; a step writes those that have changed. A checkpoint enters the index first and is written last:
    one whose writer was killed in between is never seen, and goes with its thread.

    Threads belong to the identity that the client is bound to; a saver for somebody else does not find them. What is in
    a checkpoint is stored exactly, secrets too: a graph could not go on with less.
    """

    def __init__(self, client: Client, *, serde: Optional[SerializerProtocol] = None) -> None:
        super().__init__(serde=serde)
        self._client = blocking(client)
        self._documents = Documents(self._client)
        self._locks = Locks()
        self._known: "OrderedDict[Tuple[str, str, str], None]" = OrderedDict()
        self._known_lock = threading.Lock()

    # Reading.

    def get_tuple(self, config: RunnableConfig) -> Optional[CheckpointTuple]:
        """Return the checkpoint that the config names, or the last one of its thread and namespace."""
        thread, ns, id = _named(config)
        session = self._session(thread)
        if id:
            return self._tuple(session, thread, ns, id)
        head, _ = self._head(session)
        for entry in self._newest(head, ns):
            found = self._tuple(session, thread, ns, entry.id)
            if found is not None:
                return found
        return None

    def list(self, config: Optional[RunnableConfig], *, filter: Optional[Dict[str, Any]] = None, before: Optional[RunnableConfig] = None, limit: Optional[int] = None) -> Iterator[CheckpointTuple]:
        """Go through checkpoints, newest first: of a thread, or thread by thread of all that this identity has."""
        if config is None:
            where, ns, id = self._threads(), None, None
        else:
            thread, ns, id = _named(config)
            where = iter([(self._session(thread), thread)])
            ns = cast(Optional[str], _configurable(config).get("checkpoint_ns"))
        end = _configurable(before).get("checkpoint_id") if before else None
        left = -1 if limit is None else limit
        for session, thread in where:
            head, _ = self._head(session)
            for entry in sorted(self._entries(head), key=lambda e: e.id, reverse=True):
                if left == 0:
                    return
                if ns is not None and entry.ns != ns or id and entry.id != id or end and entry.id >= end:
                    continue
                found = self._tuple(session, thread, entry.ns, entry.id, filter)
                if found is not None:
                    left -= 1
                    yield found

    def _tuple(self, session: str, thread: str, ns: str, id: str, filter: Optional[Dict[str, Any]] = None) -> Optional[CheckpointTuple]:
        document, _ = self._documents.read(_checkpoint_state(session, ns, id))
        if document is None:
            return None
        try:
            metadata = self._load(document["m"])
            if filter and any(_at(metadata, k) != v for k, v in filter.items()):
                return None
            checkpoint = self._load(document["c"])
            values = {channel: self._load(ref) for channel, (_, ref) in document["values"].items()}
        except _Missing:
            return None  # it was removed while it was read
        self._remember(session, ns, id)
        parent = document["parent"]
        return CheckpointTuple(
            config=_config(thread, ns, id),
            checkpoint=cast(Checkpoint, {**checkpoint, "channel_values": values}),
            metadata=metadata,
            parent_config=_config(thread, ns, parent) if parent else None,
            pending_writes=self._pending(session, ns, id),
        )

    def get_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> Mapping[str, DeltaChannelHistory]:
        """Return what was written to channels since they were last stored whole, oldest first, and what was stored then.

        It goes from parent to parent, reads those channels alone, and ends where a chain leads back to itself.
        """
        if not channels:
            return {}
        thread, ns, id = _named(config)
        session = self._session(thread)
        document: Any = None
        for at in [id] if id else (e.id for e in self._newest(self._head(session)[0], ns)):
            document, _ = self._documents.read(_checkpoint_state(session, ns, at))
            if document is not None:
                id = at
                break
        writes: Dict[str, List[Tuple[str, str, Any]]] = {c: [] for c in channels}
        seeds: Dict[str, Any] = {}
        seen = {id}
        while document is not None and len(seeds) < len(writes) and document["parent"] not in (None, *seen):
            parent = document["parent"]
            seen.add(parent)
            document, _ = self._documents.read(_checkpoint_state(session, ns, parent))
            if document is None:
                break
            for write in reversed(self._pending(session, ns, parent, set(writes) - set(seeds))):
                writes[write[1]].append(write)
            try:
                seeds.update({c: self._load(document["values"][c][1]) for c in writes if c not in seeds and c in document["values"]})
            except _Missing:
                break  # it was removed while it was read
        return {c: {"writes": found[::-1], "seed": seeds[c]} if c in seeds else {"writes": found[::-1]} for c, found in writes.items()}

    def _pending(self, session: str, ns: str, id: str, channels: Optional[Set[str]] = None) -> List[Tuple[str, str, Any]]:
        document, _ = self._documents.read(_writes_state(session, ns, id))
        found: List[Tuple[Tuple[str, str, int], Tuple[str, str, Any]]] = []
        for task, path, writes in document or ():
            try:
                loaded = [((path, task, idx), (task, channel, self._load(ref))) for idx, channel, ref in writes if channels is None or channel in channels]
            except _Missing:
                continue  # its writer was interrupted: the task is done again
            found.extend(loaded)
        return [write for _, write in sorted(found, key=lambda f: f[0])]

    def _load(self, ref: Ref) -> Any:
        if "d" in ref:
            return self.serde.loads_typed((ref["t"], bytes.fromhex(ref["d"])))
        return self.serde.loads_typed((ref["t"], self._bytes(ref)))

    def _bytes(self, ref: Ref) -> bytes:
        parts: List[bytes] = []
        for name in _pieces(ref["k"], ref["n"]):
            part, _ = self._documents.read(name)
            if not isinstance(part, bytes):
                raise _Missing
            parts.append(part)
        data = b"".join(parts)
        if hashlib.sha256(data).hexdigest() != ref["h"]:
            raise DamagedError(f"the value {ref['k']} of a checkpoint is damaged: its digest is not that of what was written")
        return data

    # Writing.

    def put(self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions) -> RunnableConfig:
        """Store a checkpoint. When it returns, the checkpoint survives a crash. Storing it again changes nothing."""
        thread, ns, parent = _named(config)
        session, id = self._session(thread), checkpoint["id"]
        told = get_checkpoint_metadata(config, metadata)
        rest = cast(Dict[str, Any], {k: v for k, v in checkpoint.items() if k != "channel_values"})
        versions = checkpoint["channel_versions"]
        run = cast(Mapping[str, Any], told).get("run_id")
        blobs: Dict[str, bytes] = {}
        refs: Dict[str, Ref] = {"c": self._dump(session, rest, blobs), "m": self._dump(session, told, blobs)}
        before = self._values(session, ns, parent) if parent else {}
        own: Dict[str, Ref] = {}

        def entered(head: Head) -> Optional[Head]:
            # A value is taken over from the parent only while that is in the index: then nobody removes it.
            kept = parent is not None and any(e[0] == ns and e[1] == parent for e in head["tail"])
            values: Dict[str, List[Any]] = {}
            for channel, value in checkpoint["channel_values"].items():
                version = versions.get(channel)
                old = before.get(channel)
                if kept and old is not None and channel not in new_versions and old[0] == version:
                    values[channel] = old
                    continue
                if channel not in own:
                    own[channel] = self._dump(session, value, blobs)
                values[channel] = [version, own[channel]]
            document["values"] = values
            used = [r for r in (*refs.values(), *(v[1] for v in values.values())) if "k" in r]
            return _enter(head, [ns, id, parent, None if run is None else str(run), [[r["k"], r["n"]] for r in used]])

        document: Dict[str, Any] = {"parent": parent, **refs}
        self._change(session, thread, entered)
        used = {v[1].get("k") for v in document["values"].values()} | {r.get("k") for r in refs.values()}
        for key, data in blobs.items():
            if key in used:
                self._write(key, data)
        self._documents.put(_checkpoint_state(session, ns, id), document)
        self._remember(session, ns, id)
        return _config(thread, ns, id)

    def put_writes(self, config: RunnableConfig, writes: Sequence[Tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        """Store what a task has written at a checkpoint, all of it or nothing. What is stored stays, but for errors, interrupts and the like."""
        thread, ns, id = _named(config)
        if not id:
            raise InvalidError("the config of put_writes names no checkpoint: want a checkpoint_id")
        session = self._session(thread)
        if not self._is_known(session, ns, id):
            # Writes may arrive before their checkpoint; its place in the index is where they are found again.
            self._change(session, thread, lambda head: None if self._find(head, ns, id) else _enter(head, [ns, id, None, None, []]))
            self._remember(session, ns, id)
        name = _writes_state(session, ns, id)
        blobs: Dict[str, bytes] = {}
        wanted = [(WRITES_IDX_MAP.get(channel, n), channel, self._dump(session, value, blobs)) for n, (channel, value) in enumerate(writes)]
        conflict: Optional[ConflictError] = None
        with self._locks(name):
            for _ in retries():
                document, version = self._documents.read(name)
                tasks: List[List[Any]] = document or []
                if all(t[0] != task_id for t in tasks):
                    tasks.append([task_id, task_path, []])
                task = next(t for t in tasks if t[0] == task_id)
                stored: Dict[int, List[Any]] = {w[0]: w for w in task[2]}
                whole = all(self._is_there(w[2]) for w in stored.values())
                used: Set[str] = set()
                gone: List[Ref] = []
                for idx, channel, ref in wanted:
                    old = stored.get(idx)
                    if old is not None and (idx >= 0 and whole):
                        continue
                    if old is not None and "k" in old[2]:
                        gone.append(old[2])
                    stored[idx] = [idx, channel, ref]
                    used.add(ref.get("k", ""))
                task[1], task[2] = task_path or task[1], [stored[i] for i in sorted(stored)]
                try:
                    self._documents.write(name, tasks, version)
                except ConflictError as e:
                    conflict = e
                    continue
                for key, data in blobs.items():
                    if key in used:
                        self._write(key, data)
                for ref in gone:
                    self._drop_blob(ref["k"], ref["n"])
                return
        raise conflict or AssertionError

    def _is_there(self, ref: Ref) -> bool:
        return "d" in ref or all(self._documents.read(name)[0] is not None for name in _pieces(ref["k"], ref["n"]))

    def _values(self, session: str, ns: str, id: str) -> Dict[str, List[Any]]:
        document, _ = self._documents.read(_checkpoint_state(session, ns, id))
        return cast(Dict[str, List[Any]], document["values"]) if document else {}

    def _dump(self, session: str, value: Any, blobs: Dict[str, bytes]) -> Ref:
        """Write a value down; a large one gets a state of its own, which is stored later."""
        kind, data = self.serde.dumps_typed(value)
        if len(data) <= _INLINE:
            return {"t": kind, "d": data.hex()}
        key = f"{session}-b-{uuid.uuid4().hex}"
        blobs[key] = data
        return {"t": kind, "k": key, "n": max(1, -(-len(data) // CHUNK)), "h": hashlib.sha256(data).hexdigest()}

    def _write(self, key: str, data: bytes) -> None:
        for n, name in enumerate(_pieces(key, max(1, -(-len(data) // CHUNK)))):
            self._documents.put(name, data[n * CHUNK : (n + 1) * CHUNK])

    # The index.

    def _session(self, thread: str) -> str:
        return session_for(self._client, _RUN, thread)

    def _threads(self) -> Iterator[Tuple[str, str]]:
        for session in self._client.session.list(binding=binding_for(self._client, _RUN), limit=200).all():
            head, revision = self._head(session.id)
            if revision:
                yield session.id, head["thread"]

    def _head(self, session: str) -> Tuple[Head, int]:
        try:
            loop = self._client.loop.get(session)
        except NotFoundError:
            return {"thread": "", "pages": [], "tail": [], "trash": []}, 0
        head: Head = decode(session, loop.state_json)
        return head, loop.revision

    def _change(self, session: str, thread: str, change: Callable[[Head], Optional[Head]]) -> None:
        """Replace the index over the revision that was read, as often as others come first. None leaves it as it is."""
        conflict: Optional[ConflictError] = None
        with self._locks(session):
            for _ in retries():
                head, revision = self._head(session)
                if revision == 0:
                    self._client.session.start(id=session, binding=binding_for(self._client, _RUN), name=label(thread))
                new = change({**head, "thread": thread, "tail": [*head["tail"]]})
                if new is None:
                    return
                full: Optional[str] = None
                if len(new["tail"]) > _PAGE:
                    full = f"{session}-p-{uuid.uuid4().hex}"
                    old, new["tail"] = new["tail"][:-1], new["tail"][-1:]
                    self._documents.put(full, old)
                    new["pages"] = [*new["pages"], [full, max(e[1] for e in old)]]
                sent = encode(new)
                try:
                    saved = self._client.loop.save(session, run_id=_RUN, state_json=sent, if_revision=revision)
                    same(session, sent, saved.state_json)
                    return
                except ConflictError as e:
                    conflict = e
                    if full is not None and not any(p[0] == full for p in self._head(session)[0]["pages"]):
                        self._documents.delete(full)
        raise conflict or AssertionError

    def _page(self, name: str) -> List[_Entry]:
        return [_Entry(e) for e in self._documents.read(name)[0] or ()]

    def _entries(self, head: Head) -> List[_Entry]:
        """Return the index, each checkpoint as it was entered last."""
        found: Dict[Tuple[str, str], _Entry] = {}
        for entry in [*(e for name, _ in head["pages"] for e in self._page(name)), *map(_Entry, head["tail"])]:
            old = found.get(entry.key)
            if old is not None:
                entry.blobs = entry.blobs + [b for b in old.blobs if b not in entry.blobs]
            found[entry.key] = entry
        return [*found.values()]

    def _find(self, head: Head, ns: str, id: str) -> bool:
        return any(e[0] == ns and e[1] == id for e in head["tail"]) or any(e.key == (ns, id) for name, last in head["pages"] if id <= last for e in self._page(name))

    def _newest(self, head: Head, ns: str) -> Iterator[_Entry]:
        """Go through the checkpoints of a namespace, newest first. Pages are read when nothing newer can be in them."""
        waiting = [_Entry(e) for e in head["tail"] if e[0] == ns]
        pages = sorted(head["pages"], key=lambda p: p[1])
        told: Set[str] = set()
        while waiting or pages:
            waiting.sort(key=lambda e: e.id)
            if pages and (not waiting or pages[-1][1] > waiting[-1].id):
                waiting.extend(e for e in self._page(pages.pop()[0]) if e.ns == ns)
                continue
            entry = waiting.pop()
            if entry.id not in told:
                told.add(entry.id)
                yield entry

    def _remember(self, session: str, ns: str, id: str) -> None:
        with self._known_lock:
            self._known[session, ns, id] = None
            while len(self._known) > _KNOWN:
                self._known.popitem(last=False)

    def _is_known(self, session: str, ns: str, id: str) -> bool:
        with self._known_lock:
            return (session, ns, id) in self._known

    # Removing.

    def delete_thread(self, thread_id: str) -> None:
        """Remove a thread with all that is in it. Whatever it leaves behind when it is interrupted, it removes when it is called again."""
        session = self._session(str(thread_id))
        seen = -1
        for _ in retries():
            head, revision = self._head(session)
            if revision == seen:
                break
            seen = revision
            for entry in self._entries(head):
                self._drop(session, entry.ns, entry.id)
                for key, n in entry.blobs:
                    self._drop_blob(key, n)
            self._sweep(head["trash"])
            for name, _last in head["pages"]:
                self._documents.delete(name)
        self._forget(session)
        try:
            self._client.session.delete(session)
        except NotFoundError:
            self._client.loop.clear(session)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Remove the checkpoints of runs, in all threads of this identity."""
        runs = {str(r) for r in run_ids}
        if not runs:
            return
        for session, thread in self._threads():
            self._remove(session, thread, lambda entries: {e.key for e in entries if e.run in runs})

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Remove all checkpoints of threads but the last one of each namespace, and those that its channels are rebuilt from; or with "delete" all."""
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"strategy is {strategy!r}: want keep_latest or delete")
        for thread in map(str, thread_ids):
            session = self._session(thread)
            if strategy == "delete":
                self.delete_thread(thread)
            elif self._head(session)[1]:
                self._remove(session, thread, lambda entries, s=session: self._old(s, entries))  # type: ignore[misc]

    def _old(self, session: str, entries: List[_Entry]) -> Set[Tuple[str, str]]:
        keep: Set[Tuple[str, str]] = set()
        by = {e.key: e for e in entries}
        for ns in {e.ns for e in entries}:
            missing: Set[str] = set()
            at: Optional[_Entry] = None
            for entry in sorted((e for e in entries if e.ns == ns), key=lambda e: e.id, reverse=True):
                keep.add(entry.key)
                document, _ = self._documents.read(_checkpoint_state(session, ns, entry.id))
                if document is not None:
                    # Channels that are kept as what was added need what was added since they were last written whole.
                    missing = {str(c) for c in self._load(document["m"]).get("counters_since_delta_snapshot") or ()} - set(document["values"])
                    at = entry
                    break
            while missing and at is not None and at.parent is not None:
                at = by.get((ns, at.parent))
                if at is not None and at.key in keep:
                    break  # a chain that leads back to itself
                if at is not None:
                    keep.add(at.key)
                    missing -= set(self._values(session, ns, at.id))
        return set(by) - keep

    def _remove(self, session: str, thread: str, which: Callable[[List[_Entry]], Set[Tuple[str, str]]]) -> None:
        """Take checkpoints out of the index and note what is to be deleted, in one step; then delete it."""
        more = True
        while more:
            pages: List[str] = []
            made: List[str] = []
            more = False

            def without(head: Head) -> Optional[Head]:
                nonlocal more, pages
                entries = self._entries(head)
                gone = sorted(which(entries))
                more = len(gone) > _SWEEP
                drop = set(gone[:_SWEEP])
                if not drop:
                    return None
                pages = [p[0] for p in head["pages"]]
                used = {b[0] for e in entries if e.key not in drop for b in e.blobs}
                rest = sorted((e for e in entries if e.key not in drop), key=lambda e: e.id)
                raw: List[List[Any]] = [[e.ns, e.id, e.parent, e.run, e.blobs] for e in rest]
                tail = raw[len(raw) - len(raw) % _PAGE :] if len(raw) > _PAGE else raw
                full = raw[: len(raw) - len(tail)]
                new: List[List[Any]] = []
                for n in range(0, len(full), _PAGE):
                    name = f"{session}-p-{uuid.uuid4().hex}"
                    made.append(name)  # noqa: B023
                    self._documents.put(name, full[n : n + _PAGE])
                    new.append([name, full[n : n + _PAGE][-1][1]])
                blobs = {b[0]: b[1] for e in entries if e.key in drop for b in e.blobs if b[0] not in used}
                trash: List[Any] = [["c", ns, id] for ns, id in sorted(drop)]
                trash += [["b", k, n] for k, n in blobs.items()] + [["b", name, 1] for name in pages]
                return {**head, "tail": tail, "pages": new, "trash": [*head["trash"], *([session, *t] for t in trash)]}

            self._change(session, thread, without)
            head, revision = self._head(session)
            for name in set(made) - {p[0] for p in head["pages"]}:
                self._documents.delete(name)  # of an attempt that others were faster than
            done = head["trash"]
            if not revision or not done:
                return
            self._forget(session)
            self._sweep(done)
            self._change(session, thread, lambda h: {**h, "trash": [t for t in h["trash"] if t not in done]})  # noqa: B023

    def _sweep(self, trash: List[List[Any]]) -> None:
        for session, what, *rest in trash:
            if what == "c":
                self._drop(session, rest[0], rest[1])
            else:
                self._drop_blob(rest[0], rest[1])

    def _drop(self, session: str, ns: str, id: str) -> None:
        """Remove a checkpoint and what tasks wrote at it."""
        self._documents.delete(_checkpoint_state(session, ns, id))
        name = _writes_state(session, ns, id)
        for _, _, writes in self._documents.read(name)[0] or ():
            for _, _, ref in writes:
                if "k" in ref:
                    self._drop_blob(ref["k"], ref["n"])
        self._documents.delete(name)

    def _drop_blob(self, key: str, n: int) -> None:
        for name in _pieces(key, n):
            self._documents.delete(name)

    def _forget(self, session: str) -> None:
        with self._known_lock:
            for key in [k for k in self._known if k[0] == session]:
                del self._known[key]

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with all its checkpoints and writes."""
        source, target = self._session(str(source_thread_id)), self._session(str(target_thread_id))
        if source == target:
            return
        copies: Dict[str, Ref] = {}
        head, _ = self._head(source)
        for entry in sorted(self._entries(head), key=lambda e: e.id):
            document, _ = self._documents.read(_checkpoint_state(source, entry.ns, entry.id))
            writes, _ = self._documents.read(_writes_state(source, entry.ns, entry.id))
            try:
                pending: List[Any] = [(t, p, [[i, c, self._copy(target, r, copies)] for i, c, r in w]) for t, p, w in writes or ()]
                if document is not None:
                    document = {
                        "parent": document["parent"],
                        "c": self._copy(target, document["c"], copies),
                        "m": self._copy(target, document["m"], copies),
                        "values": {k: [v, self._copy(target, r, copies)] for k, (v, r) in document["values"].items()},
                    }
            except _Missing:
                continue
            refs: List[Ref] = [] if document is None else [document["c"], document["m"], *(r for _, r in document["values"].values())]
            raw: List[Any] = [entry.ns, entry.id, entry.parent, entry.run, [[r["k"], r["n"]] for r in refs if "k" in r]]
            self._change(target, str(target_thread_id), lambda h, raw=raw: _enter(h, raw))  # type: ignore[misc]
            for ref in [*refs, *(r for _, _, w in pending for _, _, r in w)]:
                if "from" in ref:
                    self._write(ref["k"], self._bytes(ref.pop("from")))
            if pending:
                self._documents.put(_writes_state(target, entry.ns, entry.id), pending)
            if document is not None:
                self._documents.put(_checkpoint_state(target, entry.ns, entry.id), document)

    def _copy(self, target: str, ref: Ref, copies: Dict[str, Ref]) -> Ref:
        if "k" not in ref:
            return ref
        if ref["k"] not in copies:
            copies[ref["k"]] = {**ref, "k": f"{target}-b-{uuid.uuid4().hex}", "from": ref}
        return copies[ref["k"]]

    def get_next_version(self, current: Union[str, int, float, None], channel: None) -> str:
        """Return a version behind the current one. Two branches of a thread never get the same."""
        last = 0 if current is None else int(str(current).split(".")[0])
        return f"{last + 1:032d}.{random.SystemRandom().getrandbits(53):016d}"

    # The same for programs that do not wait.

    async def aget_tuple(self, config: RunnableConfig) -> Optional[CheckpointTuple]:
        """See get_tuple."""
        return await in_thread(self.get_tuple, config)

    async def alist(self, config: Optional[RunnableConfig], *, filter: Optional[Dict[str, Any]] = None, before: Optional[RunnableConfig] = None, limit: Optional[int] = None) -> AsyncIterator[CheckpointTuple]:
        """See list."""
        found = self.list(config, filter=filter, before=before, limit=limit)

        def step() -> Optional[CheckpointTuple]:
            return next(found, None)

        while (one := await in_thread(step)) is not None:
            yield one

    async def aput(self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions) -> RunnableConfig:
        """See put."""
        return await in_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(self, config: RunnableConfig, writes: Sequence[Tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        """See put_writes."""
        await in_thread(self.put_writes, config, writes, task_id, task_path)

    async def aget_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> Mapping[str, DeltaChannelHistory]:
        """See get_delta_channel_history."""
        return await in_thread(self.get_delta_channel_history, config=config, channels=channels)

    async def adelete_thread(self, thread_id: str) -> None:
        """See delete_thread."""
        await in_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """See delete_for_runs."""
        await in_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """See copy_thread."""
        await in_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """See prune."""
        await in_thread(self.prune, thread_ids, strategy=strategy)


def _configurable(config: RunnableConfig) -> Dict[str, Any]:
    return config.get("configurable") or {}


def _named(config: RunnableConfig) -> Tuple[str, str, Optional[str]]:
    c = _configurable(config)
    return str(c["thread_id"]), c.get("checkpoint_ns") or "", c.get("checkpoint_id")


def _config(thread: str, ns: str, id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": id}}


def _checkpoint_state(session: str, ns: str, id: str) -> str:
    return f"{session}-c-{digest(ns, id)}"


def _writes_state(session: str, ns: str, id: str) -> str:
    return f"{session}-w-{digest(ns, id)}"


def _pieces(key: str, n: int) -> List[str]:
    return [key, *(f"{key}-{i}" for i in range(1, n))]


def _enter(head: Head, raw: List[Any]) -> Head:
    """Put a checkpoint at the end of the index, in place of what is there about it. The states that it used stay listed."""
    old = next((e for e in head["tail"] if e[:2] == raw[:2]), None)
    if old is not None:
        raw = [*raw[:4], raw[4] + [b for b in old[4] if b not in raw[4]]]
    return {**head, "tail": [*(e for e in head["tail"] if e[:2] != raw[:2]), raw]}


_DEPTH = 32  # parts of a namespace
_BATCH = 16  # memories that are written in one request
_NUMBERS = 50_000  # numbers of all vectors of an item
_REFRESH = 0.05  # the part of its time that must be over before a read puts off the end of an item
_OWN = "store-"  # how the metadata of items begin
_VECTOR, _EXPIRES, _WRITTEN = _OWN + "vector-", _OWN + "expires", _OWN + "written"

_log = logging.getLogger(__name__)

_Found = Tuple[SearchItem, Optional[Memory]]  # an item, and its memory where it was read


class AmberStore(BaseStore):
    """Keeps the items of a LangGraph store as memories of Amber.

    An item is a memory for the identity that the client is bound to, with namespace, key and value as JSON. Every other
    program that recalls for that identity finds it, too. A search with a query is a recall of Amber, which needs no
    embeddings here: index=False keeps an item out of it, and a list of fields is taken as the whole item. As in every
    memory, secrets are taken out of a value before it is stored. Of several writers of a key the last one wins.

    With index= (dims, embed, fields) a query is answered with that embedder instead: the vectors are kept with the
    items, and a search compares all of its namespace.

    With ttl= (default_ttl, refresh_on_read, sweep_interval_minutes), or a ttl= of put, an item ends after that many
    minutes. It is not returned any more then, and sweep_ttl or a sweeper removes it; until then other programs may
    recall it. A read puts the end off, at most once in a twentieth of the time.
    """

    supports_ttl = True

    def __init__(self, client: Client, *, kind: Optional[MemoryKind] = None, index: Optional[IndexConfig] = None, ttl: Optional[TTLConfig] = None) -> None:
        self._client = blocking(client)
        self._kind = kind
        self._who = identity(self._client)
        self.ttl_config = ttl
        if index is not None and not index.get("dims"):
            raise InvalidError("index has no dims: want how many numbers a vector of the embedder has")
        self.index_config = index
        self.embeddings: Optional[Embeddings] = None if index is None else ensure_embeddings(index.get("embed"))
        self._sweeper: Optional[threading.Thread] = None
        self._stop = threading.Event()

    def batch(self, ops: Iterable[Op]) -> List[Result]:
        """Do several things: first all that reads, then all that writes; of several writes to a key the last one."""
        todo, texts, queries = self._prepare(ops)
        vectors: Dict[str, List[float]] = {}
        asked: Dict[str, List[float]] = {}
        if self.embeddings is not None:
            asked = self._measured(queries, [self.embeddings.embed_query(q) for q in queries])
            vectors = self._measured(texts, self.embeddings.embed_documents(texts) if texts else [])
        return self._do(todo, vectors, asked)

    async def abatch(self, ops: Iterable[Op]) -> List[Result]:
        """See batch."""
        todo, texts, queries = self._prepare(ops)
        vectors: Dict[str, List[float]] = {}
        asked: Dict[str, List[float]] = {}
        if self.embeddings is not None:
            asked = self._measured(queries, await asyncio.gather(*(self.embeddings.aembed_query(q) for q in queries)))
            vectors = self._measured(texts, await self.embeddings.aembed_documents(texts) if texts else [])
        return await in_thread(self._do, todo, vectors, asked)

    def _prepare(self, ops: Iterable[Op]) -> Tuple[List[Op], List[str], List[str]]:
        """Check what is to be done, and return it with the texts and the queries that need vectors."""
        todo: List[Op] = []
        last: Dict[Tuple[Tuple[str, ...], str], int] = {}
        for op in ops:
            validate_op_namespace(op)
            if isinstance(op, PutOp):
                if op.value is not None and len(op.namespace) > _DEPTH:
                    raise InvalidError(f"the namespace has {len(op.namespace)} parts, the limit is {_DEPTH}")
                if op.ttl is not None and not 0 < op.ttl < float("inf"):
                    raise InvalidError(f"the ttl of {op.key!r} is {op.ttl}: want minutes above 0, or None for an item without an end")
                last[op.namespace, op.key] = len(todo)
            elif not isinstance(op, (GetOp, SearchOp, ListNamespacesOp)):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise ValueError(f"the operation is {type(op).__name__}: want a get, a search, a put or a list of namespaces")
            todo.append(op)
        texts = {t: None for n in last.values() for t in self._texts(cast(PutOp, todo[n]))}
        queries = {op.query: None for op in todo if isinstance(op, SearchOp) and op.query}
        return todo, [*texts], [*queries]

    def _texts(self, op: PutOp) -> List[str]:
        if self.index_config is None or op.value is None or op.index is False:
            return []
        fields = (self.index_config.get("fields") or ["$"]) if op.index is None else op.index
        return [text for field in fields for text in get_text_at_path(op.value, field)]

    def _measured(self, texts: List[str], vectors: Sequence[List[float]]) -> Dict[str, List[float]]:
        wanted = (self.index_config or {}).get("dims")
        if len(vectors) != len(texts):
            raise InvalidError(f"the embedder made {len(vectors)} vectors: want {len(texts)}, one for each text")
        for vector in vectors:
            if len(vector) != wanted:
                raise InvalidError(f"the embedder made a vector of {len(vector)} numbers: want {wanted}, as dims of index says")
        return dict(zip(texts, vectors, strict=True))

    def _do(self, todo: List[Op], vectors: Dict[str, List[float]], asked: Dict[str, List[float]]) -> List[Result]:
        results: List[Result] = []
        puts: Dict[Tuple[Tuple[str, ...], str], PutOp] = {}
        for op in todo:
            if isinstance(op, GetOp):
                results.append(self._get(op))
            elif isinstance(op, SearchOp):
                results.append(self._search(op, asked.get(op.query or "")))
            elif isinstance(op, ListNamespacesOp):
                results.append(self._namespaces(op))
            else:
                puts.pop((op.namespace, op.key), None)
                puts[op.namespace, op.key] = op
                results.append(None)
        self._put([*puts.values()], vectors)
        return results

    def _tag(self, kind: str, *parts: Any) -> str:
        # Whose it is is part of the tag: what is for everybody is not an item of this user's store.
        return f"store-{kind}-{digest(kind, self._who, *parts)}"

    # Writing.

    def _put(self, ops: List[PutOp], vectors: Dict[str, List[float]]) -> None:
        items: List[Dict[str, Any]] = []
        size = 0
        for op in ops:
            if op.value is None:
                for memory in self._client.memory.list(tag=[self._tag("item", op.namespace, op.key)]).all():
                    self._client.memory.forget(memory.id)
                continue
            item = self._item(op, vectors)
            more = len(item["content"].encode()) + sum(map(len, item["metadata"].values()))
            if items and (size + more > 2 << 20 or len(items) == _BATCH):
                self._write(items)
                items, size = [], 0
            size += more
            items.append(item)
        if items:
            self._write(items)

    def _item(self, op: PutOp, vectors: Dict[str, List[float]]) -> Dict[str, Any]:
        item: Dict[str, Any] = {"value": op.value, "key": op.key, "namespace": op.namespace}
        if op.index is False:
            item["index"] = False
        if op.ttl is not None:
            item["ttl"] = op.ttl
        try:
            content = json.dumps(item, ensure_ascii=False)
            if any("\ud800" <= c <= "\udfff" for c in content):
                content = json.dumps(item)
        except (TypeError, ValueError) as e:
            raise InvalidError(f"the value of {op.key!r} cannot be stored: want what JSON can say, found {e}") from None
        tags = [self._tag("item", op.namespace, op.key), *(self._tag("in", op.namespace[:n]) for n in range(len(op.namespace) + 1))]
        numbers = [number for text in self._texts(op) for number in vectors[text]]
        if len(numbers) > _NUMBERS:
            raise InvalidError(f"the vectors of {op.key!r} have {len(numbers)} numbers, the limit is {_NUMBERS}", hint="name fewer fields in index")
        metadata = pack_vector(_VECTOR, numbers)
        if op.ttl is not None:
            tags.append(self._tag("ttl"))
            metadata[_EXPIRES] = (_now() + timedelta(minutes=op.ttl)).isoformat()
        made: Dict[str, Any] = {"content": content, "tags": tags, "topic": tags[0], "title": label(op.key), "metadata": metadata}
        return made if self._kind is None else {**made, "kind": self._kind}

    def _write(self, items: List[Dict[str, Any]]) -> None:
        for item, ack in zip(items, self._client.memory.write_batch(items=items).items, strict=True):
            if _read(ack.content) is None:
                self._client.memory.forget(ack.id)
                raise InvalidError("an item cannot be stored: what is left of it without its secrets is no JSON", hint="take the secret out of the value")
            # The same content written again leaves the metadata as they are.
            if {k: v for k, v in ack.metadata.items() if k.startswith(_OWN)} != item["metadata"]:
                metadata = {k: v for k, v in ack.metadata.items() if not k.startswith(_OWN)}
                tags = [t for t in ack.tags if not t.startswith(_OWN)]
                try:
                    self._client.memory.edit(ack.id, metadata={**metadata, **item["metadata"]}, tags=[*item["tags"], *tags], if_revision=ack.revision)
                except (ConflictError, NotFoundError):
                    pass  # somebody has written or deleted it since

    # Reading.

    def _memories(self, tag: str, first: Optional[int] = None) -> Iterator[Memory]:
        """Go through the memories with a tag, last updated first: as many as are likely to do, then the rest. A list that was cut off begins again."""
        told: Set[str] = set()
        cut = 0
        while True:
            listed = 0
            try:
                # Line by line: an item may have a MiB, and a page of them would be too large.
                for memory in self._client.memory.list(tag=[tag], limit=first).lines():
                    listed += 1
                    if memory.id not in told:
                        told.add(memory.id)
                        yield memory
            except UnreachableError:
                cut += 1
                if cut == 5:
                    raise
                continue
            if first is None or listed < first:
                return
            first = None

    def _get(self, op: GetOp) -> Optional[Item]:
        for memory in self._client.memory.list(tag=[self._tag("item", op.namespace, op.key)], limit=1).page().items:
            item = _item_of(memory)
            if item is not None and op.refresh_ttl:
                self._refresh(memory)
            return None if item is None else Item(value=item.value, key=item.key, namespace=item.namespace, created_at=item.created_at, updated_at=item.updated_at)
        return None

    def _search(self, op: SearchOp, vector: Optional[List[float]]) -> List[SearchItem]:
        found: List[_Found] = []
        if op.limit > 0:
            found = self._listed(op, op.offset) if not op.query else self._recalled(op) if vector is None else self._nearest(op, vector)
        if op.refresh_ttl:
            for _, memory in found:
                if memory is not None:
                    self._refresh(memory)
        return [item for item, _ in found]

    def _listed(self, op: SearchOp, offset: int) -> List[_Found]:
        found: List[_Found] = []
        wanted = op.offset + op.limit
        for memory in self._memories(self._tag("in", op.namespace_prefix), None if op.filter else wanted):
            item = _item_of(memory)
            if item is not None and _matches(item.value, op.filter):
                found.append((item, memory))
                if len(found) == wanted:
                    break
        return found[offset:]

    def _recalled(self, op: SearchOp) -> List[_Found]:
        """Find what answers a query, best first; then, without a score, what else there is, as stores of vectors do."""
        wanted = op.offset + op.limit
        hits = self._client.memory.recall(text=op.query, tags=[self._tag("in", op.namespace_prefix)], layers=["memory"], limit=64 if op.filter else min(64, max(1, wanted))).hits
        found: Dict[Tuple[Tuple[str, ...], str], _Found] = {}
        for hit in hits:
            raw = _read(hit.content)
            if raw is None or raw.get("index") is False or not _matches(raw["value"], op.filter):
                continue
            memory = None
            item: Optional[SearchItem] = _made(raw, hit.created_at, hit.updated_at, hit.score)
            if "ttl" in raw:  # a hit does not say when its memory ends
                memory = self._present(hit.id)
                item = None if memory is None else _item_of(memory, hit.score)
            if item is not None and _matches(item.value, op.filter):
                found[item.namespace, item.key] = item, memory
        if len(found) < wanted:
            for other in self._listed(op, 0):
                found.setdefault((other[0].namespace, other[0].key), other)
        return [*found.values()][op.offset : wanted]

    def _nearest(self, op: SearchOp, vector: List[float]) -> List[_Found]:
        """Compare the vectors of a namespace with that of a query, best first; then, without a score, what has none."""
        scored: List[_Found] = []
        rest: List[_Found] = []
        for memory in self._memories(self._tag("in", op.namespace_prefix)):
            item = _item_of(memory)
            if item is None or not _matches(item.value, op.filter):
                continue
            numbers = unpack_vector(_VECTOR, memory.metadata) or []
            if len(numbers) % len(vector):
                raise InvalidError(f"the item {item.key!r} has a vector that is not of {len(vector)} numbers: another embedder made it", hint="put it again")
            item.score = max((near(vector, numbers[n : n + len(vector)]) for n in range(0, len(numbers), len(vector))), default=None)
            (rest if item.score is None else scored).append((item, memory))
        scored.sort(key=lambda found: cast(float, found[0].score), reverse=True)
        return [*scored, *rest][op.offset : op.offset + op.limit]

    def _namespaces(self, op: ListNamespacesOp) -> List[Tuple[str, ...]]:
        found: Set[Tuple[str, ...]] = set()
        for memory in self._memories(self._tag("in", ())):
            item = _item_of(memory)
            if item is not None and all(_on_path(c, item.namespace) for c in op.match_conditions or ()):
                found.add(item.namespace[: op.max_depth] if op.max_depth is not None else item.namespace)
        return sorted(found)[op.offset : op.offset + op.limit]

    # The end of items.

    def _refresh(self, memory: Memory) -> None:
        """Put the end of an item off, because it was read."""
        minutes = (_read(memory.content) or {}).get("ttl")
        ends = _expires(memory)
        if ends is None or not isinstance(minutes, (int, float)) or ends - _now() > timedelta(minutes=minutes * (1 - _REFRESH)):
            return
        written = memory.metadata.get(_WRITTEN) or (memory.updated_at or _now()).isoformat()
        metadata = {**memory.metadata, _EXPIRES: (_now() + timedelta(minutes=minutes)).isoformat(), _WRITTEN: written}
        try:
            self._client.memory.edit(memory.id, metadata=metadata, if_revision=memory.revision)
        except (ConflictError, NotFoundError):
            pass  # somebody else has read, written or deleted it

    def sweep_ttl(self) -> int:
        """Remove the items that have ended, and return how many."""
        swept = 0
        for memory in [m for m in self._memories(self._tag("ttl")) if _is_over(m)]:
            now = self._present(memory.id)
            if now is not None and _is_over(now):
                self._client.memory.forget(now.id)
                swept += 1
        return swept

    def _present(self, id: str) -> Optional[Memory]:
        try:
            memory = self._client.memory.get(id)
        except NotFoundError:
            return None
        return memory if memory.deleted_at is None else None

    async def asweep_ttl(self) -> int:
        """See sweep_ttl."""
        return await in_thread(self.sweep_ttl)

    def start_ttl_sweeper(self, sweep_interval_minutes: Optional[float] = None) -> "Future[None]":
        """Sweep from time to time in a thread of its own, until stop_ttl_sweeper, the end of the client, or until the future is cancelled.

        The interval is the one that is given, else sweep_interval_minutes of ttl, else 5.
        """
        done: "Future[None]" = Future()
        if self._sweeper is None or not self._sweeper.is_alive():
            self._stop = threading.Event()
            minutes = float(sweep_interval_minutes or (self.ttl_config or {}).get("sweep_interval_minutes") or 5)
            self._sweeper = threading.Thread(target=_sweep, args=(weakref.ref(self), self._stop, minutes * 60, done), daemon=True, name="amber-ttl-sweeper")
            self._sweeper.start()
        stop = self._stop
        done.add_done_callback(lambda f: stop.set() if f.cancelled() else None)
        return done

    def stop_ttl_sweeper(self, timeout: Optional[float] = None) -> bool:
        """End the sweeper, and return whether it has ended within so many seconds."""
        self._stop.set()
        if self._sweeper is not None:
            self._sweeper.join(timeout)
        return self._sweeper is None or not self._sweeper.is_alive()

    def _is_closed(self) -> bool:
        return self._client._caller.connection.closed  # pyright: ignore[reportPrivateUsage]


def _sweep(of: "weakref.ref[AmberStore]", stop: threading.Event, seconds: float, done: "Future[None]") -> None:
    while not stop.wait(seconds):
        store = of()
        if store is None or store._is_closed():  # pyright: ignore[reportPrivateUsage]
            break
        try:
            store.sweep_ttl()
        except Exception:
            _log.exception("a sweep of the store failed; the next one is in %g seconds", seconds)
        del store
    if done.set_running_or_notify_cancel():
        done.set_result(None)


def _now() -> datetime:
    return datetime.now(timezone.utc)


def _expires(memory: Memory) -> Optional[datetime]:
    try:
        return datetime.fromisoformat(memory.metadata[_EXPIRES])
    except (KeyError, ValueError):
        return None


def _is_over(memory: Memory) -> bool:
    ends = _expires(memory)
    return ends is not None and ends <= _now()


def _read(content: str) -> Optional[Dict[str, Any]]:
    try:
        raw = json.loads(content)
        return raw if isinstance(raw["value"], dict) and isinstance(raw["key"], str) and isinstance(raw["namespace"], list) else None
    except (ValueError, KeyError, TypeError):
        return None


def _item_of(memory: Memory, score: Optional[float] = None) -> Optional[SearchItem]:
    """Make an item of a memory. One that has ended, or that somebody has edited to something else, is none."""
    raw = _read(memory.content)
    if raw is None or _is_over(memory):
        return None
    written = memory.updated_at
    if _WRITTEN in memory.metadata:
        try:
            written = datetime.fromisoformat(memory.metadata[_WRITTEN])
        except ValueError:
            pass
    return _made(raw, memory.created_at, written, score)


def _made(raw: Dict[str, Any], created: Optional[datetime], updated: Optional[datetime], score: Optional[float]) -> SearchItem:
    never = datetime.fromtimestamp(0, timezone.utc)
    return SearchItem(namespace=tuple(raw["namespace"]), key=raw["key"], value=raw["value"], created_at=created or never, updated_at=updated or never, score=score)


def _at(value: Any, name: str) -> Any:
    """Return what a mapping has under a name, or under the parts of a name with dots."""
    if not isinstance(value, dict):
        return None
    known = cast(Dict[str, Any], value)
    if name in known:
        return known[name]
    for n, c in enumerate(name):
        if c == "." and name[:n] in known and (found := _at(known[name[:n]], name[n + 1 :])) is not None:
            return found
    return None


def _order(a: Any, b: Any) -> int:
    """Compare numbers, also those that are written as texts, and other texts. Errors: TypeError and ValueError where one is neither more nor less than the other."""
    try:
        x, y = (float(v) if isinstance(v, str) else v for v in (a, b))
    except ValueError:
        if not isinstance(a, str) or not isinstance(b, str):
            raise
        return (a > b) - (a < b)
    if not isinstance(x, (int, float)) or not isinstance(y, (int, float)) or x != x or y != y:
        raise TypeError
    return (x > y) - (x < y)


_COMPARE: Dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda a, b: bool(a == b),
    "$ne": lambda a, b: bool(a != b),
    "$gt": lambda a, b: _order(a, b) > 0,
    "$gte": lambda a, b: _order(a, b) >= 0,
    "$lt": lambda a, b: _order(a, b) < 0,
    "$lte": lambda a, b: _order(a, b) <= 0,
}


def _matches(value: Any, filter: Optional[Mapping[str, Any]]) -> bool:
    return all(_agrees(_at(value, name), wanted) for name, wanted in (filter or {}).items())


def _agrees(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, (list, tuple)):
        parts = cast(Sequence[Any], wanted)
        found = cast(Sequence[Any], value) if isinstance(value, list) else ()
        return len(found) == len(parts) and isinstance(value, list) and all(_agrees(v, w) for v, w in zip(found, parts, strict=True))
    if not isinstance(wanted, dict):
        return bool(value == wanted)
    signs = cast(Dict[str, Any], wanted)
    if not any(k.startswith("$") for k in signs):
        return isinstance(value, dict) and _matches(value, signs)
    for sign, operand in signs.items():
        if sign not in _COMPARE:
            raise ValueError(f"the filter has {sign!r}: want one of {', '.join(_COMPARE)}")
        try:
            if not _COMPARE[sign](value, operand):
                return False
        except (TypeError, ValueError):
            return False  # neither more nor less
    return True


def _on_path(condition: MatchCondition, namespace: Tuple[str, ...]) -> bool:
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(p in ("*", n) for p, n in zip(path, part, strict=True))
