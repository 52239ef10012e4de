package transfer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/internal/test/must"
)

// tooLong is a session with one turn that fits and one that does not.
func tooLong() []toyLine {
	return []toyLine{
		{Session: "s1", Title: "Coupons", Turns: 2},
		{Key: "t1", Role: "user", Text: strings.Repeat("x", amber.MaxContentBytes+1)},
		{Key: "t2", Role: "assistant", Text: "fits"},
		{Session: "s2", Title: "Taxes", Turns: 1},
		{Key: "t3", Role: "user", Text: "fits"},
	}
}

// The report names a turn that cannot be stored each time, with its place, and never counts it as known.
func TestATurnThatWasSkippedIsSkippedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.imported(tooLong()...)
	must.Equal(t, "turns", fmt.Sprint(first.Turns, first.Skipped), fmt.Sprint(counts(3, 2, 0, 0), 1))
	head, dry := b.head(), b.o
	dry.DryRun = true
	for _, o := range []transfer.Options{b.o, dry, b.o} {
		r := b.run(o)
		must.Equal(t, "turns again", r.Turns, counts(3, 0, 0, 2))
		must.Equal(t, "sessions again", r.Sessions, counts(2, 0, 0, 2))
		must.Equal(t, "skips again", r.Skips, first.Skips)
	}
	must.Equal(t, "head of the change log", b.head(), head)
}

// A dry run skips the turns that the import skips.
func TestADryRunCountsTurnsThatDoNotFit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(tooLong()...)
	dry := b.o
	dry.DryRun = true
	look := b.run(dry)
	real := b.run(b.o)
	must.Equal(t, "turns", look.Turns, counts(3, 2, 0, 0))
	must.Equal(t, "turns of the import", real.Turns, look.Turns)
	must.Equal(t, "skips", real.Skips, look.Skips)
}
