// Threads, messages and resources of Mastra on the sessions of Amber. Methods have the names and the promises of Mastra's MemoryStorage.
import { randomUUID } from "node:crypto";

import type { Amber } from "../client.js";
import { checkMessage, type Message, Messages } from "./messages.js";
import { binding, digest, label, orNothing, owner, Texts } from "./stored.js";

/* eslint-disable-next-line @typescript-eslint/no-explicit-any -- what is in a message is Mastra's */
type Any = any;

export interface StoredThread {
  id: string;
  title?: string;
  resourceId: string;
  createdAt: Date;
  updatedAt: Date;
  metadata?: Record<string, unknown>;
}

export interface StoredResource {
  id: string;
  workingMemory?: string;
  metadata?: Record<string, unknown>;
  createdAt: Date;
  updatedAt: Date;
}

export interface StoredMessage {
  id: string;
  threadId?: string;
  resourceId?: string;
  role: Any;
  type?: string;
  createdAt: Date;
  content: Any;
}

/** What is changed of a message; what is left out stays. */
export type MessageChange = { id: string } & { [K in Exclude<keyof StoredMessage, "id">]?: StoredMessage[K] | undefined };

interface Order {
  field?: "createdAt" | "updatedAt";
  direction?: "ASC" | "DESC";
}

interface Included {
  id: string;
  threadId?: string;
  withPreviousMessages?: number;
  withNextMessages?: number;
}

interface Span {
  start?: Date;
  end?: Date;
  startExclusive?: boolean;
  endExclusive?: boolean;
}

interface Listed {
  include?: Included[];
  perPage?: number | false;
  page?: number;
  filter?: { dateRange?: Span; metadata?: Record<string, string | number | boolean | null> };
  orderBy?: Order;
  includeTotal?: boolean;
}

export type ListMessages = Listed & { threadId: string | string[]; resourceId?: string };
export type ListMessagesByResource = Listed & { resourceId: string };

export interface ListThreads {
  perPage?: number | false;
  page?: number;
  orderBy?: Order;
  filter?: { resourceId?: string; metadata?: Record<string, unknown> };
}

interface Paged {
  total: number;
  page: number;
  perPage: number | false;
  hasMore: boolean;
}

export type MessagePage = Paged & { messages: StoredMessage[] };
export type ThreadPage = Paged & { threads: StoredThread[] };

export interface CopyThread {
  sourceThreadId: string;
  newThreadId?: string;
  resourceId?: string;
  title?: string;
  metadata?: Record<string, unknown>;
  options?: { messageLimit?: number; messageFilter?: { startDate?: Date; endDate?: Date; messageIds?: string[] } };
}

const kind = "mastra";
const messagesOfPage = 40;
const threadsOfPage = 100;
/** How many states are asked for at one moment. */
const atOnce = 8;

/**
 * Mastra's memory of one identity. A thread is a session whose state is the thread's record, and a message a turn. A resource is a
 * session with a state alone. A storage for another identity finds nothing of it.
 */
export class Threads {
  readonly #client: Amber;
  readonly #messages: Messages;
  readonly #texts: Texts;

  constructor(client: Amber) {
    this.#client = client;
    this.#messages = new Messages(client, kind);
    this.#texts = new Texts(client);
  }

  // Threads.

  async getThreadById({ threadId, resourceId }: { threadId: string; resourceId?: string }): Promise<StoredThread | null> {
    const thread = threadId ? await this.#thread(threadId) : undefined;
    return thread === undefined || (resourceId !== undefined && thread.resourceId !== resourceId) ? null : thread;
  }

  async saveThread({ thread }: { thread: StoredThread }): Promise<StoredThread> {
    const session = this.#messages.session(filled("id of a thread", thread.id));
    await this.#record(session, "threads", thread.title || thread.id, () => JSON.stringify(thread));
    return thread;
  }

