"""The memory of a crew, kept in Amber."""

from __future__ import annotations

from typing import List

from crewai.memory.unified_memory import Memory

from amber_memory import Amber
from amber_memory.integrations.crewai import AmberStorage


def embed(texts: List[str]) -> List[List[float]]:
    """A stub in place of an embedder: how often each letter is there."""
    return [[float(t.lower().count(c)) for c in "abcdefghijklmnopqrstuvwxyz"] for t in texts]


with Amber(user_id="ada") as amber:
    # With a crew: Crew(agents=[...], tasks=[...], memory=memory)
    memory = Memory(storage=AmberStorage(amber), embedder=embed, llm="stub")
    memory.remember("Ada takes the train to work", scope="/ada", categories=["travel"], importance=0.5)
    print(memory.recall("the train to work", depth="shallow")[0].record.content)
    memory.close()
    print(amber.recall("how does Ada get to work?")[0].content)
