// Prints what a start, a memory and a question cost over the private socket, in milliseconds, as JSON.
// $AMBER_BINARY and $AMBER_HOME say of what; the package is built before.
import { Amber } from "../dist/src/index.js";

const [fill, n] = process.argv.slice(2).map(Number);

async function timed(run) {
  const took = [];
  for (let i = 0; i < n; i++) {
    const begin = performance.now();
    await run(i);
    took.push(performance.now() - begin);
  }
  took.sort((a, b) => a - b);
  return took[Math.floor(took.length / 2)];
}

const begin = performance.now();
const amber = new Amber();
await amber.agent.stats();
const start = performance.now() - begin;
for (let i = 0; i < fill; i += 16) {
  const items = Array.from({ length: 16 }, (_, j) => ({ content: `Lighthouse ${i + j} blinks ${((i + j) * 7919) % 997} times at ships of harbour ${(i + j) % 37}` }));
  await amber.memory.write_batch({ items });
}
const remember = await timed((i) => amber.remember(`One more fact about lighthouse ${i}`));
const recall = await timed((i) => amber.recall(`how often does lighthouse ${i} blink`));
const bare = await timed(() => amber.change.head());
await amber.close();
console.log(JSON.stringify({ start, remember, recall, bare }));
