/// <reference lib="esnext.disposable" preserve="true" />
import type { CallOptions } from "./call.js";
import { ApiCaller, type Bound } from "./caller.js";
import { Connection } from "./connection.js";
import { InvalidError } from "./errors.js";
import type { ContextBlock, Hit, WriteAck } from "./generated/models.js";
import { type MemoryContextArgs, type MemoryRecallArgs, type MemoryWriteArgs, Operations } from "./generated/operations.js";
import { type Identity, identityNames } from "./identity.js";
import { type AmberOptions, checkOptions, placeOf } from "./options.js";

/** Who a client speaks for. */
export interface Speaker extends Identity {
  tenant?: string | undefined;
  agent?: string | undefined;
}

const speakerNames: ReadonlySet<string> = new Set(["tenant", "agent", ...identityNames]);
const inner = Symbol("inner");

/**
 * Whom a client is bound to.
 * @internal
 */
export let identityOf: (client: Amber) => Readonly<Identity>;

/**
 * The memory of an agent. `new Amber()` asks the server of $AMBER_REMOTE, else that of the home; where none serves the home, the first
 * call starts one, which ends with this process.
 */
export class Amber extends Operations {
  readonly #connection: Connection;
  readonly #bound: Bound;
  readonly #owner: boolean;

  static {
    identityOf = (client) => client.#bound.identity;
  }

  /** It touches no network and starts nothing. */
  constructor(options?: AmberOptions);
  constructor(options: AmberOptions = {}, shared?: { of: typeof inner; connection: Connection; bound: Bound }) {
    const own = shared?.of !== inner;
    if (own) {
      checkOptions(options);
    }
    const connection = own ? connectionOf(options) : shared.connection;
    const bound = own ? boundOf(options) : shared.bound;
    super(new ApiCaller(connection, bound));
    this.#connection = connection;
    this.#bound = bound;
    this.#owner = own;
  }

  /** Remembers a text. With an identity it is remembered for that alone. */
  remember(text: string, args: Omit<MemoryWriteArgs, "content"> = {}, options: CallOptions = {}): Promise<WriteAck> {
    return this.memory.write({ ...args, content: text }, options);
  }

  /** Finds what best answers a question: memories, what was said in sessions, notes. */
  async recall(question: string, args: Omit<MemoryRecallArgs, "text"> = {}, options: CallOptions = {}): Promise<Hit[]> {
    return (await this.memory.recall({ ...args, text: question }, options)).hits;
  }

  /** Builds the block of memory that is put before a prompt. */
  context(goal = "", args: Omit<MemoryContextArgs, "goal"> = {}, options: CallOptions = {}): Promise<ContextBlock> {
    return this.memory.context({ ...args, goal }, options);
  }

  /** Deletes a memory. */
  forget(id: string, options: CallOptions = {}): Promise<void> {
    return this.memory.forget(id, options);
  }

  /** A client that speaks for somebody else over the same connection, which this client closes. What is not named stays. */
  as(speaker: Speaker): Amber {
    checkOptions(speaker, speakerNames);
    const { tenant, agent, ...identity } = speaker;
    const bound = boundOf({ ...this.#bound.identity, ...identity, tenant: tenant ?? this.#bound.tenant, agent: agent ?? this.#bound.agent });
    return new (Amber as unknown as new (options: AmberOptions, shared: object) => Amber)({}, { of: inner, connection: this.#connection, bound });
  }

  /** Ends requests and streams, and the private server if no other client of this process uses it. A client of `as` leaves that to its origin. */
  async close(): Promise<void> {
    if (this.#owner) {
      await this.#connection.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function connectionOf(o: AmberOptions): Connection {
  for (const [name, value] of Object.entries({ timeoutMs: o.timeoutMs, retryFor: o.retryFor })) {
    if (value !== undefined && !(typeof value === "number" && value >= 0)) {
      throw new InvalidError(`the option ${name} is ${String(value)}, want a number that is not negative`);
    }
  }
  return new Connection(placeOf(o, process.env), { timeoutMs: o.timeoutMs, retryForMs: (o.retryFor ?? 30) * 1000 });
}

function boundOf(o: Speaker): Bound {
  const identity: Identity = {};
  for (const name of identityNames) {
    if (o[name] === "") {
      throw new InvalidError(`${name} is empty, want an id, or leave it out`);
    }
    if (o[name] !== undefined) {
      identity[name] = o[name];
    }
  }
  return { tenant: o.tenant ?? (process.env["AMBER_TENANT"] || "default"), agent: o.agent ?? (process.env["AMBER_AGENT"] || "default"), identity };
}
