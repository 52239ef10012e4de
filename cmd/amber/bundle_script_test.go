package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

// scriptIdentity is "identity FILE VAR": it makes a file with an age secret key
// and keeps the public one.
func scriptIdentity(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: identity FILE VAR")
	}
	id, err := age.GenerateX25519Identity()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(id.String()+"\n"), 0o600))
	ts.Setenv(args[1], id.Recipient().String())
}

// scriptUnbundle is "unbundle FILE DIR": it takes a bundle that is not encrypted
// apart as tar and zstd do. Beside the files DIR holds the whole archive.
func scriptUnbundle(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: unbundle FILE DIR")
	}
	packed, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	d, err := zstd.NewReader(bytes.NewReader(packed))
	ts.Check(err)
	defer d.Close()
	raw, err := io.ReadAll(d)
	ts.Check(err)
	dir := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(os.WriteFile(filepath.Join(dir, "archive.tar"), raw, 0o600))
	for r := tar.NewReader(bytes.NewReader(raw)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		ts.Check(err)
		if strings.HasSuffix(h.Name, "/") {
			continue
		}
		content, err := io.ReadAll(r)
		ts.Check(err)
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		ts.Check(errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)))
	}
}

// scriptReplace is "replace GLOB OLD NEW": it changes a text in every file that
// GLOB names, in each at least once.
func scriptReplace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace GLOB OLD NEW")
	}
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(files) == 0 {
		ts.Fatalf("there is no file %s", args[0])
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		ts.Check(err)
		if !bytes.Contains(b, []byte(args[1])) {
			ts.Fatalf("%q is not in %s", args[1], file)
		}
		ts.Check(os.WriteFile(file, bytes.ReplaceAll(b, []byte(args[1]), []byte(args[2])), 0o600))
	}
}

// scriptCopyTree is "copytree FROM TO": TO is made anew, for its owner alone.
func scriptCopyTree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: copytree FROM TO")
	}
	to := ts.MkAbs(args[1])
	ts.Check(errors.Join(os.RemoveAll(to), os.MkdirAll(to, 0o700), os.CopyFS(to, os.DirFS(ts.MkAbs(args[0])))))
}

// scriptUnsign is "unsign FILE": it takes the signatures of a record away.
func scriptUnsign(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: unsign FILE")
	}
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	signed := regexp.MustCompile(`"signatures":\[\{[^]]*\]`)
	if !signed.Match(b) {
		ts.Fatalf("there is no signature in %s", b)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), signed.ReplaceAll(b, []byte(`"signatures":[]`)), 0o600))
}
