package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/amber-memory/amber/internal/freeze/filesig"
	"github.com/amber-memory/amber/internal/test/must"
)

// fakeProgram plays amber: a script that says its version.
const fakeProgram = "#!/bin/sh\necho \"amber v1.2.3 $*\"\n"

// newRelease is a release of a fake program for all systems.
func newRelease(t *testing.T) *release {
	t.Helper()
	r := &release{facts: theFacts(), base: "https://example.org/v1.2.3", out: t.Output(), targets: theTargets(), trial: true}
	r.source = must.Get(filepath.Abs("../.."))(t)
	r.dist, r.work = filepath.Join(t.TempDir(), "dist"), t.TempDir()
	r.version = must.Get(parseVersion("v1.2.3"))(t)
	r.Commit, r.Time = "9ed3f29d", time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	must.Do(t, r.empty())
	must.Do(t, r.findKey(""))
	for _, target := range r.targets {
		must.Do(t, put(filepath.Dir(r.binary(target)), target.Binary(), 0o755, []byte(fakeProgram)))
	}
	return r
}

func (r *release) file(t *testing.T, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join(r.dist, name)))(t)
}

// untar reads an archive by the names in it.
func untar(t *testing.T, r io.Reader) (names []string, headers map[string]*tar.Header, data map[string][]byte) {
	t.Helper()
	headers, data = map[string]*tar.Header{}, map[string][]byte{}
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names, headers, data
		}
		must.Do(t, err)
		names = append(names, h.Name)
		headers[h.Name], data[h.Name] = h, must.Get(io.ReadAll(archive))(t)
	}
}

func ungzip(t *testing.T, b []byte) io.Reader {
	t.Helper()
	return must.Get(gzip.NewReader(bytes.NewReader(b)))(t)
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"v1.2.0": "1.2.0", "1.2.0": "1.2.0", "v1.2.0-rc.1": "1.2.0-rc.1", "v1.2.0-3-gabcdef0-dirty": "1.2.0-3-gabcdef0-dirty",
		"9ed3f29d": "0.0.0-g9ed3f29d", "9ed3f29d-dirty": "0.0.0-g9ed3f29d-dirty",
	} {
		must.Equal(t, tag, must.Get(parseVersion(tag))(t).Number, want)
	}
	for _, bad := range []string{"", "v1.2.0 x", "-x", "1.2.0'", "a/b"} {
		must.Error(t, "version "+bad, must.Err(parseVersion(bad)))
	}
	must.Error(t, "target", must.Err(parseTargets("plan9/amd64")))
	must.Equal(t, "targets", must.Get(parseTargets("linux/arm64,windows/amd64"))(t), []target{{"linux", "arm64"}, {"windows", "amd64"}})
}

// The files of docs/deploy come from the templates: go -C tools run ./release -deploy ../docs/deploy
func TestFilesOfDocsDeploy(t *testing.T) {
	t.Parallel()
	for _, name := range deployNames {
		want := must.Get(deployFile(name))(t)
		must.Equal(t, name, string(must.Get(os.ReadFile("../../docs/deploy/"+name))(t)), string(want))
	}
}

func TestArchives(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	must.Do(t, writeArchives(t.Context(), r))
	first := map[string][]byte{}
	for _, target := range r.targets {
		first[r.archiveName(target)] = r.file(t, r.archiveName(target))
	}
	must.Equal(t, "archives", len(first), 6)
	names, headers, data := untar(t, ungzip(t, first["amber_1.2.3_linux_arm64.tar.gz"]))
	must.Equal(t, "names", names, []string{"amber", "LICENSE", "README.md", "systemd/amber.service", "systemd/amber-user.service"})
	must.Equal(t, "program", string(data["amber"]), fakeProgram)
	must.Equal(t, "mode", headers["amber"].Mode, 0o755)
	must.Hold(t, headers["amber"].ModTime.Equal(r.Time), "the time of the program is %s, want %s", headers["amber"].ModTime, r.Time)
	must.Says(t, "user unit", string(data["systemd/amber-user.service"]), "ExecStart=%h/.local/bin/amber serve")
	must.Do(t, writeArchives(t.Context(), r))
	for name, b := range first {
		must.Hold(t, bytes.Equal(r.file(t, name), b), "%s has other bytes when it is made again", name)
	}
}

