// An agent with the memory tool of Claude on the notes of Amber. The model is a stand-in that answers without a network.
import Anthropic from "@anthropic-ai/sdk";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { Amber } from "amber-memory";
import { memoryHandlers } from "amber-memory/anthropic";

const amber = new Amber();
const memory = betaMemoryTool(memoryHandlers(amber, { folder: "users/ada" }));
const anthropic = new Anthropic({ apiKey: "none", fetch: standIn() });

async function ask(text: string): Promise<string> {
  const answer = await anthropic.beta.messages.toolRunner({ model: "stand-in", max_tokens: 1024, messages: [{ role: "user", content: text }], tools: [memory], max_iterations: 4 });
  return answer.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

console.log(await ask("My boat is called Heron."));
console.log(await ask("What is my boat called?"));
await amber.close();

/** Writes down what it is told, and looks it up when it is asked. */
function standIn(): typeof fetch {
  let said = "";
  return async (_url, init) => {
    // The SDK sends what is new in the conversation: a text of the user, or the result of a tool.
    const { messages } = JSON.parse(String(init?.body)) as { messages: { content: string | { content: string }[] }[] };
    const last = messages.at(-1)?.content ?? "";
    const result = typeof last === "string" ? undefined : last[0]?.content;
    said = typeof last === "string" ? last : said;
    const use = (input: object): object => ({ type: "tool_use", id: "tool_1", name: "memory", input });
    const say = (text: string): object => ({ type: "text", text });
    const asks = said.endsWith("?");
    const part =
      result === undefined
        ? use(asks ? { command: "view", path: "/memories/boat.md" } : { command: "create", path: "/memories/boat.md", file_text: said })
        : say(asks ? `You told me: ${result.split("\t")[1]}` : "I have written that down.");
    const stop_reason = result === undefined ? "tool_use" : "end_turn";
    const message = { id: "m", type: "message", role: "assistant", model: "stub", content: [part], stop_reason, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
    return new Response(JSON.stringify(message), { headers: { "content-type": "application/json" } });
  };
}
