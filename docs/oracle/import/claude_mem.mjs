// Writes a database of claude-mem through its own store. Usage: bun claude_mem.mjs STORE DATABASE ROWS, rows as JSON.
import { createRequire } from "module";
import { readFileSync } from "fs";

const [store, database, rows] = process.argv.slice(2);
const { SessionStore } = createRequire(import.meta.url)(store);
const db = new SessionStore(database);
for (const s of JSON.parse(readFileSync(rows, "utf8"))) {
  const row = db.createSDKSession(s.id, s.project, s.prompts[0] ?? "");
  db.ensureMemorySessionIdRegistered(row, s.id + "-memory");
  s.prompts.forEach((text, i) => db.saveUserPrompt(s.id, i + 1, text));
  s.observations.forEach((o, i) => db.storeObservation(s.id + "-memory", s.project, o, 1, 0, s.at + i));
  if (s.summary) db.storeSummary(s.id + "-memory", s.project, s.summary, 1, 0, s.at + 1000);
}
// The database stays open until the end of stdin: what was written last is in its log.
console.log("written");
for await (const _ of process.stdin) {}
