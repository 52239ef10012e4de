// Messages of conversations as turns of sessions: what was said, what was changed later, and what was taken out.
import { createHash, randomUUID } from "node:crypto";

import type { Amber } from "../client.js";
import { ConflictError, InvalidError, UnreachableError } from "../errors.js";
import type { Role, Turn } from "../generated/models.js";
import { digest, Locks, orNothing, owner, pack, Texts, tries, unpack } from "./stored.js";

/** A message as it is stored. Its time is a text. */
export interface Message {
  id: string;
  threadId: string;
  resourceId?: string | undefined;
  role: string;
  type?: string | undefined;
  createdAt: string;
  content: unknown;
}

/** A turn that is no message itself begins with this. */
const mark = "amber:";
/** The most bytes of a turn; the limit of Amber is 1 MiB. */
const longest = 700_000;
/** The most characters of a text that are stored in one piece. */
const piece = 1_000_000;
/** How many turns are asked for at once, and how often, before a session is read anew. */
const newest = 20;
const newestPages = 5;
const mostKnown = 32;

/** What is in a session. */
interface Known {
  readonly messages: Map<string, Message>;
  /** Ids of messages that were here and are no more. */
  readonly gone: Set<string>;
  /** Ids of messages that came from somewhere else, or came back. */
  readonly came: Set<string>;
  /** Names of the pieces of large messages. */
  readonly pieces: Set<string>;
  /** The turn up to which it is known. */
  last: string | undefined;
}

/** What a turn says: the message it stores, with a mark of the writer, or where that is. */
interface Put {
  n: string;
  message: Message;
}

interface Large {
  n: string;
  key: string;
  pieces: number;
  sha256: string;
}

/**
 * Messages of one identity. A message is a turn of its session, as JSON. A later text of it is a turn of its own, and so is a note that
 * it is gone; the last one counts. The first turn of a message has an id made of the message's, by which its session is found.
 */
export class Messages {
  readonly #client: Amber;
  readonly #texts: Texts;
  readonly #reads = new Locks();
  readonly #writes = new Locks();
  readonly #known = new Map<string, Known>();
  readonly #kind: string;

  constructor(client: Amber, kind: string) {
    this.#client = client;
    this.#texts = new Texts(client);
    this.#kind = kind;
  }

