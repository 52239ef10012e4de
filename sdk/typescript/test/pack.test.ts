// The packages as npm gets them: made twice with the same bytes, installed, and used as the README says.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { binary, folder, root, run } from "./rig.js";

const npm = process.platform === "win32" ? "npm.cmd" : "npm";

test("packages are made, installed and used", { skip: process.platform === "win32" ? "the stand-in for the program is a shell script" : false }, async (t) => {
  const dir = folder(t);
  const at = (...names: string[]): string => path.join(dir, ...names);
  const done = async (p: ReturnType<typeof run>): Promise<string> => {
    assert.equal(await p.ended, 0, p.output + p.errors);
    return p.output;
  };
  mkdirSync(at("binaries"));
  for (const name of ["linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64", "windows-amd64.exe", "windows-arm64.exe"]) {
    writeFileSync(at("binaries", `amber-${name}`), `#!/bin/sh\nexec '${binary}' "$@"\n`, { mode: 0o755 });
  }
  const pack = path.join(root, "scripts", "pack.mjs");
  await done(run(t, process.execPath, [pack, "--version", "1.2.3", "--out", at("out"), "--binaries", at("binaries")]));
  await done(run(t, process.execPath, [pack, "--version", "1.2.3", "--out", at("again"), "--binaries", at("binaries")]));
  const made = readdirSync(at("out")).sort();
  const systems = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64", "win32-arm64", "win32-x64"];
  assert.deepEqual(made, ["amber-memory-1.2.3.tgz", ...systems.map((s) => `amber-memory-${s}-1.2.3.tgz`)]);
  for (const name of made) {
    assert.ok(readFileSync(at("out", name)).equals(readFileSync(at("again", name))), `${name} has other bytes the second time`);
  }

  const env = { HOME: at("user"), AMBER_BINARY: "", npm_config_cache: at("cache"), npm_config_update_notifier: "false" };
  mkdirSync(at("user"));
  mkdirSync(at("program"));
  writeFileSync(at("program", "package.json"), '{"name":"program","private":true,"type":"module"}');
  const tars = ["amber-memory", `amber-memory-${process.platform}-${process.arch}`].map((name) => at("out", `${name}-1.2.3.tgz`));
  await done(run(t, npm, ["install", "--prefix", at("program"), "--offline", "--no-audit", "--no-fund", "--ignore-scripts", ...tars], env));
  assert.deepEqual(readdirSync(at("program", "node_modules")).filter((n) => !n.startsWith(".")).sort(), ["amber-memory", `amber-memory-${process.platform}-${process.arch}`]);
  assert.ok(existsSync(at("program", "node_modules", "amber-memory", "dist", "src", "index.d.ts")));

  const example = /```js\n([^]*?)```/.exec(readFileSync(path.join(root, "README.md"), "utf8"))?.[1] as string;
  writeFileSync(at("program", "main.mts"), example);
  writeFileSync(at("program", "main.mjs"), example);
  assert.equal(await done(run(t, process.execPath, [at("program", "main.mjs")], env)), "Ada prefers short answers\n");
  assert.ok(existsSync(at("user", ".local", "share", "amber")));

  // Its types need nothing but what a strict program for ES2022 has by itself.
  const tsc = path.join(root, "node_modules", "typescript", "bin", "tsc");
  const compilerOptions = { noEmit: true, strict: true, target: "es2022", module: "nodenext", types: [] };
  writeFileSync(at("program", "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.mts"] }));
  await done(run(t, process.execPath, [tsc, "-p", at("program")]));
});

test("where the program is looked for", async (t) => {
  const dir = folder(t);
  writeFileSync(path.join(dir, "amber"), "", { mode: 0o755 });
  const p = run(t, process.execPath, ["--input-type=module", "-e", `
    import { findBinary } from ${JSON.stringify(path.join(root, "dist", "src", "binary.js"))};
    console.log(findBinary(undefined, { PATH: "relative:" + ${JSON.stringify(dir)} }));
    console.log(findBinary(undefined, { AMBER_BINARY: "/b/amber" }), findBinary("/a/amber", { AMBER_BINARY: "/b/amber" }));
    try { findBinary(undefined, {}); } catch (e) { console.log(e.kind, e.hint); }`]);
  await p.ended;
  assert.equal(p.output, `${path.join(dir, "amber")}\n/b/amber /a/amber\nunreachable npm install amber-memory-${process.platform}-${process.arch}, or set $AMBER_BINARY\n`, p.errors);
});
