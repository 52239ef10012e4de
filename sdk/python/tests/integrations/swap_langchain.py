"""Puts Amber in the place of what LangChain's own tests of histories test: `pytest -p integrations.swap_langchain` in the folder of its source."""

from __future__ import annotations

import itertools
from typing import Any, Sequence

import langchain_core.chat_history
from integrations import left_out
from langchain_core.messages import BaseMessage

from amber_memory import Amber
from amber_memory.integrations.langchain import AmberChatMessageHistory

_amber = Amber(agent="own")
_number = itertools.count()


class History(AmberChatMessageHistory):
    """Every one is a new chat here. Two are equal where their messages are."""

    def __init__(self, messages: Sequence[BaseMessage] = ()) -> None:
        left_out.use()
        super().__init__(f"chat-{next(_number)}", _amber)
        self.add_messages(messages)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, History) and other.messages == self.messages


langchain_core.chat_history.InMemoryChatMessageHistory = History  # type: ignore[assignment, misc]
