package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/freeze/filesig"
	"github.com/amber-memory/amber/internal/test/must"
)

var (
	tools    = flag.String("release.tools", "", "the folder of nfpm and helm; without it no real release is made")
	keep     = flag.String("release.dist", "", "keep the release in this folder; one that is there is tested as it is")
	machines = flag.String("release.targets", "", "systems to build for (default all six)")
)

// said runs a program and returns what it printed.
func said(t *testing.T, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := c.CombinedOutput()
	must.Hold(t, err == nil, "%s %q: %v: %s", name, args, err, out)
	return string(out)
}

// TestWholeRelease makes a real release, and installs or unpacks each of its files, and runs what is in it: make
// test-release. It says what could not be tried on this machine.
func TestWholeRelease(t *testing.T) {
	if *tools == "" {
		t.Skip("make test-release runs it")
	}
	r := wholeRelease(t)
	t.Run("sums", r.testSums)
	t.Run("archives", r.testArchives)
	t.Run("lists", r.testLists)
	t.Run("deb", r.testDeb)
	t.Run("rpm", r.testRPM)
	t.Run("image", r.testImage)
	t.Run("chart", r.testChart)
	t.Run("units", r.testUnits)
	t.Run("install", r.testInstall)
	t.Run("wheels", r.testWheels)
	t.Run("npm", r.testNPM)
	t.Run("windows", r.testWindows)
	t.Run("again", r.testAgain)
}

// whole is a real release, and how it was made.
type whole struct {
	*release
	o options
}

func wholeRelease(t *testing.T) whole {
	t.Helper()
	dir := *keep
	if dir == "" {
		dir = filepath.Join(t.TempDir(), "dist")
	}
	seed := filepath.Join(t.TempDir(), "signing.seed")
	must.Do(t, os.WriteFile(seed, bytes.Repeat([]byte{7}, 32), 0o600))
	o := options{
		source: "../..", dist: dir, key: seed, targets: *machines, base: "http://127.0.0.1:1", certificates: "/etc/ssl/certs/ca-certificates.crt",
		nfpm: filepath.Join(*tools, "nfpm"),
	}
	if _, err := os.Stat(filepath.Join(dir, sumsName)); err != nil {
		must.Do(t, o.run(t.Context(), t.Output()))
	}
	// The facts of the release are read from its files, without making it again.
	r := &release{facts: theFacts(), dist: must.Get(filepath.Abs(dir))(t), source: must.Get(filepath.Abs("../.."))(t), targets: must.Get(parseTargets(*machines))(t)}
	var list contents
	must.Do(t, json.Unmarshal(r.file(t, listName), &list))
	r.Number, r.Tag, o.version = list.Version, list.Tag, list.Tag
	return whole{r, o}
}

// own is the system of this machine.
func own() target { return target{runtime.GOOS, runtime.GOARCH} }

// works runs a program that was installed: it remembers something and finds it again.
func (w whole) works(t *testing.T, program string, before ...string) {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	run := func(args ...string) string {
		words := append(slices.Clone(before), program)
		words = append(append(words, "--home", home), args...)
		return said(t, words[0], words[1:]...)
	}
	must.Says(t, "version", run("version"), "amber "+w.Tag)
	run("remember", "We chose PostgreSQL for JSONB")
	must.Says(t, "recall", run("recall", "which database did we pick"), "PostgreSQL")
}

func (w whole) testSums(t *testing.T) {
	sums := w.file(t, sumsName)
	must.Get(filesig.Verify(bytes.NewReader(sums), w.file(t, sumsName+filesig.Suffix)))(t)
	listed := 0
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		must.Equal(t, name, digestOf(w.file(t, name)), sum)
		listed++
	}
	there := must.Get(artefacts(w.dist))(t)
	must.Equal(t, "files and those with a checksum", len(there)-2, listed) // all but the sums and their signature
	for _, a := range there {
		t.Logf("%s %10d %s", a.SHA256, a.Bytes, a.Name)
	}
}

// testArchives unpacks each archive, looks whether its program is for its system, and runs the one for this machine.
func (w whole) testArchives(t *testing.T) {
	for _, target := range w.targets {
		program := w.unpacked(t, target)
		head := must.Get(os.ReadFile(program))(t)[:4]
		want := map[string]string{"linux": "\x7fELF", "darwin": "\xcf\xfa\xed\xfe", "windows": "MZ"}[target.OS]
		must.Hold(t, strings.HasPrefix(string(head), want), "the program for %s begins with %q", target, head)
		if target == own() {
			w.works(t, program)
			continue
		}
		if by := emulator(target); by != "" {
			w.works(t, program, by)
			continue
		}
		t.Logf("the program for %s was unpacked and not run: this machine is %s", target, own())
	}
}

// emulator is a program of this machine that runs those for another one; empty where there is none.
func emulator(of target) string {
	name := map[target]string{{"linux", "arm64"}: "qemu-aarch64", {"linux", "amd64"}: "qemu-x86_64"}[of]
	if of.OS == "windows" && of.Arch == own().Arch {
		name = "wine"
	}
	path, err := exec.LookPath(name)
	if err == nil && name == "wine" {
		said, _ := exec.Command(path, "--version").Output()
		if major := 0; must.Err(fmt.Sscanf(string(said), "wine-%d", &major)) != nil || major < 9 {
			return "" // older ones lack what programs of Go need
		}
	}
	return path
}

// unpacked is the program of an archive.
func (w whole) unpacked(t *testing.T, target target) string {
	t.Helper()
	dir := t.TempDir()
	archive := filepath.Join(w.dist, w.archiveName(target))
	if target.OS == "windows" {
		unzip(t, archive, dir)
	} else {
		said(t, "tar", "-xzf", archive, "-C", dir)
	}
	return filepath.Join(dir, target.Binary())
}

