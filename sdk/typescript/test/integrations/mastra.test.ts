import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";

import { framework, killServer, killSoon, type Loose, numbers } from "./framework.js";
import { aMessage, aResource, aThread, promises } from "./promises.js";
import { client, fresh } from "../rig.js";
import { amberStorage, memoryProcessor, memoryTools } from "../../src/integrations/mastra.js";
import { Threads } from "../../src/integrations/threads.js";

test("the storage keeps what Mastra promises", async (t) => {
  const { amber } = fresh(t);
  for (const [name, keeps] of Object.entries(promises)) {
    await t.test(name, () => keeps(new Threads(amber.as({ user_id: name }))));
  }
});

test("what belongs to one identity is not seen by another", async (t) => {
  const { amber } = fresh(t);
  const who = [{}, { user_id: "ada" }, { user_id: "bob" }, { project_id: "ada" }, { session_id: "ada" }, { workspace_id: "ada" }, { user_id: "ada", project_id: "x" }, { agent: "other" }, { agent: "other", user_id: "ada" }];
  const stores = who.map((speaker) => new Threads(amber.as(speaker)));
  const message = (text: string): Loose => ({ ...aMessage("t", text), id: "m", resourceId: "r" });
  // The same ids for everybody, and each finds what is its own.
  for (const [i, s] of stores.entries()) {
    await s.saveThread({ thread: aThread({ id: "t", resourceId: "r", title: `of ${i}` }) });
    await s.saveMessages({ messages: [message(`of ${i}`)] });
    await s.saveResource({ resource: aResource({ id: "r", workingMemory: `of ${i}` }) });
  }
  for (const [i, s] of stores.entries()) {
    assert.deepEqual((await s.listThreads({})).threads.map((x) => x.title), [`of ${i}`]);
    assert.equal((await s.getThreadById({ threadId: "t" }))?.title, `of ${i}`);
    assert.equal((await s.getResourceById({ resourceId: "r" }))?.workingMemory, `of ${i}`);
    for (const page of [await s.listMessages({ threadId: "t" }), await s.listMessagesById({ messageIds: ["m"] }), await s.listMessagesByResourceId({ resourceId: "r" }), await s.listMessages({ threadId: "none", include: [{ id: "m", withPreviousMessages: 9 }] })]) {
      assert.deepEqual(page.messages.map((m) => m.content.content), [`of ${i}`]);
    }
  }
  // What one of them does changes nothing of the others.
  const [mine, ...others] = stores as [Threads, ...Threads[]];
  await mine.updateMessages({ messages: [{ id: "m", content: { content: "changed" } }] });
  await mine.deleteMessages(["m"]);
  await mine.deleteThread({ threadId: "t" });
  await mine.dangerouslyClearAll();
  for (const s of others) {
    assert.deepEqual([(await s.listThreads({})).total, (await s.listMessages({ threadId: "t" })).total, await s.getResourceById({ resourceId: "r" }) !== null], [1, 1, true]);
  }
  // A question about everything of a user finds nothing of a conversation of another.
  const ada = amber.as({ user_id: "ada" });
  await new Threads(amber.as({ user_id: "eve" })).saveMessages({ messages: [aMessage("eve", "the safe of Eve has the number ninety")] });
  assert.ok(!JSON.stringify(await ada.recall("the safe of Eve")).includes("ninety"));
});

