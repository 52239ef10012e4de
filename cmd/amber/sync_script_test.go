package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
)

// scriptTeam is "team USER...": it makes a bare repository team/shop.git with
// one commit on main, and a clone of it for each user in a folder of that name.
func scriptTeam(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: team USER...")
	}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		ts.Setenv("GIT_"+who+"_NAME", "somebody")
		ts.Setenv("GIT_"+who+"_EMAIL", "somebody@localhost")
	}
	bare := ts.MkAbs("team/shop.git")
	ts.Check(ts.Exec("git", "init", "-q", "--bare", "-b", "main", bare))
	first := ts.MkAbs("team/first")
	ts.Check(ts.Exec("git", "init", "-q", "-b", "main", first))
	ts.Check(os.WriteFile(filepath.Join(first, "README"), []byte("hello\n"), 0o600))
	ts.Check(ts.Exec("git", "-C", first, "add", "README"))
	ts.Check(ts.Exec("git", "-C", first, "commit", "-q", "-m", "begin"))
	ts.Check(ts.Exec("git", "-C", first, "push", "-q", bare, "main"))
	for _, user := range args {
		ts.Check(ts.Exec("git", "clone", "-q", bare, ts.MkAbs(user)))
	}
}

// scriptAs is "as USER": what follows is done by that user of a team, in their
// clone and with their home.
func scriptAs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: as USER")
	}
	work := ts.Getenv("WORK")
	ts.Setenv("USER", args[0])
	ts.Setenv("AMBER_HOME", filepath.Join(work, args[0]+".home"))
	ts.Check(ts.Chdir(filepath.Join(work, args[0])))
}

// scriptFlip is "flip GLOB": it changes one byte in the middle of the one file
// that GLOB names.
func scriptFlip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: flip GLOB")
	}
	file := oneFile(ts, args[0])
	b, err := os.ReadFile(file)
	ts.Check(err)
	b[len(b)/2] ^= 0x20
	ts.Check(os.WriteFile(file, b, 0o600))
}

func oneFile(ts *testscript.TestScript, glob string) string {
	files, err := filepath.Glob(ts.MkAbs(glob))
	ts.Check(err)
	if len(files) != 1 {
		ts.Fatalf("%s names %d files", glob, len(files))
	}
	return files[0]
}

// scriptUnchunk is "unchunk DIR FILE": it writes the text of every chunk of a
// folder to FILE, those in packs too.
func scriptUnchunk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: unchunk DIR FILE")
	}
	files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "chunks", "*"))
	ts.Check(err)
	if len(files) == 0 {
		ts.Fatalf("there are no chunks")
	}
	var all bytes.Buffer
	for _, file := range files {
		packed, err := os.ReadFile(file)
		ts.Check(err)
		if !strings.HasSuffix(file, ".zst") {
			ts.Fatalf("%s is not a chunk", file)
		}
		parts, err := chunk.Open(chunk.IDOf(packed), packed)
		ts.Check(err)
		for _, p := range parts {
			d, err := zstd.NewReader(bytes.NewReader(p.Bytes))
			ts.Check(err)
			_, err = io.Copy(&all, d)
			d.Close()
			ts.Check(err)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), all.Bytes(), 0o600))
}