  async updateThread({ id, title, metadata }: { id: string; title?: string; metadata?: Record<string, unknown> }): Promise<StoredThread> {
    const changed = await this.#changeThread(id, (t) => ({ ...t, ...(title === undefined ? {} : { title }), metadata: { ...t.metadata, ...metadata }, updatedAt: later(t.updatedAt) }));
    if (changed === undefined) {
      throw new Error(`Thread with id ${id} not found`);
    }
    if (title !== undefined) {
      await orNothing(this.#client.session.rename(this.#messages.session(id), { name: label(title) }));
    }
    return changed;
  }

  /** Two programs that change the metadata of one thread at one moment lose nothing of each other. */
  async updateThreadMetadata(args: { id: string; resourceId?: string; update: (thread: StoredThread) => Record<string, unknown> | undefined }): Promise<StoredThread | null> {
    const { id, resourceId, update } = args;
    const changed = await this.#changeThread(id, (t) => {
      const metadata = resourceId !== undefined && t.resourceId !== resourceId ? undefined : update(t);
      return metadata === undefined ? undefined : { ...t, metadata: { ...t.metadata, ...metadata }, updatedAt: later(t.updatedAt) };
    });
    return changed === undefined || (resourceId !== undefined && changed.resourceId !== resourceId) ? null : changed;
  }

  async deleteThread({ threadId }: { threadId: string }): Promise<void> {
    await this.#messages.clear(this.#messages.session(filled("threadId", threadId)));
  }

  async listThreads(args: ListThreads): Promise<ThreadPage> {
    const { page = 0, perPage, orderBy, filter } = args;
    checkPage(page, perPage ?? threadsOfPage);
    checkKeys(filter?.metadata);
    const wanted = Object.entries(filter?.metadata ?? {});
    const found = (await this.#allThreads()).filter(
      (t) => (!filter?.resourceId || t.resourceId === filter.resourceId) && wanted.every(([name, value]) => t.metadata !== undefined && Object.hasOwn(t.metadata, name) && same(t.metadata[name], value)),
    );
    const { items, ...rest } = paged(sorted(found, orderBy, "DESC"), page, perPage, threadsOfPage);
    return { threads: items, ...rest };
  }

  async copyThread(args: CopyThread): Promise<{ thread: StoredThread; messageIdMap: Record<string, string> }> {
    const { sourceThreadId, newThreadId = randomUUID(), resourceId, title, metadata, options } = args;
    const source = await this.#thread(sourceThreadId);
    if (source === undefined) {
      throw new Error(`Source thread with id ${sourceThreadId} not found`);
    }
    if ((await this.#thread(newThreadId)) !== undefined) {
      throw new Error(`Thread with id ${newThreadId} already exists`);
    }
    const { startDate: start, endDate: end, messageIds } = options?.messageFilter ?? {};
    const ids = messageIds === undefined || messageIds.length === 0 ? undefined : new Set(messageIds);
    const all = sorted((await this.#messages.list(this.#messages.session(sourceThreadId))).map(shown), undefined, "ASC");
    const chosen = all.filter((m) => within(m.createdAt, { ...(start && { start }), ...(end && { end }) }) && (ids === undefined || ids.has(m.id)));
    const copied = options?.messageLimit ? chosen.slice(-options.messageLimit) : chosen;
    const now = new Date();
    const last = copied.at(-1)?.id;
    const named = title || (source.title ? `Clone of ${source.title}` : undefined);
    const thread: StoredThread = {
      id: newThreadId,
      resourceId: resourceId || source.resourceId,
      ...(named === undefined ? {} : { title: named }),
      metadata: { ...metadata, clone: { sourceThreadId, clonedAt: now, ...(last === undefined ? {} : { lastMessageId: last }) } },
      createdAt: now,
      updatedAt: now,
    };
    await this.saveThread({ thread });
    const messageIdMap: Record<string, string> = {};
    const copies = copied.map((m) => ({ ...m, id: (messageIdMap[m.id] = randomUUID()), threadId: newThreadId, ...(resourceId ? { resourceId } : {}) }));
    await this.#messages.save(copies.map(kept));
    return { thread, messageIdMap };
  }

  // Messages.

  async saveMessages({ messages }: { messages: StoredMessage[] }): Promise<{ messages: StoredMessage[] }> {
    const all = messages.map(kept);
    all.forEach(checkMessage);
    const threads = [...new Set(all.map((m) => m.threadId))];
    await this.#catalogued(threads);
    await this.#messages.save(all);
    await this.#touch(threads);
    return { messages: all.map(shown) };
  }

  async updateMessages({ messages }: { messages: MessageChange[] }): Promise<StoredMessage[]> {
    const updated: StoredMessage[] = [];
    const touched = new Set<string>();
    await this.#catalogued(new Set(messages.flatMap((m) => (m.threadId ? [m.threadId] : []))));
    for (const change of messages) {
      const done = await this.#messages.change(change.id, (m) => merged(m, change));
      if (done !== undefined) {
        updated.push(shown(done.after));
        touched.add(done.before.threadId).add(done.after.threadId);
      }
    }
    await this.#touch([...touched]);
    return updated;
  }

  async deleteMessages(messageIds: string[]): Promise<void> {
    const deleted = await this.#messages.delete(messageIds ?? []);
    await this.#touch([...new Set(deleted.map((m) => m.threadId))]);
  }

  async listMessagesById({ messageIds }: { messageIds: string[] }): Promise<{ messages: StoredMessage[] }> {
    const found = await each([...new Set(messageIds)], (id) => this.#messages.find(id));
    return { messages: given(sorted(found.filter((f) => f !== undefined).map((f) => shown(f.message)), undefined, "ASC")) };
  }

  async listMessages(args: ListMessages): Promise<MessagePage> {
    const threads = Array.isArray(args.threadId) ? [...new Set(args.threadId)] : [args.threadId];
    if (threads.length === 0 || threads.some((id) => typeof id !== "string" || id.trim() === "")) {
      throw new Error("threadId must be a non-empty string or array of non-empty strings");
    }
    const { perPage = messagesOfPage, include = [] } = args;
    checkListed(args);
    if (perPage === 0) {
      const messages = sorted(await this.#included(include, args.resourceId || undefined), args.orderBy, "ASC");
      return { messages: given(messages), total: 0, page: args.page ?? 0, perPage, hasMore: false };
    }
    const all = (await each(threads, (id) => this.#messages.list(this.#messages.session(id)))).flat().map(shown);
    const own = all.filter((m) => !args.resourceId || m.resourceId === args.resourceId);
    const listed = await this.#listed(own, args, args.resourceId || undefined);
    if (include.length > 0 && args.filter?.metadata === undefined) {
      listed.hasMore = listed.messages.filter((m) => threads.includes(m.threadId as string)).length < listed.total;
    }
    return listed;
  }

  async listMessagesByResourceId(args: ListMessagesByResource): Promise<MessagePage> {
    checkListed(args);
    const all = (await each(await this.#sessions("threads"), (session) => this.#messages.list(session))).flat().map(shown);
    return this.#listed(all.filter((m) => m.resourceId === args.resourceId), args, args.resourceId);
  }

  /** A page of messages, and what was to be included. */
  async #listed(all: StoredMessage[], args: Listed, resource: string | undefined): Promise<MessagePage> {
    const { page = 0, perPage, orderBy, filter } = args;
    const wanted = Object.entries(filter?.metadata ?? {});
    const found = all.filter((m) => within(m.createdAt, filter?.dateRange) && wanted.every(([name, value]) => isObject(m.content?.metadata) && Object.hasOwn(m.content.metadata, name) && m.content.metadata[name] === value));
    const { items, ...rest } = paged(sorted(found, orderBy, "ASC"), page, perPage, messagesOfPage);
    const there = new Set(items.map((m) => m.id));
    const more = (await this.#included(args.include ?? [], resource)).filter((m) => !there.has(m.id));
    return { messages: given(sorted([...items, ...more], orderBy, "ASC")), ...rest };
  }

  /** Messages by their ids with those around them in their own threads, none of another resource. */
  async #included(include: readonly Included[], resource: string | undefined): Promise<StoredMessage[]> {
    const found = new Map<string, StoredMessage>();
    for (const { id, withPreviousMessages = 0, withNextMessages = 0 } of include) {
      const target = await this.#messages.find(id);
      if (target === undefined) {
        continue;
      }
      const own = (await this.#messages.list(target.session)).map(shown).filter((m) => resource === undefined || m.resourceId === resource);
      const around = sorted(own, undefined, "ASC");
      const at = around.findIndex((m) => m.id === id);
      for (const m of at < 0 ? [] : around.slice(Math.max(0, at - withPreviousMessages), at + withNextMessages + 1)) {
        found.set(m.id, m);
      }
    }
    return [...found.values()];
  }

  // Resources.

  async getResourceById({ resourceId }: { resourceId: string }): Promise<StoredResource | null> {
    const { text } = await this.#texts.read(this.#resource(resourceId));
    return text === undefined ? null : dated<StoredResource>(text);
  }

  async saveResource({ resource }: { resource: StoredResource }): Promise<StoredResource> {
    await this.#record(this.#resource(resource.id), "resources", resource.id, () => JSON.stringify(resource));
    return resource;
  }

  async updateResource(args: { resourceId: string; workingMemory?: string; metadata?: Record<string, unknown> }): Promise<StoredResource> {
    const { resourceId, workingMemory, metadata } = args;
    const text = await this.#record(this.#resource(resourceId), "resources", resourceId, (old) => {
      const now = new Date();
      const r: StoredResource = old === undefined ? { id: resourceId, createdAt: now, updatedAt: now } : dated<StoredResource>(old);
      return JSON.stringify({ ...r, ...(workingMemory === undefined ? {} : { workingMemory }), metadata: { ...r.metadata, ...metadata }, updatedAt: old === undefined ? now : later(r.updatedAt) });
    });
    return dated<StoredResource>(text);
  }

  // Everything.

  async dangerouslyClearAll(): Promise<void> {
    for (const what of ["threads", "resources", "observations"]) {
      for (const session of await this.#sessions(what)) {
        await this.#messages.clear(session);
      }
    }
  }

  #resource(id: string): string {
    return `${kind}-${digest(kind, "resource", owner(this.#client), filled("resourceId", id))}`;
  }

  async #start(session: string, what: string, name: string): Promise<void> {
    await this.#client.session.start({ id: session, binding: binding(this.#client, `${kind}-${what}`), name: label(name) });
  }

  /** Puts the sessions of threads into the catalogue before their first turn, so that messages of a thread without a record are found. */
  async #catalogued(threads: Iterable<string>): Promise<void> {
    for (const id of threads) {
      if ((await this.#thread(id)) === undefined) {
        await this.#start(this.#messages.session(id), "threads", id);
      }
    }
  }

  /** Replaces a record, whose session is in the catalogue before it is there. */
  async #record(session: string, what: string, name: string, to: (old: string | undefined) => string): Promise<string> {
    const text = await this.#texts.change(session, async (old) => {
      if (old === undefined) {
        await this.#start(session, what, name);
      }
      return to(old);
    });
    return text as string;
  }

  async #sessions(what: string): Promise<string[]> {
    return (await this.#client.session.list({ binding: binding(this.#client, `${kind}-${what}`), limit: 1000 }).all()).map((s) => s.id);
  }

  async #thread(id: string): Promise<StoredThread | undefined> {
    const { text } = await this.#texts.read(this.#messages.session(filled("threadId", id)));
    return text === undefined ? undefined : dated<StoredThread>(text);
  }

  async #allThreads(): Promise<StoredThread[]> {
    const texts = await each(await this.#sessions("threads"), async (session) => (await this.#texts.read(session)).text);
    return texts.filter((t) => t !== undefined).map((t) => dated<StoredThread>(t));
  }

  /** Changes the record of a thread, and answers with it; undefined where there is none. */
  async #changeThread(id: string, to: (thread: StoredThread) => StoredThread | undefined): Promise<StoredThread | undefined> {
    const text = await this.#texts.change(this.#messages.session(filled("id of a thread", id)), (old) => {
      const changed = old === undefined ? undefined : to(dated<StoredThread>(old));
      return changed === undefined ? undefined : JSON.stringify(changed);
    });
    return text === undefined ? undefined : dated<StoredThread>(text);
  }

  async #touch(threads: readonly string[]): Promise<void> {
    for (const id of threads) {
      await this.#changeThread(id, (t) => ({ ...t, updatedAt: later(t.updatedAt) }));
    }
  }
}