  #name(what: string, id: string): string {
    return `${this.#kind}-${digest(this.#kind, what, owner(this.#client), id)}`;
  }

  /** The session of a thread. Another identity has another one. */
  session(thread: string): string {
    return this.#name("thread", thread);
  }

  /** The messages of a session, in the order in which they were first stored. */
  async list(session: string): Promise<Message[]> {
    return [...(await this.#read(session)).messages.values()];
  }

  /** The message of an id, and its session. */
  async find(id: string): Promise<{ message: Message; session: string } | undefined> {
    const session = await this.#place(id);
    const message = session === undefined ? undefined : (await this.#read(session)).messages.get(id);
    return session === undefined || message === undefined ? undefined : { message, session };
  }

  /** Stores messages in their threads, over those that have the same ids. */
  async save(messages: readonly Message[]): Promise<void> {
    for (const [thread, own] of grouped(messages, (m) => m.threadId)) {
      const session = this.session(thread);
      await this.#writes.alone(session, async () => {
        const known = await this.#read(session);
        const moved = new Map<string, string | undefined>();
        await Promise.all(own.filter((m) => !known.messages.has(m.id)).map(async ({ id }) => moved.set(id, await this.#moved(id))));
        for (const message of own) {
          await this.#save(session, message, known, moved.get(message.id));
        }
      });
    }
  }

  /** Replaces a message by what `to` makes of it; undefined where there is no such message. */
  async change(id: string, to: (message: Message) => Message): Promise<{ before: Message; after: Message } | undefined> {
    const found = await this.find(id);
    if (found === undefined) {
      return undefined;
    }
    return this.#writes.alone(found.session, async () => {
      const before = (await this.#read(found.session)).messages.get(id);
      if (before === undefined) {
        return undefined;
      }
      const after = to(before);
      const session = this.session(after.threadId);
      await this.#save(session, after, await this.#read(session), await this.#moved(id));
      return { before, after };
    });
  }

  /** Takes messages out of their threads, and answers with those that were there. */
  async delete(ids: readonly string[]): Promise<Message[]> {
    const found = (await Promise.all([...new Set(ids)].map((id) => this.find(id)))).filter((f) => f !== undefined);
    for (const [session, own] of grouped(found, (f) => f.session)) {
      await this.#writes.alone(session, () => this.#gone(session, own.map((f) => f.message.id)));
    }
    return found.map((f) => f.message);
  }

  /** Removes a session with everything in it. */
  async clear(session: string): Promise<void> {
    await this.#writes.alone(session, async () => {
      const { pieces, came } = await this.#read(session);
      for (const name of pieces) {
        await this.#texts.delete(name);
      }
      for (const id of came) {
        if ((await this.#moved(id)) === session) {
          await this.#texts.delete(this.#name("moved", id));
        }
      }
      this.#known.delete(session);
      if ((await orNothing(this.#client.session.delete(session).then(() => true))) === undefined) {
        await this.#client.turn.delete(session);
        await this.#texts.delete(session);
      }
    });
  }

  /** Stores a message in a session of which it is known what is there. */
  async #save(session: string, message: Message, { messages, gone }: Known, moved: string | undefined): Promise<void> {
    const now = messages.get(message.id);
    messages.set(message.id, message);
    if (now !== undefined) {
      if (JSON.stringify(now) !== JSON.stringify(message)) {
        await this.#put(session, message);
      }
      return;
    }
    const first = this.#name("message", message.id);
    if (moved === undefined && !gone.has(message.id) && (await this.#put(session, message, first))) {
      return;
    }
    // It is, or was, somewhere else: it is stored here before it goes from there.
    const from = moved ?? (await orNothing(this.#client.turn.get(first)))?.session_id;
    await this.#put(session, message);
    if (from !== session) {
      await this.#texts.put(this.#name("moved", message.id), session);
      if (from !== undefined && (await this.#read(from)).messages.has(message.id)) {
        await this.#gone(from, [message.id]);
      }
    }
  }

  /** The session that a message was last moved to. It outlives the session it came from. */
  async #moved(id: string): Promise<string | undefined> {
    return (await this.#texts.read(this.#name("moved", id))).text;
  }

  async #place(id: string): Promise<string | undefined> {
    const [moved, first] = await Promise.all([this.#moved(id), orNothing(this.#client.turn.get(this.#name("message", id)))]);
    return moved ?? first?.session_id;
  }

  /** Stores a turn of a message. Under an id that is taken it stores nothing, and answers with false. */
  async #put(session: string, message: Message, id: string = randomUUID()): Promise<boolean> {
    const n = randomUUID().slice(0, 8);
    const text = JSON.stringify({ n, message } satisfies Put);
    const role: Role = message.role === "user" || message.role === "assistant" || message.role === "system" ? message.role : "tool";
    const packed = `${mark}exact ${n} ${pack(text)}`;
    let turn: Turn | undefined;
    if (Buffer.byteLength(text) <= longest) {
      turn = await this.#append(session, role, text, id);
    } else {
      turn = packed.length <= longest ? await this.#append(session, "tool", packed, id) : await this.#large(session, n, text, id);
    }
    if (turn === undefined || writer(turn.content) !== n) {
      return false;
    }
    const stored = turn.content === text ? message : plain(turn.content)?.message;
    if (turn.content.startsWith("{") && (stored === undefined || frame(stored) !== frame(message))) {
      // A rule for secrets has left something that is no longer this message. It is stored in a form that none matches.
      await this.#append(session, "tool", packed, randomUUID());
    }
    return true;
  }

  async #large(session: string, n: string, text: string, id: string): Promise<Turn | undefined> {
    const key = `${session}-${randomUUID()}`;
    const said: Large = { n, key, pieces: Math.ceil(text.length / piece), sha256: createHash("sha256").update(text).digest("hex") };
    for (const [i, name] of names(said).entries()) {
      await this.#texts.put(name, JSON.stringify(text.slice(i * piece, (i + 1) * piece)));
    }
    return this.#append(session, "tool", `${mark}large ${n} ${JSON.stringify(said)}`, id);
  }

  async #gone(session: string, ids: readonly string[]): Promise<void> {
    for (let i = 0; i < ids.length; i += 1000) {
      await this.#append(session, "tool", `${mark}gone - ${pack(JSON.stringify(ids.slice(i, i + 1000)))}`, randomUUID());
    }
  }

  /** Appends a turn; undefined where another session has one of this id. */
  async #append(session: string, role: Role, content: string, id: string): Promise<Turn | undefined> {
    try {
      return await this.#client.turn.append(session, { role, content, id });
    } catch (error) {
      if (error instanceof ConflictError) {
        return undefined;
      }
      throw error;
    }
  }

  /** What is in a session now. Of one that is known already, what is new is asked for. */
  #read(session: string): Promise<Known> {
    return this.#reads.alone(session, async () => {
      const old = this.#known.get(session);
      const later = old?.last === undefined ? undefined : await this.#later(session, old.last);
      const known = old !== undefined && later !== undefined ? old : { messages: new Map<string, Message>(), gone: new Set<string>(), came: new Set<string>(), pieces: new Set<string>(), last: undefined };
      this.#known.delete(session);
      for (const turn of later ?? (await this.#turns(session))) {
        await this.#apply(known, turn);
        known.last = turn.id;
      }
      this.#known.set(session, known);
      if (this.#known.size > mostKnown) {
        this.#known.delete(this.#known.keys().next().value as string);
      }
      // A copy, as what is known grows while somebody looks at it.
      return { ...known, messages: new Map(known.messages), gone: new Set(known.gone) };
    });
  }

  /** The turns behind one; undefined where that is not among the last ones. */
  async #later(session: string, last: string): Promise<{ id: string; content: string }[] | undefined> {
    const found: { id: string; content: string }[] = [];
    const listing = this.#client.turn.page(session, { limit: newest });
    let cursor: string | undefined;
    for (let page = 0; page < newestPages && (page === 0 || cursor !== undefined); page++) {
      const { items, next } = await listing.page(cursor);
      for (const turn of items) {
        if (turn.id === last) {
          return found.reverse();
        }
        found.push(turn);
      }
      cursor = next;
    }
    return undefined;
  }

  async #turns(session: string): Promise<Turn[]> {
    let lost: unknown;
    for await (const _ of tries()) {
      try {
        const turns: Turn[] = [];
        for await (const turn of this.#client.turn.list(session).lines()) {
          turns.push(turn);
        }
        return turns;
      } catch (error) {
        if (!(error instanceof UnreachableError)) {
          throw error;
        }
        lost = error;
      }
    }
    throw lost;
  }

  async #apply(known: Known, turn: { id: string; content: string }): Promise<void> {
    const put = (message: Message | undefined): void => {
      if (message !== undefined) {
        if (!known.messages.has(message.id) && turn.id !== this.#name("message", message.id)) {
          known.came.add(message.id);
        }
        known.messages.set(message.id, message);
        known.gone.delete(message.id);
      }
    };
    if (!turn.content.startsWith(mark)) {
      return put(plain(turn.content)?.message);
    }
    const [what, , said = ""] = split(turn.content);
    if (what === "gone") {
      for (const id of (parsed(unpack(said)) as string[] | undefined) ?? []) {
        known.messages.delete(id);
        known.gone.add(id);
      }
    } else if (what === "exact") {
      put((parsed(unpack(said)) as Put | undefined)?.message);
    } else if (what === "large") {
      const large = parsed(said) as Large | undefined;
      put(large === undefined ? undefined : await this.#whole(large));
      for (const name of large === undefined ? [] : names(large)) {
        known.pieces.add(name);
      }
    }
  }

  async #whole(large: Large): Promise<Message | undefined> {
    const parts = await Promise.all(names(large).map(async (name) => parsed((await this.#texts.read(name)).text) as string | undefined));
    const text = parts.join("");
    return createHash("sha256").update(text).digest("hex") === large.sha256 ? (parsed(text) as Put | undefined)?.message : undefined;
  }
}

/** Checks a message that comes from outside, before anything is stored. */
export function checkMessage(m: Message): void {
  for (const name of ["id", "threadId"] as const) {
    if (typeof m[name] !== "string" || m[name].trim() === "") {
      throw new InvalidError(`a message has no ${name}, want a text`);
    }
  }
  if (m.resourceId === null || (m.resourceId !== undefined && typeof m.resourceId !== "string")) {
    throw new InvalidError(`the resourceId of the message ${m.id.slice(0, 80)} is not a text`);
  }
}

function grouped<T>(items: readonly T[], name: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    groups.set(name(item), [...(groups.get(name(item)) ?? []), item]);
  }
  return groups;
}

function split(content: string): string[] {
  const [what, n] = content.slice(mark.length).split(" ", 2) as [string, string];
  return [what, n, content.slice(mark.length + what.length + n.length + 2)];
}

/** Who wrote a turn. */
function writer(content: string): string | undefined {
  return content.startsWith(mark) ? split(content)[1] : /^\{"n":"([0-9a-f]{8})"/.exec(content)?.[1];
}

/** What a message is without what it says. */
function frame({ content: _, ...rest }: Message): string {
  return JSON.stringify(rest);
}

function plain(content: string): Put | undefined {
  const said = parsed(content) as Put | undefined;
  return typeof said?.message?.id === "string" ? said : undefined;
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function names(large: Large): string[] {
  return Array.from({ length: large.pieces }, (_, i) => `${large.key}-${i}`);
}
