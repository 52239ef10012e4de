package main

import (
	"bytes"
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptDamage is "damage FILE torn" or "damage FILE WORD": it leaves the
// beginning of another entry behind the last one, or changes a byte of a word.
func scriptDamage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: damage FILE torn|WORD")
	}
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	if args[1] == "torn" {
		b = append(b, "AFr1 torn"...)
	} else {
		at := bytes.Index(b, []byte(args[1]))
		if at < 0 {
			ts.Fatalf("%q is not in it", args[1])
		}
		b[at] ^= 1
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o600))
}
