// What Mastra promises of a storage for its memory, in our own words: the cases follow those of its own suite, which is not published.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import type { Loose } from "./framework.js";

const day = 24 * 60 * 60 * 1000;
const base = Date.UTC(2024, 0, 1);
const at = (seconds: number): Date => new Date(base + seconds * 1000);

export function aThread(o: Loose = {}): Loose {
  const date = o.date ?? new Date();
  delete o.date;
  return { id: randomUUID(), resourceId: randomUUID(), title: "A thread", createdAt: date, updatedAt: date, metadata: { key: "value" }, ...o };
}

export function aMessage(threadId: string, text: string, o: Loose = {}): Loose {
  return { id: randomUUID(), threadId, resourceId: "r", role: "user", createdAt: new Date(), ...o, content: { format: 2, parts: [{ type: "text", text }], content: text, ...o.content } };
}

export function aResource(o: Loose = {}): Loose {
  const now = new Date();
  return { id: randomUUID(), workingMemory: "likes tea", metadata: { key: "value" }, createdAt: now, updatedAt: now, ...o };
}

const texts = (page: Loose): string[] => page.messages.map((m: Loose) => m.content.content);
const ids = (items: Loose[]): string[] => items.map((i) => i.id);
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** Two threads: one with five messages, one with one. */
async function five(s: Loose): Promise<{ one: Loose; two: Loose; messages: Loose[] }> {
  const [one, two] = [aThread(), aThread()];
  await s.saveThread({ thread: one });
  await s.saveThread({ thread: two });
  const messages = [1, 2, 3, 4, 5].map((n) => aMessage(one.id, `m${n}`, { resourceId: one.resourceId, createdAt: at(n) }));
  messages.push(aMessage(two.id, "other", { resourceId: two.resourceId, createdAt: at(6) }));
  await s.saveMessages({ messages });
  return { one, two, messages };
}

/** Four threads of two resources. */
async function four(s: Loose): Promise<{ threads: Loose[]; a: string; b: string }> {
  const [a, b] = [randomUUID(), randomUUID()];
  const threads = [
    aThread({ resourceId: a, createdAt: at(1), updatedAt: at(9), metadata: { topic: "help", level: "high", state: "open" } }),
    aThread({ resourceId: a, createdAt: at(2), updatedAt: at(6), metadata: { topic: "help", level: "low", state: "closed" } }),
    aThread({ resourceId: b, createdAt: at(3), updatedAt: at(8), metadata: { topic: "sale", level: "high", state: "open", deep: { x: [1, null] } } }),
    aThread({ resourceId: b, createdAt: at(4), updatedAt: at(7), metadata: { topic: "sale", level: 3 } }),
  ];
  for (const thread of threads) {
    await s.saveThread({ thread });
  }
  return { threads, a, b };
}

