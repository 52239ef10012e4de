// Sends requests to the server of a client, and again where that helps.
import type { IncomingMessage } from "node:http";

import { checkStatus } from "./answer.js";
import type { Endpoint, Place } from "./endpoint.js";
import { AmberError, InvalidError, UnreachableError } from "./errors.js";
import { Failed } from "./failed.js";
import { exchange, type Manner } from "./http.js";
import type { Request } from "./request.js";
import { Deadline, pause } from "./wait.js";

/** How long requests may take and are repeated. */
export interface Patience {
  /** One call with all its repetitions; undefined: 2 minutes, 65 minutes for what takes long. */
  readonly timeoutMs: number | undefined;
  readonly retryForMs: number;
}

const usualTimeout = 2 * 60_000;
const longTimeout = 65 * 60_000; // a server gives up earlier
const firstPause = 50;
const mostPause = 2000;

/** Reads an answer whose status was checked. It throws [Failed]. */
export type Reader<T> = (endpoint: Endpoint, response: IncomingMessage, deadline: Deadline) => Promise<T>;

/** The way to the server. Clients that come from one another share it. */
export class Connection {
  readonly #place: Place;
  readonly #patience: Patience;
  readonly #closing = new AbortController();

  constructor(place: Place, patience: Patience) {
    this.#place = place;
    this.#patience = patience;
  }

  /** Ends with the connection. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** Ends every request and lets go of the server. */
  async close(): Promise<void> {
    if (!this.#closing.signal.aborted) {
      this.#closing.abort(new UnreachableError("the client was closed"));
      await this.#place.close();
    }
  }

  /** Sends a request until it is answered, and reads the answer. Errors: those of the server; unreachable, damaged. */
  async send<T>(r: Request, manner: Manner, options: { signal?: AbortSignal | undefined; timeoutMs?: number | undefined }, read: Reader<T>): Promise<T> {
    if (this.#closing.signal.aborted) {
      throw new InvalidError(`${r.id}: the client was closed`);
    }
    const ms = options.timeoutMs ?? this.#patience.timeoutMs ?? (r.long ? longTimeout : usualTimeout);
    const deadline = new Deadline([options.signal, this.#closing.signal], ms, () =>
      new UnreachableError(`${r.id}: the server has not answered within ${ms} ms`, { reason: "timeout", hint: hintFor(r) }));
    let keep = false;
    try {
      const answer = await this.#insist(r, manner, deadline, read);
      keep = manner.goesOn;
      return answer;
    } finally {
      if (!keep) {
        deadline.dispose();
      }
    }
  }

  async #insist<T>(r: Request, manner: Manner, deadline: Deadline, read: Reader<T>): Promise<T> {
    const until = Date.now() + this.#patience.retryForMs;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(r, manner, deadline, read);
      } catch (cause) {
        if (!(cause instanceof Failed)) {
          throw cause;
        }
        const wait = cause.gone && this.#place.local && attempt === 0 ? 0 : Math.max(cause.pauseMs ?? 0, backoff(attempt));
        if (!mayRepeat(r, cause) || Date.now() + wait > until) {
          throw explained(r, cause);
        }
        await pause(wait, deadline.signal);
      }
    }
  }

  async #attempt<T>(r: Request, manner: Manner, deadline: Deadline, read: Reader<T>): Promise<T> {
    const endpoint = await this.#place.endpoint(deadline.signal);
    try {
      const response = await exchange(endpoint, r, manner, deadline.signal);
      await checkStatus(endpoint, response, deadline.signal);
      return await read(endpoint, response, deadline);
    } catch (cause) {
      if (cause instanceof Failed && cause.gone) {
        this.#place.lost(endpoint);
      }
      throw cause;
    }
  }
}

/** A pause that grows, with some chance in it so that many clients do not come at one moment. */
function backoff(attempt: number): number {
  const most = Math.min(mostPause, firstPause * 2 ** Math.min(attempt, 10));
  return most / 2 + (Math.random() * most) / 2;
}

function mayRepeat(r: Request, failed: Failed): boolean {
  if (r.body !== null && "open" in r.body && !r.body.again) {
    return false; // the stream was read
  }
  return failed.again === "always" || (failed.again === "repeatable" && r.repeatable);
}

/** The error that a caller gets. Nobody can know whether something was done whose answer did not come. */
function explained(r: Request, failed: Failed): unknown {
  const e = failed.error;
  if (e instanceof AmberError && failed.again === "repeatable" && !r.repeatable && e.status === undefined) {
    return new UnreachableError(e.message, { hint: "the server may have carried out the request: check before you repeat it", cause: e });
  }
  return e;
}

function hintFor(r: Request): string | undefined {
  return r.repeatable && r.method === "GET" ? undefined : "the server may have carried out the request; the same idempotencyKey repeats it safely";
}