function filled(what: string, id: unknown): string {
  if (typeof id !== "string" || id.trim() === "") {
    throw new Error(`the ${what} is missing, want a non-empty string`);
  }
  return id;
}

/** Now, or just behind a time that is not past: what is changed later has a later time. */
function later(than: Date): Date {
  return new Date(Math.max(Date.now(), than.getTime() + 1));
}

function dated<T extends { createdAt: Date; updatedAt: Date }>(text: string): T {
  const raw = JSON.parse(text) as T;
  return { ...raw, createdAt: new Date(raw.createdAt), updatedAt: new Date(raw.updatedAt) };
}

function kept(m: StoredMessage): Message {
  const created = new Date(m.createdAt ?? Date.now());
  return JSON.parse(
    JSON.stringify({ id: m.id, threadId: m.threadId, resourceId: m.resourceId, role: m.role || "user", type: m.type, createdAt: Number.isNaN(created.getTime()) ? new Date() : created, content: m.content }),
  ) as Message;
}

function shown(m: Message): StoredMessage {
  const { content: stored, createdAt, resourceId, type, ...rest } = m;
  const content = typeof stored === "string" ? { format: 2, content: stored, parts: [{ type: "text", text: stored }] } : stored;
  return { ...rest, ...(resourceId ? { resourceId } : {}), ...(type === undefined ? {} : { type }), createdAt: new Date(createdAt), content };
}

