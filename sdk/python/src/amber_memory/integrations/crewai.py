"""CrewAI: storage for its unified memory.

    memory = Memory(storage=AmberStorage(Amber(user_id="ada")), llm=..., embedder=...)
    crew = Crew(agents=[...], tasks=[...], memory=memory)
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any, Dict, Iterator, List, Optional, Tuple

from crewai.memory.storage.backend import EmbeddingDimensionMismatchError
from crewai.memory.types import MemoryRecord, ScopeInfo

from .._errors import InvalidError
from .._models import Memory
from ._common import Client, blocking, digest, identity, in_thread, label, near, pack, pack_vector, unpack, unpack_vector

__all__ = ["AmberStorage"]


class AmberStorage:
    """Keeps the records of CrewAI's memory as memories of Amber.

    A record is a memory for the identity that the client is bound to: its content is the text, so that every other program
    that recalls for that identity finds it, and the rest is its metadata. CrewAI searches with vectors of its own embedder;
    they are compared here, over all records of a scope. Secrets are taken out of the text before it is stored.
    """

    def __init__(self, client: Client) -> None:
        self._client = blocking(client)
        self._who = identity(self._client)

    def _tag(self, kind: str, *parts: Any) -> str:
        return f"crewai-{kind}-{digest(kind, self._who, *parts)}"

    def save(self, records: List[MemoryRecord]) -> None:
        """Store records. One whose id is there is replaced."""
        for record in records:
            dimensions = len(record.embedding or ())
            if dimensions:
                known = next((m for m in self._client.memory.list(tag=[self._tag("vectors")], limit=1).page().items), None)
                stored = len(_vector(known) or ()) if known is not None else dimensions
                if stored and stored != dimensions:
                    raise EmbeddingDimensionMismatchError(stored, dimensions)
            self._write(record)

    def _write(self, record: MemoryRecord) -> None:
        parts = _parts(record.scope)
        tags = [self._tag("record", record.id), *(self._tag("in", parts[:n]) for n in range(len(parts) + 1))]
        rest = record.model_dump(mode="json", exclude={"content", "embedding"})
        metadata = {"crewai": pack(json.dumps(rest).encode())}
        if record.embedding:
            tags.append(self._tag("vectors"))
            metadata.update(pack_vector("vector-", record.embedding))
        if len(tags) > 60 or len(metadata) > 60:
            raise InvalidError(f"the record {record.id!r} is too large: want a scope of at most 50 parts and a vector of at most 50000 numbers")
        # The id is a word of the text's own that keeps equal texts apart.
        self._client.memory.write(content=record.content, tags=tags, topic=self._tag("record", record.id), title=label(record.id), metadata=metadata)
        stored = self._memory(record.id)
        if stored is not None and stored.metadata != metadata:
            self._client.memory.edit(stored.id, metadata=metadata, tags=tags)

    def _memory(self, id: str) -> Optional[Memory]:
        return next((m for m in self._client.memory.list(tag=[self._tag("record", id)], limit=1).page().items), None)

    def _records(self, scope: Optional[str]) -> Iterator[Tuple[MemoryRecord, Memory]]:
        for memory in self._client.memory.list(tag=[self._tag("in", _parts(scope or "/"))], limit=500):
            record = _record(memory)
            if record is not None:
                yield record, memory

    def _matching(self, scope: Optional[str], categories: Optional[List[str]], metadata: Optional[Dict[str, Any]]) -> Iterator[Tuple[MemoryRecord, Memory]]:
        for record, memory in self._records(scope):
            if categories and not set(categories) & set(record.categories):
                continue
            if metadata and any(record.metadata.get(k) != v for k, v in metadata.items()):
                continue
            yield record, memory

    def search(
        self,
        query_embedding: List[float],
        scope_prefix: Optional[str] = None,
        categories: Optional[List[str]] = None,
        metadata_filter: Optional[Dict[str, Any]] = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> List[Tuple[MemoryRecord, float]]:
        """Return the records whose vectors are nearest, best first."""
        found: List[Tuple[MemoryRecord, float]] = []
        for record, memory in self._matching(scope_prefix, categories, metadata_filter):
            vector = _vector(memory)
            if vector is None:
                continue
            if len(vector) != len(query_embedding):
                raise EmbeddingDimensionMismatchError(len(vector), len(query_embedding))
            score = near(query_embedding, vector)
            if score >= min_score:
                found.append((record, score))
        return sorted(found, key=lambda f: f[1], reverse=True)[:limit]

    def delete(
        self,
        scope_prefix: Optional[str] = None,
        categories: Optional[List[str]] = None,
        record_ids: Optional[List[str]] = None,
        older_than: Optional[datetime] = None,
        metadata_filter: Optional[Dict[str, Any]] = None,
    ) -> int:
        """Remove records and return how many."""
        gone: List[str] = []
        for record, memory in self._matching(scope_prefix, categories, metadata_filter):
            if (record_ids is None or record.id in record_ids) and (older_than is None or _utc(record.created_at) < _utc(older_than)):
                gone.append(memory.id)
        for id in gone:
            self._client.memory.forget(id)
        return len(gone)

    def update(self, record: MemoryRecord) -> None:
        """Replace the record with the same id. One without a vector keeps the one that is stored."""
        if record.embedding is None:
            old = self._memory(record.id)
            record = record.model_copy(update={"embedding": None if old is None else _vector(old)})
        self._write(record)

    def get_record(self, record_id: str) -> Optional[MemoryRecord]:
        """Return one record; None where there is none."""
        memory = self._memory(record_id)
        return None if memory is None else _record(memory)

    def list_records(self, scope_prefix: Optional[str] = None, limit: int = 200, offset: int = 0) -> List[MemoryRecord]:
        """List records, newest first."""
        return sorted((r for r, _ in self._records(scope_prefix)), key=lambda r: _utc(r.created_at), reverse=True)[offset : offset + limit]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Tell what is in a scope."""
        records = [r for r, _ in self._records(scope)]
        times = sorted(r.created_at for r in records)
        return ScopeInfo(
            path=scope,
            record_count=len(records),
            categories=sorted({c for r in records for c in r.categories}),
            oldest_record=times[0] if times else None,
            newest_record=times[-1] if times else None,
            child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> List[str]:
        """List the scopes directly in another one."""
        above = _parts(parent)
        return sorted({"/" + "/".join(p[: len(above) + 1]) for r, _ in self._records(parent) if len(p := _parts(r.scope)) > len(above)})

    def list_categories(self, scope_prefix: Optional[str] = None) -> Dict[str, int]:
        """Count the records of each category."""
        counts: Dict[str, int] = {}
        for record, _ in self._records(scope_prefix):
            for category in record.categories:
                counts[category] = counts.get(category, 0) + 1
        return counts

    def count(self, scope_prefix: Optional[str] = None) -> int:
        """Count records."""
        return sum(1 for _ in self._records(scope_prefix))

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


def _record(memory: Memory) -> Optional[MemoryRecord]:
    try:
        rest = json.loads(unpack(memory.metadata["crewai"]))
        return MemoryRecord(**rest, content=memory.content, embedding=_vector(memory))
    except (KeyError, ValueError, TypeError):
        return None


def _vector(memory: Memory) -> Optional[List[float]]:
    return unpack_vector("vector-", memory.metadata)


def _utc(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=timezone.utc)
