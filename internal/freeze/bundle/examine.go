package bundle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// content is what was found inside a bundle.
type content struct {
	format    wire.BundleFormat
	contents  Contents
	nexo      *NexoManifest // of the other format
	entries   []entry       // as the manifest lists them
	redacted  bool
	signature sign.SignatureReport
}

// info adds what is known only inside.
func (c *content) info(info *wire.BundleInfo) {
	outside := *info
	*info = infoOf(c.format, &c.contents)
	info.File, info.Bytes, info.SHA256 = outside.File, outside.Bytes, outside.SHA256
	info.Encrypted, info.Recipients = outside.Encrypted, outside.Recipients
	info.Redacted = c.redacted
	info.SignedBy = signedBy(c.signature)
	for _, e := range c.entries {
		info.Entries++
		info.Expanded += e.Size
	}
}

// examination is one look at a bundle.
type examination struct {
	*Bundle
	findings
	facts wire.BundleInfo
	found *content // nil when nothing inside could be read
	sig   sign.SignatureReport
}

// examine looks at everything that can be looked at; with early nothing is said about the content when something is
// wrong outside. Damage is in the findings. Errors: too_new; quota; the end of the context; those of the sink; internal.
func (b *Bundle) examine(ctx context.Context, to sink, early bool) (*examination, error) {
	x := &examination{Bundle: b, facts: b.Info(), sig: b.Signature()}
	// The digests of the file and the content are looked at side by side; what is wrong outside is told first.
	var whole, rest string
	hashed := make(chan error, 1)
	go func() {
		var err error
		whole, rest, err = b.digests(ctx)
		hashed <- err
	}()
	inner := &examination{Bundle: b, facts: x.facts, sig: x.sig}
	var unread error
	if b.shape.problem == nil {
		unread = inner.inside(ctx, to)
	}
	if err := <-hashed; err != nil {
		return nil, diskerr.Given("read bundle", b.path, err)
	}
	x.facts.SHA256 = whole
	if err := x.sidecar(whole); err != nil {
		return nil, err
	}
	if b.shape.problem != nil {
		x.fail(checkFile, b.shape.problem)
		return x, nil
	}
	x.outside(rest)
	if early && len(x.faults) > 0 {
		return x, nil
	}
	if unread != nil {
		return nil, unread
	}
	x.join(inner)
	return x, nil
}

// join takes what was found inside.
func (x *examination) join(inside *examination) {
	x.passed = append(x.passed, inside.passed...)
	x.skipped = append(x.skipped, inside.skipped...)
	for _, f := range inside.faults {
		x.failAs(f.kind, f.object, f.reason)
	}
	x.more += inside.more
	x.locked, x.found = inside.locked, inside.found
	if x.found != nil {
		x.found.info(&x.facts)
		x.sig = x.found.signature
	}
}

// digests reads the file and returns its SHA-256 and that of the payload.
func (b *Bundle) digests(ctx context.Context) (whole, rest string, err error) {
	r := &cancelled{ctx, io.NewSectionReader(b.file, 0, b.size)}
	h, tail := sha256.New(), sha256.New()
	if _, err := io.CopyN(h, r, b.shape.front); err != nil {
		return "", "", err
	}
	into := hashes{h}
	if b.shape.hasRoom {
		into = hashes{h, tail}
	}
	n, err := io.CopyBuffer(into, struct{ io.Reader }{r}, make([]byte, 4*copyBytes))
	if err == nil && n != b.size-b.shape.front {
		err = io.ErrUnexpectedEOF // it is being cut while it is read
	}
	return hexSum(h), hexSum(tail), err
}

// sidecar compares the digest of the file with the one beside it.
func (x *examination) sidecar(digest string) error {
	if x.o.NoSidecar {
		x.skip(whyNoSidecar, CheckSidecar)
		return nil
	}
	b, err := fsx.ReadFile(x.o.FS, sidecarPath(x.path), maxSidecar)
	if err == nil && !x.shape.hasRoom && !x.shape.byPassphrase() {
		// The other system reads it so.
		b = bytes.ToLower(bytes.TrimSpace(b))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.fail(CheckSidecar, errors.New(whyMissing))
	case errors.Is(err, fsx.ErrTooLarge), errors.Is(err, fsx.ErrNotRegular):
		x.fail(CheckSidecar, errors.New("the sidecar is not a file of 64 characters"))
	case err != nil:
		return diskerr.Given("read sidecar", sidecarPath(x.path), err)
	case string(b) != digest:
		x.fail(CheckSidecar, errors.New("the digest of the file does not match the sidecar"))
	default:
		x.pass(CheckSidecar)
	}
	return nil
}

