// Compiled with the types of Mastra by scripts/sdk-frameworks-ts.sh, and never run: the methods of the storage are those that Mastra asks for.
import type { MastraCompositeStore, MemoryStorage } from "@mastra/core/storage";
import * as storage from "@mastra/core/storage";
import type { InputProcessor } from "@mastra/core/processors";
import type { Amber } from "amber-memory";
import { amberStorage, memoryProcessor, type Threads } from "amber-memory/mastra";

type Same =
  | "getThreadById"
  | "saveThread"
  | "updateThread"
  | "updateThreadMetadata"
  | "deleteThread"
  | "listThreads"
  | "copyThread"
  | "saveMessages"
  | "updateMessages"
  | "deleteMessages"
  | "listMessages"
  | "listMessagesById"
  | "listMessagesByResourceId"
  | "getResourceById"
  | "saveResource"
  | "updateResource"
  | "dangerouslyClearAll";

export function compiled(amber: Amber, threads: Threads): unknown[] {
  const methods: Pick<MemoryStorage, Same> = threads;
  const store: MastraCompositeStore = amberStorage(amber, storage, { id: "mine" });
  const processor: InputProcessor = memoryProcessor(amber);
  return [methods, store, processor];
}
