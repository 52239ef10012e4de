"""CrewAI: storage of its unified memory."""

from __future__ import annotations

import math
import random
import threading
import tracemalloc
from datetime import datetime, timedelta
from typing import Any, List

import pytest

pytest.importorskip("crewai.memory.storage.backend", reason="the package crewai is not installed")

from crewai.memory.storage.backend import EmbeddingDimensionMismatchError, StorageBackend
from crewai.memory.types import MemoryRecord
from crewai.memory.unified_memory import Memory
from integrations.shared import HOSTILE
from test_contract import kill_private

from amber_memory import Amber
from amber_memory.integrations.crewai import AmberStorage


def record(content: str, vector: List[float], **more: Any) -> MemoryRecord:
    return MemoryRecord(content=content, embedding=vector, **more)


def test_records_come_back_as_they_were(home: str) -> None:
    with Amber(user_id="ada") as amber:
        storage = AmberStorage(amber)
        assert isinstance(storage, StorageBackend)
        one = record("Ada likes trains", [1.0, 0.0, 0.5], scope="/people/ada", categories=["travel"], metadata={"n": [1, None]}, importance=0.9, source="s", private=True)
        two = record("Bob likes buses", [0.0, 1.0, 0.0], scope="/people/bob", categories=["travel", "bus"], created_at=datetime.utcnow() - timedelta(days=9))
        three = record("Ada likes trains", [0.0, 0.0, 1.0], scope="/peopleware")
        storage.save([one, two, three])
        kill_private()
        assert storage.get_record(one.id) == one and storage.get_record(three.id) == three and storage.get_record("none") is None
        assert [r.id for r, _ in storage.search([1.0, 0.0, 0.0], limit=2)] == [one.id, three.id]
        assert [(r.id, round(s, 3)) for r, s in storage.search([0.0, 1.0, 0.0], scope_prefix="/people", min_score=0.5)] == [(two.id, 1.0)]
        assert [r.id for r, _ in storage.search([1.0, 1.0, 1.0], categories=["bus"])] == [two.id]
        assert [r.id for r, _ in storage.search([1.0, 1.0, 1.0], metadata_filter={"n": [1, None]})] == [one.id]
        assert storage.count() == 3 and storage.count("/people") == 2
        assert storage.list_scopes() == ["/people", "/peopleware"] and storage.list_scopes("/people") == ["/people/ada", "/people/bob"]
        assert storage.list_categories() == {"travel": 2, "bus": 1}
        assert storage.get_scope_info("/people").record_count == 2
        assert [r.id for r in storage.list_records("/people", limit=1, offset=1)] == [two.id]
        changed = one.model_copy(update={"content": "Ada likes planes", "scope": "/people/moved", "embedding": None, "importance": 0.1})
        storage.update(changed)
        assert storage.get_record(one.id) == changed.model_copy(update={"embedding": one.embedding})
        storage.update(changed.model_copy(update={"importance": 0.2}))
        again = storage.get_record(one.id)
        assert again is not None and again.importance == 0.2 and storage.count() == 3
        assert storage.list_scopes("/people") == ["/people/bob", "/people/moved"]
        with pytest.raises(EmbeddingDimensionMismatchError):
            storage.save([record("x", [1.0])])
        with pytest.raises(EmbeddingDimensionMismatchError):
            storage.search([1.0])
        assert storage.delete(older_than=datetime.utcnow() - timedelta(days=1)) == 1
        assert storage.delete(record_ids=[one.id]) == 1
        storage.reset()
        assert storage.count() == 0


def test_users_and_hostile_names_do_not_meet(home: str) -> None:
    with Amber() as amber:
        ada, bob, nobody = AmberStorage(amber.scoped(user_id="ada")), AmberStorage(amber.scoped(user_id="bob")), AmberStorage(amber)
        same = record("the same", [1.0], id="same")
        ada.save([same])
        nobody.save([same])
        assert (ada.count(), bob.count(), nobody.count()) == (1, 0, 1)
        assert bob.get_record("same") is None and bob.search([1.0]) == [] and bob.delete() == 0
        nobody.reset()
        assert ada.get_record("same") == same
        for name in HOSTILE:
            if name != "\ud800":
                bob.save([record("x", [1.0], id=name, scope=f"/{name.replace('/', '_')}")])
                assert bob.get_record(name) is not None
        assert bob.count() == len(HOSTILE) - 1


