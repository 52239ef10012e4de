package bundle

import (
	"errors"
	"fmt"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// other looks at the content of a bundle of the other format.
func (x *examination) other(s *stream, to sink) error {
	w := &walk{tar: s.tar, next: readNexoEntry, kept: []string{manifestName, amberManifestName}, limits: x.o.Limits, sink: to}
	err := w.run()
	if err == nil {
		err = zeros(s.tar, maxTrailing)
	}
	if err != nil {
		return x.unread(s, err, nexoChecks)
	}
	if x.shape.encrypted {
		x.pass(CheckAge)
	}
	m, err := nexoManifest(w)
	switch {
	case amber.KindOf(err) == amber.KindTooNew:
		return err
	case err != nil:
		x.fail(CheckManifest, err)
		x.skip(whyNotReached, CheckSeal, CheckEntries, CheckFields, CheckSignature)
		return nil
	}
	x.pass(CheckManifest)
	x.found = &content{
		format: wire.FormatNexo, contents: m.contents(), nexo: m, entries: m.entries(), redacted: m.Redactions != nil,
		signature: sign.SignatureReport{Status: sign.SignatureMissing},
	}
	if m.seal() != m.Seal {
		x.fail(CheckSeal, errors.New("the seal does not match the digests of the artifacts"))
	} else {
		x.pass(CheckSeal)
	}
	if x.compare(m.entries(), w.listed()) {
		x.pass(counted(m.entries()))
	}
	return x.own(w, m)
}

// readNexoEntry reads the header of a regular file. Its mode is not looked at, as the original does.
func readNexoEntry(r io.Reader) (header, bool, error) {
	h, end, err := readGNU(r)
	if err == nil && !end && h.isFolder() {
		err = fmt.Errorf("entry %q is a folder", clip.Name(h.path))
	}
	h.mode = 0o600
	return h, end, err
}

func nexoManifest(w *walk) (*NexoManifest, error) {
	b, ok := w.memory[manifestName]
	if !ok {
		return nil, errors.New(whyMissing)
	}
	m, err := readNexo(b)
	if err != nil {
		return nil, err
	}
	var listed takenPaths
	for _, a := range m.Artifacts {
		if err := listed.add(a.Path); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// own looks at the manifest that Amber adds: it covers what the seal does not.
func (x *examination) own(w *walk, m *NexoManifest) error {
	b, ok := w.memory[amberManifestName]
	switch {
	case !ok && m.AmberSigner != "":
		x.found.signature = sign.SignatureReport{Status: sign.SignatureStripped, KeyID: m.AmberSigner, Detail: "signature was taken away: the manifest names a signer, and the signed manifest is missing"}
		x.skip(whyNoSeal, CheckFields)
		x.judged(CheckSignature, x.found.signature)
		return nil
	case !ok:
		x.skip(whyNoSeal, CheckFields)
		x.skip(whyUnsigned, CheckSignature)
		return nil
	}
	in, sig, err := readInner(b)
	if amber.KindOf(err) == amber.KindTooNew {
		return err
	}
	if err == nil {
		err = sameAsNexo(in, m, w)
	}
	if err != nil {
		x.fail(CheckAmberManifest, err)
		x.skip(whyNotReached, CheckFields, CheckSignature)
		return nil
	}
	x.pass(CheckAmberManifest)
	x.pass(CheckFields)
	x.found.contents, x.found.redacted, x.found.signature = in.Contents, x.found.redacted || in.Redactions != nil, sig
	x.judged(CheckSignature, sig)
	return nil
}

// sameAsNexo compares Amber's manifest with the other one and with the archive.
func sameAsNexo(in *inner, m *NexoManifest, w *walk) error {
	var found []entry
	for _, e := range w.entries {
		if e.Path != amberManifestName {
			found = append(found, e)
		}
	}
	if len(found) != len(in.Entries) {
		return errors.New("the manifest of Amber lists other entries than the bundle holds")
	}
	for i, e := range in.Entries {
		if !e.same(found[i]) {
			return fmt.Errorf("entry %q does not match the manifest of Amber", found[i].Path)
		}
	}
	c := m.contents()
	if in.ID != c.ID || in.Tenant != c.Tenant || in.Agent != c.Agent || in.CreatedAt != c.CreatedAt || in.Signer != m.AmberSigner {
		return errors.New("the manifest of Amber contradicts the manifest")
	}
	return nil
}
