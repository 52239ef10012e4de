// Removes what the compiler made, so that nothing of an earlier build is packed or run.
import { rmSync } from "node:fs";

rmSync(new URL("../dist", import.meta.url), { recursive: true, force: true });
