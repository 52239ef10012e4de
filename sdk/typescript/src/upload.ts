import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";

import { InvalidError } from "./errors.js";

/** What is uploaded: bytes, something that gives them piece by piece, or a file by its path. */
export type Upload = Uint8Array | Blob | AsyncIterable<Uint8Array> | ReadableStreamLike | { readonly path: string };

/** A stream of the web, as fetch has it. */
export interface ReadableStreamLike {
  getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>; cancel(reason?: unknown): Promise<void> };
}

/** The body of a request: bytes, or what opens a source of them. */
export type Body = { readonly bytes: Uint8Array } | { readonly open: () => Promise<Source>; readonly again: boolean };

/** Bytes piece by piece. */
export interface Source {
  readonly size: number | undefined;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** The body of an upload. Bytes and files can be sent again; a stream can be read once. */
export function bodyOf(data: Upload): Body {
  if (data instanceof Uint8Array) {
    return { bytes: data };
  }
  if (data instanceof Blob) {
    return { again: true, open: async () => ({ size: data.size, pieces: once(new Uint8Array(await data.arrayBuffer())) }) };
  }
  if (typeof data === "object" && data !== null) {
    if ("path" in data && typeof data.path === "string" && !(Symbol.asyncIterator in data)) {
      return { again: true, open: () => openFile(data.path) };
    }
    if (Symbol.asyncIterator in data) {
      return { again: false, open: async () => ({ size: undefined, pieces: data as AsyncIterable<Uint8Array> }) };
    }
    if ("getReader" in data) {
      return { again: false, open: async () => ({ size: undefined, pieces: readAll(data) }) };
    }
  }
  throw new InvalidError(`upload: found ${typeof data}, want bytes, a stream of bytes, or { path } of a file`);
}

async function openFile(path: string): Promise<Source> {
  try {
    const info = await stat(path);
    if (!info.isFile()) {
      throw new InvalidError(`upload ${path}: want a file`);
    }
    return { size: info.size, pieces: createReadStream(path) };
  } catch (cause) {
    if (cause instanceof InvalidError) {
      throw cause;
    }
    throw new InvalidError(`upload ${path}: ${(cause as Error).message}`, { cause });
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function* readAll(stream: ReadableStreamLike): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        ended = true;
        return;
      }
      if (value !== undefined) {
        yield value;
      }
    }
  } finally {
    if (!ended) {
      await reader.cancel().catch(() => undefined);
    }
  }
}
