"""The memory tool of Claude: what the model writes to /memories lasts."""

from __future__ import annotations

from amber_memory import Amber
from amber_memory.integrations.anthropic import AmberMemoryTool

# A stub in place of a model: the calls of the tool that Claude would make.
# With a model: client.beta.messages.tool_runner(model=..., max_tokens=..., tools=[tool], messages=[...])
CALLS = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": "/memories/progress.md", "file_text": "- parser: done\n"},
    {"command": "insert", "path": "/memories/progress.md", "insert_line": 1, "insert_text": "- tests: next"},
    {"command": "view", "path": "/memories/progress.md"},
]

for call in CALLS:
    with Amber(user_id="ada") as amber:
        print(AmberMemoryTool(amber).call(call))
