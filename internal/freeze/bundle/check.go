package bundle

import (
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// The things that are looked at, as [wire.BundleReport] names them. In Checked they stand as they are, but entries with
// their number and size; in NotChecked with the reason behind a colon.
const (
	CheckSidecar        = "sidecar"            // the digest of the whole file
	CheckOuter          = "outer manifest"     // it is whole and in its one spelling
	CheckOuterSignature = "outer signature"    // it matches; whose it is, is another question
	CheckRecipients     = "recipients"         // the age header before the outer manifest matches it
	CheckPayload        = "payload digest"     // the bytes behind the outer manifest match it
	CheckAge            = "age authentication" // header and every chunk opened with an identity
	CheckInner          = "inner manifest"     // it is whole and says the same as the outer one
	CheckInnerSignature = "inner signature"
	CheckEntries        = "entries" // each as the manifest lists it, and no other

	CheckManifest      = "manifest"       // of the other format: it can be read, and its ids are ids
	CheckSeal          = "seal"           // of the other format: covers the digests of the artifacts and nothing else
	CheckFields        = "fields"         // of the other format: paths, ids and times, which the seal does not cover
	CheckAmberManifest = "amber manifest" // the entry that Amber adds to the other format
	CheckSignature     = "signature"      // of that entry

	checkFile = "file" // it is no bundle at all
)

// The reasons for not looking.
const (
	whyNoIdentity = "no identity opens it"
	whyUnsigned   = "unsigned"
	whyPassphrase = "none beside a passphrase"
	whyNoSidecar  = "left out"
	whyMissing    = "the file is missing"
	whyNotReached = "not reached"
	whyNoSeal     = "nothing covers them"
)

// maxFaults bounds how many damaged entries are named.
const maxFaults = 100

// findings is what became of looking at a bundle. Everything that can be looked at ends in one of the three lists.
type findings struct {
	passed  []string
	skipped []string
	faults  []fault
	more    int // faults that are not listed
	locked  bool
}

// fault is something that does not hold.
type fault struct {
	object string // what was looked at, or the path of an entry
	kind   amber.Kind
	reason string
}

func (f *findings) pass(check string) { f.passed = append(f.passed, check) }

func (f *findings) skip(why string, checks ...string) {
	for _, c := range checks {
		f.skipped = append(f.skipped, c+": "+why)
	}
}

func (f *findings) fail(object string, err error) {
	f.failAs(amber.KindDamaged, object, reasonOf(err))
}

func (f *findings) failAs(kind amber.Kind, object, reason string) {
	if len(f.faults) == maxFaults {
		f.more++
		return
	}
	f.faults = append(f.faults, fault{object, kind, reason})
}

// judged takes what became of a signature.
func (f *findings) judged(check string, s sign.SignatureReport) {
	switch s.Status {
	case sign.SignatureValid:
		f.pass(check)
	case sign.SignatureMissing:
		f.skip(whyUnsigned, check)
	default:
		f.failAs(amber.KindUntrusted, check, s.Detail)
	}
}

// err returns the first fault as an error, nil without one.
func (f *findings) err(file string) error {
	if len(f.faults) == 0 {
		return nil
	}
	first := f.faults[0]
	e := amber.Errorf(first.kind, "read bundle", file, "%s: %s", first.object, first.reason)
	if first.object == CheckSidecar && first.reason == whyMissing {
		e.Hint = "fetch " + sidecarPath(file) + " from where the bundle came from"
	}
	return e
}

func (f *findings) damage(id amber.SnapshotID) []wire.Damage {
	out := []wire.Damage{}
	snapshots := []amber.SnapshotID{}
	if id != "" {
		snapshots = append(snapshots, id)
	}
	for _, x := range f.faults {
		out = append(out, wire.Damage{Object: x.object, Reason: x.reason, Snapshots: snapshots})
	}
	if f.more > 0 {
		out = append(out, wire.Damage{Object: CheckEntries, Reason: fmt.Sprintf("%d more", f.more), Snapshots: snapshots})
	}
	return out
}

// reasonOf returns an error without the operation around it.
func reasonOf(err error) string {
	if e, ok := err.(*amber.Error); ok && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}
