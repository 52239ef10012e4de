"""CrewAI: storage for its unified memory.

    memory = Memory(storage=AmberStorage(Amber(user_id="ada")), llm=..., embedder=...)
    crew = Crew(agents=[...], tasks=[...], memory=memory)
"""

from __future__ import annotations

import heapq
import json
import operator
from datetime import datetime, timezone
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple, cast

from crewai.memory.storage.backend import EmbeddingDimensionMismatchError
from crewai.memory.types import MemoryRecord, ScopeInfo

from .._errors import ConflictError, InvalidError
from .._models import Memory, WriteAck
from ._common import Client, blocking, digest, identity, in_thread, label, near, pack, pack_vector, unpack, unpack_vector

__all__ = ["AmberStorage"]

_BATCH = 16  # memories in a request: what a server takes that was not told otherwise
_BYTES = 1_000_000  # of a request
_PAGE = 100  # records that are held at once


class AmberStorage:
    """Keeps the records of CrewAI's memory as memories of Amber.

    A record is a memory for the identity that the client is bound to: its content is the text, so that every other program
    that recalls for that identity finds it, and the rest is its metadata. CrewAI searches with vectors of its own embedder;
    they are compared here, over all records of a scope, of which a page at a time is read. Secrets are taken out of the text
    before it is stored.
    """

    def __init__(self, client: Client) -> None:
        self._client = blocking(client)
        self._who = identity(self._client)

    def _tag(self, kind: str, *parts: Any) -> str:
        return f"crewai-{kind}-{digest(kind, self._who, *parts)}"

    def save(self, records: List[MemoryRecord]) -> None:
        """Store records: all or none of up to 16 of them, or 1 MB. One whose id is there is replaced."""
        self._check(records)
        sent: List[Dict[str, Any]] = []
        size = 0
        for asked in [self._asked(r) for r in {r.id: r for r in records}.values()]:
            more = len(asked["content"]) + sum(map(len, asked["metadata"].values()))
            if sent and (size + more > _BYTES or len(sent) == _BATCH):
                self._write(sent)
                sent, size = [], 0
            sent.append(asked)
            size += more
        self._write(sent)

    def _check(self, records: List[MemoryRecord]) -> None:
        """Check that vectors have as many numbers as those that are stored, and each other. Errors: EmbeddingDimensionMismatchError."""
        dimensions = [len(r.embedding) for r in records if r.embedding]
        if not dimensions:
            return
        known = next((m for m in self._client.memory.list(tag=[self._tag("vectors")], limit=1).page().items), None)
        stored = len((known and _vector(known)) or ()) or dimensions[0]
        for found in dimensions:
            if found != stored:
                raise EmbeddingDimensionMismatchError(stored, found)

    def _asked(self, record: MemoryRecord) -> Dict[str, Any]:
        json.dumps(record.metadata)  # a TypeError, before anything changes
        parts = _parts(record.scope)
        tags = [self._tag("record", record.id), *(self._tag("in", parts[:n]) for n in range(len(parts) + 1))]
        rest = record.model_dump(mode="json", exclude={"content", "embedding"})
        metadata = {"crewai": pack(json.dumps(rest).encode())}
        if record.embedding:
            tags.append(self._tag("vectors"))
            metadata.update(pack_vector("vector-", record.embedding))
        if len(tags) > 60 or len(metadata) > 60:
            raise InvalidError(f"the record {record.id!r} is too large: want a scope of at most 50 parts and a vector of at most 50000 numbers")
        # The title keeps equal texts of different records apart.
        title = label(record.id)
        return {"content": record.content, "tags": tags, "topic": tags[0], "title": title if title == record.id else f"{title} {digest(record.id)[:12]}", "metadata": metadata}

    def _write(self, asked: List[Dict[str, Any]]) -> None:
        if not asked:
            return
        for sent, stored in zip(asked, self._stored(asked), strict=True):
            if stored.metadata != sent["metadata"] or sorted(stored.tags) != sorted(sent["tags"]):
                self._client.memory.edit(stored.id, metadata=sent["metadata"], tags=sent["tags"])

    def _stored(self, asked: List[Dict[str, Any]]) -> List[WriteAck]:
        for last in (False, False, False, True):
            try:
                return self._client.memory.write_batch(items=asked).items
            except InvalidError as e:
                if len(asked) == 1 or "max_batch_size" not in e.message:
                    raise
                half = len(asked) // 2  # the server was told to take less
                return self._stored(asked[:half]) + self._stored(asked[half:])
            except ConflictError:
                # A server was killed, and nobody knows whether it was done. What has a topic can be written again.
                if last:
                    raise
        raise AssertionError

    def _memory(self, id: str) -> Optional[Memory]:
        return next((m for m in self._client.memory.list(tag=[self._tag("record", id)], limit=1).page().items), None)

    def _found(self, scope: Optional[str]) -> Iterator[Tuple[Dict[str, Any], Memory]]:
        """Go through the records of a scope: what is in their metadata, and their memories. A page at a time is held."""
        for memory in self._client.memory.list(tag=[self._tag("in", _parts(scope or "/"))], limit=_PAGE):
            rest = _rest(memory)
            if rest is not None:
                yield rest, memory

    def _matching(self, scope: Optional[str], categories: Optional[List[str]], metadata: Optional[Dict[str, Any]]) -> Iterator[Tuple[Dict[str, Any], Memory]]:
        for rest, memory in self._found(scope):
            if categories and not set(categories) & set(rest["categories"]):
                continue
            if metadata and any(rest["metadata"].get(k) != v for k, v in metadata.items()):
                continue
            yield rest, memory

    def search(
        self,
        query_embedding: List[float],
        scope_prefix: Optional[str] = None,
        categories: Optional[List[str]] = None,
        metadata_filter: Optional[Dict[str, Any]] = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> List[Tuple[MemoryRecord, float]]:
        """Return the records whose vectors are nearest, best first, and of equals the newest."""

        def scored() -> Iterator[Tuple[float, datetime, Memory]]:
            for rest, memory in self._matching(scope_prefix, categories, metadata_filter):
                vector = _vector(memory)
                if vector is None:
                    continue
                if len(vector) != len(query_embedding):
                    raise EmbeddingDimensionMismatchError(len(vector), len(query_embedding))
                score = near(query_embedding, vector)
                if score >= min_score:
                    yield score, _time(rest), memory

        best = heapq.nlargest(max(0, limit), scored(), key=operator.itemgetter(0, 1))
        return [(record, score) for score, _, memory in best if (record := _record(memory)) is not None]

    def delete(
        self,
        scope_prefix: Optional[str] = None,
        categories: Optional[List[str]] = None,
        record_ids: Optional[List[str]] = None,
        older_than: Optional[datetime] = None,
        metadata_filter: Optional[Dict[str, Any]] = None,
    ) -> int:
        """Remove records and return how many."""
        ids = None if record_ids is None else set(record_ids)
        gone: List[str] = []
        for rest, memory in self._matching(scope_prefix, categories, metadata_filter):
            if (ids is None or rest["id"] in ids) and (older_than is None or _time(rest) < _utc(older_than)):
                gone.append(memory.id)
        for id in gone:
            self._client.memory.forget(id)
        return len(gone)

    def update(self, record: MemoryRecord) -> None:
        """Replace the record with the same id. One without a vector keeps the one that is stored."""
        self._check([record])
        if record.embedding is None:
            old = self._memory(record.id)
            record = record.model_copy(update={"embedding": None if old is None else _vector(old)})
        self._write([self._asked(record)])

    def get_record(self, record_id: str) -> Optional[MemoryRecord]:
        """Return one record; None where there is none."""
        memory = self._memory(record_id)
        return None if memory is None else _record(memory)

    def list_records(self, scope_prefix: Optional[str] = None, limit: int = 200, offset: int = 0) -> List[MemoryRecord]:
        """List records, newest first."""
        if limit <= 0 or offset < 0:
            return []
        newest = heapq.nlargest(offset + limit, self._found(scope_prefix), key=lambda f: _time(f[0]))
        return [record for _, memory in newest[offset:] if (record := _record(memory)) is not None]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Tell what is in a scope."""
        info = ScopeInfo(path=scope, record_count=0, categories=[], oldest_record=None, newest_record=None, child_scopes=[])
        categories: Set[str] = set()
        scopes: Set[str] = set()
        for rest, _ in self._found(scope):
            info.record_count += 1
            at = datetime.fromisoformat(rest["created_at"].replace("Z", "+00:00"))
            info.oldest_record = min(info.oldest_record or at, at, key=_utc)
            info.newest_record = max(info.newest_record or at, at, key=_utc)
            categories.update(rest["categories"])
            scopes.update(_child(scope, rest["scope"]))
        info.categories, info.child_scopes = sorted(categories), sorted(scopes)
        return info

    def list_scopes(self, parent: str = "/") -> List[str]:
        """List the scopes directly in another one."""
        return sorted({child for rest, _ in self._found(parent) for child in _child(parent, rest["scope"])})

    def list_categories(self, scope_prefix: Optional[str] = None) -> Dict[str, int]:
        """Count the records of each category."""
        counts: Dict[str, int] = {}
        for rest, _ in self._found(scope_prefix):
            for category in rest["categories"]:
                counts[category] = counts.get(category, 0) + 1
        return counts

    def count(self, scope_prefix: Optional[str] = None) -> int:
        """Count records."""
        return sum(1 for _ in self._found(scope_prefix))

    def reset(self, scope_prefix: Optional[str] = None) -> None:
        """Remove all records of a scope."""
        self.delete(scope_prefix=scope_prefix)

    async def asave(self, records: List[MemoryRecord]) -> None:
        """See save."""
        await in_thread(self.save, records)

    async def asearch(
        self,
        query_embedding: List[float],
        scope_prefix: Optional[str] = None,
        categories: Optional[List[str]] = None,
        metadata_filter: Optional[Dict[str, Any]] = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> List[Tuple[MemoryRecord, float]]:
        """See search."""
        return await in_thread(self.search, query_embedding, scope_prefix, categories, metadata_filter, limit, min_score)

    async def adelete(
        self,
        scope_prefix: Optional[str] = None,
        categories: Optional[List[str]] = None,
        record_ids: Optional[List[str]] = None,
        older_than: Optional[datetime] = None,
        metadata_filter: Optional[Dict[str, Any]] = None,
    ) -> int:
        """See delete."""
        return await in_thread(self.delete, scope_prefix, categories, record_ids, older_than, metadata_filter)


def _parts(scope: str) -> List[str]:
    return [p for p in scope.split("/") if p]


def _child(parent: str, scope: str) -> List[str]:
    """Return the scope directly in another one that a scope is, or is in; none for the other one itself."""
    above, parts = _parts(parent), _parts(scope)
    return ["/" + "/".join(parts[: len(above) + 1])] if len(parts) > len(above) else []


def _rest(memory: Memory) -> Optional[Dict[str, Any]]:
    """Return what a record is beside its content and vector; None where the memory is no record."""
    try:
        rest = json.loads(unpack(memory.metadata["crewai"]))
        if isinstance(rest["id"], str) and isinstance(rest["scope"], str) and isinstance(rest["categories"], list) and isinstance(rest["metadata"], dict) and _time(rest):
            return cast(Dict[str, Any], rest)
    except (KeyError, ValueError, TypeError):
        pass
    return None


def _record(memory: Memory) -> Optional[MemoryRecord]:
    rest = _rest(memory)
    try:
        return None if rest is None else MemoryRecord(**rest, content=memory.content, embedding=_vector(memory))
    except ValueError:
        return None


def _vector(memory: Memory) -> Optional[List[float]]:
    return unpack_vector("vector-", memory.metadata)


def _time(rest: Dict[str, Any]) -> datetime:
    return _utc(datetime.fromisoformat(rest["created_at"].replace("Z", "+00:00")))


def _utc(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=timezone.utc)
