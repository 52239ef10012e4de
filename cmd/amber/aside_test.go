package main

import (
	"strings"
	"testing"
)

// One memory that no reader can read is named, by its table and id, beside an
// answer that has all others; the doctor fails on it and forget takes it away.
func TestOneBadMemoryDoesNotTakeTheOthersDown(t *testing.T) {
	p := newSickHome(t)
	must := func(args ...string) string {
		t.Helper()
		code, out := p.run(args...)
		if code != 0 {
			t.Fatalf("amber %s: exit %d\n%s", strings.Join(args, " "), code, out)
		}
		return out
	}
	bad := strings.TrimSpace(must("remember", "fish number one"))
	must("remember", "fish number two")
	p.sql("memory.db", "UPDATE memories SET metadata = '{' WHERE id = '"+bad+"'")
	for _, args := range [][]string{{"list"}, {"recall", "fish number"}, {"--json", "list"}, {"--json", "recall", "fish number"}} {
		if out := must(args...); !strings.Contains(out, "number two") || strings.Contains(out, "number one") || !strings.Contains(out, bad) {
			t.Errorf("%v says %s", args, out)
		}
	}
	if code, found := p.doctor(); code != 5 || !strings.Contains(found["memory.rows"].Detail, "memories "+bad+": metadata is not valid JSON") {
		t.Errorf("exit %d, %+v", code, found["memory.rows"])
	}
	if code, out := p.run("get", bad); code != 5 || !strings.Contains(out, "amber forget "+bad) {
		t.Errorf("get: exit %d\n%s", code, out)
	}
	// A snapshot holds the row, verify tells of it, and a restore warns.
	snap := p.snapshot()
	if code, out := p.run("snapshot", "verify", snap, "--read-data"); code != 5 || !strings.Contains(out, bad) {
		t.Errorf("verify: exit %d\n%s", code, out)
	}
	must("remember", "fish number three")
	if out := must("snapshot", "restore", snap, "--yes"); !strings.Contains(out, bad) {
		t.Errorf("restore says %s", out)
	}
	if out := must("list"); !strings.Contains(out, "number two") || strings.Contains(out, "number three") {
		t.Errorf("after the restore: %s", out)
	}
	must("forget", bad)
	if code, found := p.doctor(); code != 0 {
		t.Errorf("exit %d, %+v", code, found["memory.rows"])
	}
}
