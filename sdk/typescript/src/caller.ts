// Makes the calls of the generated methods.
import type { IncomingMessage } from "node:http";

import { checkNothing, checkType, cutOff, maxAnswer, parse, readJSON } from "./answer.js";
import type { CallOptions, Caller, Operation } from "./call.js";
import type { Connection } from "./connection.js";
import type { Endpoint } from "./endpoint.js";
import { AmberError, DamagedError, errorIn } from "./errors.js";
import { Failed } from "./failed.js";
import { FileAnswer } from "./file.js";
import type { Manner } from "./http.js";
import { withIdentity, type Identity } from "./identity.js";
import { splitLines } from "./lines.js";
import { asPage, Listing, type Page } from "./listing.js";
import { type Request, requestOf, type Target } from "./request.js";
import { readEvents, Stream, type StreamEvent } from "./stream.js";
import type { Upload } from "./upload.js";
import { type Deadline, pause } from "./wait.js";

/** Whose calls they are. */
export interface Bound extends Target {
  readonly identity: Identity;
}

/** How what is answered with one document is asked for. */
const asked = (data: Upload | undefined): Manner => ({ accept: "application/json", apart: data !== undefined, goesOn: false });

const lastPause = 5000;

// How long an answer that has begun may say nothing. A stream of events has a sign of life every 15 seconds.
const silence = 120_000;
const eventSilence = 60_000;

/** Makes the calls of one client. */
export class ApiCaller implements Caller {
  readonly #connection: Connection;
  readonly #bound: Bound;

  constructor(connection: Connection, bound: Bound) {
    this.#connection = connection;
    this.#bound = bound;
  }

  #request(o: Operation, variables: readonly string[], args: object, options: CallOptions, data?: Upload): Request {
    return requestOf(o, this.#bound, variables, withIdentity(o, args, this.#bound.identity), options, data);
  }

  async ask<T>(o: Operation, variables: readonly string[], args: object, options: CallOptions, data?: Upload): Promise<T> {
    const r = this.#request(o, variables, args, options, data);
    const answer = await this.#connection.send(r, asked(data), options, (endpoint, response, deadline) => readJSON(endpoint, response, maxAnswer, deadline.signal));
    if (typeof answer !== "object" || answer === null || Array.isArray(answer)) {
      throw new DamagedError(`${o.id}: the answer of the server is not an object`);
    }
    return answer as T;
  }

  async done(o: Operation, variables: readonly string[], args: object, options: CallOptions, data?: Upload): Promise<void> {
    const r = this.#request(o, variables, args, options, data);
    await this.#connection.send(r, asked(data), options, (endpoint, response, deadline) => checkNothing(endpoint, response, deadline.signal));
  }