test("a server that is killed between and during saves loses nothing and doubles nothing", async (t) => {
  const { amber, home } = fresh(t);
  const s = new Threads(amber);
  await s.saveThread({ thread: aThread({ id: "t", title: "before" }) });
  const sent: Loose[] = [];
  for (let i = 0; i < 12; i++) {
    if (i % 4 === 1) {
      killServer(home);
    }
    const messages = [aMessage("t", `${i} a`, { createdAt: new Date(2 * i) }), aMessage("t", `${i} b`, { createdAt: new Date(2 * i + 1) })];
    sent.push(...messages);
    await Promise.all([s.saveMessages({ messages }), i % 4 === 3 ? killSoon(home, 3 * i) : undefined]);
  }
  killServer(home);
  await s.updateMessages({ messages: [{ id: sent[3].id, content: { metadata: { seen: true } } }] });
  killServer(home);
  await s.deleteMessages([sent[5].id]);
  const [turns] = (await amber.session.list({}).all()).map((x) => x.id);
  const expected = sent.filter((_, i) => i !== 5).map((m) => m.content.content);
  // A storage that knows nothing yet finds the same.
  for (const reader of [s, new Threads(amber)]) {
    assert.deepEqual((await reader.listMessages({ threadId: "t", perPage: false })).messages.map((m) => m.content.content), expected);
  }
  assert.deepEqual((await s.listMessagesById({ messageIds: [sent[3].id] })).messages[0]?.content.metadata, { seen: true });
  // One turn for each message, one for its change, one for what is gone.
  assert.equal((await amber.turn.list(turns as string, { limit: 1000 }).page()).items.length, sent.length + 2);
  killServer(home);
  await s.updateThread({ id: "t", title: "after" });
  killServer(home);
  await Promise.all(Array.from({ length: 5 }, () => s.updateThreadMetadata({ id: "t", update: (x) => ({ n: Number(x.metadata?.["n"] ?? 0) + 1 }) })));
  const { title, metadata } = (await s.getThreadById({ threadId: "t" })) as Loose;
  assert.deepEqual([title, metadata.n], ["after", 5]);
});

test("two programs lose nothing of each other", async (t) => {
  const { amber, home } = fresh(t);
  const stores = [new Threads(amber), new Threads(client(t, { home })), new Threads(amber.as({}))];
  await (stores[0] as Threads).saveThread({ thread: aThread({ id: "t", metadata: { n: 0 } }) });
  await Promise.all(
    stores.flatMap((s, i) => [
      ...[0, 1, 2].map(() => s.updateThreadMetadata({ id: "t", update: (x) => ({ n: Number(x.metadata?.["n"]) + 1 }) })),
      s.saveMessages({ messages: [0, 1, 2].map((n) => ({ ...aMessage("t", `${i} ${n}`), id: `m${i}-${n}` })) }),
      s.saveMessages({ messages: [{ ...aMessage("t", "the same"), id: "same", createdAt: new Date(0) }] }),
      s.updateResource({ resourceId: "r", metadata: { [`by${i}`]: true } }),
    ]),
  );
  for (const s of stores) {
    assert.equal((await s.getThreadById({ threadId: "t" }))?.metadata?.["n"], 9);
    const { messages } = await s.listMessages({ threadId: "t" });
    assert.deepEqual(messages.map((m) => m.id).sort(), ["m0-0", "m0-1", "m0-2", "m1-0", "m1-1", "m1-2", "m2-0", "m2-1", "m2-2", "same"]);
    assert.deepEqual((await s.getResourceById({ resourceId: "r" }))?.metadata, { by0: true, by1: true, by2: true });
  }
  // What one of them has read already is not what it goes on with.
  const [one, two] = stores as [Threads, Threads];
  await two.deleteThread({ threadId: "t" });
  assert.equal((await one.listMessages({ threadId: "t" })).total, 0);
  await two.saveMessages({ messages: [aMessage("t", "new")] });
  assert.deepEqual((await one.listMessages({ threadId: "t" })).messages.map((m) => m.content.content), ["new"]);
  await two.saveMessages({ messages: Array.from({ length: 30 }, (_, n) => aMessage("t", `more ${n}`)) });
  assert.equal((await one.listMessages({ threadId: "t" })).total, 31);
});

