// What the generated methods and the written parts of the client agree on.
import type { FileAnswer } from "./file.js";
import type { Listing } from "./listing.js";
import type { Stream } from "./stream.js";
import type { Upload } from "./upload.js";

export type { FileAnswer, Listing, Stream, Upload };

/** How an operation travels. Names on the left are those of arguments, those on the right travel. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  /** With variables in braces. */
  readonly path: string;
  /** In the order of the path, but for tenant and agent. */
  readonly variables: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** null: there is no JSON body. */
  readonly body: Readonly<Record<string, string>> | null;
  /** The body is bytes. */
  readonly raw: boolean;
  /** An Idempotency-Key is taken. */
  readonly key: boolean;
  readonly changes: boolean;
  /** The server may take an hour. */
  readonly long: boolean;
  /** Of a list: there may be a next page. */
  readonly paged: boolean;
  readonly answer: "none" | "json" | "list" | "stream" | "file";
}

/** What may be said about one call. */
export interface CallOptions {
  /** The same key gets the same answer for 7 days. Without one the client makes a new one for each call. */
  idempotencyKey?: string | undefined;
  /** Ends the call; its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** How long the call may take, with all its repetitions. Of a listing: one page. Of a stream or a file: until it begins. */
  timeoutMs?: number | undefined;
}

/** Makes the calls of the generated methods. */
export interface Caller {
  ask<T>(o: Operation, variables: readonly string[], args: object, options: CallOptions, data?: Upload): Promise<T>;
  done(o: Operation, variables: readonly string[], args: object, options: CallOptions, data?: Upload): Promise<void>;
  listing<T>(o: Operation, variables: readonly string[], args: object, options: CallOptions): Listing<T>;
  stream<T>(o: Operation, variables: readonly string[], args: object, options: CallOptions): Stream<T>;
  file(o: Operation, variables: readonly string[], args: object, options: CallOptions): FileAnswer;
}
