package colony

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"time"
	"unicode/utf8"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire/sign"
)

// Values that the files declare.
const (
	Format       = "colony-memory/1"
	latestFormat = "colony-memory/latest/1"
	codecPlain   = "gzip+base64"
	codecAge     = "gzip+age+base64"
	timeLayout   = "2006-01-02T15:04:05Z"
)

// Draft is a snapshot to be written.
type Draft struct {
	ID        SnapshotID
	Label     string // as [Label] returns it
	LabelRaw  string // as the user gave it; "": the manifest does not tell
	CreatedAt time.Time
	Documents Documents
	Parent    SnapshotID // the one before; "": none
	Counter   int64      // 1 more than the parent's; 0: the manifest does not tell

	Signer     sign.Signer     // nil: it is not signed
	Recipients []age.Recipient // empty: it is not encrypted
	Random     io.Reader       // unpredictable; needed when it is encrypted

	PartChars int   // characters of the blob in each part; 0: PartChars
	MaxBytes  int64 // of the plaintext; 0: DefaultMaxBytes
}

// NamedText is a file to be put into a vault.
type NamedText struct {
	Name, Content string
}

// Packed is a snapshot as files, in the order in which they are to be put. After
// them comes the pointer, see [Latest].
type Packed struct {
	Info     Info
	Parts    []NamedText
	Manifest NamedText
}

// Pack writes a snapshot. The same draft makes the same parts, unless it is
// encrypted. Errors: invalid for a draft that says what cannot be written, quota
// when a reader would refuse so much, and what the signer returns.
func Pack(ctx context.Context, d Draft) (Packed, error) {
	if err := d.check(); err != nil {
		return Packed{}, err
	}
	plaintext, err := d.plaintext()
	if err != nil {
		return Packed{}, err
	}
	payload, err := compress(plaintext)
	if err == nil && len(d.Recipients) > 0 {
		payload, err = encrypt(payload, d.Recipients)
	}
	if err != nil {
		return Packed{}, &amber.Error{Op: "write snapshot", Kind: amber.KindInvalid, ID: string(d.ID), Err: err}
	}
	return d.assemble(ctx, plaintext, payload, d.additions)
}

func (d Draft) check() error {
	fail := func(why string) error {
		return amber.Errorf(amber.KindInvalid, "write snapshot", string(d.ID), "%s", why)
	}
	if _, err := ParseSnapshotID(string(d.ID)); err != nil {
		return err
	}
	if d.Parent != "" {
		if _, err := ParseSnapshotID(string(d.Parent)); err != nil {
			return err
		}
	}
	switch {
	case d.Label != Label(d.Label):
		return fail(quote(d.Label) + " is not a label")
	case !utf8.ValidString(d.LabelRaw):
		return fail("the label is not UTF-8")
	case d.LabelRaw != "" && Label(d.LabelRaw) != d.Label:
		return fail(quote(d.LabelRaw) + " does not make the label " + quote(d.Label))
	case d.Parent >= d.ID:
		return fail("the parent is not earlier than the snapshot")
	case d.Counter < 0 || d.PartChars < 0:
		return fail("counter and part size must not be negative")
	case d.Counter > maxCounter:
		return fail("the counter is too large")
	case len(d.Recipients) > 0 && d.Random == nil:
		return fail("encryption needs a source of randomness")
	}
	return nil
}

// plaintext returns what is compressed and hashed. Before what will be encrypted
// goes a salt: the digest of the documents alone would tell the host of the vault
// which ones it guessed right.
func (d Draft) plaintext() ([]byte, error) {
	b, err := d.Documents.Canonical()
	if err != nil {
		return nil, err
	}
	if len(d.Recipients) > 0 {
		salt := make([]byte, saltBytes, saltBytes+len(b))
		if _, err := io.ReadFull(d.Random, salt); err != nil {
			return nil, &amber.Error{Op: "write snapshot", Kind: amber.KindInternal, ID: string(d.ID), Err: err}
		}
		b = append(salt, b...)
	}
	if most := maxBytes(d.MaxBytes); int64(len(b)) > most {
		return nil, amber.Errorf(amber.KindQuota, "write snapshot", string(d.ID),
			"the documents have %d bytes, want at most %d", len(b), most)
	}
	return b, nil
}

// maxBytes returns the bound of a plaintext, with room to calculate with it.
func maxBytes(n int64) int64 {
	if n <= 0 {
		return DefaultMaxBytes
	}
	return min(n, 1<<40)
}

// compress makes one gzip member without a time or a name.
func compress(b []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	err = w.Close() // it writes what is left
	return out.Bytes(), err
}
