package colony

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

// Backup uploads documents as a new snapshot and lets the pointer name it, unless
// the newest snapshot holds the same documents. It checks that the snapshot fits
// before the first write. After any failure it can be repeated: parts that were
// uploaded are used, and no snapshot is lost.
//
// With Keep it prunes older snapshots afterwards; what could not be removed is in
// the report and is not an error. After a backup of empty documents, prune keeps
// the last snapshot that has text.
//
// Errors: invalid for documents that cannot be written; conflict when another label
// has the same file names, the pointer could not be moved, or OnlySeen forbids the
// backup; quota when the snapshot does not fit or needs too many operations;
// refused; too_new. With an error the report says what was uploaded.
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
	began  time.Time    // when it last looked what there is
	made   SnapshotID   // the last id that was made for it
	sealed SnapshotID   // the last one of which it was about to write the manifest
	missed bool         // parts that it had written were not there
	given  []SnapshotID // snapshots that it gave up: another client may just be removing the parts
	// unknown is a snapshot that was the newest and never seen from here.
	unknown SnapshotID
}

func (b *backup) run(ctx context.Context) error {
	if err := b.prepare(ctx); err != nil {
		return err
	}
	for try := 0; ; try++ {
		err := b.write(ctx)
		if err == nil {
			err = b.publish(ctx)
		}
		if err == nil {
			return b.prune(ctx)
		}
		if !errors.Is(err, errOvertaken) || try == mostOvertaken {
			return err
		}
	}
}

// errOvertaken is returned when another writer finished the same snapshot and signed it differently, or has removed it
// since, or may be removing its parts because the upload took too long. The backup then makes a new snapshot.
var errOvertaken = errors.New("another writer finished or removed the snapshot")

// mostOvertaken is how often that may happen.
const mostOvertaken = 4

func overtaken(id SnapshotID) error {
	return &amber.Error{Op: "write snapshot", Kind: amber.KindConflict, ID: string(id), Err: errOvertaken}
}

// prepare asks what can be known before the first look.
func (b *backup) prepare(ctx context.Context) (err error) {
	if b.o.Keep < 0 {
		return amber.Errorf(amber.KindInvalid, "prune", "", "keep is below 1, want at least one snapshot")
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
	b.began = b.v.now()
	b.report.Unchanged, b.report.Resumed, b.report.SupersededBy = false, false, ""
	if err := b.survey(ctx); err != nil {
		return err
	}
	held, err := b.find(ctx)
	if err != nil {
		return err
	}
	if held.g == nil {
		if err := b.known(); err != nil {
			return err
		}
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
	for _, f := range append([]found{b.view.head}, b.view.passed...) {
		if isKind(f.err, amber.KindTooNew) {
			return f.err
		}
	}
	b.own(ctx)
	b.warn()
	return b.v.collides(b.view.head)
}

// collides refuses a label whose file names are used by a snapshot of another label: two labels may become the same
// text in file names.
func (v *Vault) collides(f found) error {
	raw := strings.TrimSpace(f.m.Info.LabelRaw)
	// The original client does not write the label that the user gave. Every label without a usable character becomes
	// DefaultLabel in file names, so we take such a snapshot for one of DefaultLabel itself.
	if raw == "" && v.label == DefaultLabel && !strings.EqualFold(v.raw, DefaultLabel) {
		raw = DefaultLabel
	}
	if f.g == nil || raw == "" || raw == v.raw {
		return nil
	}
	return v.foreign(raw, "amber vault backup --label NAME")
}

// foreign is the error for a label that is there under another name.
func (v *Vault) foreign(raw, hint string) error {
	return &amber.Error{
		Op: "use label", Kind: amber.KindConflict, ID: v.label, Hint: hint,
		Err: fmt.Errorf("the vault uses the label %s, whose files have the same names as those of %s", quote(raw), quote(v.raw)),
	}
}

// prune removes what is too much. The backup is done: a failure is a warning.
func (b *backup) prune(ctx context.Context) error {
	if b.o.Keep == 0 || b.o.OnlySeen && b.report.SupersededBy != "" {
		return nil
	}
	r, err := b.v.prune(ctx, b.o.Keep, false, b.docs.blank(), b.unknown)
	b.report.Pruned = &r
	if err != nil {
		b.report.Warnings = append(b.report.Warnings, fmt.Sprintf("prune: %v", err))
	}
	return nil
}