test("large messages, secrets, and texts that look like marks", async (t) => {
  const { amber } = fresh(t);
  const s = new Threads(amber);
  const large = [randomBytes(800_000).toString("base64"), "ä🎉".repeat(300_000), `${randomBytes(600_000).toString("base64")}${"x".repeat(2_000_000)}`];
  const small = ["amber:gone - bb", "amber:", '{"n":"00000000"}', "", "my token is ghp_16C7e42F292c6912E7710c838347Ae178B4a"];
  const messages = [...large, ...small].map((text, i) => aMessage("t", text, { createdAt: new Date(i) }));
  await s.saveMessages({ messages });
  for (const reader of [s, new Threads(amber)]) {
    const found = (await reader.listMessages({ threadId: "t" })).messages;
    assert.deepEqual(found.map((m) => m.id), messages.map((m) => m.id));
    for (const [i, m] of found.slice(0, 7).entries()) {
      assert.ok(m.content.content === messages[i].content.content, `message ${i}`);
    }
    // Secrets are taken out of what is said, as out of every turn.
    assert.equal(found.at(-1)?.content.content, "my token is [REDACTED:github-token]");
  }
  // Ids are kept whatever they look like.
  const id = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
  await s.saveMessages({ messages: [{ ...aMessage("ghp_thread", "hello"), id, resourceId: `r ${id}` }] });
  for (const reader of [s, new Threads(amber)]) {
    const [found] = (await reader.listMessagesById({ messageIds: [id] })).messages;
    assert.deepEqual([found?.id, found?.resourceId, found?.content.content], [id, `r ${id}`, "hello"]);
  }
  await s.deleteThread({ threadId: "t" });
  assert.equal((await s.listMessages({ threadId: "t" })).total, 0);
  await s.dangerouslyClearAll();
  assert.deepEqual(await amber.session.list({}).all(), []);
});

test("the storage that Mastra is given, and Mastra's own, keep the same promises", async (t) => {
  const module = await framework(t, "@mastra/core/storage");
  if (module === undefined) {
    return;
  }
  const { amber } = fresh(t);
  for (const [name, keeps] of Object.entries(promises)) {
    await t.test(`Amber: ${name}`, async () => keeps(await (amberStorage(amber.as({ user_id: name }), module) as Loose).getStore("memory")));
    await t.test(`Mastra: ${name}`, async () => keeps(await new module.InMemoryStore().getStore("memory")));
  }
  const store = (amberStorage(amber, module) as Loose).stores.memory;
  assert.ok(store instanceof module.MemoryStorage && store.supportsObservationalMemory && store.supportsPartialThreadUpdate);
});

