package digest_test

import (
	"testing"

	"github.com/amber-memory/amber/internal/capture/digest"
)

func TestSameAndContradicting(t *testing.T) {
	t.Parallel()
	const same, other, against = "same", "other", "against"
	for _, c := range []struct{ a, b, want string }{
		{"We use tabs in Makefiles.", "we use TABS in makefiles", same},
		{"Always squash commits before a merge to main, please.", "Please always squash the commits before a merge to main.", same},
		{"We use ruff for Python.", "We use mypy for Python.", other},
		{"The default branch is main.", "The default branch is trunk.", against},
		{"Always use npm to install packages.", "From now on use yarn to install packages.", against},
		{"The memory limit of the importer is 3 GB.", "The memory limit of the importer is 4 GB.", against},
		{"Use testify in the booking tests.", "Don't use testify in the booking tests.", against},
		{"Never delete rows of the ledger by hand.", "Delete rows of the ledger by hand.", against},
		{"Use tabs.", "Use PostgreSQL.", other},
		{"Deploy staging with make deploy.", "Deploy production with make deploy.", other},
		{"Site MOT-03 sends its readings every minute.", "Site MOT-07 sends its readings every minute.", other},
		{"Migration 0041 adds a status column to bookings.", "Migration 0042 adds a status column to bookings.", other},
		{"We use tabs in Makefiles.", "The tests need a database.", other},
		{"", "", same},
		{"!", "?", other},
	} {
		a, b := digest.Parse(c.a), digest.Parse(c.b)
		got := other
		switch {
		case a.Same(b):
			got = same
		case a.Contradicts(b):
			got = against
		}
		if got != c.want {
			t.Errorf("%q and %q: %s, want %s", c.a, c.b, got, c.want)
		}
		if a.Same(b) != b.Same(a) || a.Contradicts(b) != b.Contradicts(a) || a.Same(b) && a.Contradicts(b) {
			t.Errorf("%q and %q: the answer depends on the order, or is both", c.a, c.b)
		}
	}
}
