// Tools and middleware of the AI SDK, with its stand-in for a model.
import assert from "node:assert/strict";
import { test } from "node:test";

import { framework, killServer, type Loose } from "./framework.js";
import { fresh } from "../rig.js";
import { memoryMiddleware, memoryTools } from "../../src/integrations/ai.js";

const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };
const call = { toolCallId: "call" };

function answer(...content: Loose[]): Loose {
  return { content, finishReason: { unified: content.some((p) => p.type === "tool-call") ? "tool-calls" : "stop", raw: undefined }, usage, warnings: [] };
}

test("the tools find what the identity of the client may see", async (t) => {
  const { amber } = fresh(t);
  const ada = memoryTools(amber.as({ user_id: "ada" }));
  const bob = memoryTools(amber.as({ user_id: "bob" }));
  const first = await ada.remember.execute({ text: "The parrot is called Zebedee" }, call);
  assert.deepEqual(await ada.remember.execute({ text: "The parrot is called Zebedee" }, call), { id: first.id, known: true });
  assert.deepEqual((await ada.recall.execute({ question: "what is the parrot called" }, call)).map((h) => h.content), ["The parrot is called Zebedee"]);
  assert.deepEqual(await bob.recall.execute({ question: "what is the parrot called" }, call), []);
  const gone = AbortSignal.abort(new Error("stopped"));
  await assert.rejects(ada.recall.execute({ question: "parrot" }, { ...call, abortSignal: gone }), /stopped/);
});

test("what a model may not ask for is refused", (t) => {
  const { remember, recall } = memoryTools(fresh(t).amber);
  for (const bad of [null, 7, [], {}, { text: "" }, { text: " " }, { text: 7 }, { text: "x".repeat(70_000) }, { text: "x", user_id: "bob" }, { text: "x", scope: "global" }]) {
    assert.equal(remember.inputSchema.validate(bad).success, false, JSON.stringify(bad)?.slice(0, 60));
  }
  for (const bad of [{ question: "x", limit: 0 }, { question: "x", limit: 1.5 }, { question: "x", limit: 1000 }, { question: "x", user_id: "bob" }, { question: "x", all: true }]) {
    assert.equal(recall.inputSchema.validate(bad).success, false, JSON.stringify(bad));
  }
  assert.equal(recall.inputSchema.validate({ question: "x", limit: 3 }).success, true);
});

test("a model is given what is remembered, and what is said is kept", async (t) => {
  const ai = await framework(t, "ai");
  if (ai === undefined) {
    return;
  }
  const { MockLanguageModelV4 } = await framework(t, "ai/test");
  const { amber, home } = fresh(t);
  const ada = amber.as({ user_id: "ada" });
  const speak = async (client: typeof amber, session_id: string, steps: Loose[], prompt: string): Promise<{ text: string; calls: Loose[] }> => {
    const inner = new MockLanguageModelV4({ doGenerate: steps });
    const model = ai.wrapLanguageModel({ model: inner, middleware: memoryMiddleware(client, { session_id }) });
    const { text } = await ai.generateText({ model, tools: memoryTools(client), stopWhen: ai.stepCountIs(4), instructions: "Be kind.", prompt, maxRetries: 0 });
    return { text, calls: inner.doGenerateCalls };
  };
  const use = (toolName: string, input: object): Loose => answer({ type: "tool-call", toolCallId: "call-1", toolName, input: JSON.stringify(input) });
  const say = (text: string): Loose => answer({ type: "text", text });
  await speak(ada, "one", [use("remember", { text: "The parrot of Ada is called Zebedee" }), say("Noted.")], "My parrot is called Zebedee");
  killServer(home);
  const second = await speak(ada, "two", [say("Zebedee.")], "What is the parrot called?");
  const prompt = second.calls[0].prompt;
  assert.deepEqual(prompt.map((m: Loose) => m.role), ["system", "system", "user"]);
  assert.equal(prompt[0].content, "Be kind.");
  assert.match(prompt[1].content, /The parrot of Ada is called Zebedee/);
  const turns = async (id: string): Promise<string[][]> => (await amber.turn.list(id).all()).map((u) => [u.role, u.content]);
  assert.deepEqual(await turns("one"), [["user", "My parrot is called Zebedee"], ["assistant", "Noted."]]);
  assert.deepEqual(await turns("two"), [["user", "What is the parrot called?"], ["assistant", "Zebedee."]]);
  // The same step again, as after a failure, is stored once.
  await speak(ada, "two", [say("Zebedee.")], "What is the parrot called?");
  assert.equal((await turns("two")).length, 2);
  const other = await speak(amber.as({ user_id: "bob" }), "three", [say("I do not know.")], "What is the parrot called?");
  assert.doesNotMatch(JSON.stringify(other.calls), /Zebedee/);
  // What a model asks of a tool is checked before it is done.
  const bad = await speak(ada, "four", [use("remember", { text: "x", user_id: "bob" }), say("ok")], "hello");
  assert.match(JSON.stringify(bad.calls[1].prompt), /there is no field/);
  // The question is kept when the model fails.
  await assert.rejects(speak(ada, "five", [], "Are you there?"));
  assert.deepEqual(await turns("five"), [["user", "Are you there?"]]);
});

test("a stream is kept when it has ended", async (t) => {
  const ai = await framework(t, "ai");
  if (ai === undefined) {
    return;
  }
  const { MockLanguageModelV4, simulateReadableStream } = await framework(t, "ai/test");
  const { amber } = fresh(t);
  const finish = { type: "finish", finishReason: { unified: "stop", raw: undefined }, usage };
  const chunks = [{ type: "stream-start", warnings: [] }, { type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: "Good " }, { type: "text-delta", id: "1", delta: "day" }, { type: "text-end", id: "1" }, finish];
  const inner = new MockLanguageModelV4({ doStream: { stream: simulateReadableStream({ chunks }) } });
  const model = ai.wrapLanguageModel({ model: inner, middleware: memoryMiddleware(amber, { session_id: "s" }) });
  let text = "";
  for await (const piece of ai.streamText({ model, prompt: "hello" }).textStream) {
    text += piece;
  }
  assert.equal(text, "Good day");
  assert.deepEqual((await amber.turn.list("s").all()).map((u) => [u.role, u.content]), [["user", "hello"], ["assistant", "Good day"]]);
});

test("hostile ids of sessions are refused, or are an id like any other", async (t) => {
  const { amber } = fresh(t);
  const said = (session_id: string): Promise<unknown> =>
    memoryMiddleware(amber, { session_id }).wrapGenerate({ doGenerate: async () => answer({ type: "text", text: `answer to ${session_id}` }), params: { prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }] } });
  assert.throws(() => memoryMiddleware(amber, { session_id: "" }), { kind: "invalid" });
  assert.throws(() => memoryMiddleware(amber, {} as Loose), { kind: "invalid" });
  for (const id of ["x".repeat(300), "a\0b"]) {
    await assert.rejects(said(id), { kind: "invalid" });
  }
  for (const id of ["..", "a/b", "a/../b", "s?x=%2F", "ü"]) {
    await said(id);
    assert.deepEqual((await amber.turn.list(id).all()).map((u) => u.content), ["hi", `answer to ${id}`]);
  }
});