test("several hundred random calls answer as Mastra's own storage does", async (t) => {
  const module = await framework(t, "@mastra/core/storage");
  if (module === undefined) {
    return;
  }
  const { amber } = fresh(t);
  const mine = await (amberStorage(amber, module) as Loose).getStore("memory");
  const theirs = await new module.InMemoryStore().getStore("memory");
  const below = numbers(23);
  const one = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const threads = ["t0", "t1", "t2", "t3", "never"];
  const resources = ["r0", "r1", "r2"];
  let clock = 0;
  let copies = 0;
  /** The ids that a message has in each of both. */
  const pool: { mine: string; theirs: string; name: string; at: number }[] = [];
  const message = (): Loose => {
    const known = pool.length > 0 && below(4) === 0 ? one(pool) : undefined;
    const entry = known ?? { mine: `m${pool.length}`, theirs: `m${pool.length}`, name: `m${pool.length}`, at: (clock += 1 + below(3)) };
    if (known === undefined) {
      pool.push(entry);
    }
    const metadata = below(3) === 0 ? { metadata: { a: below(2), [`k${below(3)}`]: one(["x", null, true]) } } : {};
    return { entry, role: one(["user", "assistant"]), threadId: one(threads), resourceId: one(resources), createdAt: new Date(entry.at), content: { format: 2, content: `text ${below(50)}`, parts: [{ type: "text", text: "x" }], ...metadata } };
  };
  const listing = (): Loose => ({
    ...one<Loose>([{}, {}, { perPage: false }, { perPage: 1 + below(4), page: below(3) }, { perPage: 0 }, { perPage: -1 }, { page: -1 }]),
    ...one<Loose>([{}, {}, { orderBy: { field: "createdAt", direction: one(["ASC", "DESC"]) } }]),
    ...one<Loose>([{}, {}, { filter: { dateRange: { start: new Date(below(clock + 1)), startExclusive: below(2) === 0 } } }, { filter: { dateRange: { end: new Date(below(clock + 1)), endExclusive: below(2) === 0 } } }, { filter: { metadata: { a: below(2) } } }]),
  });
  const included = (which: "mine" | "theirs", chosen: typeof pool, around: number[]): Loose => (chosen.length === 0 ? {} : { include: chosen.map((e, i) => ({ id: e[which], withPreviousMessages: around[i], withNextMessages: around[i + 1] })) });
  const names = (which: "mine" | "theirs"): Map<string, string> => new Map(pool.map((e) => [e[which], e.name]));
  /** An answer without what is not the same in both: times of changes, and ids that were made. */
  const shown = (answer: Loose, which: "mine" | "theirs"): Loose => {
    const known = names(which);
    return JSON.parse(
      JSON.stringify(answer ?? null, (field, value) => (field === "updatedAt" || (field === "createdAt" && !String(value).startsWith("1970")) || field === "type" || field === "clonedAt" || field === "messageIdMap" ? undefined : typeof value === "string" && known.has(value) ? known.get(value) : value)),
    );
  };
  const counts = new Map<string, number>();
  let failures = 0;
  for (let i = 0; i < 400; i++) {
    const thread = one(threads);
    const resourceId = one(resources);
    const chosen = Array.from({ length: below(3) }, () => one(pool)).filter((e) => e !== undefined);
    const around = [below(4), below(4), below(4)];
    const made = Array.from({ length: below(4) }, message);
    const unique = made.filter((m, n) => made.findIndex((o) => o.entry === m.entry) === n);
    const page = listing();
    const date = new Date((clock += 1));
    const change = { ...one<Loose>([{ role: "assistant" }, { threadId: one(threads) }, { resourceId }, { content: { metadata: { k9: i } } }, { content: { content: `new ${i}` } }]) };
    const copy = `copy${copies}`;
    const limit = below(4);
    const calls: Record<string, (s: Loose, which: "mine" | "theirs") => Promise<Loose>> = {
      saveThread: (s) => s.saveThread({ thread: { id: thread, resourceId, title: `title ${i}`, createdAt: date, updatedAt: date, metadata: { a: i % 3, deep: { b: [i % 2] } } } }),
      updateThread: (s) => s.updateThread({ id: thread, ...(i % 2 === 0 ? { title: `t ${i}` } : {}), ...(i % 3 === 0 ? {} : { metadata: { c: i % 4 } }) }),
      deleteThread: (s) => s.deleteThread({ threadId: thread }),
      getThreadById: (s) => s.getThreadById({ threadId: thread, ...(i % 2 === 0 ? { resourceId } : {}) }),
      listThreads: (s) => s.listThreads({ perPage: page.perPage, page: page.page, orderBy: page.orderBy, filter: one<Loose>([{}]) && (i % 3 === 0 ? { resourceId } : i % 3 === 1 ? { metadata: { a: i % 3 } } : {}) }),
      saveMessages: (s, which) => s.saveMessages({ messages: unique.map(({ entry, ...m }) => ({ id: entry[which], ...structuredClone(m) })) }),
      updateMessages: (s, which) => s.updateMessages({ messages: chosen.map((e) => ({ id: e[which], ...structuredClone(change) })) }),
      deleteMessages: (s, which) => s.deleteMessages(chosen.map((e) => e[which])),
      listMessagesById: (s, which) => s.listMessagesById({ messageIds: [...new Set(chosen)].map((e) => e[which]) }),
      listMessages: (s, which) => s.listMessages({ threadId: thread, ...(i % 2 === 0 ? { resourceId } : {}), ...structuredClone(page), ...included(which, chosen, around) }),
      listMessagesByResourceId: (s) => s.listMessagesByResourceId({ resourceId, filter: page.filter }),
      saveResource: (s) => s.saveResource({ resource: { id: resourceId, workingMemory: `w ${i}`, metadata: { i }, createdAt: date, updatedAt: date } }),
      updateResource: (s) => s.updateResource({ resourceId, ...(i % 2 === 0 ? { workingMemory: `u ${i}` } : {}), metadata: { [`k${i % 3}`]: i } }),
      getResourceById: (s) => s.getResourceById({ resourceId }),
      copyThread: (s) => s.copyThread({ sourceThreadId: thread, newThreadId: copy, ...(i % 2 === 0 ? { resourceId } : {}), options: { messageLimit: limit } }),
    };
    const name = one([...Object.keys(calls), "saveMessages", "saveMessages", "saveMessages", "listMessages", "listMessages", "updateMessages", "saveThread"]);
    const call = calls[name] as (s: Loose, which: "mine" | "theirs") => Promise<Loose>;
    const settled = async (s: Loose, which: "mine" | "theirs"): Promise<Loose> => call(s, which).then((answer) => ({ answer }), (error: Error) => ({ failed: error.message }));
    const [a, b] = [await settled(mine, "mine"), await settled(theirs, "theirs")];
    assert.equal(a.failed === undefined, b.failed === undefined, `call ${i} ${name}: ${a.failed ?? "done"}, ${b.failed ?? "done"}`);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (a.failed !== undefined) {
      failures++;
      continue;
    }
    if (name === "copyThread") {
      threads.push(copy);
      copies++;
      const known = names("mine");
      for (const [source, id] of Object.entries<string>(a.answer.messageIdMap)) {
        const entry = pool.find((e) => e.mine === source) as (typeof pool)[number];
        pool.push({ mine: id, theirs: b.answer.messageIdMap[entry.theirs], name: `${copy} of ${known.get(source)}`, at: entry.at });
      }
      threads.splice(0, threads.length, ...threads.slice(0, 5), ...threads.slice(5).slice(-2));
    }
    // Where several threads are asked for, messages of one time have no order.
    const order = (x: Loose): Loose => (name === "listMessagesByResourceId" ? { ...x, messages: [...x.messages].sort((p: Loose, q: Loose) => (`${p.createdAt} ${p.id}` < `${q.createdAt} ${q.id}` ? -1 : 1)) } : x);
    // What a save answers with is what was saved: Mastra's own storage merges there what follows each other.
    if (name !== "saveMessages" && !(name === "listMessagesByResourceId" && a.answer.total > 40)) {
      assert.deepEqual(order(shown(a.answer, "mine")), order(shown(b.answer, "theirs")), `call ${i} ${name}`);
    }
  }
  t.diagnostic(`${[...counts].map(([name, n]) => `${name} ${n}`).sort().join(", ")}; ${failures} failed in both`);
});