// The list has every module that the Go tool noted, and the digest of the program.
func TestListOfContents(t *testing.T) {
	t.Parallel()
	program := []byte(fakeProgram)
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8", Main: debug.Module{Path: "github.com/amber-memory/amber", Version: "(devel)"},
		Deps: []*debug.Module{
			{Path: "example.org/one", Version: "v1.0.0", Sum: "h1:one="},
			{Path: "example.org/two", Version: "v2.0.0", Replace: &debug.Module{Path: "example.org/fork", Version: "v2.0.1", Sum: "h1:fork="}},
		},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}},
	}
	v := must.Get(parseVersion("v1.2.3"))(t)
	b := must.Get(json.Marshal(bomOf(theFacts(), v, program, info)))(t)
	must.Equal(t, "second list", string(must.Get(json.Marshal(bomOf(theFacts(), v, program, info)))(t)), string(b))
	var list bom
	must.Do(t, json.Unmarshal(b, &list))
	must.Equal(t, "digest of the program", list.Metadata.Component.Hashes[0].Content, digestOf(program))
	must.Equal(t, "licence", list.Metadata.Component.Licenses[0].Licence.ID, "Apache-2.0")
	var purls []string
	for _, c := range list.Components {
		purls = append(purls, c.Purl)
	}
	must.Equal(t, "modules", purls, []string{"pkg:golang/std@1.26.8", "pkg:golang/example.org/one@v1.0.0", "pkg:golang/example.org/fork@v2.0.1"})
	must.Equal(t, "dependencies", list.Dependencies[0].DependsOn, purls)
	must.Equal(t, "checksum", list.Components[1].Properties, []bomProperty{{"go:sum", "h1:one="}})
	must.Equal(t, "fork", list.Components[2].Properties, []bomProperty{{"go:replaces", "example.org/two@v2.0.0"}, {"go:sum", "h1:fork="}})
}

func TestSumsAndSignature(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	must.Do(t, r.write("a file", []byte("some bytes")))
	must.Do(t, writeSums(t.Context(), r))
	must.NoError(t, r.tell())
	sums := r.file(t, sumsName)
	named := map[string]bool{}
	for line := range strings.Lines(string(sums)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		must.Hold(t, ok && digestOf(r.file(t, name)) == sum, "SHA256SUMS has the line %q", line)
		named[name] = true
	}
	for _, name := range []string{"a file", listName, keyName, keyPEMName, throwawayName} {
		must.Hold(t, named[name], "SHA256SUMS does not name %s", name)
	}
	must.Hold(t, !named[madeName], "SHA256SUMS names %s", madeName)
	key := must.Get(filesig.Verify(bytes.NewReader(sums), r.file(t, sumsName+filesig.Suffix)))(t)
	must.Equal(t, "key", string(key)+"\n", string(r.file(t, keyName)))
	var list contents
	must.Do(t, json.Unmarshal(r.file(t, listName), &list))
	must.Hold(t, list.Throwaway, "release.json does not say that the key was thrown away")
}