def test_the_memory_of_crewai_uses_it(home: str) -> None:
    def embed(texts: List[str]) -> List[List[float]]:
        return [[float("train" in t), float("bus" in t), 0.1] for t in texts]

    with Amber(user_id="ada") as amber:
        memory = Memory(storage=AmberStorage(amber), embedder=embed, llm="stub")
        memory.remember("Ada takes the train", scope="/ada", categories=["travel"], importance=0.5)
        memory.remember("Bob takes the bus", scope="/bob", categories=["travel"], importance=0.5)
        found = memory.recall("train", depth="shallow", limit=1)
        assert [m.record.content for m in found] == ["Ada takes the train"]
        assert amber.recall("who takes the train?")[0].content == "Ada takes the train"
        memory.reset()
        assert memory.recall("train", depth="shallow") == []
        memory.close()


def test_thousands_of_records_are_searched_in_bounded_memory(home: str) -> None:
    r, n, dimensions = random.Random(1), 5000, 256
    with Amber(user_id="ada") as amber:
        storage = AmberStorage(amber)
        begin = datetime(2025, 1, 1)
        vectors = [[r.uniform(-1, 1) for _ in range(dimensions)] for _ in range(n)]
        storage.save([record(f"fact {i}", v, id=str(i), scope=f"/{i % 2}", created_at=begin + timedelta(seconds=i * 7919 % n)) for i, v in enumerate(vectors)])
        query = [r.uniform(-1, 1) for _ in range(dimensions)]
        tracemalloc.start()
        best = storage.search(query, limit=7, min_score=-1)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        newest = storage.list_records("/1", limit=5, offset=3)
        assert storage.count() == n and storage.get_scope_info("/1").record_count == n // 2

        def near(v: List[float]) -> float:
            return sum(a * b for a, b in zip(v, query, strict=True)) / math.sqrt(sum(a * a for a in v) * sum(b * b for b in query))

        want = sorted(range(n), key=lambda i: near(vectors[i]), reverse=True)[:7]
        assert [int(m.id) for m, _ in best] == want and all(abs(s - near(vectors[int(m.id)])) < 1e-5 for m, s in best)
        odd = sorted((i for i in range(n) if i % 2), key=lambda i: i * 7919 % n, reverse=True)
        assert [int(m.id) for m in newest] == odd[3:8]
        assert peak < 20_000_000, peak  # all of them are 50 MB


def test_a_kill_in_the_middle_of_saving_loses_nothing_and_saves_once(home: str) -> None:
    with Amber(user_id="ada") as amber:
        storage, done, killed = AmberStorage(amber), threading.Event(), threading.Event()
        assert storage.count() == 0

        def kill() -> None:
            for n in range(3):
                if done.wait(0.1 * n):
                    return
                kill_private()
                killed.set()

        killer = threading.Thread(target=kill)
        killer.start()
        records = [record(f"fact {n}", [float(n), 1.0], id=str(n)) for n in range(200)]
        storage.save(records)
        done.set()
        killer.join()
        assert killed.is_set() and sorted(storage.list_records(), key=lambda m: int(m.id)) == records


def test_what_cannot_be_stored_changes_nothing(home: str) -> None:
    with Amber(user_id="ada") as amber:
        storage = AmberStorage(amber)
        for wrong in ([record("a", [1.0]), record("b", [1.0, 2.0])], [record("a", [1.0]), record("b", [1.0], metadata={"x": object()})]):
            with pytest.raises((EmbeddingDimensionMismatchError, TypeError)):
                storage.save(wrong)
            assert storage.count() == 0
        # Equal texts under ids that begin alike are two records, and one id twice is one.
        long = "x" * 80
        storage.save([record("same", [1.0], id=long + "1"), record("same", [1.0], id=long + "2"), record("first", [1.0], id="r"), record("last", [1.0], id="r")])
        assert storage.count() == 3 and storage.get_record("r") is not None
        assert [m.content for m in storage.list_records() if m.id == "r"] == ["last"]
        assert storage.delete(record_ids=[]) == 0 and storage.delete(record_ids=[long + "1", "none"]) == 1
        assert storage.get_record(long + "2") is not None