test("observational memory answers as Mastra's own storage does", async (t) => {
  const module = await framework(t, "@mastra/core/storage");
  if (module === undefined) {
    return;
  }
  const { amber, home } = fresh(t);
  const make = async (): Promise<Loose> => (amberStorage(amber, module) as Loose).getStore("memory");
  const both = [await make(), await new module.InMemoryStore().getStore("memory")];
  /** Without the ids and times that each makes itself. */
  const shown = (answer: Loose): Loose =>
    JSON.parse(JSON.stringify(answer ?? null, (field, value) => (field === "createdAt" || field === "updatedAt" ? undefined : typeof value === "string" ? value.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "id") : value)));
  let n = 0;
  const same = async (call: (s: Loose, current: Loose) => Promise<Loose>, place: [string | null, string] = ["t", "r"]): Promise<void> => {
    n++;
    if (n % 5 === 0) {
      killServer(home);
      both[0] = await make();
    }
    const answers = await Promise.all(both.map(async (s) => shown(await call(s, await s.getObservationalMemory(...place)).catch((e: Error) => `failed ${e.message}`))));
    assert.deepEqual(answers[0], answers[1], `call ${n}`);
    const records = await Promise.all(both.map((s) => s.getObservationalMemoryHistory(...place)));
    assert.deepEqual(shown(records[0]), shown(records[1]), `records after call ${n}`);
    assert.ok(records[0].every((r: Loose) => r.createdAt instanceof Date && (r.lastObservedAt === undefined || r.lastObservedAt instanceof Date)));
  };
  const when = new Date(1_700_000_000_000);
  const chunk = (cycleId: string, tokens: number): Loose => ({ cycleId, observations: `- saw ${cycleId}`, tokenCount: tokens, messageIds: [`m-${cycleId}`], messageTokens: tokens * 10, lastObservedAt: when });
  await same((s) => s.getObservationalMemory("t", "r"));
  await same((s) => s.initializeObservationalMemory({ threadId: "t", resourceId: "r", scope: "thread", config: { a: { b: 1 } }, observedTimezone: "UTC" }));
  await same((s, r) => s.updateActiveObservations({ id: r.id, observations: "- likes tea", tokenCount: 5, lastObservedAt: when, observedMessageIds: ["m1"] }));
  await same((s, r) => s.setObservingFlag(r.id, true));
  await same((s, r) => s.setBufferingObservationFlag(r.id, true, 77));
  await same((s, r) => s.updateBufferedObservations({ id: r.id, chunk: chunk("one", 10), lastBufferedAtTime: when }));
  await same((s, r) => s.updateBufferedObservations({ id: r.id, chunk: chunk("one", 10) }));
  await same((s, r) => s.updateBufferedObservations({ id: r.id, chunk: chunk("two", 20) }));
  await same((s, r) => s.swapBufferedToActive({ id: r.id, activationRatio: 0.5, messageTokensThreshold: 300, currentPendingTokens: 300, lastObservedAt: when }));
  await same((s, r) => s.swapBufferedToActive({ id: r.id, activationRatio: 1, messageTokensThreshold: 300, currentPendingTokens: 300 }));
  await same((s, r) => s.setPendingMessageTokens(r.id, 12));
  await same((s, r) => s.updateObservationalMemoryConfig({ id: r.id, config: { a: { c: 2 } } }));
  await same((s, r) => s.setReflectingFlag(r.id, true));
  await same((s, r) => s.createReflectionGeneration({ currentRecord: r, reflection: "- tea", tokenCount: 2 }));
  await same((s, r) => s.setBufferingReflectionFlag(r.id, true));
  await same((s, r) => s.updateBufferedReflection({ id: r.id, reflection: "- all of it", tokenCount: 3, inputTokenCount: 9, reflectedObservationLineCount: 1 }));
  await same((s, r) => s.swapBufferedReflectionToActive({ currentRecord: r, tokenCount: 4 }));
  await same((s, r) => s.swapBufferedReflectionToActive({ currentRecord: r, tokenCount: 4 }));
  await same((s) => s.getObservationalMemoryHistory("t", "r", 2, { offset: 1 }));
  await same((s) => s.setObservingFlag("none", true));
  await same((s) => s.initializeObservationalMemory({ threadId: null, resourceId: "r", scope: "resource", config: {} }), [null, "r"]);
  await same((s, r) => s.insertObservationalMemoryRecord({ ...r, id: "copied", threadId: "t2" }), [null, "r"]);
  await same((s) => s.setPendingMessageTokens("copied", 3), ["t2", "r"]);
  const other = await (amberStorage(amber.as({ user_id: "eve" }), module) as Loose).getStore("memory");
  assert.equal(await other.getObservationalMemory("t", "r"), null);
  await assert.rejects(other.setPendingMessageTokens("copied", 3), /not found/);
  await same((s) => s.clearObservationalMemory("t", "r"));
  await same((s) => s.getObservationalMemory(null, "r"), [null, "r"]);
  await same((s) => s.dangerouslyClearAll(), [null, "r"]);
});