// outside looks at the outer manifest and what it covers.
func (x *examination) outside(rest string) {
	s := x.shape
	if !s.hasRoom {
		return
	}
	checks := []string{CheckOuterSignature}
	if s.encrypted {
		checks = append(checks, CheckRecipients)
	}
	if s.outer == nil {
		x.fail(CheckOuter, s.outerErr)
		x.skip(whyNotReached, append(checks, CheckPayload)...)
		return
	}
	x.pass(CheckOuter)
	x.judged(CheckOuterSignature, s.signature)
	switch {
	case !s.encrypted:
	case s.before != s.outer.HeaderSHA256:
		x.fail(CheckRecipients, errors.New("the age header does not match the outer manifest"))
	default:
		x.pass(CheckRecipients)
	}
	switch n := x.size - s.front; {
	case n != s.outer.PayloadBytes:
		x.fail(CheckPayload, fmt.Errorf("%d bytes, want %d", n, s.outer.PayloadBytes))
	case rest != s.outer.PayloadSHA256:
		x.fail(CheckPayload, errors.New("the bytes do not match the outer manifest"))
	default:
		x.pass(CheckPayload)
	}
}

// inside looks at the content.
func (x *examination) inside(ctx context.Context, to sink) error {
	s, err := x.open(ctx)
	defer s.close()
	isAmber := x.shape.hasRoom
	if err == nil && x.shape.encrypted && !isAmber {
		isAmber, err = hasPOSIX(s.tar)
	}
	switch {
	case err == errLocked:
		x.locked = true
		x.skip(whyNoIdentity, append([]string{CheckAge}, x.innerChecks()...)...)
		return nil
	case err != nil:
		return x.unread(s, err, x.innerChecks())
	case isAmber:
		return x.amber(s, to)
	}
	return x.other(s, to)
}

// innerChecks are what is looked at inside, as far as is known from outside.
func (x *examination) innerChecks() []string {
	switch {
	case x.shape.hasRoom:
		return amberChecks
	case !x.shape.encrypted:
		return nexoChecks
	}
	return []string{CheckManifest, CheckSignature, CheckEntries}
}

var (
	amberChecks = []string{CheckInner, CheckInnerSignature, CheckEntries}
	nexoChecks  = []string{CheckManifest, CheckSeal, CheckEntries, CheckFields, CheckSignature}
)

// hasPOSIX tells by the first header which format a tar has.
func hasPOSIX(r interface{ Peek(int) ([]byte, error) }) (bool, error) {
	b, err := r.Peek(blockBytes)
	if err != nil {
		return false, noEnd(err)
	}
	return string(fieldMagic.of(b)) == posixMagic, nil
}

// unread notes that the content could not be read to its end.
func (x *examination) unread(s *stream, err error, checks []string) error {
	check, why, fatal := s.cause(x.path, err)
	if fatal != nil {
		return fatal
	}
	x.fail(check, why)
	if x.shape.encrypted {
		checks = append([]string{CheckAge}, checks...)
	}
	for _, c := range checks {
		if c != check {
			x.skip(whyNotReached, c)
		}
	}
	return nil
}

// counted is how the entries are named in the list of what was checked.
func counted(list []entry) string {
	files, size := 0, int64(0)
	for _, e := range list {
		if !strings.HasSuffix(e.Path, "/") {
			files++
		}
		size += e.Size
	}
	return fmt.Sprintf("%s: %d files, %d bytes", CheckEntries, files, size)
}

// compare compares the entries that were found with those of a manifest, in their order.
func (x *examination) compare(want, got []entry) bool {
	before := len(x.faults) + x.more
	byPath := make(map[string]entry, len(got))
	for _, e := range got {
		byPath[e.Path] = e
	}
	for i, e := range want {
		switch found, ok := byPath[e.Path]; {
		case !ok:
			x.fail(e.Path, errors.New("the manifest lists this entry, and the bundle does not hold it"))
		case !e.same(found):
			x.fail(e.Path, errors.New("size, mode or digest does not match the manifest"))
		case i >= len(got) || got[i].Path != e.Path:
			x.fail(e.Path, errors.New("the entry is not in the order of the manifest"))
		}
		delete(byPath, e.Path)
	}
	for _, e := range got {
		if _, extra := byPath[e.Path]; extra {
			x.fail(e.Path, errors.New("the bundle holds this entry, and the manifest does not list it"))
		}
	}
	return len(x.faults)+x.more == before
}
