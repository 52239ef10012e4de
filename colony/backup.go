package colony

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
)

// Backup puts documents into the vault as a new snapshot that the pointer then
// names, unless the newest one holds the same. What it needs is counted before
// the first write. It can be repeated after any failure: what was uploaded is
// used, and no snapshot is lost.
//
// With Keep, older snapshots are pruned at last; that some could not be removed
// is in the report and fails nothing. Documents without any text never make
// prune remove the last snapshot that has some.
//
// Errors: invalid for documents that cannot be written; conflict when the label
// is used under another name, or the pointer could not be moved; quota when it
// does not fit or takes too many operations; refused; too_new. Beside an error
// the report says what was uploaded.
func (v *Vault) Backup(ctx context.Context, docs Documents, o BackupOptions) (BackupReport, error) {
	b := backup{v: v, docs: docs, o: o}
	b.report.Uploaded = []string{}
	err := b.run(ctx)
	return b.report, v.wrap("back up", err)
}

// backup is one backup.
type backup struct {
	v      *Vault
	docs   Documents
	o      BackupOptions
	digest string
	seen   Sighting
	status Status
	view   view
	report BackupReport
}

func (b *backup) run(ctx context.Context) error {
	if err := b.prepare(ctx); err != nil {
		return err
	}
	for try := 0; ; try++ {
		err := b.write(ctx)
		if err == nil {
			break
		}
		if !errors.Is(err, errOvertaken) || try == mostOvertaken {
			return err
		}
	}
	if err := b.publish(ctx); err != nil {
		return err
	}
	return b.prune(ctx)
}

// errOvertaken is returned when somebody else finished the same snapshot, and
// signed it otherwise or removed it since. A new one is made then.
var errOvertaken = errors.New("others finished it in another way, or removed it")

// mostOvertaken is how often that may happen.
const mostOvertaken = 4

func overtaken(id SnapshotID) error {
	return &amber.Error{Op: "write snapshot", Kind: amber.KindConflict, ID: string(id), Err: errOvertaken}
}

// prepare asks what can be known before the first look.
func (b *backup) prepare(ctx context.Context) (err error) {
	if b.o.Keep < 0 {
		return amber.Errorf(amber.KindInvalid, "prune", "", "at least one snapshot is kept")
	}
	if b.digest, err = b.docs.Digest(); err != nil {
		return err
	}
	if b.seen, err = b.v.seen(ctx); err != nil {
		return err
	}
	if g, ok := b.v.b.(GuardedBackend); ok {
		return g.MayWrite(ctx)
	}
	return nil
}

// write finds the documents in the vault, or puts them there.
func (b *backup) write(ctx context.Context) error {
	if err := b.survey(ctx); err != nil {
		return err
	}
	held, err := b.find(ctx)
	if err != nil {
		return err
	}
	if held.g == nil {
		return b.upload(ctx)
	}
	b.report.Info = held.info(b.v.label)
	return nil
}

// survey looks at what there is.
func (b *backup) survey(ctx context.Context) (err error) {
	if b.status, err = b.v.b.Status(ctx); err != nil {
		return err
	}
	if b.view, err = b.v.look(ctx); err != nil {
		return err
	}
	if isKind(b.view.head.err, amber.KindTooNew) {
		return b.view.head.err
	}
	b.warn()
	return b.v.collides(b.view.head)
}

// collides refuses a label that somebody uses under another name: different
// labels may become one in names of files.
func (v *Vault) collides(f found) error {
	if f.g == nil || f.m.Info.LabelRaw == "" || strings.TrimSpace(f.m.Info.LabelRaw) == v.raw {
		return nil
	}
	return &amber.Error{
		Op: "use label", Kind: amber.KindConflict, ID: v.label,
		Err:  fmt.Errorf("%s is there, and becomes the same as %s", quote(f.m.Info.LabelRaw), quote(v.raw)),
		Hint: "amber vault backup --label NAME",
	}
}

// warn notes what is odd about what is there.
func (b *backup) warn() {
	w := b.view
	b.report.Warnings = nil
	note := func(format string, args ...any) {
		b.report.Warnings = append(b.report.Warnings, fmt.Sprintf(format, args...))
	}
	switch {
	case w.empty() && b.seen.ID != "":
		note("nothing is there, and %s was seen before", b.seen.ID)
	case w.empty():
	case w.head.g == nil:
		note("files are there, and no snapshot that is complete (%s)", w.bad)
	case w.head.err != nil:
		note("the newest snapshot cannot be restored (%v)", w.head.err)
	case w.head.g.id < b.seen.ID:
		note("the newest snapshot is %s, and %s was seen before", w.head.g.id, b.seen.ID)
	}
	if !w.empty() && !w.good() && w.head.g != nil {
		note("%s: the newest complete snapshot was %s", w.bad, w.head.g.id)
	}
	if b.docs.blank() && w.head.whole() && !w.head.m.blank() {
		note("the documents have no text, and those of %s have", w.head.g.id)
	}
}

// blank reports whether no document has text.
func (d Documents) blank() bool {
	for _, text := range d {
		if text != "" {
			return false
		}
	}
	return true
}

// publish moves the pointer and remembers the snapshot.
func (b *backup) publish(ctx context.Context) error {
	seen := sighting(b.report.Info)
	seen.Documents = b.digest
	if !b.report.Unchanged || !b.view.good() {
		m, err := b.v.point(ctx, b.report.ID)
		if m.wrote {
			b.report.Uploaded = append(b.report.Uploaded, LatestName(b.v.label))
		}
		if err != nil {
			return err
		}
		if m.by.g != nil {
			b.report.SupersededBy = m.by.g.id
			seen = sighting(m.by.info(b.v.label))
		}
	}
	if warning := b.v.see(ctx, b.seen, seen); warning != "" {
		b.report.Warnings = append(b.report.Warnings, warning)
	}
	return nil
}

// prune removes what is too much. The backup is done: a failure is a warning.
func (b *backup) prune(ctx context.Context) error {
	if b.o.Keep == 0 {
		return nil
	}
	r, err := b.v.prune(ctx, b.o.Keep, false, b.docs.blank())
	b.report.Pruned = &r
	if err != nil {
		b.report.Warnings = append(b.report.Warnings, fmt.Sprintf("prune: %v", err))
	}
	return nil
}
