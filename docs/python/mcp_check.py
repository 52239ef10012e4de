"""What mcp.sh checks with real clients of MCP. Usage: mcp_check.py python|auto|modern stdio|http HOME|URL

"python" is the official Python client in its default mode, "auto" and "modern" are eras of
the inspector. Each calls every default tool, and reads resources and prompts."""

import asyncio
import json
import os
import subprocess
import sys

WHO, TRANSPORT, WHERE = sys.argv[1:]
AMBER = os.environ["AMBER"]
NEWEST = "2026-07-28"
TOOLS = {
    "memory_save", "memory_recall", "memory_get", "memory_update", "memory_forget", "memory_context", "memory_timeline",
    "session_start", "session_end", "session_summary",
}
PROJECT = f"{WHO}-{TRANSPORT}"


def fail(what, got):
    raise SystemExit(f"FAILED: {WHO}, {TRANSPORT}: {what}: {got!r}")


def same(got, want, what):
    if got != want:
        fail(what, got)


class Python:
    """The official Python client, as it negotiates by itself."""

    async def __aenter__(self):
        from mcp import Client, StdioServerParameters

        server = WHERE if TRANSPORT == "http" else StdioServerParameters(command=AMBER, args=["--home", WHERE, "mcp", "--project", PROJECT])
        self.client = Client(server)
        await self.client.__aenter__()
        same(self.client.protocol_version, NEWEST, "the version that was negotiated")
        return self

    async def __aexit__(self, *why):
        await self.client.__aexit__(*why)

    async def tools(self):
        return {t.name for t in (await self.client.list_tools()).tools}

    async def call(self, tool, args):
        r = await self.client.call_tool(tool, args)
        same(r.result_type, "complete", f"resultType of {tool}")
        return r.is_error, r.structured_content

    async def lists(self):
        c = self.client
        return (
            [str(r.uri) for r in (await c.list_resources()).resources],
            [t.uri_template for t in (await c.list_resource_templates()).resource_templates],
            [p.name for p in (await c.list_prompts()).prompts],
        )

    async def read(self, uri):
        return (await self.client.read_resource(uri)).contents[0].text

    async def prompt(self, name):
        return (await self.client.get_prompt(name)).messages[0].content.text


class Inspector:
    """The inspector: one run of it for each request."""

    async def __aenter__(self):
        return self

    async def __aexit__(self, *why):
        pass

    def run(self, method, *args):
        target = [WHERE, "--transport", "http"] if TRANSPORT == "http" else ["--", AMBER, "--home", WHERE, "mcp", "--project", PROJECT]
        command = [os.environ["INSPECTOR_BIN"], "--cli", "--quiet", "--format", "json", "--protocol-era", WHO, "--method", method, *args, *target]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        try:
            out = json.loads(done.stdout)
        except ValueError:
            fail(f"{method} {args}, exit {done.returncode}", done.stdout + done.stderr)
        if "result" not in out:
            fail(f"{method} {args}, exit {done.returncode}", out)
        return out["result"]

    async def tools(self):
        return {t["name"] for t in self.run("tools/list", "--strict")["tools"]}

    async def call(self, tool, args):
        r = self.run("tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(args))
        return r.get("isError", False), r["structuredContent"]

    async def lists(self):
        return (
            [r["uri"] for r in self.run("resources/list")["resources"]],
            [t["uriTemplate"] for t in self.run("resources/templates/list")["resourceTemplates"]],
            [p["name"] for p in self.run("prompts/list")["prompts"]],
        )

    async def read(self, uri):
        return self.run("resources/read", "--uri", uri)["contents"][0]["text"]

    async def prompt(self, name):
        return self.run("prompts/get", "--prompt-name", name)["messages"][0]["content"]["text"]


async def check(c):
    called = set()

    async def call(tool, **args):
        called.add(tool)
        failed, got = await c.call(tool, args)
        if failed:
            fail(tool, got)
        return got

    same(await c.tools(), TOOLS, "the default tools")
    session = f"s-{PROJECT}"
    same((await call("session_start", id=session, project=PROJECT))["id"], session, "session_start")
    text = f"the build of {PROJECT} needs Go 1.26"
    saved = await call("memory_save", content=text, title="what the build needs", project=PROJECT, scope="project", tags=["build"], session=session)
    again = await call("memory_save", content=text, title="what the build needs", project=PROJECT, scope="project", tags=["build"], session=session)
    same((again["id"], again["deduplicated"]), (saved["id"], True), "a save that is repeated is one memory")
    id = saved["id"]
    same([h["id"] for h in (await call("memory_recall", query="build needs", project=PROJECT))["hits"]], [id], "memory_recall finds it once")
    same((await call("memory_get", id=id))["content"], text, "memory_get")
    same((await call("memory_update", id=id, content=text + ".1"))["revision"], 2, "memory_update")
    if id not in (await call("memory_context", goal="build", project=PROJECT))["ids"]:
        fail("memory_context", id)
    same([m["id"] for m in (await call("memory_timeline", id=id))["memories"]], [id], "memory_timeline")
    own = await call("memory_save", content=f"only {session} needs this", session=session)  # a session and no scope
    same(own["scope"], "session", "the scope of a memory that names a session alone")
    same([h["id"] for h in (await call("memory_recall", query="only needs this", session=session, scope="session"))["hits"]], [own["id"]], "a session finds its own")
    same((await call("session_summary", content="all tools were called", id=session, project=PROJECT))["session"], session, "session_summary")
    same((await call("session_end", id=session))["id"], session, "session_end")
    failed, got = await c.call("memory_get", {"id": "01890a5d-ac96-774b-bcce-b302099a8057"})
    same((failed, got["error"]["kind"]), (True, "not_found"), "a tool that fails says so")

    resources, templates, prompts = await c.lists()
    same(resources, ["amber://context"], "resources")
    same(set(prompts), {"recall", "handoff", "summary"}, "prompts")
    same(len(templates), 3, "templates of resources")
    same(await c.read(f"amber://memory/{id}"), text + ".1", "a memory as a resource")
    if "handoff" not in await c.prompt("handoff"):
        fail("prompt", "handoff")
    same((await call("memory_forget", id=id))["forgotten"], True, "memory_forget")
    same(called, TOOLS, "tools that were called")


async def main():
    async with Python() if WHO == "python" else Inspector() as c:
        await asyncio.wait_for(check(c), 300)
    print(f"ok: {WHO} over {TRANSPORT}: {len(TOOLS)} tools, resources and prompts", flush=True)


asyncio.run(main())
