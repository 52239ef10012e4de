// Makes the packages for npm: the main one, and one with the program amber for each platform that a folder has it for.
//
//     node scripts/pack.mjs [--version 1.2.3] [--out FOLDER] [--binaries FOLDER]
//
// The same files give the same bytes. Run it after npm run build.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

const root = fileURLToPath(new URL("..", import.meta.url));
const about = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const license = readFileSync(path.join(root, "..", "..", "LICENSE"));

/** The names of Node for systems and processors, by those of Go. */
const systems = { linux: "linux", darwin: "darwin", windows: "win32", win32: "win32" };
const processors = { amd64: "x64", x64: "x64", x86_64: "x64", arm64: "arm64", aarch64: "arm64" };
const platforms = ["linux", "darwin", "win32"].flatMap((os) => ["x64", "arm64"].map((cpu) => `${os}-${cpu}`));

const { values } = parseArgs({ options: { version: { type: "string" }, out: { type: "string" }, binaries: { type: "string" } } });
const version = (values.version ?? about.version).replace(/^v/, "");
if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version)) {
  fail(`--version ${version}: want the form 1.2.3 or 1.2.3-rc.1`);
}
const out = path.resolve(values.out ?? path.join(root, "packed"));
mkdirSync(out, { recursive: true });

write("amber-memory", [
  file("package.json", json(mainPackage())),
  file("README.md", readFileSync(path.join(root, "README.md"))),
  file("LICENSE", license),
  ...listed(path.join(root, "dist", "src")).map((name) => file(`dist/src/${name}`, readFileSync(path.join(root, "dist", "src", name)))),
]);
if (values.binaries !== undefined) {
  for (const [platform, binary] of found(path.resolve(values.binaries))) {
    write(`amber-memory-${platform}`, [
      file("package.json", json(platformPackage(platform))),
      file("README.md", `# amber-memory-${platform}\n\nThe program amber for ${platform}. The package [amber-memory](https://www.npmjs.com/package/amber-memory) uses it.\n`),
      file("LICENSE", license),
      { ...file(platform.startsWith("win32") ? "bin/amber.exe" : "bin/amber", readFileSync(binary)), mode: 0o755 },
    ]);
  }
}

/** What npm is told about the main package: without what only its making needs. */
function mainPackage() {
  const { scripts, devDependencies, ...rest } = about;
  void [scripts, devDependencies];
  return { ...rest, version, optionalDependencies: Object.fromEntries(platforms.map((p) => [`amber-memory-${p}`, version])) };
}

function platformPackage(platform) {
  const [os, cpu] = platform.split("-");
  return { name: `amber-memory-${platform}`, version, description: `The program amber for ${platform}, for the package amber-memory`, license: about.license, os: [os], cpu: [cpu], files: ["bin"], preferUnplugged: true };
}

/** The programs in a folder by platform. Their paths name it, as in amber-linux-amd64 or windows_arm64/amber.exe. */
function found(folder) {
  const binaries = new Map();
  for (const name of listed(folder)) {
    const m = /(linux|darwin|windows|win32)[-_/](amd64|x64|x86_64|arm64|aarch64)/.exec(name);
    if (m === null || !/^amber[^/]*$/.test(path.posix.basename(name)) || /\.(tar|tgz|gz|zip|sha256|sig|json)$/.test(name)) {
      continue;
    }
    const platform = `${systems[m[1]]}-${processors[m[2]]}`;
    if (binaries.has(platform)) {
      fail(`${folder} has two programs for ${platform}: ${binaries.get(platform)} and ${name}`);
    }
    binaries.set(platform, path.join(folder, name));
  }
  if (binaries.size === 0) {
    fail(`${folder} has no program, want names like amber-linux-amd64`);
  }
  return [...binaries].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The files below a folder, sorted, with slashes. */
function listed(folder) {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile())
    .map((e) => path.relative(folder, path.join(e.parentPath ?? e.path, e.name)).split(path.sep).join("/"));
  return names.sort();
}

function json(value) {
  return JSON.stringify(value, null, 2) + "\n";
}

function file(name, content) {
  return { name, content: Buffer.from(content), mode: 0o644 };
}

/** Writes a package as npm wants it: a tar file with a folder named package. */
function write(name, files) {
  const blocks = files.flatMap(({ name, content, mode }) => [header(`package/${name}`, content.length, mode), content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
  const packed = gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]), { level: 9 });
  packed[9] = 255; // the system it was packed on says nothing
  const to = path.join(out, `${name}-${version}.tgz`);
  writeFileSync(to, packed);
  console.log(`${to} ${packed.length}`);
}

/** The header of a file in a tar file. The time is the one that npm uses. */
function header(name, size, mode) {
  if (Buffer.byteLength(name) > 100) {
    fail(`${name}: the path is too long`);
  }
  const b = Buffer.alloc(512);
  const octal = (value, at, length) => b.write(value.toString(8).padStart(length - 1, "0") + "\0", at, "ascii");
  b.write(name, 0);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(499162500, 136, 12);
  b.write("        0", 148, "ascii");
  b.write("ustar\x0000", 257, "ascii");
  let sum = 0;
  for (const byte of b) {
    sum += byte;
  }
  b.write(sum.toString(8).padStart(6, "0") + "\0 ", 148, "ascii");
  return b;
}

function fail(message) {
  console.error(`pack: ${message}`);
  process.exit(2);
}
