"""Puts Amber in the place of what LangGraph's own tests test: `pytest -p swap_langgraph` in the folder of its source."""

from __future__ import annotations

import contextlib
import itertools
from typing import Any, AsyncIterator, Iterator, Optional

import langgraph.checkpoint.memory
import langgraph.checkpoint.sqlite
import langgraph.checkpoint.sqlite.aio
import langgraph.store.memory
import langgraph.store.sqlite

from amber_memory import Amber
from amber_memory.integrations.langgraph import AmberSaver, AmberStore

_number = itertools.count()


def _client() -> Amber:
    return Amber(agent=f"own-{next(_number)}")


class Saver(AmberSaver):
    def __init__(self, *, serde: Optional[Any] = None) -> None:
        super().__init__(_client(), serde=serde)

    def setup(self) -> None:
        pass

    @classmethod
    @contextlib.contextmanager
    def from_conn_string(cls, where: str) -> Iterator[Saver]:
        yield cls()


class AsyncSaver(AmberSaver):
    def __init__(self) -> None:
        super().__init__(_client())

    async def setup(self) -> None:
        pass

    @classmethod
    @contextlib.asynccontextmanager
    async def from_conn_string(cls, where: str) -> AsyncIterator[AsyncSaver]:
        yield cls()


class Store(AmberStore):
    def __init__(self, *, index: Optional[Any] = None) -> None:
        super().__init__(_client())

    def setup(self) -> None:
        pass

    @classmethod
    @contextlib.contextmanager
    def from_conn_string(cls, where: str, **_: Any) -> Iterator[Store]:
        yield cls()


langgraph.checkpoint.memory.InMemorySaver = Saver  # type: ignore[assignment, misc]
langgraph.store.memory.InMemoryStore = Store  # type: ignore[assignment, misc]
langgraph.checkpoint.sqlite.SqliteSaver = Saver  # type: ignore[assignment, misc]
langgraph.checkpoint.sqlite.aio.AsyncSqliteSaver = AsyncSaver  # type: ignore[assignment, misc]
langgraph.store.sqlite.SqliteStore = Store  # type: ignore[assignment, misc]