/** Each is given an empty storage. */
export const promises: Record<string, (s: Loose) => Promise<void>> = {
  "a thread is found as it was saved": async (s) => {
    const thread = aThread({ id: "1346362547862769664", resourceId: "532374164040974346", title: "Some 'quotes', \"more\" and 🎉", metadata: { list: Array.from({ length: 10 }, (_, i) => ({ i, text: "x".repeat(40) })) } });
    assert.deepEqual(await s.saveThread({ thread: { ...thread } }), thread);
    assert.deepEqual(await s.getThreadById({ threadId: thread.id }), thread);
    assert.deepEqual(await s.getThreadById({ threadId: thread.id, resourceId: thread.resourceId }), thread);
    assert.equal(await s.getThreadById({ threadId: thread.id, resourceId: "another" }), null);
    assert.equal(await s.getThreadById({ threadId: "none" }), null);
    assert.equal(await s.getThreadById({ threadId: "" }), null);
    await s.saveThread({ thread: { ...thread, title: "again" } });
    assert.equal((await s.getThreadById({ threadId: thread.id })).title, "again");
    assert.equal((await s.listThreads({})).total, 1);
  },
  "a change of a thread keeps what it does not name": async (s) => {
    const thread = aThread({ date: at(0) });
    await s.saveThread({ thread: { ...thread } });
    const changed = await s.updateThread({ id: thread.id, title: "new", metadata: { more: 1 } });
    assert.deepEqual([changed.title, changed.metadata], ["new", { key: "value", more: 1 }]);
    assert.ok(changed.updatedAt > thread.updatedAt);
    assert.deepEqual(await s.getThreadById({ threadId: thread.id }), changed);
    assert.deepEqual((await s.listThreads({ filter: { resourceId: thread.resourceId } })).threads, [changed]);
    assert.deepEqual((await s.updateThread({ id: thread.id, metadata: { more: 2 } })).title, "new");
    assert.deepEqual((await s.updateThread({ id: thread.id, title: "newer" })).metadata, { key: "value", more: 2 });
    await assert.rejects(s.updateThread({ id: "none", title: "x", metadata: {} }), /none/);
  },
  "changes of a thread at one moment all succeed": async (s) => {
    const thread = aThread();
    await s.saveThread({ thread: { ...thread } });
    await Promise.all([0, 1, 2, 3, 4].map((n) => s.updateThread({ id: thread.id, title: `t${n}`, metadata: { [`n${n}`]: n } })));
    assert.deepEqual((await s.getThreadById({ threadId: thread.id })).metadata, { key: "value", n0: 0, n1: 1, n2: 2, n3: 3, n4: 4 });
  },
  "a thread is deleted with its messages": async (s) => {
    const { one, two, messages } = await five(s);
    await s.deleteThread({ threadId: one.id });
    assert.equal(await s.getThreadById({ threadId: one.id }), null);
    assert.equal((await s.listMessages({ threadId: one.id })).total, 0);
    assert.deepEqual((await s.listMessagesById({ messageIds: ids(messages) })).messages.length, 1);
    assert.deepEqual(texts(await s.listMessages({ threadId: two.id })), ["other"]);
    await s.deleteThread({ threadId: "none" });
    await s.saveMessages({ messages: [messages[0]] });
    assert.deepEqual(texts(await s.listMessages({ threadId: one.id })), ["m1"]);
  },
  "a message makes its thread newer": async (s) => {
    const thread = aThread();
    await s.saveThread({ thread: { ...thread } });
    const times = [(await s.getThreadById({ threadId: thread.id })).updatedAt];
    const message = aMessage(thread.id, "x");
    for (const work of [() => s.saveMessages({ messages: [message] }), () => s.updateMessages({ messages: [{ id: message.id, role: "assistant" }] }), () => s.deleteMessages([message.id])]) {
      await pause();
      await work();
      times.push((await s.getThreadById({ threadId: thread.id })).updatedAt);
    }
    assert.ok(times.every((t, i) => i === 0 || t > times[i - 1]), String(times));
  },
  "threads come in pages": async (s) => {
    const resourceId = randomUUID();
    await Promise.all(Array.from({ length: 17 }, (_, n) => s.saveThread({ thread: aThread({ resourceId, date: at(n) }) })));
    const pages = await Promise.all([0, 1, 2].map((page) => s.listThreads({ filter: { resourceId }, page, perPage: 7 })));
    assert.deepEqual(pages.map((p) => [p.threads.length, p.total, p.page, p.perPage, p.hasMore]), [[7, 17, 0, 7, true], [7, 17, 1, 7, true], [3, 17, 2, 7, false]]);
    assert.equal(new Set(pages.flatMap((p) => ids(p.threads))).size, 17);
    const all = await s.listThreads({ filter: { resourceId }, perPage: false });
    assert.deepEqual([all.threads.length, all.perPage, all.hasMore], [17, false, false]);
    const usual = await s.listThreads({});
    assert.deepEqual([usual.threads.length, usual.page, usual.perPage], [17, 0, 100]);
    for (const bad of [{ page: -1 }, { perPage: -1 }, { perPage: 1.5 }, { perPage: false, page: 1 }, { page: Number.MAX_SAFE_INTEGER, perPage: 2 }, { filter: { metadata: { "a b": 1 } } }, { filter: { metadata: { constructor: 1 } } }]) {
      await assert.rejects(s.listThreads(bad), JSON.stringify(bad));
    }
  },
  "threads are sorted": async (s) => {
    const { threads } = await four(s);
    const order = async (orderBy?: object): Promise<number[]> => ids((await s.listThreads(orderBy === undefined ? {} : { orderBy })).threads).map((id) => ids(threads).indexOf(id) + 1);
    assert.deepEqual(await order(), [4, 3, 2, 1]);
    assert.deepEqual(await order({ field: "createdAt", direction: "ASC" }), [1, 2, 3, 4]);
    assert.deepEqual(await order({ field: "createdAt" }), [4, 3, 2, 1]);
    assert.deepEqual(await order({ field: "updatedAt" }), [1, 3, 4, 2]);
    assert.deepEqual(await order({ field: "updatedAt", direction: "ASC" }), [2, 4, 3, 1]);
    assert.deepEqual(await order({ direction: "ASC" }), [1, 2, 3, 4]);
    assert.deepEqual(await order({ field: "title; drop", direction: "sideways" }), [4, 3, 2, 1]);
  },
  "threads of one time are all there": async (s) => {
    const resourceId = randomUUID();
    const threads = [1, 2, 3].map(() => aThread({ resourceId, date: at(0) }));
    await Promise.all(threads.map((thread) => s.saveThread({ thread })));
    assert.deepEqual(ids((await s.listThreads({ filter: { resourceId } })).threads).sort(), ids(threads).sort());
  },
  "threads are found by their resource and metadata": async (s) => {
    const { threads, a, b } = await four(s);
    const found = async (filter: object): Promise<number[]> => ids((await s.listThreads({ filter, orderBy: { direction: "ASC" } })).threads).map((id) => ids(threads).indexOf(id) + 1);
    assert.deepEqual(await found({ resourceId: a }), [1, 2]);
    assert.deepEqual(await found({ metadata: { topic: "sale" } }), [3, 4]);
    assert.deepEqual(await found({ metadata: { topic: "help", level: "high" } }), [1]);
    assert.deepEqual(await found({ resourceId: b, metadata: { level: "high" } }), [3]);
    assert.deepEqual(await found({ metadata: { state: "open" } }), [1, 3]);
    assert.deepEqual(await found({ metadata: { level: 3 } }), [4]);
    assert.deepEqual(await found({ metadata: { deep: { x: [1, null] } } }), [3]);
    assert.deepEqual(await found({ metadata: { deep: { x: [1] } } }), []);
    assert.deepEqual(await found({ metadata: { topic: "none" } }), []);
    assert.deepEqual(await found({ resourceId: "none" }), []);
    assert.deepEqual(await found({}), [1, 2, 3, 4]);
  },
  "messages are found as they were saved": async (s) => {
    const thread = aThread();
    await s.saveThread({ thread });
    const json = JSON.stringify({ input: "x", metadata: { key: "value" } });
    const messages = [aMessage(thread.id, "first"), aMessage(thread.id, json, { role: "assistant", content: { metadata: { a: [1, { b: null }] } } }), aMessage(thread.id, "a lone \ud800 half, \0 and \u2028")];
    messages.forEach((m, i) => (m.createdAt = at(i)));
    assert.deepEqual(ids((await s.saveMessages({ messages })).messages), ids(messages));
    const found = (await s.listMessages({ threadId: thread.id })).messages;
    assert.deepEqual(found.map(({ type: _, ...m }: Loose) => m), messages);
    assert.ok(found[0].createdAt instanceof Date);
    // What a program does with an answer is not in the storage.
    for (const list of [found, (await s.listMessagesById({ messageIds: ids(messages) })).messages, (await s.listMessages({ threadId: thread.id, perPage: 0, include: [{ id: messages[1].id }] })).messages]) {
      list[0].content.parts.push({ type: "text", text: "not saved" });
    }
    assert.deepEqual((await s.listMessages({ threadId: thread.id })).messages.map(({ type: _, ...m }: Loose) => m), messages);
    assert.deepEqual(await s.saveMessages({ messages: [] }), { messages: [] });
  },
  "a batch with a wrong message stores nothing": async (s) => {
    const thread = aThread();
    await s.saveThread({ thread });
    await assert.rejects(s.saveMessages({ messages: [aMessage(thread.id, "x"), aMessage(thread.id, "y", { resourceId: null })] }));
    assert.equal((await s.listMessages({ threadId: thread.id })).total, 0);
  },
  "messages come in pages": async (s) => {
    const { one } = await five(s);
    const page = async (o: object): Promise<Loose[]> => {
      const p = await s.listMessages({ threadId: one.id, ...o });
      return [texts(p).join(" "), p.total, p.page, p.perPage, p.hasMore];
    };
    assert.deepEqual(await page({}), ["m1 m2 m3 m4 m5", 5, 0, 40, false]);
    assert.deepEqual(await page({ perPage: 2, page: 0 }), ["m1 m2", 5, 0, 2, true]);
    assert.deepEqual(await page({ perPage: 2, page: 1 }), ["m3 m4", 5, 1, 2, true]);
    assert.deepEqual(await page({ perPage: 2, page: 2 }), ["m5", 5, 2, 2, false]);
    assert.deepEqual(await page({ perPage: 2, page: 9 }), ["", 5, 9, 2, false]);
    assert.deepEqual(await page({ perPage: false }), ["m1 m2 m3 m4 m5", 5, 0, false, false]);
    assert.deepEqual(await page({ perPage: 0 }), ["", 0, 0, 0, false]);
    assert.deepEqual(await page({ perPage: 2, orderBy: { field: "createdAt", direction: "DESC" } }), ["m5 m4", 5, 0, 2, true]);
    for (const bad of [{ page: -1 }, { perPage: -5 }, { perPage: 1.5 }, { page: Number.MAX_SAFE_INTEGER, perPage: 2 }]) {
      await assert.rejects(page(bad), JSON.stringify(bad));
    }
    const many = Array.from({ length: 37 }, (_, n) => aMessage(one.id, `x${n}`, { createdAt: at(100 + n) }));
    await s.saveMessages({ messages: many });
    assert.deepEqual((await page({})).slice(1), [42, 0, 40, true]);
    assert.deepEqual((await page({ perPage: false })).slice(1), [42, 0, false, false]);
  },
  "a thread has to be named": async (s) => {
    for (const threadId of ["", "  ", [], [""]]) {
      await assert.rejects(s.listMessages({ threadId }), /threadId must be a non-empty string/);
    }
  },
  "messages of several threads": async (s) => {
    const { one, two } = await five(s);
    assert.deepEqual(texts(await s.listMessages({ threadId: [one.id, two.id] })), ["m1", "m2", "m3", "m4", "m5", "other"]);
    assert.equal((await s.listMessages({ threadId: [one.id, one.id] })).total, 5);
    const empty = await s.listMessages({ threadId: "none" });
    assert.deepEqual([empty.messages, empty.total, empty.hasMore], [[], 0, false]);
  },
  "messages are found by their resource": async (s) => {
    const { one, two } = await five(s);
    await s.saveMessages({ messages: [aMessage(one.id, "not theirs", { resourceId: "else" })] });
    const found = await s.listMessages({ threadId: one.id, resourceId: one.resourceId, perPage: 3 });
    assert.deepEqual([texts(found), found.total], [["m1", "m2", "m3"], 5]);
    assert.equal((await s.listMessages({ threadId: one.id, resourceId: two.resourceId })).total, 0);
    await s.saveMessages({ messages: [aMessage(two.id, "late", { resourceId: one.resourceId, createdAt: at(50) })] });
    const everywhere = await s.listMessagesByResourceId({ resourceId: one.resourceId, perPage: 4, orderBy: { field: "createdAt", direction: "DESC" } });
    assert.deepEqual([texts(everywhere), everywhere.total, everywhere.hasMore], [["late", "m5", "m4", "m3"], 6, true]);
    assert.equal((await s.listMessagesByResourceId({ resourceId: "none" })).total, 0);
  },
  "messages are found by their time": async (s) => {
    const { one } = await five(s);
    const found = async (dateRange: object, o: object = {}): Promise<string> => texts(await s.listMessages({ threadId: one.id, filter: { dateRange }, ...o })).join(" ");
    assert.equal(await found({ start: at(3) }), "m3 m4 m5");
    assert.equal(await found({ start: at(3), startExclusive: true }), "m4 m5");
    assert.equal(await found({ end: at(3) }), "m1 m2 m3");
    assert.equal(await found({ end: at(3), endExclusive: true }), "m1 m2");
    assert.equal(await found({ start: at(2), end: at(4) }), "m2 m3 m4");
    assert.equal(await found({ start: new Date(base + day) }), "");
    const page = await s.listMessages({ threadId: one.id, filter: { dateRange: { start: at(2) } }, perPage: 3 });
    assert.deepEqual([texts(page), page.total, page.hasMore], [["m2", "m3", "m4"], 4, true]);
  },
  "messages are found by their metadata": async (s) => {
    const { one } = await five(s);
    const some = [{ kind: "a", n: 1 }, { kind: "a", n: "1" }, { kind: "b", flag: false, none: null }].map((metadata, i) => aMessage(one.id, `x${i}`, { createdAt: at(10 + i), content: { metadata } }));
    await s.saveMessages({ messages: some });
    const found = async (metadata: object): Promise<string> => texts(await s.listMessages({ threadId: one.id, filter: { metadata } })).join(" ");
    assert.equal(await found({ kind: "a" }), "x0 x1");
    assert.equal(await found({ kind: "a", n: 1 }), "x0");
    assert.equal(await found({ flag: false, none: null }), "x2");
    assert.equal(await found({ missing: null }), "");
    for (const bad of [{ "a.b": 1 }, { __proto: {} }, { n: { x: 1 } }, { n: Number.NaN }, { ["x".repeat(200)]: 1 }, { constructor: 1 }]) {
      await assert.rejects(found(bad), JSON.stringify(bad));
    }
  },
  "messages bring those around them": async (s) => {
    const { one, two, messages } = await five(s);
    const [m1, m2, m3, , , other] = messages;
    const found = async (include: object[], o: object = {}): Promise<string> => texts(await s.listMessages({ threadId: two.id, include, ...o })).join(" ");
    assert.equal(await found([{ id: m3.id, withPreviousMessages: 2 }]), "m1 m2 m3 other");
    assert.equal(await found([{ id: m2.id, withNextMessages: 2 }]), "m2 m3 m4 other");
    assert.equal(await found([{ id: m3.id, withPreviousMessages: 1, withNextMessages: 1 }], { perPage: 0 }), "m2 m3 m4");
    assert.equal(await found([{ id: m2.id, withNextMessages: 2 }, { id: m3.id, withNextMessages: 1 }], { perPage: 0 }), "m2 m3 m4");
    assert.equal(await found([{ id: m3.id, withPreviousMessages: 1, withNextMessages: 30 }], { perPage: 0, orderBy: { direction: "DESC" } }), "m5 m4 m3 m2");
    assert.equal(await found([{ id: "none", withNextMessages: 3 }]), "other");
    const page = await s.listMessages({ threadId: one.id, include: [{ id: m1.id, withNextMessages: 10 }], perPage: 3 });
    assert.deepEqual([texts(page), page.total, page.hasMore], [["m1", "m2", "m3", "m4", "m5"], 5, false]);
    assert.deepEqual(texts(await s.listMessages({ threadId: one.id, perPage: 2, include: [{ id: m3.id, withPreviousMessages: 1 }, { id: other.id, threadId: two.id }] })), ["m1", "m2", "m3", "other"]);
  },
  "nothing of another resource is brought": async (s) => {
    const [a, b] = [randomUUID(), randomUUID()];
    const [a1, a2, b1] = [aThread({ resourceId: a }), aThread({ resourceId: a }), aThread({ resourceId: b })];
    const said = (t: Loose, text: string, n: number): Loose => aMessage(t.id, text, { resourceId: t.resourceId, createdAt: at(n) });
    const messages = [said(a1, "x1", 0), said(a1, "x2", 1), said(a1, "x3", 2), said(a2, "y", 3), said(b1, "z", 4)];
    for (const thread of [a1, a2, b1]) {
      await s.saveThread({ thread });
    }
    await s.saveMessages({ messages });
    const include = [{ id: messages[1].id, withPreviousMessages: 2, withNextMessages: 2 }];
    assert.deepEqual(texts(await s.listMessages({ threadId: b1.id, resourceId: b, include })), ["z"]);
    assert.deepEqual(texts(await s.listMessages({ threadId: b1.id, resourceId: b, include, perPage: 0 })), []);
    assert.deepEqual(texts(await s.listMessages({ threadId: a2.id, resourceId: a, include })), ["x1", "x2", "x3", "y"]);
    assert.deepEqual(texts(await s.listMessages({ threadId: b1.id, include })), ["x1", "x2", "x3", "z"]);
    assert.deepEqual(texts(await s.listMessages({ threadId: a2.id, resourceId: a, include: [{ ...include[0], threadId: b1.id }] })), ["x1", "x2", "x3", "y"]);
    assert.deepEqual(texts(await s.listMessagesByResourceId({ resourceId: b, include })), ["z"]);
  },
  "a message that is saved again is replaced": async (s) => {
    const { one, two, messages } = await five(s);
    await s.saveMessages({ messages });
    await s.saveMessages({ messages: [{ ...messages[1], content: { ...messages[1].content, content: "new" } }] });
    assert.deepEqual(texts(await s.listMessages({ threadId: one.id })), ["m1", "new", "m3", "m4", "m5"]);
    await s.saveMessages({ messages: [messages[1]] });
    assert.deepEqual(texts(await s.listMessages({ threadId: one.id })), ["m1", "m2", "m3", "m4", "m5"]);
    // In another thread it is no longer in the first.
    await s.saveMessages({ messages: [{ ...messages[1], threadId: two.id, resourceId: two.resourceId }] });
    assert.deepEqual(texts(await s.listMessages({ threadId: one.id })), ["m1", "m3", "m4", "m5"]);
    assert.deepEqual(texts(await s.listMessages({ threadId: two.id })), ["m2", "other"]);
    assert.equal((await s.listMessagesById({ messageIds: [messages[1].id] })).messages[0].threadId, two.id);
    // The thread it came from may go, and it may come back.
    await s.deleteThread({ threadId: one.id });
    assert.equal((await s.listMessagesById({ messageIds: ids(messages) })).messages.length, 2);
    await s.saveMessages({ messages: [messages[1]] });
    assert.deepEqual([texts(await s.listMessages({ threadId: one.id })), texts(await s.listMessages({ threadId: two.id }))], [["m2"], ["other"]]);
  },
  "messages are found by their ids": async (s) => {
    const { messages } = await five(s);
    const found = (await s.listMessagesById({ messageIds: [messages[5].id, "none", messages[0].id, messages[0].id] })).messages;
    assert.deepEqual(texts({ messages: found }), ["m1", "other"]);
    assert.deepEqual((await s.listMessagesById({ messageIds: [] })).messages, []);
  },
  "a change of a message keeps what it does not name": async (s) => {
    const { one, messages } = await five(s);
    const id = messages[0].id;
    const now = async (): Promise<Loose> => (await s.listMessagesById({ messageIds: [id] })).messages[0];
    const [updated] = await s.updateMessages({ messages: [{ id, role: "assistant" }] });
    assert.deepEqual([updated.role, (await now()).role], ["assistant", "assistant"]);
    await s.updateMessages({ messages: [{ id, content: { metadata: { a: 1 } } }] });
    assert.deepEqual((await now()).content, { ...messages[0].content, metadata: { a: 1 } });
    await s.updateMessages({ messages: [{ id, content: { metadata: { b: { c: 2 } } } }, { id: messages[1].id, content: { content: "new" } }, { id: "none", role: "user" }] });
    assert.deepEqual((await now()).content, { ...messages[0].content, metadata: { a: 1, b: { c: 2 } } });
    assert.deepEqual(texts(await s.listMessages({ threadId: one.id })), ["m1", "new", "m3", "m4", "m5"]);
    await s.updateMessages({ messages: [{ id, content: { content: "text", metadata: { a: 3 } } }] });
    assert.deepEqual((await now()).content, { ...messages[0].content, content: "text", metadata: { a: 3, b: { c: 2 } } });
    await s.updateMessages({ messages: [{ id, resourceId: "moved" }] });
    assert.equal((await now()).resourceId, "moved");
  },
  "a message is moved to another thread": async (s) => {
    const { one, two, messages } = await five(s);
    const before = [(await s.getThreadById({ threadId: one.id })).updatedAt, (await s.getThreadById({ threadId: two.id })).updatedAt];
    await pause();
    await s.updateMessages({ messages: [{ id: messages[4].id, threadId: two.id }] });
    assert.deepEqual([texts(await s.listMessages({ threadId: one.id })), texts(await s.listMessages({ threadId: two.id }))], [["m1", "m2", "m3", "m4"], ["m5", "other"]]);
    assert.ok((await s.getThreadById({ threadId: one.id })).updatedAt > before[0]);
    assert.ok((await s.getThreadById({ threadId: two.id })).updatedAt > before[1]);
    await s.updateMessages({ messages: [{ id: messages[4].id, threadId: "no record" }] });
    assert.deepEqual(texts(await s.listMessagesByResourceId({ resourceId: one.resourceId })), ["m1", "m2", "m3", "m4", "m5"]);
    await s.updateMessages({ messages: [{ id: messages[4].id, threadId: one.id }] });
    await s.updateMessages({ messages: [{ id: messages[4].id, content: { content: "back" } }] });
    assert.deepEqual([texts(await s.listMessages({ threadId: one.id })), texts(await s.listMessages({ threadId: two.id }))], [["m1", "m2", "m3", "m4", "back"], ["other"]]);
  },
  "messages are deleted": async (s) => {
    const { one, two, messages } = await five(s);
    await s.deleteMessages([]);
    await s.deleteMessages(["none", "nothing"]);
    await s.deleteMessages([messages[1].id, "none", messages[3].id, messages[3].id, messages[5].id]);
    assert.deepEqual([texts(await s.listMessages({ threadId: one.id })), texts(await s.listMessages({ threadId: two.id }))], [["m1", "m3", "m5"], []]);
    assert.deepEqual((await s.listMessagesById({ messageIds: [messages[1].id] })).messages, []);
    await s.saveMessages({ messages: [messages[1]] });
    assert.deepEqual(texts(await s.listMessages({ threadId: one.id })), ["m1", "m2", "m3", "m5"]);
    const many = Array.from({ length: 30 }, (_, n) => aMessage(two.id, `x${n}`, { createdAt: at(n) }));
    await s.saveMessages({ messages: many });
    await s.deleteMessages(ids(many.slice(15)));
    assert.deepEqual(ids((await s.listMessages({ threadId: two.id, perPage: false })).messages), ids(many.slice(0, 15)));
  },
  "a resource is found as it was saved": async (s) => {
    for (const resource of [
      aResource({ id: "1346362547862769664", createdAt: new Date("2023-01-01T00:00:00Z") }),
      aResource({ metadata: { deep: { list: [1, "a", { b: null }], on: false } } }),
      aResource({ metadata: {} }),
      aResource({ workingMemory: "" }),
      aResource({ workingMemory: "A".repeat(10_000) }),
    ]) {
      assert.deepEqual(await s.saveResource({ resource: { ...resource } }), resource);
      assert.deepEqual(await s.getResourceById({ resourceId: resource.id }), resource);
    }
    for (const missing of ["workingMemory", "metadata"]) {
      const resource = aResource({ [missing]: undefined });
      await s.saveResource({ resource });
      assert.ok(!(await s.getResourceById({ resourceId: resource.id }))[missing]);
    }
    assert.equal(await s.getResourceById({ resourceId: "none" }), null);
  },
  "a change of a resource keeps what it does not name": async (s) => {
    const resource = aResource({ updatedAt: at(0) });
    await s.saveResource({ resource: { ...resource } });
    const now = (): Promise<Loose> => s.getResourceById({ resourceId: resource.id });
    const changed = await s.updateResource({ resourceId: resource.id, workingMemory: "likes coffee" });
    assert.deepEqual([changed.workingMemory, changed.metadata], ["likes coffee", { key: "value" }]);
    assert.ok(changed.updatedAt > resource.updatedAt);
    assert.deepEqual(await now(), changed);
    await s.updateResource({ resourceId: resource.id, metadata: { more: true } });
    assert.deepEqual([(await now()).workingMemory, (await now()).metadata], ["likes coffee", { key: "value", more: true }]);
    const made = await s.updateResource({ resourceId: "new", workingMemory: "x", metadata: { a: 1 } });
    assert.deepEqual([made.id, made.workingMemory, made.metadata], ["new", "x", { a: 1 }]);
    assert.deepEqual(await s.getResourceById({ resourceId: "new" }), made);
    await Promise.all([1, 2, 3].map((n) => s.updateResource({ resourceId: "new", metadata: { [`n${n}`]: n } })));
    assert.deepEqual((await s.getResourceById({ resourceId: "new" })).metadata, { a: 1, n1: 1, n2: 2, n3: 3 });
  },
  "a thread is copied": async (s) => {
    const { one, messages } = await five(s);
    const { thread, messageIdMap } = await s.copyThread({ sourceThreadId: one.id, newThreadId: "copy", metadata: { why: "test" } });
    assert.deepEqual([thread.id, thread.title, thread.resourceId, thread.metadata.why, thread.metadata.clone.sourceThreadId, thread.metadata.clone.lastMessageId], ["copy", "Clone of A thread", one.resourceId, "test", one.id, messages[4].id]);
    const copied = (await s.listMessages({ threadId: "copy" })).messages;
    assert.deepEqual(texts({ messages: copied }), ["m1", "m2", "m3", "m4", "m5"]);
    assert.deepEqual(ids(copied), messages.slice(0, 5).map((m) => messageIdMap[m.id]));
    await s.updateMessages({ messages: [{ id: copied[0].id, content: { content: "changed" } }] });
    assert.equal(texts(await s.listMessages({ threadId: one.id }))[0], "m1");
    const chosen = async (options: object): Promise<string> => {
      const { thread } = await s.copyThread({ sourceThreadId: one.id, title: "mine", resourceId: "their", options });
      assert.deepEqual([thread.title, thread.resourceId], ["mine", "their"]);
      return texts(await s.listMessages({ threadId: thread.id, resourceId: "their" })).join(" ");
    };
    assert.equal(await chosen({ messageLimit: 2 }), "m4 m5");
    assert.equal(await chosen({ messageFilter: { startDate: at(2), endDate: at(4) }, messageLimit: 2 }), "m3 m4");
    assert.equal(await chosen({ messageFilter: { messageIds: [messages[0].id, messages[2].id] } }), "m1 m3");
    await assert.rejects(s.copyThread({ sourceThreadId: "none" }), /not found/);
    await assert.rejects(s.copyThread({ sourceThreadId: one.id, newThreadId: "copy" }), /already exists/);
  },
  "metadata of a thread is changed by what is there": async (s) => {
    const thread = aThread({ metadata: { n: 0 } });
    await s.saveThread({ thread: { ...thread } });
    const add = (): Promise<Loose> => s.updateThreadMetadata({ id: thread.id, update: (t: Loose) => ({ n: t.metadata.n + 1 }) });
    await Promise.all(Array.from({ length: 8 }, add));
    assert.equal((await s.getThreadById({ threadId: thread.id })).metadata.n, 8);
    assert.equal(await s.updateThreadMetadata({ id: thread.id, resourceId: "another", update: () => ({ n: 99 }) }), null);
    assert.equal((await s.updateThreadMetadata({ id: thread.id, resourceId: thread.resourceId, update: () => undefined })).metadata.n, 8);
    assert.equal(await s.updateThreadMetadata({ id: "none", update: () => ({}) }), null);
  },
  "everything is removed": async (s) => {
    await five(s);
    await s.saveResource({ resource: aResource({ id: "r1" }) });
    await s.saveMessages({ messages: [aMessage("no record", "x")] });
    await s.dangerouslyClearAll();
    assert.equal((await s.listThreads({})).total, 0);
    assert.equal((await s.listMessages({ threadId: "no record" })).total, 0);
    assert.equal(await s.getResourceById({ resourceId: "r1" }), null);
  },
};
