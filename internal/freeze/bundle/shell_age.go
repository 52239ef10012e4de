package bundle

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/freeze/envelope"
)

const (
	// stanzaType names the part of an age header that holds the outer manifest. Every age program skips it.
	stanzaType = "amber-manifest"

	ageNonceBytes = 16
	ageLine       = 64 // characters of base64 in a line
	ageFooter     = "---"
)

// roomKeeper is a recipient that no person can decrypt with. It keeps room for the outer manifest in the header of age,
// and the key of the header's MAC, which is needed to make the header whole again once the manifest is known. It does
// not keep the key of the file.
type roomKeeper struct {
	size   int
	labels []string
	macKey []byte
}

var (
	_ age.Recipient           = (*roomKeeper)(nil)
	_ age.RecipientWithLabels = (*roomKeeper)(nil)
)

// newRoomKeeper keeps room beside recipients. Its labels are theirs, or age would not let them stand together.
func newRoomKeeper(size int, beside []agekey.Recipient) *roomKeeper {
	r := &roomKeeper{size: size}
	if len(beside) > 0 && beside[0].Kind == agekey.Hybrid {
		r.labels = []string{"postquantum"}
	}
	return r
}

// Wrap implements [age.Recipient].
func (r *roomKeeper) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	s, _, err := r.WrapWithLabels(fileKey)
	return s, err
}

// WrapWithLabels implements [age.RecipientWithLabels].
func (r *roomKeeper) WrapWithLabels(fileKey []byte) ([]*age.Stanza, []string, error) {
	key, err := hkdf.Key(sha256.New, fileKey, nil, "header", sha256.Size)
	if err != nil {
		return nil, nil, err
	}
	r.macKey = key
	return []*age.Stanza{{Type: stanzaType, Body: make([]byte, r.size)}}, r.labels, nil
}

// ageShell is an age file with the outer manifest in its header, or without one.
type ageShell struct {
	stream io.WriteCloser
	out    *switched
	head   []byte // the header as it was written first
	header agekey.Header
	room   *roomKeeper // nil without an outer manifest
}

// switched keeps what is written at first and passes on the rest.
type switched struct {
	held bytes.Buffer
	body *payload // nil: hold
}

func (s *switched) Write(p []byte) (int, error) {
	if s.body == nil {
		return s.held.Write(p)
	}
	return s.body.Write(p)
}

func newAgeShell(file *staged, keep *roomKeeper, to ...age.Recipient) (*ageShell, error) {
	s := &ageShell{out: &switched{}, room: keep}
	if keep != nil {
		to = append(to, keep) // the last one
	}
	var err error
	if s.stream, err = age.Encrypt(s.out, to...); err != nil {
		return nil, &amber.Error{Op: "encrypt bundle", Kind: amber.KindInvalid, Err: err}
	}
	// So far age has written its header and the nonce, which belongs to the payload.
	held := s.out.held.Bytes()
	n := len(held) - ageNonceBytes
	s.head = held[:n]
	if s.header, err = agekey.ParseHeader(held); err != nil || s.header.Size != n {
		return nil, amber.Errorf(amber.KindInternal, "encrypt bundle", "", "the header of age is not as expected")
	}
	if _, err := file.Write(s.head); err != nil {
		return nil, err
	}
	s.out.body = &payload{w: file, h: sha256.New()}
	_, err = s.out.body.Write(held[n:])
	return s, err
}

func (s *ageShell) Write(p []byte) (int, error) { return s.stream.Write(p) }
func (s *ageShell) Close() error                { return s.stream.Close() }
func (s *ageShell) front() int64                { return int64(len(s.head)) }
func (s *ageShell) payload() (int64, string)    { return s.out.body.n, hexSum(s.out.body.h) }
func (s *ageShell) checksum() uint32            { return s.out.body.crc }

func (s *ageShell) headerDigest() string {
	if s.room == nil {
		return ""
	}
	return envelope.Digest(s.head[:s.own().Begin])
}

// own returns the part of the header that is Amber's.
func (s *ageShell) own() agekey.Stanza { return s.header.Stanzas[len(s.header.Stanzas)-1] }

func (s *ageShell) place(manifest []byte) ([]byte, error) {
	if s.room == nil {
		return nil, nil
	}
	own := s.own()
	out := append([]byte{}, s.head[:own.Text]...)
	out = append(out, ageBody(pad(manifest, s.room.size))...)
	out = append(out, s.head[own.End:s.header.Footer]...)
	out = append(out, ageFooter...)
	mac := hmac.New(sha256.New, s.room.macKey)
	mac.Write(out)
	out = append(out, ' ')
	out = base64.RawStdEncoding.AppendEncode(out, mac.Sum(nil))
	out = append(out, '\n')
	if len(out) != len(s.head) {
		return nil, amber.Errorf(amber.KindInternal, "encrypt bundle", "", "the length of the age header changed while the bundle was written")
	}
	clear(s.room.macKey)
	return out, nil
}

// ageBody returns the body of a part of the header: base64 in lines of 64 characters, the last one shorter.
func ageBody(b []byte) []byte {
	text := base64.RawStdEncoding.EncodeToString(b)
	var out []byte
	for len(text) >= ageLine {
		out = append(append(out, text[:ageLine]...), '\n')
		text = text[ageLine:]
	}
	return append(append(out, text...), '\n')
}
