package main

import (
	"net/http"
	"net/http/httptest"
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

// site is a release on a server, and a user who installs from it.
type site struct {
	t    *testing.T
	r    *release
	url  string
	user string // the home of the user
	path string // where programs are found
}

// archive is the name of the archive for this machine.
func (s site) archive() string { return s.r.archiveName(target{runtime.GOOS, runtime.GOARCH}) }

func newSite(t *testing.T) site {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the script is for systems with sh")
	}
	r := newRelease(t)
	must.Do(t, writeArchives(t.Context(), r))
	must.Do(t, writeInstallScript(t.Context(), r))
	must.Do(t, writeSums(t.Context(), r))
	server := httptest.NewServer(http.FileServer(http.Dir(r.dist)))
	t.Cleanup(server.Close)
	return site{t, r, server.URL, t.TempDir(), withoutAmber()}
}

// withoutAmber is the path of this process without folders in which there is an amber.
func withoutAmber() string {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	return strings.Join(slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "amber"))
		return err == nil
	}), ":")
}

// install runs the script of the release, and returns what it said and whether it went well.
func (s site) install(environ ...string) (string, bool) {
	s.t.Helper()
	c := exec.CommandContext(s.t.Context(), "sh", filepath.Join(s.r.dist, "install.sh"))
	c.Env = append([]string{"HOME=" + s.user, "PATH=" + s.path, "AMBER_BASE=" + s.url}, environ...)
	out, err := c.CombinedOutput()
	return string(out), err == nil
}

// installs checks that amber is there afterwards.
func (s site) installs(environ ...string) string {
	s.t.Helper()
	out, ok := s.install(environ...)
	must.Hold(s.t, ok, "the script failed: %s", out)
	b := must.Get(os.ReadFile(filepath.Join(s.user, ".local/bin/amber")))(s.t)
	must.Equal(s.t, "installed", string(b), fakeProgram)
	return out
}

// refuses checks that nothing was installed.
func (s site) refuses(words ...string) {
	s.t.Helper()
	out, ok := s.install()
	must.Hold(s.t, !ok, "the script went well: %s", out)
	must.Says(s.t, "the script", out, words...)
	left, _ := filepath.Glob(filepath.Join(s.user, ".local/bin/*"))
	must.Equal(s.t, "installed", len(left), 0)
}

// change replaces a file on the server.
func (s site) change(name string, with func([]byte) []byte) {
	s.t.Helper()
	must.Do(s.t, os.WriteFile(filepath.Join(s.r.dist, name), with(s.r.file(s.t, name)), 0o600))
}

// signs reports whether openssl of this machine can check signatures.
func signs() bool {
	out, err := exec.Command("openssl", "version").Output()
	return err == nil && len(out) > 8 && out[8] >= '3' && strings.HasPrefix(string(out), "OpenSSL ")
}

func TestInstallScript(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if !signs() {
		s.refuses("cannot check the signature")
		s.installs("AMBER_VERIFY=checksum")
		return
	}
	out := s.installs()
	must.Says(t, "the script", out, "has the checksum of SHA256SUMS", "installed amber v1.2.3", "is not on your path yet")
	must.Says(t, "the script", out, "SHA256SUMS is signed by "+string(s.r.signer.KeyID())+" (checked with openssl)")
	s.installs() // again, over the first
	leftovers, _ := filepath.Glob(filepath.Join(s.user, ".local/bin/.amber*"))
	must.Equal(t, "left over", len(leftovers), 0)

	elsewhere := t.TempDir()
	out, ok := s.install("AMBER_BIN="+elsewhere, "AMBER_VERSION=v1.2.3")
	must.Hold(t, ok, "the script failed: %s", out)
	must.Get(os.Stat(filepath.Join(elsewhere, "amber")))(t)
}

// The openssl of macOS knows no Ed25519: a release whose key is known is not installed unchecked, unless its user says so.
func TestInstallScriptWithoutEd25519(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	bin := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(bin, "openssl"), []byte("#!/bin/sh\n[ \"$1\" = version ] && echo 'LibreSSL 3.3.6'\n"), 0o700))
	s.path = bin + ":" + s.path
	s.refuses("cannot check the signature", "Ed25519", "AMBER_VERIFY=checksum")
	out, ok := s.install("AMBER_VERIFY=checksum", "AMBER_KEY="+string(s.r.signer.KeyID()))
	must.Hold(t, !ok, "a key is named, and the signature was not checked: %s", out)
	must.Says(t, "the script", s.installs("AMBER_VERIFY=checksum"), "the signature was NOT checked, as AMBER_VERIFY says")
}

