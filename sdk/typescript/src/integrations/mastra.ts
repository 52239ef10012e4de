/**
 * Memory for Mastra:
 *
 *     import * as storage from "@mastra/core/storage";
 *
 *     const memory = new Memory({ storage: amberStorage(amber, storage) });
 *     const agent = new Agent({ ..., memory, tools: memoryTools(amber), inputProcessors: [memoryProcessor(amber)] });
 */
import type { Amber } from "../client.js";
import { type InMemory, observations } from "./observations.js";
import { Threads } from "./threads.js";

export { memoryTools, type MemoryTools } from "./ai.js";
export type * from "./threads.js";

/* eslint-disable-next-line @typescript-eslint/no-explicit-any -- the classes are those of the version that is installed */
type Any = any;

/** What is used of `@mastra/core/storage`. */
export interface StorageModule {
  MemoryStorage: abstract new () => object;
  MastraCompositeStore: new (config: Any) => object;
  InMemoryStore: new () => InMemory;
}

export interface StorageOptions {
  /** The id of the storage in Mastra. The default is amber. */
  id?: string | undefined;
}

const methods = [
  "getThreadById",
  "saveThread",
  "updateThread",
  "updateThreadMetadata",
  "deleteThread",
  "listThreads",
  "copyThread",
  "saveMessages",
  "updateMessages",
  "deleteMessages",
  "listMessages",
  "listMessagesById",
  "listMessagesByResourceId",
  "getResourceById",
  "saveResource",
  "updateResource",
  "dangerouslyClearAll",
] as const satisfies (keyof Threads)[];

/**
 * A storage of Mastra whose domain `memory` is in Amber: threads, messages, working memory and observations. It belongs to the identity
 * that the client is bound to, and one for somebody else finds nothing of it. The second argument is the module `@mastra/core/storage`,
 * whose classes it is made of.
 *
 * Other domains, as those of workflows and traces, are not in it. A program that needs them puts it over another storage:
 * `new MastraCompositeStore({ id, default: other, domains: { memory: await amberStorage(amber, storage).getStore("memory") } })`.
 */
export function amberStorage<M extends StorageModule>(client: Amber, module: M, options: StorageOptions = {}): InstanceType<M["MastraCompositeStore"]> {
  const threads = new Threads(client);
  const Base = module.MemoryStorage as unknown as new () => object;
  class AmberMemory extends Base {
    readonly supportsPartialThreadUpdate = true;
    readonly supportsObservationalMemory = true;
  }
  const own: Record<string, (...args: Any[]) => Promise<Any>> = observations(client, module.InMemoryStore);
  for (const name of methods) {
    own[name] = (threads[name] as (...args: Any[]) => Promise<Any>).bind(threads);
  }
  for (const [name, value] of Object.entries(own)) {
    Object.defineProperty(AmberMemory.prototype, name, { value, configurable: true, writable: true });
  }
  return new module.MastraCompositeStore({ id: options.id ?? "amber", name: "AmberStorage", domains: { memory: new AmberMemory() } }) as InstanceType<M["MastraCompositeStore"]>;
}

export interface ProcessorOptions {
  /** The most bytes of the block of memory. The default is 8192. */
  max_bytes?: number | undefined;
}

/** What the processor touches of a message. */
interface Said {
  role: string;
  content: unknown;
}

/** What a processor is called with. */
interface Input<M, S> {
  messages: M[];
  systemMessages: S[];
  abortSignal?: AbortSignal | undefined;
}

/** A processor of input for an Agent of Mastra. */
export interface MemoryProcessor {
  readonly id: "amber-memory";
  readonly name: string;
  processInput<M, S>(input: Input<M, S>): Promise<{ messages: M[]; systemMessages: S[] }>;
}

/** Puts what is remembered, and belongs to the last text of the user, behind the instructions of the agent. */
export function memoryProcessor(client: Amber, options: ProcessorOptions = {}): MemoryProcessor {
  return {
    id: "amber-memory",
    name: "Amber",
    async processInput<M, S>({ messages, systemMessages, abortSignal }: Input<M, S>) {
      const last = (messages as unknown as Said[]).filter((m) => m.role === "user").at(-1);
      const block = await client.context(textOf(last?.content), { max_bytes: options.max_bytes, sessions: -1 }, { signal: abortSignal });
      return { messages, systemMessages: block.text === "" ? systemMessages : [...systemMessages, { role: "system", content: block.text } as S] };
    },
  };
}

function textOf(content: unknown): string {
  if (typeof content === "string") {
    return content;
  }
  const { parts } = (content ?? {}) as { parts?: { type: string; text?: string }[] };
  return (parts ?? []).map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("\n").trim();
}
