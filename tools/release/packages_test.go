package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

func serve(t *testing.T, dir string) string {
	t.Helper()
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	return server.URL
}

func unzip(t *testing.T, archive, dir string) {
	t.Helper()
	z := must.Get(zip.OpenReader(archive))(t)
	defer z.Close()
	for _, f := range z.File {
		r := must.Get(f.Open())(t)
		must.Do(t, put(dir, f.Name, f.Mode(), must.Get(io.ReadAll(r))(t)))
		must.Do(t, r.Close())
	}
}

// testDeb installs the package into a folder with a dpkg database of its own, runs the program there, and removes it.
func (w whole) testDeb(t *testing.T) {
	dpkg, err := exec.LookPath("dpkg")
	if err != nil || own().OS != "linux" {
		t.Skip("dpkg is not here")
	}
	for _, target := range w.of("linux") {
		must.Says(t, "dpkg-deb", said(t, "dpkg-deb", "--info", filepath.Join(w.dist, w.stem(target)+".deb")), "Package: amber", "Architecture: "+target.Arch, "Recommends: git")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can install a package")
	}
	root := t.TempDir()
	for _, dir := range []string{"var/lib/dpkg/updates", "var/lib/dpkg/info", "var/log", "etc", "var/lib/amber"} {
		must.Do(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	for _, file := range []string{"var/lib/dpkg/status", "var/lib/dpkg/available"} {
		must.Do(t, os.WriteFile(filepath.Join(root, file), nil, 0o600))
	}
	chroot(t, root)
	memory := filepath.Join(root, "var/lib/amber/memory")
	must.Do(t, os.WriteFile(memory, []byte("years of work"), 0o600))
	options := []string{"--root=" + root, "--force-depends", "--log=/dev/null"}
	said(t, dpkg, append(options, "--install", filepath.Join(w.dist, w.stem(own())+".deb"))...)
	program := filepath.Join(root, "usr/bin/amber")
	w.works(t, program)
	must.Says(t, "users", string(must.Get(os.ReadFile(filepath.Join(root, "etc/passwd")))(t)), "amber:")
	for _, file := range []string{"usr/lib/systemd/system/amber.service", "usr/lib/systemd/user/amber.service", "usr/lib/sysusers.d/amber.conf"} {
		must.Get(os.Stat(filepath.Join(root, file)))(t)
	}
	must.Says(t, "dpkg -s", said(t, dpkg, append(options, "-s", "amber")...), "Status: install ok installed")
	said(t, dpkg, append(options, "--purge", "amber")...)
	must.Hold(t, os.IsNotExist(must.Err(os.Stat(program))), "the program is still there after a purge")
	must.Equal(t, "memory after a purge", string(must.Get(os.ReadFile(memory))(t)), "years of work")
}

// chroot copies what the scripts of a package need into a folder: a shell, and the programs that make a user.
func chroot(t *testing.T, root string) {
	t.Helper()
	must.Do(t, os.WriteFile(filepath.Join(root, "etc/passwd"), []byte("root:x:0:0:root:/root:/bin/sh\n"), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(root, "etc/group"), []byte("root:x:0:\n"), 0o600))
	must.Do(t, put(root, "dev/null", 0o666, nil)) // scripts write to it
	must.Do(t, os.MkdirAll(filepath.Join(root, "usr/bin"), 0o755))
	must.Do(t, os.Symlink("usr/bin", filepath.Join(root, "bin")))
	for _, name := range []string{"sh", "systemd-sysusers", "useradd", "getent", "rm"} {
		file, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		copyTo(t, root, file)
		out, _ := exec.Command("ldd", file).Output()
		for word := range strings.FieldsSeq(string(out)) {
			if filepath.IsAbs(word) {
				copyTo(t, root, word)
			}
		}
	}
}

// copyTo copies a file, through links, to the same path below root.
func copyTo(t *testing.T, root, file string) {
	t.Helper()
	to := filepath.Join(root, file)
	if _, err := os.Stat(to); err == nil {
		return
	}
	must.Do(t, os.MkdirAll(filepath.Dir(to), 0o755))
	must.Do(t, os.WriteFile(to, must.Get(os.ReadFile(file))(t), 0o755))
}

// testRPM reads the package as rpm does, and runs its program. Where rpm is installed, it looks, too.
func (w whole) testRPM(t *testing.T) {
	for _, target := range w.of("linux") {
		file := filepath.Join(w.dist, w.stem(target)+".rpm")
		files := rpmFiles(t, must.Get(os.ReadFile(file))(t))
		for _, name := range []string{"/usr/bin/amber", "/usr/lib/systemd/system/amber.service", "/usr/lib/systemd/user/amber.service", "/usr/lib/sysusers.d/amber.conf"} {
			must.Hold(t, len(files[name]) > 0, "the package for %s has no %s", target, name)
		}
		if target == own() {
			program := filepath.Join(t.TempDir(), "amber")
			must.Do(t, os.WriteFile(program, files["/usr/bin/amber"], 0o700))
			w.works(t, program)
		}
		if rpm, err := exec.LookPath("rpm"); err == nil {
			must.Says(t, "rpm", said(t, rpm, "-qip", "--nosignature", file), "Apache-2.0")
			must.Says(t, "rpm", said(t, rpm, "-qp", "--nosignature", "--scripts", file), "systemd-sysusers")
		} else {
			t.Log("rpm is not here: the package was read by this test alone")
		}
	}
}

// rpmFiles reads an rpm: a lead, two headers, and a cpio in gzip.
func rpmFiles(t *testing.T, b []byte) map[string][]byte {
	t.Helper()
	must.Hold(t, bytes.HasPrefix(b, []byte{0xed, 0xab, 0xee, 0xdb}), "the package does not begin as an rpm does")
	b = b[96:]
	for _, to := range []int{8, 1} { // the first header is filled up to a multiple of eight bytes
		must.Hold(t, bytes.HasPrefix(b, []byte{0x8e, 0xad, 0xe8, 1}), "a header is missing")
		n := 16 + 16*int(binary.BigEndian.Uint32(b[8:])) + int(binary.BigEndian.Uint32(b[12:]))
		b = b[n+pad(n, to):]
	}
	cpio := must.Get(io.ReadAll(ungzip(t, b)))(t)
	files := map[string][]byte{}
	for {
		must.Hold(t, bytes.HasPrefix(cpio, []byte("07070")), "the payload is no cpio")
		field := func(i int) int {
			return int(must.Get(strconv.ParseUint(string(cpio[6+8*i:14+8*i]), 16, 32))(t))
		}
		size, length := field(6), field(11)
		name := strings.TrimPrefix(string(cpio[110:110+length-1]), ".")
		if name == "TRAILER!!!" {
			return files
		}
		at := 110 + length + pad(110+length, 4)
		files[name] = cpio[at : at+size]
		cpio = cpio[at+size+pad(size, 4):]
	}
}

// pad is how many bytes are missing to a multiple.
func pad(n, to int) int { return (to - n%to) % to }

// testImage checks the archive, unpacks it, and runs the program in it; in a chroot of the image alone where that can be.
func (w whole) testImage(t *testing.T) {
	archive := filepath.Join(w.dist, "amber_"+w.Number+"_image.tar")
	for arch, files := range checkImage(t, must.Get(os.ReadFile(archive))(t)) {
		root := t.TempDir()
		for name, data := range files {
			if strings.HasSuffix(name, "/") {
				must.Do(t, os.MkdirAll(filepath.Join(root, name), 0o755))
				continue
			}
			must.Do(t, put(root, name, 0o755, data))
		}
		must.Hold(t, len(files["etc/ssl/certs/ca-certificates.crt"]) > 0, "the image for %s trusts nobody", arch)
		if arch != own().Arch || own().OS != "linux" {
			t.Logf("the program of the image for %s was unpacked and not run", arch)
			continue
		}
		w.works(t, filepath.Join(root, "usr/local/bin/amber"))
		if os.Geteuid() == 0 {
			must.Says(t, "amber in the image", said(t, "chroot", "--userspec=10001:10001", root, "/usr/local/bin/amber", "version"), "amber "+w.Tag)
		}
	}
	skopeo, err := exec.LookPath("skopeo")
	if err != nil {
		t.Log("skopeo is not here: the archive was read by this test alone")
		return
	}
	must.Says(t, "skopeo inspect", said(t, skopeo, "inspect", "--raw", "oci-archive:"+archive), `"architecture":"arm64"`)
	said(t, skopeo, "--insecure-policy", "copy", "--all", "oci-archive:"+archive, "dir:"+t.TempDir())
	said(t, skopeo, "--insecure-policy", "copy", "docker-archive:"+archive+":"+w.Image+":"+w.Number+"-amd64", "dir:"+t.TempDir())
}
