package main

import (
	"testing"

	"github.com/amber-memory/amber/wire"
)

// One memory that no reader can read is named, by its table and id, beside an
// answer that has all others; the doctor fails on it and forget takes it away.
func TestOneBadMemoryDoesNotTakeTheOthersDown(t *testing.T) {
	p := newSickHome(t)
	bad := p.run("remember", "fish number one").line()
	p.run("remember", "fish number two").line()
	p.sql("memory.db", "UPDATE memories SET metadata = '{' WHERE id = '"+bad+"'")
	for _, args := range [][]string{{"list"}, {"recall", "fish number"}, {"--json", "list"}, {"--json", "recall", "fish number"}} {
		p.run(args...).exits(0).tells("number two", bad).omits("number one")
	}
	p.finds(5, "memory.rows", wire.FindingFailed, "memories "+bad+": metadata is not valid JSON")
	p.run("get", bad).exits(5).warns("amber forget " + bad)
	// A snapshot holds the row, verify reports it, and a restore warns.
	snap := p.snapshot()
	p.run("snapshot", "verify", snap, "--read-data").exits(5).tells(bad)
	p.run("remember", "fish number three").line()
	p.run("snapshot", "restore", snap, "--yes").exits(0).tells(bad)
	p.run("list").exits(0).tells("number two").omits("number three")
	p.run("forget", bad).exits(0)
	p.finds(0, "memory.rows", wire.FindingOK)
}
