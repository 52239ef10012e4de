"""A LangGraph agent that asks before it acts, and goes on in another run of the program."""

from __future__ import annotations

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from amber_memory import Amber
from amber_memory.integrations.langgraph import AmberSaver, AmberStore


class State(TypedDict):
    question: str
    answer: str


def agent(state: State, *, store: BaseStore) -> State:
    style = store.search(("preferences",), query="how should I answer?", limit=1)[0].value["text"]
    name = interrupt("who asks?")
    return {"question": state["question"], "answer": f"{name}: 42 ({style})"}  # a stub in place of a model


builder = StateGraph(State).add_node("agent", agent).add_edge(START, "agent").add_edge("agent", END)
config: RunnableConfig = {"configurable": {"thread_id": "thread-1"}}

with Amber(user_id="ada") as amber:
    AmberStore(amber).put(("preferences",), "style", {"text": "short answers"})
    graph = builder.compile(checkpointer=AmberSaver(amber), store=AmberStore(amber))
    graph.invoke({"question": "what is it?", "answer": ""}, config, durability="sync")  # it stops to ask

with Amber(user_id="ada") as amber:  # another run of the program
    graph = builder.compile(checkpointer=AmberSaver(amber), store=AmberStore(amber))
    print(graph.invoke(Command(resume="Ada"), config, durability="sync")["answer"])