// A key of a home signs, and nothing says that it was thrown away.
func TestKeyOfAHomeSigns(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	r.trial = false
	must.Do(t, os.Remove(filepath.Join(r.dist, throwawayName)))
	seed := filepath.Join(t.TempDir(), "signing.seed")
	must.Do(t, os.WriteFile(seed, bytes.Repeat([]byte{7}, 32), 0o600))
	must.Do(t, r.findKey(seed))
	must.Do(t, writeSums(t.Context(), r))
	must.Equal(t, "key", string(must.Get(filesig.Verify(bytes.NewReader(r.file(t, sumsName)), r.file(t, sumsName+filesig.Suffix)))(t)), string(r.signer.KeyID()))
	must.Hold(t, os.IsNotExist(must.Err(os.Stat(filepath.Join(r.dist, throwawayName)))), "%s is there", throwawayName)
	must.Error(t, "no such key", r.findKey(filepath.Join(t.TempDir(), "nowhere")))
}

// A folder that no release has made is not emptied.
func TestOtherFoldersAreLeftAlone(t *testing.T) {
	t.Parallel()
	r := &release{dist: t.TempDir()}
	must.Do(t, os.WriteFile(filepath.Join(r.dist, "thesis.txt"), []byte("years of work"), 0o600))
	must.Error(t, "empty a folder of somebody else", r.empty())
	must.Equal(t, "thesis", string(r.file(t, "thesis.txt")), "years of work")
}

func TestFormula(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	must.Do(t, writeArchives(t.Context(), r))
	must.Do(t, writeFormula(t.Context(), r))
	formula := string(r.file(t, "amber.rb"))
	for _, target := range r.targets {
		if target.OS == "windows" {
			continue
		}
		name := r.archiveName(target)
		must.Says(t, "formula", formula, `url "https://example.org/v1.2.3/`+name+"\"\n      sha256 \""+digestOf(r.file(t, name))+`"`)
	}
	if ruby, err := exec.LookPath("ruby"); err == nil {
		check := exec.Command(ruby, "-c", filepath.Join(r.dist, "amber.rb"))
		out, err := check.CombinedOutput()
		must.Hold(t, err == nil, "ruby -c: %v: %s", err, out)
	}
	must.Do(t, os.Remove(filepath.Join(r.dist, "amber.rb")))
	must.Do(t, os.Remove(filepath.Join(r.dist, r.archiveName(target{"darwin", "arm64"}))))
	must.NoError(t, writeFormula(t.Context(), r))
	must.Hold(t, os.IsNotExist(must.Err(os.Stat(filepath.Join(r.dist, "amber.rb")))), "there is a formula without an archive")
}

// The compose file of a release takes the image of the release, and builds nothing. Its settings for Amber are those
// of docs/deploy, which cmd/amber checks.
func TestComposeFileOfARelease(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	must.Do(t, writeDeploy(t.Context(), r))
	var ours, source struct {
		Services map[string]map[string]any
	}
	must.Do(t, yaml.Unmarshal(r.file(t, "compose.yaml"), &ours))
	must.Do(t, yaml.Unmarshal(must.Get(deployFile("compose.yaml"))(t), &source))
	for name, s := range ours.Services {
		if image := s["image"].(string); strings.Contains(image, "/amber:") {
			must.Equal(t, name, image, "${AMBER_IMAGE:-ghcr.io/amber-memory/amber:1.2.3}")
			s["image"], s["build"] = source.Services[name]["image"], source.Services[name]["build"]
		}
	}
	must.Equal(t, "services", ours.Services, source.Services)
}

// Each container has its own secrets: the database and the object store know no password of the other, and no server has the
// token of its operator.
func TestContainersHaveTheirOwnSecrets(t *testing.T) {
	t.Parallel()
	var file struct {
		Services map[string]struct{ Volumes []string }
	}
	must.Do(t, yaml.Unmarshal(must.Get(deployFile("compose.yaml"))(t), &file))
	want := map[string]string{
		"secrets": "database-secret storage-secret servers-secret token", "postgres": "database database-secret", "storage": "buckets storage-secret",
		"setup": "servers-secret", "token": "servers-secret token", "amber-a": "home-a servers-secret", "amber-b": "home-b servers-secret",
	}
	must.Equal(t, "services", len(file.Services), len(want))
	for name, s := range file.Services {
		var volumes []string
		for _, v := range s.Volumes {
			volume, _, _ := strings.Cut(v, ":")
			volumes = append(volumes, volume)
			secret := strings.HasSuffix(volume, "-secret")
			must.Equal(t, name+": "+v+" is only read", secret && name != "secrets", strings.HasSuffix(v, ":ro"))
		}
		must.Equal(t, name, strings.Join(volumes, " "), want[name])
	}
}

