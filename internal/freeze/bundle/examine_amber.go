package bundle

import (
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// amber looks at the content of a bundle of Amber's own format.
func (x *examination) amber(s *stream, to sink) error {
	w := &walk{tar: s.tar, next: readPOSIX, kept: []string{manifestName}, inOrder: true, limits: x.o.Limits, sink: to}
	err := w.run()
	if err == nil {
		err = zeros(s.tar, 0)
	}
	if err != nil {
		return x.unread(s, err, amberChecks)
	}
	if x.shape.encrypted {
		x.pass(CheckAge)
	}
	switch {
	case x.shape.hasRoom:
	case x.shape.byPassphrase():
		x.skip(whyPassphrase, CheckOuter)
	default:
		x.fail(CheckOuter, errors.New(whyMissing))
	}
	manifest, ok := w.memory[manifestName]
	if !ok {
		x.fail(CheckInner, errors.New(whyMissing))
		x.skip(whyNotReached, CheckInnerSignature, CheckEntries)
		return nil
	}
	in, sig, err := readInner(manifest)
	switch {
	case amber.KindOf(err) == amber.KindTooNew:
		return err
	case err != nil:
		x.fail(CheckInner, err)
		x.skip(whyNotReached, CheckInnerSignature, CheckEntries)
		return nil
	}
	x.found = &content{
		format: wire.FormatAmber, contents: in.Contents, entries: in.Entries, redacted: in.Redactions != nil,
		signature: x.bothSigned(in, sig),
	}
	if err := x.sameAsOuter(in, manifest, w.mtimes); err != nil {
		x.fail(CheckInner, err)
	} else {
		x.pass(CheckInner)
	}
	x.judged(CheckInnerSignature, x.found.signature)
	if x.compare(in.Entries, w.listed()) {
		x.pass(counted(in.Entries))
	}
	return nil
}

// bothSigned says what the signatures of both manifests are worth together.
func (x *examination) bothSigned(in *inner, sig sign.SignatureReport) sign.SignatureReport {
	o := x.shape.outer
	if o == nil {
		return sig
	}
	switch {
	case x.shape.signature.Status == sign.SignatureBad, x.shape.signature.Status == sign.SignatureStripped:
		return x.shape.signature
	case sig.Status == sign.SignatureBad, sig.Status == sign.SignatureStripped, o.Signer == in.Signer:
		return sig
	case o.Signer == "":
		return sign.SignatureReport{Status: sign.SignatureStripped, KeyID: in.Signer, Detail: "the inner manifest is signed, and the outer one is not"}
	}
	return sign.SignatureReport{Status: sign.SignatureBad, KeyID: o.Signer, Detail: "the manifests name different signers"}
}

// sameAsOuter compares what both manifests say, and the times in the archive.
func (x *examination) sameAsOuter(in *inner, manifest []byte, mtimes map[int64]bool) error {
	for _, e := range in.Entries {
		if err := checkKind(e.Path, e.Kind); err != nil {
			return err
		}
	}
	if len(mtimes) != 1 || !mtimes[in.CreatedAt.UnixMilli()/1000] {
		return errors.New("the times in the archive are not the snapshot's")
	}
	o := x.shape.outer
	if o == nil {
		return nil
	}
	want := outerOf(&in.Contents, x.shape.encrypted, nil)
	want.fill(in.Entries, manifest)
	// These are compared elsewhere.
	want.Signer, want.HeaderSHA256, want.PayloadBytes, want.PayloadSHA256 = o.Signer, o.HeaderSHA256, o.PayloadBytes, o.PayloadSHA256
	if want != *o {
		return fmt.Errorf("the inner manifest contradicts the outer manifest")
	}
	return nil
}
