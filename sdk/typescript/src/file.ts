import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { DamagedError } from "./errors.js";

/** A file that the server sends. Nothing is asked before it is read, and every reading asks again. */
export class FileAnswer implements AsyncIterable<Uint8Array> {
  readonly #open: () => AsyncGenerator<Uint8Array, void, undefined>;

  constructor(open: () => AsyncGenerator<Uint8Array, void, undefined>) {
    this.#open = open;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#open();
  }

  /** The whole file in memory, at most 1 GiB. */
  async bytes(): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of this) {
      size += piece.byteLength;
      if (size > 1 << 30) {
        throw new DamagedError("the file is too large for memory: it has more than 1 GiB");
      }
      pieces.push(piece);
    }
    return new Uint8Array(Buffer.concat(pieces));
  }

  /** Writes the file. A file that is there is replaced once the new one is whole; only the user can read it. */
  async save(path: string): Promise<void> {
    const part = `${path}.${randomUUID()}.part`;
    try {
      await pipeline(Readable.from(this, { objectMode: false }), createWriteStream(part, { flags: "wx", mode: 0o600, flush: true }));
      await rename(part, path);
    } catch (cause) {
      await rm(part, { force: true });
      throw cause;
    }
  }
}