// testLists compares the list of each binary with what the Go tool says of it.
func (w whole) testLists(t *testing.T) {
	for _, target := range w.targets {
		var list bom
		must.Do(t, json.Unmarshal(w.file(t, w.stem(target)+".cdx.json"), &list))
		program := w.unpacked(t, target)
		must.Equal(t, "digest", list.Metadata.Component.Hashes[0].Content, digestOf(must.Get(os.ReadFile(program))(t)))
		modules := 0
		told := must.Get(exec.CommandContext(t.Context(), "go", "version", "-m", program).Output())(t)
		for line := range strings.Lines(string(told)) {
			if f := strings.Fields(line); len(f) > 3 && f[0] == "dep" {
				modules++
				must.Hold(t, slices.ContainsFunc(list.Components, func(c bomComponent) bool { return c.Purl == "pkg:golang/"+f[1]+"@"+f[2] }), "%s is not listed", f[1])
			}
		}
		must.Hold(t, modules > 20 && len(list.Components) == modules+1, "%d modules are listed, want %d and the standard library", len(list.Components), modules)
	}
}

// testUnits asks systemd about the units as they lie in the archive.
func (w whole) testUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil || own().OS != "linux" {
		t.Skip("systemd-analyze is not here")
	}
	program := w.unpacked(t, own())
	user := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(user, ".local/bin"), 0o700))
	must.Do(t, os.Link(program, filepath.Join(user, ".local/bin/amber")))
	for name, mode := range map[string]string{"amber.service": "--system", "amber-user.service": "--user"} {
		text := string(must.Get(os.ReadFile(filepath.Join(filepath.Dir(program), "systemd", name)))(t))
		file := filepath.Join(t.TempDir(), name)
		text = strings.ReplaceAll(text, "/usr/local/bin/amber", program) // systemd wants it to be there
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		c := exec.Command(analyze, mode, "--man=no", "verify", file)
		c.Env = append(os.Environ(), "HOME="+user, "XDG_RUNTIME_DIR="+t.TempDir())
		out, err := c.CombinedOutput()
		must.Hold(t, err == nil && !strings.Contains(string(out), name), "systemd-analyze verify %s: %v: %s", name, err, out)
	}
}

// testChart asks the real helm.
func (w whole) testChart(t *testing.T) {
	helm := filepath.Join(*tools, "helm")
	chart := filepath.Join(w.dist, "amber-"+w.Number+".tgz")
	dir := t.TempDir()
	said(t, "tar", "-xzf", chart, "-C", dir)
	must.Says(t, "helm lint", said(t, helm, "lint", "--strict", filepath.Join(dir, "amber")), "0 chart(s) failed")
	must.Says(t, "helm template", said(t, helm, "template", "memory", chart), "kind: StatefulSet", "kind: NetworkPolicy", "image: \"ghcr.io/amber-memory/amber:"+w.Number+"\"")
	full := []string{
		"template", "memory", chart, "--set", "replicas=3,postgres.secret=database,snapshots.root=s3://b/p,snapshots.secret=aws,config.search.model=none",
		"--set", "ingress.enabled=true,ingress.host=memory.example.org,ingress.tlsSecret=tls,ingress.className=nginx", "--set", "extraArgs={--allow-restore}",
	}
	must.Says(t, "helm template", said(t, helm, full...), "replicas: 3", "kind: Ingress", "kind: ConfigMap", "/etc/amber/postgres/dsn", `- "--allow-restore"`)
	for what, set := range map[string]string{"three servers without a database": "replicas=3", "a value of the wrong kind": "replicas=many", "an unknown value": "replica=1"} {
		out, err := exec.Command(helm, "template", "memory", chart, "--set", set).CombinedOutput()
		must.Hold(t, err != nil, "helm takes %s: %s", what, out)
	}
}

// testInstall installs from a server with the real program, first without an amber, then with it.
func (w whole) testInstall(t *testing.T) {
	s := newSite(t) // its server is another one
	s.r.dist = w.dist
	s.url = serve(t, w.dist)
	run := func(environ ...string) string {
		out, ok := s.install(append([]string{"AMBER_VERIFY=required"}, environ...)...)
		must.Hold(t, ok, "the script failed: %s", out)
		return out
	}
	must.Says(t, "the script", run(), "(checked with openssl)")
	installed := filepath.Join(s.user, ".local/bin")
	w.works(t, filepath.Join(installed, "amber"))
	s.path = installed + ":" + s.path
	must.Says(t, "the script", run(), "(checked with "+installed+"/amber)")
	out, ok := s.install("AMBER_KEY=did:key:z6MkgViuDYFx4jFDphfrY9KCoBSSAWL7zqTMuzkaHTMsKcFU")
	must.Hold(t, !ok, "a release of another key was installed: %s", out)
}

// testAgain makes the release for this machine once more: the same bytes.
func (w whole) testAgain(t *testing.T) {
	o := w.o
	o.dist, o.targets = filepath.Join(t.TempDir(), "again"), own().String()
	must.Do(t, o.run(context.Background(), io.Discard))
	again := must.Get(artefacts(o.dist))(t)
	compared := 0
	for _, a := range again {
		if strings.Contains(a.Name, own().OS+"_"+own().Arch) || a.Name == "compose.yaml" || a.Name == "install.sh" || strings.HasSuffix(a.Name, ".tgz") {
			compared++
			must.Equal(t, a.Name, a.SHA256, digestOf(w.file(t, a.Name)))
		}
	}
	must.Hold(t, compared >= 7, "only %d files were compared", compared)
}
