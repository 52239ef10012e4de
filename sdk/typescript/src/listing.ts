import type { CallOptions } from "./call.js";
import { DamagedError } from "./errors.js";

/** One page of a listing. */
export interface Page<T> {
  items: T[];
  /** The cursor of the next page; undefined on the last one. */
  next?: string;
  /** Rows that belong to the answer and cannot be read. */
  set_aside?: unknown[];
}

/** Asks for the pages and lines of one listing. */
export interface Pages<T> {
  readonly paged: boolean;
  page(cursor: string | undefined, options: CallOptions): Promise<Page<T>>;
  lines(options: CallOptions): AsyncGenerator<T, void, undefined>;
}

/**
 * What a listing answers. `for await` goes through all pages, one after the other; nothing is asked before that.
 * `limit` is the size of a page.
 */
export class Listing<T> implements AsyncIterable<T> {
  readonly #pages: Pages<T>;
  readonly #options: CallOptions;

  constructor(pages: Pages<T>, options: CallOptions) {
    this.#pages = pages;
    this.#options = options;
  }

  /** One page: the first one, or the one at a cursor. */
  page(cursor?: string): Promise<Page<T>> {
    return this.#pages.page(cursor, this.#options);
  }

  /** Every item of every page. */
  async all(): Promise<T[]> {
    const items: T[] = [];
    for await (const item of this) {
      items.push(item);
    }
    return items;
  }

  /** Every item in one answer, as the server finds them. It takes less memory than pages, and cannot go on after an interruption. */
  lines(): AsyncGenerator<T, void, undefined> {
    return this.#pages.lines(this.#options);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const seen = new Set<string>();
    for (let cursor: string | undefined; ; ) {
      const page = await this.page(cursor);
      yield* page.items;
      cursor = page.next;
      if (cursor === undefined || !this.#pages.paged) {
        return;
      }
      if (seen.has(cursor)) {
        throw new DamagedError("the server gave the same cursor twice: the listing would not end");
      }
      seen.add(cursor);
    }
  }
}

/** Checks that an answer is a page. */
export function asPage<T>(answer: unknown, id: string): Page<T> {
  const { items, next, set_aside } = (answer ?? {}) as Record<string, unknown>;
  if (!Array.isArray(items) || (next !== undefined && typeof next !== "string")) {
    throw new DamagedError(`${id}: the answer of the server is not a page of a listing`);
  }
  return { items: items as T[], ...(next === undefined || next === "" ? {} : { next }), ...(Array.isArray(set_aside) ? { set_aside: set_aside as unknown[] } : {}) };
}
