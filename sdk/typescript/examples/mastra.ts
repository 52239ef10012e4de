// An agent of Mastra with its threads, working memory and memories in Amber. The model is a stand-in that answers without a network.
import { Agent } from "@mastra/core/agent";
import type { MastraModelConfig } from "@mastra/core/llm";
import * as storage from "@mastra/core/storage";
import { Memory } from "@mastra/memory";
import { MockLanguageModelV4 } from "ai/test";
import { Amber } from "amber-memory";
import { amberStorage, memoryProcessor, memoryTools } from "amber-memory/mastra";

const amber = new Amber({ user_id: "ada" });
const agent = new Agent({
  id: "helper",
  name: "Helper",
  instructions: "You are a helper.",
  model: standIn(),
  memory: new Memory({ storage: amberStorage(amber, storage), options: { lastMessages: 20 } }),
  tools: memoryTools(amber),
  inputProcessors: [memoryProcessor(amber)],
});

async function ask(thread: string, text: string): Promise<string> {
  return (await agent.generate(text, { memory: { thread, resource: "ada" } })).text;
}

console.log(await ask("monday", "My boat is called Heron."));
console.log(await ask("monday", "What did I just say?"));
console.log(await ask("tuesday", "What is my boat called?"));
await amber.close();

/** Remembers what it is told, and reads the thread and what is put before it. Its type is that of another version of a model than Mastra's. */
function standIn(): MastraModelConfig {
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const seen = JSON.stringify(prompt);
      const last = prompt.at(-1);
      const asked = last?.role === "user" ? JSON.stringify(last.content) : "";
      const uses = asked.includes("My boat is called Heron.");
      const text = asked.includes("What did I just say?")
        ? seen.includes("My boat is called Heron.") ? "You told me about your boat." : "I do not know."
        : asked.includes("What is my boat called?")
          ? seen.includes("The boat of Ada is called Heron") ? "It is called Heron." : "I do not know."
          : "I will remember that.";
      const call = { type: "tool-call" as const, toolCallId: "call-1", toolName: "remember", input: JSON.stringify({ text: "The boat of Ada is called Heron" }) };
      return {
        content: [uses ? call : { type: "text" as const, text }],
        finishReason: { unified: uses ? ("tool-calls" as const) : ("stop" as const), raw: undefined },
        usage: { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } },
        warnings: [],
      };
    },
  });
  return model as unknown as MastraModelConfig;
}
