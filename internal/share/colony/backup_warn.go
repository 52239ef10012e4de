package colony

import (
	"fmt"
	"strings"
)

// warn notes what is odd about what is there.
func (b *backup) warn() {
	w := b.view
	b.report.Warnings = nil
	note := func(format string, args ...any) {
		b.report.Warnings = append(b.report.Warnings, fmt.Sprintf(format, args...))
	}
	switch {
	case w.empty() && b.seen.ID != "":
		note("the label has no files, and %s was seen before", b.seen.ID)
	case w.empty():
	case w.head.g == nil:
		note("the label has files, but no complete snapshot (%s)", w.fallback())
	case w.head.err != nil:
		note("the newest snapshot cannot be restored (%v)", w.head.err)
	case w.head.g.id < b.seen.ID:
		note("the newest snapshot is %s, which is older than %s, seen before", w.head.g.id, b.seen.ID)
	}
	if id := b.unseen(); id != "" && !b.o.OnlySeen {
		b.unknown = id
		note("the newest snapshot, %s, was never seen from here", id)
	}
	if !w.empty() && !w.good() && w.head.g != nil {
		note("%s: the newest complete snapshot was %s", w.fallback(), w.head.g.id)
	}
	b.warnOfLess(note)
	if b.docs.blank() && w.head.whole() && !w.head.m.blank() {
		note("the new documents are empty, and those of %s are not", w.head.g.id)
	}
}

// warnOfLess notes that a new snapshot would be less safe than the newest.
func (b *backup) warnOfLess(note func(format string, args ...any)) {
	head := b.view.head
	if head.g == nil {
		return
	}
	if head.m.Info.Signed && b.v.o.Signer == nil {
		note("%s is signed, and the new snapshot is not", head.g.id)
	}
	if head.m.Info.Encrypted && len(b.v.o.Recipients) == 0 {
		note("%s is encrypted, and the new snapshot is not", head.g.id)
	}
}

// blank reports whether no document has text, but for white space.
func (d Documents) blank() bool {
	for _, text := range d {
		if strings.TrimSpace(text) != "" {
			return false
		}
	}
	return true
}