/** Messages that the program may change: what is known of a thread stays as it is. */
function given(messages: StoredMessage[]): StoredMessage[] {
  return messages.map((m) => ({ ...m, content: structuredClone(m.content) }));
}

/** A message with a change. Of what it says, parts that are left out stay, and so do fields of its metadata. */
function merged(m: Message, change: MessageChange): Message {
  const { content, ...rest } = change;
  const out: Record<string, unknown> = { ...m };
  for (const [name, value] of Object.entries(rest)) {
    if (value !== undefined && (name !== "threadId" || value !== "")) {
      out[name] = value;
    }
  }
  if (content !== undefined) {
    const old = m.content;
    const both = isObject(old) && isObject(content);
    out["content"] = both ? { ...old, ...content, ...(isObject(old["metadata"]) && isObject(content.metadata) ? { metadata: { ...old["metadata"], ...content.metadata } } : {}) } : content;
  }
  const done = kept(out as unknown as StoredMessage);
  checkMessage(done);
  return done;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function within(at: Date, span: Span | undefined): boolean {
  const { start, end, startExclusive, endExclusive } = span ?? {};
  const from = start === undefined || (startExclusive ? at > start : at >= start);
  return from && (end === undefined || (endExclusive ? at < end : at <= end));
}

function sorted<T extends { createdAt: Date }>(items: T[], order: Order | undefined, usual: "ASC" | "DESC"): T[] {
  const field = order?.field === "updatedAt" ? "updatedAt" : "createdAt";
  const sign = (order?.direction === "ASC" || order?.direction === "DESC" ? order.direction : usual) === "ASC" ? 1 : -1;
  const at = (item: T): number => ((item as Record<string, unknown>)[field] as Date | undefined)?.getTime() ?? 0;
  return [...items].sort((a, b) => sign * (at(a) - at(b)));
}

function paged<T>(all: T[], page: number, perPage: number | false | undefined, usual: number): Paged & { items: T[] } {
  const size = perPage === false ? all.length : (perPage ?? usual);
  const from = perPage === false ? 0 : page * size;
  const items = all.slice(from, from + size);
  return { items, total: all.length, page, perPage: perPage ?? usual, hasMore: from + size < all.length };
}

function checkPage(page: number, perPage: number | false): void {
  if (perPage !== false && !(Number.isSafeInteger(perPage) && perPage >= 0)) {
    throw new Error("perPage must be >= 0");
  }
  if (!(Number.isSafeInteger(page) && page >= 0)) {
    throw new Error("page must be >= 0");
  }
  if (perPage === false && page !== 0) {
    throw new Error("page must be 0 when perPage is false");
  }
  if (perPage !== false && !Number.isSafeInteger(page * perPage)) {
    throw new Error("page value too large");
  }
}

function checkListed({ page = 0, perPage = messagesOfPage, filter }: Listed): void {
  checkPage(perPage === false ? 0 : page, perPage);
  if (perPage !== false && page * perPage > Number.MAX_SAFE_INTEGER / 2) {
    throw new Error("page value too large");
  }
  if (filter?.metadata !== undefined && !isObject(filter.metadata)) {
    throw new TypeError("Metadata filter must be an object.");
  }
  checkKeys(filter?.metadata);
  for (const [name, value] of Object.entries(filter?.metadata ?? {})) {
    if (value !== null && typeof value !== "string" && typeof value !== "boolean" && !Number.isFinite(value)) {
      throw new TypeError(`Invalid metadata filter value for key "${name}". Values must be string, finite number, boolean, or null.`);
    }
  }
}

function checkKeys(metadata: Record<string, unknown> | undefined): void {
  for (const name of Object.keys(metadata ?? {})) {
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name) || name === "__proto__" || name === "prototype" || name === "constructor") {
      throw new Error(`Invalid metadata key: "${name.slice(0, 140)}". Keys must start with a letter or underscore and contain only alphanumeric characters and underscores.`);
    }
  }
}

/** Whether two values are the same as JSON, in whatever order their fields are. */
function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((value, i) => same(value, b[i]));
  }
  if (isObject(a) && isObject(b)) {
    const names = Object.keys(a);
    return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && same(a[name], b[name]));
  }
  return a === b;
}

/** Does something for each item, a few at one moment. The order stays. */
async function each<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const out: R[] = new Array<R>(items.length);
  const entries = items.entries();
  await Promise.all(
    Array.from({ length: Math.min(atOnce, items.length) }, async () => {
      for (const [i, item] of entries) {
        out[i] = await work(item);
      }
    }),
  );
  return out;
}
