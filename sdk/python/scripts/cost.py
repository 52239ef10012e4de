"""Print what a start, a memory and a question cost over the private socket, in milliseconds, as JSON. $AMBER_BINARY and $AMBER_HOME say of what."""

import json
import statistics
import sys
import time

from amber_memory import Amber


def timed(n: int, run: object) -> float:
    took = []
    for i in range(n):
        begin = time.perf_counter()
        run(i)  # type: ignore[operator]
        took.append((time.perf_counter() - begin) * 1000)
    return statistics.median(took)


fill, n = int(sys.argv[1]), int(sys.argv[2])
begin = time.perf_counter()
with Amber() as amber:
    amber.agent.stats()
    start = (time.perf_counter() - begin) * 1000
    for i in range(0, fill, 16):
        amber.memory.write_batch(items=[{"content": f"Lighthouse {j} blinks {j * 7919 % 997} times at ships of harbour {j % 37}"} for j in range(i, i + 16)])
    remember = timed(n, lambda i: amber.remember(f"One more fact about lighthouse {i}"))
    recall = timed(n, lambda i: amber.recall(f"how often does lighthouse {i} blink"))
    bare = timed(n, lambda i: amber.change.head())
print(json.dumps({"start": start, "remember": remember, "recall": recall, "bare": bare}))