// Units are what systemd takes, where it is here.
func TestUnits(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not here")
	}
	r := newRelease(t)
	dir := t.TempDir()
	nothing := must.Get(exec.LookPath("true"))(t) // systemd wants the program to be there
	for name, mode := range map[string]string{"amber.service": "--system", "amber-user.service": "--user"} {
		b := must.Get(r.render(name, where{Program: nothing, UserProgram: nothing}))(t)
		file := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(file, b, 0o600))
		c := exec.Command(analyze, mode, "--man=no", "verify", file)
		c.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir(), "HOME="+t.TempDir())
		out, err := c.CombinedOutput()
		must.Hold(t, err == nil && !strings.Contains(string(out), name), "systemd-analyze verify %s: %v: %s", name, err, out)
	}
}

// The files of a package are where its configuration says, and its scripts are scripts.
func TestFilesOfPackages(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	config := must.Get(r.packageFiles(target{"linux", "amd64"}))(t)
	var file struct {
		Name, Arch, Version, License string
		Contents                     []struct{ Src, Dst string }
		Scripts                      map[string]string
	}
	must.Do(t, yaml.Unmarshal(must.Get(os.ReadFile(config))(t), &file))
	must.Equal(t, "package", []string{file.Name, file.Arch, file.Version, file.License}, []string{"amber", "amd64", "1.2.3", "Apache-2.0"})
	must.Equal(t, "files", len(file.Contents), 5)
	for _, c := range file.Contents {
		must.Get(os.Stat(c.Src))(t)
	}
	must.Equal(t, "scripts", len(file.Scripts), 3)
	for _, script := range file.Scripts {
		out, err := exec.Command("sh", "-n", script).CombinedOutput()
		must.Hold(t, err == nil, "%s: %v: %s", script, err, out)
	}
}

// Files that release.sh of a folder in sdk writes are a part of the release.
func TestPackagesOfOtherLanguages(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a release is made on a machine with sh")
	}
	r := newRelease(t)
	r.source = t.TempDir()
	script := `test -x "$AMBER_BINARIES/linux_amd64/amber" && echo "$SOURCE_DATE_EPOCH" >"$AMBER_DIST/amber_memory-$AMBER_VERSION.whl"`
	must.Do(t, put(r.source, "sdk/python/release.sh", 0o644, []byte(script)))
	must.Do(t, runOutside(t.Context(), r))
	must.Do(t, writeSums(t.Context(), r))
	must.Equal(t, "wheel", string(r.file(t, "amber_memory-1.2.3.whl")), "1795003200\n")
	must.Says(t, "SHA256SUMS", string(r.file(t, sumsName)), "  amber_memory-1.2.3.whl\n")
	must.Do(t, put(r.source, "sdk/typescript/release.sh", 0o644, []byte("exit 3")))
	must.Error(t, "a step that fails", runOutside(context.Background(), r))

	// A machine without the tools of a language: a try says what it lacks, a real release is not made.
	must.Do(t, put(r.source, "sdk/typescript/release.sh", 0o644, []byte("echo looking; echo node is missing; exit 69")))
	must.Do(t, runOutside(t.Context(), r))
	must.Do(t, writeSums(t.Context(), r))
	must.Says(t, throwawayName, string(r.file(t, throwawayName)), "typescript: node is missing", "thrown away")
	must.Says(t, listName, string(r.file(t, listName)), `"typescript: node is missing"`)
	r.trial = false
	must.Error(t, "a real release without its packages", runOutside(t.Context(), r))
}
