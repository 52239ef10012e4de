// Writes the pieces of JavaScript in a document as files that can be compiled, each a module of its own.
//
//     node scripts/snippets.mjs FOLDER DOCUMENT...
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const [folder, ...documents] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
let count = 0;
for (const document of documents) {
  const lines = readFileSync(document, "utf8").split("\n");
  let code;
  for (const [i, line] of lines.entries()) {
    if (/^```(js|ts)$/.test(line)) {
      code = { line: i + 2, lines: [] };
    } else if (line === "```" && code !== undefined) {
      // The line in the document is the line in the file.
      writeFileSync(path.join(folder, `${path.basename(document, ".md")}-${code.line}.ts`), "\n".repeat(code.line - 1) + code.lines.join("\n") + "\nexport {};\n");
      code = undefined;
      count++;
    } else if (code !== undefined) {
      code.lines.push(line);
    }
  }
}
// What the documents speak of without saying where it comes from.
writeFileSync(
  path.join(folder, "globals.d.ts"),
  `declare const amber: import("amber-memory").Amber;
declare const anthropic: import("@anthropic-ai/sdk").Anthropic;
declare const inner: import("ai").LanguageModel & object;
declare const model: any;
declare const max_tokens: number;
declare const messages: [];
declare const session_id: string;
declare const signal: AbortSignal;
declare const text: string;
`,
);
console.log(`snippets: ${count}`);
