"""An agent file of Amber's own against Letta. Usage: letta_file.py AMBER FOLDER NAME"""

import json
import logging
import os
import warnings

from oracle import FOLDER, HARD, Amber, counts, isolate, ok, same, version

isolate()
os.environ["LETTA_DIR"] = str(FOLDER / "home/letta")
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

from letta.schemas.agent_file import AgentFileSchema
from letta.services.agent_serialization_manager import AgentSerializationManager

amber = Amber("ours")
for i, text in enumerate(HARD):
    amber.remember(text, "--project", "shop", *(["--title", f"Title {i} #x", "--tag", "a b", "--summary", "s"] if i % 2 else []))
amber.run("session", "start", "s1", "--project", "shop", "--name", "Talk")
said = [("user", HARD[0]), ("assistant", HARD[1]), ("user", HARD[2])]
for role, text in said:
    amber.run("turn", "add", text, "--session", "s1", "--role", role)
amber.run("session", "end", "s1")

file = amber.export("letta", FOLDER / "ours.af")
schema = AgentFileSchema.model_validate(json.loads(file.read_text()))
AgentSerializationManager._validate_schema(AgentSerializationManager.__new__(AgentSerializationManager), schema)
same(sorted(b.value for b in schema.blocks), sorted(HARD), "values of blocks")
agent = schema.agents[0]
same(sorted(agent.block_ids), sorted(b.id for b in schema.blocks), "blocks of the agent")
same(len({b.label for b in schema.blocks}), len(schema.blocks), "labels that are unique")
same([(m.role.value, "".join(c.text for c in m.content)) for m in agent.messages][1:], said, "messages behind the system prompt")
same([i for i in agent.in_context_message_ids if i not in {m.id for m in agent.messages}], [], "messages in context that are missing")
ok(f"{version('letta')}: the schema of the server and the checks of its importer took {len(schema.blocks)} blocks and {len(agent.messages)} messages")

amber.knows(file, format="letta")
again = FOLDER / "again.af"
again.write_text(schema.model_dump_json())
# The schema drops what tells the conversations of a message, so that they come back as one of its agent.
same(counts(amber.imports(again, format="letta"), "memories", "relations", "notes"), {}, "memories that are new after the schema wrote the file")
ok("the file had nothing new; as Letta's schema writes it, no memory was new")

theirs = AgentFileSchema.model_validate({
    "agents": [{
        "id": "agent-0", "name": "helper", "block_ids": ["block-0", "block-1"], "in_context_message_ids": ["message-0"], "tool_ids": [], "source_ids": [],
        "messages": [{"id": "message-0", "role": "user", "content": [{"type": "text", "text": HARD[0]}], "agent_id": "agent-0"}],
        "files_agents": [], "group_ids": [],
    }],
    "blocks": [{"id": f"block-{i}", "label": label, "value": HARD[i], "limit": 5000} for i, label in enumerate(("human", "persona"))],
    "groups": [], "files": [], "sources": [], "tools": [], "mcp_servers": [],
})
file = FOLDER / "theirs.af"
file.write_text(theirs.model_dump_json())
fresh = Amber("fresh")
same(counts(fresh.imports(file, "--user", "ada", format="letta")), {"memories": (2, 0), "sessions": (1, 0), "turns": (1, 0)}, "what was imported")
fresh.knows(file, "--user", "ada")
same(sorted(m["content"] for m in fresh.memories("--all-users").values()), sorted(HARD[:2]), "texts")
ok("an agent file that its schema wrote was imported once")
