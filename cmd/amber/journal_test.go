package main

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/config"
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

// TestJournalIsBoundedAsConfigured checks that every key of the journal
// reaches it.
func TestJournalIsBoundedAsConfigured(t *testing.T) {
	t.Parallel()
	c := config.Journal{FlushInterval: 7 * time.Millisecond, MaxEntries: 3, MaxSessionBytes: 2 << 20, MaxBytes: 5 << 20}
	o := agent.JournalOptions(c, time.Now)
	if o.FlushInterval != c.FlushInterval || o.MaxEntries != c.MaxEntries ||
		o.MaxSessionBytes != int64(c.MaxSessionBytes) || o.MaxBytes != int64(c.MaxBytes) {
		t.Errorf("got %+v, want %+v", o, c)
	}
}