  listing<T>(o: Operation, variables: readonly string[], args: object, options: CallOptions): Listing<T> {
    const page = async (cursor: string | undefined, options: CallOptions): Promise<Page<T>> =>
      asPage(await this.ask(o, variables, cursor === undefined ? args : { ...args, cursor }, options), o.id);
    const whole = o.paged ? { ...args, limit: undefined } : args;
    return new Listing<T>({ paged: o.paged, page, lines: (options) => this.#lines<T>(o, variables, whole, options) }, options);
  }

  async *#lines<T>(o: Operation, variables: readonly string[], args: object, options: CallOptions): AsyncGenerator<T, void, undefined> {
    for await (const line of splitLines(this.#pieces(this.#request(o, variables, args, options), "application/x-ndjson", options), maxAnswer)) {
      if (line.length === 0) {
        continue;
      }
      const item = unwrapped(() => parse(line));
      const keys = typeof item === "object" && item !== null ? Object.keys(item) : [];
      const error = keys.length === 1 ? errorIn(item) : undefined;
      if (error !== undefined) {
        throw error;
      }
      yield item as T;
    }
  }

  file(o: Operation, variables: readonly string[], args: object, options: CallOptions): FileAnswer {
    return new FileAnswer(() => this.#pieces(this.#request(o, variables, args, options), "*/*", options));
  }

  stream<T>(o: Operation, variables: readonly string[], args: object, options: CallOptions): Stream<T> {
    const { after, last_event_id, ...rest } = args as { after?: string; last_event_id?: string };
    const open = (after: string | undefined): AsyncGenerator<StreamEvent<T>, void, undefined> =>
      this.#events<T>(this.#request(o, variables, { ...rest, last_event_id: after }, options), options);
    const again = async (error: unknown, failures: number): Promise<boolean> => {
      if (options.signal?.aborted || this.#connection.closed.aborted) {
        return false;
      }
      if (error !== undefined && !passing(error)) {
        throw error;
      }
      await pause(Math.min(lastPause, 50 * 2 ** Math.min(failures, 10)), options.signal ?? this.#connection.closed).catch(() => undefined);
      return !options.signal?.aborted && !this.#connection.closed.aborted;
    };
    return new Stream<T>({ open, again, end: () => this.#end(o, variables, options) }, after ?? last_event_id);
  }

  /** The place behind the last change. A stream that begins there can go on there, too, when it is cut off before its first event. */
  async #end(o: Operation, variables: readonly string[], options: CallOptions): Promise<string> {
    const head = async (log: string): Promise<string> => {
      const at: Operation = { ...o, id: o.id, path: o.path.replace(/events$/, log + "/head"), query: {}, headers: {}, answer: "json" };
      const { position } = await this.ask<{ position?: unknown }>(at, variables, {}, options);
      if (typeof position !== "string") {
        throw new DamagedError(`${o.id}: the answer of the server has no position`);
      }
      return position;
    };
    const [memory, control] = await Promise.all([head("changes"), head("control-changes")]);
    return `${memory},${control}`;
  }

  async *#events<T>(r: Request, options: CallOptions): AsyncGenerator<StreamEvent<T>, void, undefined> {
    for await (const sent of readEvents(this.#pieces(r, "text/event-stream", options), maxAnswer)) {
      const data = unwrapped(() => parse(Buffer.from(sent.data)));
      const empty = typeof data !== "object" || data === null || Object.keys(data).length === 0;
      yield { position: sent.id ?? "", event: sent.event, data: empty ? undefined : (data as T) };
    }
  }

  /** The pieces of an answer that goes on for long. */
  async *#pieces(r: Request, type: string, options: CallOptions): AsyncGenerator<Uint8Array, void, undefined> {
    const begun = await this.#connection.send(r, { accept: type, apart: true, goesOn: true }, options, async (endpoint: Endpoint, response: IncomingMessage, deadline: Deadline) => {
      if (type !== "*/*") {
        await checkType(endpoint, response, type, deadline.signal);
      }
      deadline.lift();
      return { endpoint, response, deadline };
    });
    const { endpoint, response, deadline } = begun;
    try {
      yield* untilSilent(response, type === "text/event-stream" ? eventSilence : silence);
    } catch (cause) {
      const failed = cutOff(endpoint, cause, deadline.signal);
      throw failed instanceof Failed ? failed.error : failed;
    } finally {
      response.destroy();
      deadline.dispose();
    }
  }
}

/** The pieces of an answer, which is given up when it says nothing for too long. */
async function* untilSilent(response: IncomingMessage, ms: number): AsyncGenerator<Uint8Array, void, undefined> {
  const pieces = response[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  for (;;) {
    const timer = setTimeout(() => response.destroy(Object.assign(new Error("the server has gone silent"), { code: "ETIMEDOUT" })), ms);
    let next: IteratorResult<Uint8Array>;
    try {
      next = await pieces.next();
    } finally {
      clearTimeout(timer);
    }
    if (next.done) {
      return;
    }
    yield next.value;
  }
}

/** Whether a stream may come back after an error. */
function passing(error: unknown): boolean {
  return error instanceof AmberError && (error.kind === "unreachable" || error.kind === "busy") && error.reason !== "timeout";
}

function unwrapped<T>(fn: () => T): T {
  try {
    return fn();
  } catch (cause) {
    throw cause instanceof Failed ? cause.error : cause;
  }
}
