// What adapters share that keep the values of a framework: names that cannot clash, and values that arrive as they were sent.
import { createHash, randomUUID } from "node:crypto";
import { deflateSync, inflateSync } from "node:zlib";

import { type Amber, identityOf } from "../client.js";
import { ConflictError, DamagedError, NotFoundError } from "../errors.js";

const patience = 30_000;

/** A name of 40 letters and digits for a list of parts, whatever is in them. */
export function digest(...parts: unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 40);
}

/** Whose something is, so that another identity has another name for it. */
export function owner(client: Amber): readonly (readonly [string, string])[] {
  return Object.entries(identityOf(client))
    .filter((e): e is [string, string] => e[1] !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** What the sessions of a kind of one identity are bound to, so that they can be listed. */
export function binding(client: Amber, kind: string): string {
  return `${kind}-${digest(kind, owner(client)).slice(0, 16)}`;
}

/** Makes of any text a name that a session can have. */
export function label(name: string): string {
  return [...name.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, " ")].slice(0, 50).join("").trim() || "unnamed";
}

const digits = "0123456789abcdef";
const consonants = "bcdfghjklmnpqrst";
const written = table(digits, consonants);
const read = table(consonants, digits);

function table(from: string, to: string): Uint8Array {
  const bytes = new Uint8Array(256);
  [...from].forEach((c, i) => (bytes[c.charCodeAt(0)] = to.charCodeAt(i)));
  return bytes;
}

function translated(text: string, by: Uint8Array): string {
  const bytes = Buffer.from(text, "latin1");
  for (const [i, byte] of bytes.entries()) {
    bytes[i] = by[byte] as number;
  }
  return bytes.toString("latin1");
}

/** Writes a text in a way that no rule for secrets changes: with consonants alone, which spell nothing that a rule looks for. */
export function pack(text: string): string {
  return translated(deflateSync(text, { level: 1 }).toString("hex"), written);
}

/** Reads what pack has written; undefined where that cannot be read. */
export function unpack(text: string): string | undefined {
  const hex = translated(text, read);
  try {
    return hex.length % 2 === 0 && !hex.includes("\0") ? inflateSync(Buffer.from(hex, "hex")).toString("utf8") : undefined;
  } catch {
    return undefined;
  }
}

/** Gives another try, after growing pauses, until it has been tried for long. */
export async function* tries(): AsyncGenerator<void, void, undefined> {
  const end = Date.now() + patience;
  for (let pause = 5; ; pause = Math.min(500, pause * 2)) {
    yield;
    if (Date.now() > end) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, pause * (0.2 + 0.8 * Math.random())));
  }
}

/** The value of something; undefined where there is none. */
export async function orNothing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof NotFoundError) {
      return undefined;
    }
    throw error;
  }
}

/** One after the other, for each name. It spares a program conflicts with itself. */
export class Locks {
  readonly #last = new Map<string, Promise<unknown>>();

  async alone<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const mine = before.then(work);
    const done = mine.catch(() => undefined);
    this.#last.set(name, done);
    try {
      return await mine;
    } finally {
      if (this.#last.get(name) === done) {
        this.#last.delete(name);
      }
    }
  }
}

/** A text as it is stored, with a mark of who stored it: another writer may have stored the same. */
interface Stored {
  v: 1;
  w: string;
  t: string;
}

/** Texts as states of sessions, each under a name. They are stored exactly. */
export class Texts {
  readonly #client: Amber;
  readonly #locks = new Locks();

  constructor(client: Amber) {
    this.#client = client;
  }

  /** A text, and its version; undefined and 0 where there is none. */
  async read(name: string): Promise<{ text: string | undefined; version: number }> {
    const found = await orNothing(this.#client.state.get(name));
    return found === undefined ? { text: undefined, version: 0 } : { text: decode(name, found.document), version: found.version };
  }

  /**
   * Replaces a text by what `to` makes of it, and answers with that; undefined leaves it as it is. Two programs that do so at one moment
   * lose nothing of each other.
   */
  change(name: string, to: (text: string | undefined) => string | undefined | Promise<string | undefined>): Promise<string | undefined> {
    return this.#locks.alone(name, () => this.#change(name, to));
  }

  async #change(name: string, to: (text: string | undefined) => string | undefined | Promise<string | undefined>): Promise<string | undefined> {
    let conflict: unknown;
    for await (const _ of tries()) {
      const { text, version } = await this.read(name);
      const next = await to(text);
      if (next === undefined || next === text) {
        return text;
      }
      const document: Stored = { v: 1, w: randomUUID(), t: pack(next) };
      try {
        await this.#client.state.save(name, { document, if_version: version });
        return next;
      } catch (error) {
        if (!(error instanceof ConflictError)) {
          throw error;
        }
        // It may have been stored by an attempt whose answer was lost.
        const found = await orNothing(this.#client.state.get(name));
        if ((found?.document as Partial<Stored> | undefined)?.w === document.w) {
          return next;
        }
        conflict = error;
      }
    }
    throw conflict;
  }

  /** Stores a text over whatever is there. */
  async put(name: string, text: string): Promise<void> {
    await this.change(name, () => text);
  }

  /** Removes a text; none is no error. */
  delete(name: string): Promise<void> {
    return this.#client.state.delete(name);
  }
}

function decode(name: string, document: unknown): string {
  const packed = (document as Partial<Stored> | null)?.t;
  const text = typeof packed === "string" ? unpack(packed) : undefined;
  if (text === undefined) {
    throw new DamagedError(`the state ${name} cannot be read: want what an adapter has written, found something else`);
  }
  return text;
}
