// Servers that are found at a port, and servers with certificates.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { RefusedError, UnreachableError } from "../src/index.js";
import { defaultHome } from "../src/home.js";
import { alive, client, fake, folder, run, script, serve, until, where } from "./rig.js";

test("where no socket is possible, the server has a port and a key", { skip: process.platform === "win32" ? "there it is always so" : false }, async (t) => {
  const dir = folder(t);
  const home = path.join(dir, "home");
  const long = path.join(dir, "l".repeat(100));
  mkdirSync(long, { mode: 0o700 });
  const p = script(t, `
    const a = new amber.Amber({ home: ${JSON.stringify(home)} });
    await a.remember("over a port");
    process.kill(privateServerPid(${JSON.stringify(home)}), "SIGKILL");
    await a.remember("over another port");
    console.log("ready");
    setInterval(() => {}, 1000);`, { XDG_RUNTIME_DIR: long, TMPDIR: long });
  await p.says("ready");
  const { url, socket } = where(home);
  assert.equal(socket, undefined);
  assert.match(url, /^http:\/\/127\.0\.0\.1:/);
  const amber = client(t, { home, startServer: false });
  assert.equal((await amber.memory.list().all()).length, 2);
  await assert.rejects(client(t, { url }).recall("x"), RefusedError);
  await p.kill();

  // Another program has the port now. It is asked who it is, and told nothing.
  const told: string[] = [];
  const other = await fake(t, (request, response) => {
    told.push(`${request.method} ${request.url} ${request.headers.authorization ?? ""}`);
    response.writeHead(200).end("0".repeat(64));
  });
  const file = path.join(home, "serve.json");
  writeFileSync(file, JSON.stringify({ url: other.url, page: other.url + "/ui/", secret: "s", key: "amber_private_key", private: true }), { mode: 0o600 });
  await assert.rejects(client(t, { home, startServer: false, retryFor: 0 }).remember("a secret"), UnreachableError);
  assert.equal(told.length, 1);
  assert.match(told[0] as string, /^GET \/ui\/-\/proof\?challenge=[0-9a-f]+ $/);
});

test("Ctrl-C is for the program and not for its server", { skip: process.platform === "win32" ? "there are no groups of processes" : false }, async (t) => {
  const home = path.join(folder(t), "home");
  const p = script(t, `
    const a = new amber.Amber({ home: ${JSON.stringify(home)} });
    await a.remember("x");
    process.on("SIGINT", async () => {
      await a.remember("after the signal");
      console.log("pid", process.pid, "server", privateServerPid(${JSON.stringify(home)}), "said.");
      process.exit(0);
    });
    const before = privateServerPid(${JSON.stringify(home)});
    const { execFileSync } = await import("node:child_process");
    const group = (pid) => execFileSync("ps", ["-o", "pgid=", "-p", String(pid)]).toString().trim();
    console.log("apart", group(process.pid) !== group(before), before, "ready.");
    setInterval(() => {}, 1000);`);
  await p.says("ready.");
  const before = Number(/apart true (\d+)/.exec(p.output)?.[1]);
  p.child.kill("SIGINT");
  await p.says("said.");
  assert.match(p.output, new RegExp(`server ${before} said`));
  assert.equal(await p.ended, 0);
  await until("the server has ended", () => !alive(before));
});

test("certificates", async (t) => {
  const dir = folder(t);
  const at = (name: string): string => path.join(dir, name);
  const made = run(t, "openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", at("key.pem"), "-out", at("cert.pem"), "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]);
  if ((await made.ended) === -1) {
    t.skip("openssl is not installed");
    return;
  }
  const { url } = await serve(t, at("home"), "--tls-cert", at("cert.pem"), "--tls-key", at("key.pem"));
  assert.match(url, /^https:/);
  await client(t, { url, ca: at("cert.pem") }).remember("over TLS");
  assert.equal((await client(t, { url, ca: readFileSync(at("cert.pem"), "utf8") }).memory.list().all()).length, 1);
  await assert.rejects(client(t, { url }).recall("x"), (e) => e instanceof UnreachableError && /the option ca/.test(e.hint ?? ""));
});

test("the home of commands", () => {
  assert.equal(defaultHome({ AMBER_HOME: "/a", XDG_DATA_HOME: "/x", HOME: "/h" }), "/a");
  assert.equal(defaultHome({ XDG_DATA_HOME: "/x", HOME: "/h" }), path.resolve("/x/amber"));
  assert.equal(defaultHome({ HOME: "/h" }), path.resolve("/h/.local/share/amber"));
});
