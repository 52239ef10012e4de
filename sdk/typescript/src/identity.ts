import type { Operation } from "./call.js";

/** Whose memories are written and asked for. */
export interface Identity {
  user_id?: string | undefined;
  project_id?: string | undefined;
  session_id?: string | undefined;
  workspace_id?: string | undefined;
}

export const identityNames = ["user_id", "project_id", "session_id", "workspace_id"] as const;

/** The operations that an identity goes with: what writes memories, and what asks for them. */
const bound = new Set(["memory.write", "memory.write_batch", "memory.recall", "memory.context", "memory.list", "relation.neighbours", "snapshot.recall", "snapshot.memories"]);

/**
 * Adds the identity of a client to the arguments of a call. What the call says itself stays; what is written for everybody, and a
 * question about everything, has none.
 */
export function withIdentity(o: Operation, args: object, identity: Identity): object {
  if (!bound.has(o.id)) {
    return args;
  }
  const { items, all } = args as { items?: unknown; all?: unknown };
  if (o.id === "memory.write_batch") {
    return Array.isArray(items) ? { ...args, items: items.map((item: unknown) => (typeof item === "object" && item !== null ? written(item, identity) : item)) } : args;
  }
  if (o.id === "memory.write") {
    return written(args, identity);
  }
  return all === true ? args : added(args, identity, (name) => Object.hasOwn(o.body ?? {}, name) || Object.hasOwn(o.query, name));
}

function written(memory: object, identity: Identity): object {
  return (memory as { scope?: unknown }).scope === "global" ? memory : added(memory, identity, () => true);
}

function added(to: object, identity: Identity, has: (name: string) => boolean): object {
  const out: Record<string, unknown> = { ...to };
  for (const name of identityNames) {
    if (identity[name] !== undefined && out[name] === undefined && has(name)) {
      out[name] = identity[name];
    }
  }
  return out;
}