// An amber that is there checks the signature of the next one.
func TestInstallScriptAsksAmber(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	bin := t.TempDir()
	asked := filepath.Join(bin, "asked")
	amber := "#!/bin/sh\n[ \"$3\" = --help ] || { echo \"$@\" >'" + asked + "'; cmp \"$3\" '" + filepath.Join(s.r.dist, sumsName) + "' && [ \"$5\" = '" + string(s.r.signer.KeyID()) + "' ]; }\n"
	must.Do(t, os.WriteFile(filepath.Join(bin, "amber"), []byte(amber), 0o700))
	s.path = bin + ":" + s.path
	must.Says(t, "the script", s.installs(), "(checked with "+bin+"/amber)")
	must.Says(t, "arguments", string(must.Get(os.ReadFile(asked))(t)), "key verify ", "/SHA256SUMS --key did:key:")

	s.user = t.TempDir()
	out, ok := s.install("AMBER_KEY=did:key:z6MkgViuDYFx4jFDphfrY9KCoBSSAWL7zqTMuzkaHTMsKcFU")
	must.Hold(t, !ok, "a release of another key was installed: %s", out)
	must.Says(t, "the script", out, "SHA256SUMS is not signed by did:key:z6MkgViu")
}

func TestInstallScriptRefuses(t *testing.T) {
	t.Parallel()
	other := func(b []byte) []byte { return append([]byte("x"), b...) }
	t.Run("a changed archive", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.change(s.archive(), other)
		s.refuses("the SHA-256 of "+s.archive()+" is ", "damaged or is another one")
	})
	t.Run("a missing archive", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		must.Do(t, os.Remove(filepath.Join(s.r.dist, s.archive())))
		s.refuses("cannot download " + s.url + "/" + s.archive())
	})
	t.Run("missing checksums", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		must.Do(t, os.Remove(filepath.Join(s.r.dist, sumsName)))
		s.refuses("cannot download " + s.url + "/SHA256SUMS")
	})
	t.Run("a name that has no checksum", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		out, ok := s.install("AMBER_VERSION=9.9.9")
		must.Hold(t, !ok, "the script went well: %s", out)
	})
	t.Run("no way to check a signature that is required", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		out, ok := s.install("AMBER_KEY=did:key:z6MkgViuDYFx4jFDphfrY9KCoBSSAWL7zqTMuzkaHTMsKcFU")
		must.Hold(t, !ok, "the script went well: %s", out)
		must.Says(t, "the script", out, "cannot check the signature")
		must.Do(t, put(s.r.dist, "install.sh", 0o755, must.Get(os.ReadFile("../../scripts/install.sh"))(t)))
		out, ok = s.install("AMBER_VERIFY=required", "AMBER_VERSION=1.2.3")
		must.Hold(t, !ok, "the script went well: %s", out)
		must.Says(t, "the script", out, "cannot check the signature")
	})
	t.Run("a missing signature", func(t *testing.T) {
		t.Parallel()
		if !signs() {
			t.Skip("openssl 3 is not here: no signature is asked for")
		}
		s := newSite(t)
		must.Do(t, os.Remove(filepath.Join(s.r.dist, sumsName+filesig.Suffix)))
		s.refuses("cannot download " + s.url + "/SHA256SUMS.sig")
	})
	if !signs() {
		t.Log("openssl 3 is not here: signatures that it refuses were not tried")
		return
	}
	t.Run("an archive with its checksum changed", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		before := digestOf(s.r.file(t, s.archive()))
		s.change(s.archive(), other)
		s.change(sumsName, func(b []byte) []byte {
			return []byte(strings.Replace(string(b), before, digestOf(s.r.file(t, s.archive())), 1))
		})
		s.refuses("SHA256SUMS is not the file that was signed")
	})
	t.Run("a signature of somebody else", func(t *testing.T) {
		t.Parallel()
		s, stranger := newSite(t), newRelease(t)
		sig := must.Get(filesig.Sign(t.Context(), strings.NewReader(string(s.r.file(t, sumsName))), stranger.signer))(t)
		s.change(sumsName+filesig.Suffix, func([]byte) []byte { return sig })
		s.refuses("SHA256SUMS is not signed by the key of this release")
	})
	t.Run("something that is no signature", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.change(sumsName+filesig.Suffix, func([]byte) []byte { return []byte("hello\n") })
		s.refuses("SHA256SUMS.sig is not a signature of Amber")
	})
}

// Without a release the script knows no version.
func TestInstallScriptOfTheSources(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	must.Do(t, put(s.r.dist, "install.sh", 0o755, must.Get(os.ReadFile("../../scripts/install.sh"))(t)))
	s.refuses("this script is not of a release: set AMBER_VERSION")
	must.Says(t, "the script", s.installs("AMBER_VERSION=1.2.3"), "the signature was NOT checked")
	if signs() {
		key := filepath.Join(s.r.dist, keyPEMName)
		must.Says(t, "the script", s.installs("AMBER_VERSION=1.2.3", "AMBER_VERIFY=required", "AMBER_KEY_FILE="+key), "(checked with openssl)")
	}
}
