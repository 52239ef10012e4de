// An agent of the AI SDK that remembers. The model is a stand-in that answers without a network.
import { generateText, stepCountIs, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { Amber } from "amber-memory";
import { memoryMiddleware, memoryTools } from "amber-memory/ai";

const amber = new Amber({ user_id: "ada" });

async function ask(session_id: string, prompt: string): Promise<string> {
  const model = wrapLanguageModel({ model: standIn(), middleware: memoryMiddleware(amber, { session_id }) });
  return (await generateText({ model, tools: memoryTools(amber), stopWhen: stepCountIs(3), prompt })).text;
}

console.log(await ask("monday", "My boat is called Heron."));
console.log(await ask("tuesday", "What is my boat called?"));
await amber.close();

/** Remembers what it is told, and reads what is put before the prompt. */
function standIn(): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const seen = JSON.stringify(prompt);
      const asks = seen.includes("What is my boat called?");
      const done = prompt.at(-1)?.role === "tool";
      const text = asks ? (seen.includes("The boat of Ada is called Heron") ? "It is called Heron." : "I do not know.") : "I will remember that.";
      const call = { type: "tool-call" as const, toolCallId: "call-1", toolName: "remember", input: JSON.stringify({ text: "The boat of Ada is called Heron" }) };
      const uses = !asks && !done;
      return {
        content: [uses ? call : { type: "text" as const, text }],
        finishReason: { unified: uses ? ("tool-calls" as const) : ("stop" as const), raw: undefined },
        usage: { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } },
        warnings: [],
      };
    },
  });
}
