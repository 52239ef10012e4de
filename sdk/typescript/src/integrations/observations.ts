// Mastra's observational memory. What it does with a record is Mastra's own code for a storage in memory; its records are kept in Amber.
import type { Amber } from "../client.js";
import { binding, digest, label, orNothing, owner, Texts } from "./stored.js";

/* eslint-disable-next-line @typescript-eslint/no-explicit-any -- what is in a record is Mastra's */
type Any = any;

/** What is used of Mastra's storage in memory. */
export interface InMemory {
  getStore(name: "memory"): Promise<Any>;
}

/** Whose records they are: those of a thread, or those of a resource. */
type Place = readonly [thread: string | null, resource: string];

const byPlace = ["getObservationalMemory", "getObservationalMemoryHistory", "clearObservationalMemory"] as const;
const byInput = ["initializeObservationalMemory", "insertObservationalMemoryRecord"] as const;
const byRecord = ["createReflectionGeneration", "swapBufferedReflectionToActive"] as const;
const byId = [
  "updateActiveObservations",
  "updateBufferedObservations",
  "swapBufferedToActive",
  "updateBufferedReflection",
  "updateObservationalMemoryConfig",
  "setReflectingFlag",
  "setObservingFlag",
  "setBufferingObservationFlag",
  "setBufferingReflectionFlag",
  "setPendingMessageTokens",
] as const;

/** The methods of observational memory of a MemoryStorage. */
export function observations(client: Amber, make: new () => InMemory): Record<string, (...args: Any[]) => Promise<Any>> {
  const texts = new Texts(client);
  const name = (what: string, id: unknown): string => `mastra-${digest("mastra", what, owner(client), id)}`;
  const nameOf = ([thread, resource]: Place): string => name("observations", thread ? ["thread", thread] : ["resource", resource]);

  /** Does something with the records of a place. */
  const at = async (place: Place, method: string, args: Any[]): Promise<Any> => {
    let answer: Any;
    let removed: string[] = [];
    const state = nameOf(place);
    const text = await texts.change(state, async (text) => {
      const memory = await new make().getStore("memory");
      const before = text === undefined ? [] : revived(text);
      for (const record of [...before].reverse()) {
        await memory.insertObservationalMemoryRecord(record);
      }
      answer = await memory[method](...args);
      const after: Any[] = await memory.getObservationalMemoryHistory(...place);
      removed = before.map((r) => r.id).filter((id) => !after.some((r) => r.id === id));
      if (after.length === 0) {
        return text === undefined ? undefined : "[]";
      }
      if (text === undefined) {
        await client.session.start({ id: state, binding: binding(client, "mastra-observations"), name: label(place[0] ?? place[1]) });
      }
      // Where a record is found by its id is known before the record is there.
      const known = new Set(before.map((r) => r.id));
      for (const { id } of after.filter((r) => !known.has(r.id))) {
        await texts.put(name("observation", id), JSON.stringify(place));
      }
      return frozen(after);
    });
    await Promise.all(removed.map((id) => texts.delete(name("observation", id))));
    if (text === "[]" && removed.length > 0) {
      await orNothing(client.session.delete(state));
    }
    return answer;
  };

  const methods: Record<string, (...args: Any[]) => Promise<Any>> = {};
  for (const method of byPlace) {
    methods[method] = (...args) => at([args[0] ?? null, args[1]], method, args);
  }
  for (const method of byInput) {
    methods[method] = (input) => at([input.threadId ?? null, input.resourceId], method, [input]);
  }
  for (const method of byRecord) {
    methods[method] = (input) => at([input.currentRecord.threadId ?? null, input.currentRecord.resourceId], method, [input]);
  }
  for (const method of byId) {
    methods[method] = async (...args) => {
      const id: string = typeof args[0] === "string" ? args[0] : args[0].id;
      const { text } = await texts.read(name("observation", id));
      if (text === undefined) {
        throw new Error(`Observational memory record not found: ${id}`);
      }
      return at(JSON.parse(text) as unknown as Place, method, args);
    };
  }
  return methods;
}

/** Records as a text. Times in them stay times. */
function frozen(records: Any[]): string {
  return JSON.stringify(records, function (this: Any, field, value) {
    return this[field] instanceof Date ? { $date: value } : value;
  });
}

function revived(text: string): Any[] {
  return JSON.parse(text, (_, value) => (typeof value === "object" && value !== null && typeof value.$date === "string" && Object.keys(value).length === 1 ? new Date(value.$date) : value)) as Any[];
}
