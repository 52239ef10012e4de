import { splitLines } from "./lines.js";

/** One event of a stream. */
export interface StreamEvent<T> {
  /** The place of the event. A stream that is given it as `after` goes on behind it. */
  readonly position: string;
  /** What happened, as in `mutated`. `restored` without data says that a restore replaced the history: read anew what you keep. */
  readonly event: string;
  /** undefined for `restored`. */
  readonly data: T | undefined;
}

/** Opens a stream of events behind a place, and finds out where the events end now. */
export interface Events<T> {
  open(after: string | undefined): AsyncGenerator<StreamEvent<T>, void, undefined>;
  end(): Promise<string | undefined>;
  /** Whether a stream that ended is opened again after this error; it pauses where it is. */
  again(error: unknown, failures: number): Promise<boolean>;
}

/**
 * Events as they happen. It goes on by itself after a lost connection or a restart of the server, without losing or repeating one. It
 * ends with its signal, with `close()` of the client, or when the loop is left.
 */
export class Stream<T> implements AsyncIterable<StreamEvent<T>> {
  readonly #events: Events<T>;
  #after: Promise<string | undefined> | undefined;

  constructor(events: Events<T>, after: string | undefined) {
    this.#events = events;
    this.#after = after === undefined ? undefined : Promise.resolve(after);
  }

  /** Fixes the place where the stream begins: everything that happens after this is in it. A loop does that first. */
  async ready(): Promise<void> {
    this.#after ??= this.#events.end();
    try {
      await this.#after;
    } catch (cause) {
      this.#after = undefined;
      throw cause;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamEvent<T>, void, undefined> {
    await this.ready();
    let after = await this.#after;
    for (let failures = 0; ; failures++) {
      let failure: unknown;
      try {
        for await (const event of this.#events.open(after)) {
          failures = 0;
          after = event.position === "" ? after : event.position;
          yield event;
        }
      } catch (cause) {
        failure = cause;
      }
      if (!(await this.#events.again(failure, failures))) {
        return;
      }
    }
  }
}

/** A server-sent event as it travels. */
export interface Sent {
  id: string | undefined;
  event: string;
  data: string;
}

/** Reads server-sent events. */
export async function* readEvents(pieces: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Sent, void, undefined> {
  let sent: Sent = { id: undefined, event: "", data: "" };
  let some = false;
  for await (const bytes of splitLines(pieces, most)) {
    const line = bytes.toString("utf8");
    if (line === "") {
      if (some) {
        yield sent;
      }
      sent = { id: undefined, event: "", data: "" };
      some = false;
      continue;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    switch (field) {
      case "event":
        sent.event = value;
        some = true;
        break;
      case "data":
        sent.data += (sent.data === "" ? "" : "\n") + value;
        some = true;
        break;
      case "id":
        sent.id = value;
        break;
    }
  }
  // What has no blank line behind it was cut off, and comes again.
}
