/** Durable memory for AI agents: a client of Amber that brings its own server. */
export { Amber, type Speaker } from "./client.js";
export type { CallOptions, Operation } from "./call.js";
export * from "./errors.js";
export { FileAnswer } from "./file.js";
export type * from "./generated/models.js";
export { operations, type OperationId } from "./generated/operations.js";
export type * from "./generated/operations.js";
export type { Identity } from "./identity.js";
export { Listing, type Page } from "./listing.js";
export type { AmberOptions } from "./options.js";
export { Stream, type StreamEvent } from "./stream.js";
export type { Upload } from "./upload.js";
