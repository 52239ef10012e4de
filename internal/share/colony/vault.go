package colony

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

// Vault takes, lists, restores and removes the snapshots of one label. Several
// of them, also on other machines, may work on the same label at once. Safe for
// concurrent use if what it was given in [Options] is.
//
// Every method begins with a listing, so that not_found is only returned after the
// vault has answered. Beside the errors they name, methods return an error with the
// kind of the first request that failed.
type Vault struct {
	b     Backend
	c     ConditionalBackend // nil when b knows no conditions
	o     Options
	label string // as names of files have it
	raw   string // as it was given

	partChars int // for tests; 0: PartChars
}

// Open returns a label of a vault. It sends no request. The error is of kind
// invalid.
func Open(b Backend, o Options) (*Vault, error) {
	fail := func(why string) (*Vault, error) {
		return nil, amber.Errorf(amber.KindInvalid, "open vault", "", "%s", why)
	}
	switch {
	case b == nil || o.Clock == nil || o.Random == nil:
		return fail("Options need a backend, a clock and a source of randomness")
	case o.RequireSigned && o.NoVerify:
		return fail("a signature cannot be both required and not checked")
	}
	o.defaults()
	v := &Vault{b: b, o: o, label: Label(o.Label), raw: strings.TrimSpace(o.Label)}
	v.c, _ = b.(ConditionalBackend)
	v.raw = cmp.Or(v.raw, DefaultLabel)
	if longest := MaxNameBytes - len(ManifestName("", anyID)); len(v.label) > longest {
		return fail(fmt.Sprintf("the label has %d characters, want at most %d", len(v.label), longest))
	}
	return v, nil
}

// anyID is as long as each id.
const anyID SnapshotID = "20060102T150405000000Z-000000"

func (o *Options) defaults() {
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	o.Operations = cmp.Or(o.Operations, DefaultOperations)
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
}

// Label returns the label as names of files have it.
func (v *Vault) Label() string { return v.label }

// Status tells how much room the vault has.
func (v *Vault) Status(ctx context.Context) (Status, error) {
	s, err := v.b.Status(ctx)
	return s, v.wrap("ask vault", err)
}

// wrap names the operation. The kind stays.
func (v *Vault) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return &amber.Error{Op: op, Kind: amber.KindOf(err), ID: v.label, Err: err}
}

// reading says how a snapshot is read.
func (v *Vault) reading(id SnapshotID) readOptions {
	return readOptions{
		Label: v.label, ID: id, Tolerant: v.o.Tolerant, NoVerify: v.o.NoVerify, RequireSigned: v.o.RequireSigned,
		Trust: v.o.Trust, Identities: v.o.Identities, MaxBytes: v.o.MaxBytes,
	}
}

// now is to the microsecond, as ids are.
func (v *Vault) now() time.Time { return v.o.Clock().UTC().Truncate(time.Microsecond) }

// told reports whether err is about what was read, and not about whether it
// could be.
func told(err error) bool {
	switch amber.KindOf(err) {
	case amber.KindDamaged, amber.KindUntrusted, amber.KindTooNew, amber.KindUnsupported, amber.KindQuota:
		return true
	}
	return false
}

func isKind(err error, k amber.Kind) bool { return err != nil && amber.KindOf(err) == k }
