"""Puts Amber in the place of what the OpenAI Agents SDK's own tests of sessions test: `pytest -p integrations.swap_openai_agents` in the folder of its source."""

from __future__ import annotations

import contextlib
import itertools
from pathlib import Path
from typing import Any, AsyncIterator, Iterator, Tuple, Union

import agents
import agents.extensions.memory
import agents.extensions.memory.async_sqlite_session
import agents.extensions.memory.encrypt_session  # it knows SQLiteSession, and is not to take Amber for it
import agents.memory
import agents.memory.sqlite_session
from integrations import left_out

from amber_memory import Amber
from amber_memory.integrations.openai_agents import AmberSession

_amber = Amber(agent="own")
_number = itertools.count()


class _Rows:
    """What tests do to the rows of a session behind its back: here they write turns."""

    def __init__(self, session: AmberSession) -> None:
        self._session = session

    def execute(self, statement: str, values: Tuple[str, str]) -> None:
        assert statement.split()[:2] == ["INSERT", "INTO"] and "(session_id, message_data) VALUES" in statement, statement
        _amber.turn.append(self._session._log.session, content=values[1], role="user")

    def commit(self) -> None:
        pass


class _AsyncRows(_Rows):
    async def execute(self, statement: str, values: Tuple[str, str]) -> None:  # type: ignore[override]
        super().execute(statement, values)

    async def commit(self) -> None:  # type: ignore[override]
        pass


class _Session(AmberSession):
    """A file of a database is a project here, and one in memory is a new project."""

    def __init__(self, session_id: str, db_path: Union[str, Path] = ":memory:", sessions_table: str = "agent_sessions", messages_table: str = "agent_messages", session_settings: Any = None) -> None:
        left_out.use()
        project = f"memory-{next(_number)}" if str(db_path) == ":memory:" else Path(db_path).resolve().as_posix().strip("/").replace("/", "-")
        super().__init__(session_id, _amber.scoped(project_id=project), session_settings=session_settings)
        self.messages_table = messages_table


class Session(_Session):
    @contextlib.contextmanager
    def _locked_connection(self) -> Iterator[_Rows]:
        yield _Rows(self)

    def close(self) -> None:
        pass


class AsyncSession(_Session):
    @contextlib.asynccontextmanager
    async def _locked_connection(self) -> AsyncIterator[_AsyncRows]:
        yield _AsyncRows(self)

    async def _get_connection(self) -> _AsyncRows:
        return _AsyncRows(self)

    async def close(self) -> None:
        pass


for module in (agents, agents.memory, agents.memory.sqlite_session):
    module.SQLiteSession = Session  # type: ignore[attr-defined]
for module in (agents.extensions.memory, agents.extensions.memory.async_sqlite_session):
    module.AsyncSQLiteSession = AsyncSession  # type: ignore[attr-defined]