test("an agent of Mastra with its memory in Amber", async (t) => {
  const storage = await framework(t, "@mastra/core/storage");
  if (storage === undefined) {
    return;
  }
  const [{ Agent }, { Memory }, { MockLanguageModelV4 }] = [await framework(t, "@mastra/core/agent"), await framework(t, "@mastra/memory"), await framework(t, "ai/test")];
  const { amber, home } = fresh(t);
  const prompts: string[] = [];
  const agentOf = (user_id: string): Loose => {
    const bound = amber.as({ user_id });
    const memory = new Memory({ storage: amberStorage(bound, storage), options: { lastMessages: 10, workingMemory: { enabled: true, scope: "resource" } } });
    const model = new MockLanguageModelV4({
      doGenerate: async ({ prompt }: Loose) => {
        prompts.push(JSON.stringify(prompt));
        const said = prompt.at(-1);
        const uses = said.role === "user" && JSON.stringify(said).includes("boat is");
        const calls = [
          { type: "tool-call", toolCallId: `c${prompts.length}`, toolName: "remember", input: JSON.stringify({ text: `The boat of ${user_id} is called Heron` }) },
          { type: "tool-call", toolCallId: `d${prompts.length}`, toolName: "updateWorkingMemory", input: JSON.stringify({ memory: `# ${user_id}\n- has a boat` }) },
        ];
        return {
          content: uses ? calls : [{ type: "text", text: `answer ${prompts.length}` }],
          finishReason: { unified: uses ? "tool-calls" : "stop", raw: undefined },
          usage: { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } },
          warnings: [],
        };
      },
    });
    return new Agent({ id: "a", name: "a", instructions: "Be kind.", model, memory, tools: memoryTools(bound), inputProcessors: [memoryProcessor(bound)] });
  };
  const ask = async (agent: Loose, text: string, thread: string): Promise<string> => (await agent.generate(text, { memory: { thread, resource: "r" } })).text;
  assert.equal(await ask(agentOf("ada"), "My boat is Heron.", "monday"), "answer 2");
  killServer(home);
  // The same thread: what was said is there. Another one: what was remembered, and the working memory of the resource.
  await ask(agentOf("ada"), "And now?", "monday");
  assert.match(prompts.at(-1) as string, /My boat is Heron\..*answer 2.*And now\?/s);
  await ask(agentOf("ada"), "What is my boat called?", "tuesday");
  assert.ok(!(prompts.at(-1) as string).includes("My boat is Heron."));
  assert.match(prompts.at(-1) as string, /The boat of ada is called Heron/);
  assert.match(prompts.at(-1) as string, /# ada\\n- has a boat/);
  // The same thread and resource of another user.
  await ask(agentOf("eve"), "What is my boat called?", "monday");
  assert.ok(!/Heron|has a boat/.test(prompts.at(-1) as string));
  const store = await (amberStorage(amber.as({ user_id: "ada" }), storage) as Loose).getStore("memory");
  assert.deepEqual((await store.listThreads({ filter: { resourceId: "r" }, orderBy: { direction: "ASC" } })).threads.map((x: Loose) => x.id), ["monday", "tuesday"]);
  assert.deepEqual((await store.listMessages({ threadId: "monday" })).messages.map((m: Loose) => m.role), ["user", "assistant", "user", "assistant"]);
  // What a program does with a Memory itself.
  const memory = new Memory({ storage: amberStorage(amber.as({ user_id: "ada" }), storage) });
  const { thread: copy } = await memory.cloneThread({ sourceThreadId: "monday", newThreadId: "copy" });
  assert.equal(copy.id, "copy");
  const recalled = (await memory.recall({ threadId: "copy", resourceId: "r", perPage: 3 })).messages;
  assert.equal(recalled.length, 3);
  await memory.deleteMessages([recalled[0].id]);
  await memory.updateThread({ id: "copy", title: "a copy", metadata: { pinned: true } });
  assert.deepEqual((await memory.getThreadById({ threadId: "copy" })).title, "a copy");
  assert.equal((await store.listMessages({ threadId: "copy" })).total, 3);
  await memory.deleteThread("monday");
  assert.deepEqual((await memory.listThreads({ filter: { metadata: { pinned: true } } })).threads.map((x: Loose) => x.id), ["copy"]);
  assert.equal((await store.listMessages({ threadId: "monday" })).total, 0);
});
