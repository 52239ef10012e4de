"""Puts Amber in the place of what CrewAI's own tests of its memory test: `pytest -p integrations.swap_crewai` in the folder of its source."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Optional, Union

import crewai.memory.storage.lancedb_storage as lancedb_storage
import crewai.memory.storage.qdrant_edge_storage as qdrant_edge_storage
from integrations import left_out

from amber_memory import Amber
from amber_memory.integrations.crewai import AmberStorage

_amber = Amber(agent="own")


class Storage(AmberStorage):
    """A path is a project here, and a path that is not given is always the same one."""

    def __init__(self, path: Union[str, Path, None] = None, table_name: str = "memories", vector_dim: Optional[int] = None, compact_every: int = 100) -> None:
        left_out.use()
        super().__init__(_amber.scoped(project_id=hashlib.sha256(f"{path} {table_name}".encode()).hexdigest()[:20]))

    def close(self) -> None:
        pass


lancedb_storage.LanceDBStorage = Storage  # type: ignore[assignment, misc]
qdrant_edge_storage.QdrantEdgeStorage = Storage  # type: ignore[assignment, misc]
