package colony

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// decodeBlob returns the bytes that the blob spells.
func (r *reading) decodeBlob(blob string) ([]byte, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(blob)
	// The decoder skips line ends.
	if err == nil && !strings.ContainsAny(blob, "\r\n") {
		return b, nil
	}
	b, ok := lenientBase64(blob)
	if !ok {
		return nil, r.fail("the parts are not base64")
	}
	return b, r.object("the base64 has characters that do not belong there")
}

// lenientBase64 decodes as Python does: what is not of the alphabet is skipped,
// and the padding ends it.
func lenientBase64(s string) ([]byte, bool) {
	clean := make([]byte, 0, len(s))
	pads := 0
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '+', c == '/':
			clean, pads = append(clean, c), 0
		case c == '=' && len(clean)%4 >= 2:
			if pads++; len(clean)%4+pads == 4 {
				b, err := base64.RawStdEncoding.DecodeString(string(clean))
				return b, err == nil
			}
		}
	}
	b, err := base64.RawStdEncoding.DecodeString(string(clean))
	return b, err == nil && len(clean)%4 == 0
}

// maxMembers bounds the members of gzip that a tolerant reader puts together.
const maxMembers = 256

// decompress returns the plaintext, and stops as soon as there is too much of it.
func (r *reading) decompress(payload []byte) ([]byte, error) {
	limit := maxBytes(r.o.MaxBytes)
	g := gunzip{in: bytes.NewReader(payload), most: limit}
	if !r.o.Tolerant {
		g.most = min(limit, r.m.Info.ByteSize)
	}
	g.out.Grow(int(min(g.most, 4*int64(len(payload)))) + bytes.MinRead)
	err := g.member()
	if err == nil && g.in.Len() > 0 {
		if err := r.object("there is more after the compressed documents"); err != nil {
			return nil, err
		}
		err = g.rest()
	}
	switch {
	case errors.Is(err, errTooLong) && g.most == limit:
		return nil, tooBig(r.m.subject(r.o), limit)
	case errors.Is(err, errTooLong): // which only a strict reader meets
		return nil, r.object("the documents are longer than the byte_size")
	case err != nil:
		return nil, r.fail("decompress: %w", err)
	}
	if int64(g.out.Len()) != r.m.Info.ByteSize {
		if err := r.object("the byte_size is not that of the documents"); err != nil {
			return nil, err
		}
	}
	return g.out.Bytes(), nil
}

// gunzip decompresses at most so many bytes, and one.
type gunzip struct {
	in   *bytes.Reader
	out  bytes.Buffer
	most int64
}

var errTooLong = errors.New("the text is longer than declared")

// member decompresses one member of gzip.
func (g *gunzip) member() error {
	z, err := gzip.NewReader(g.in)
	if err != nil {
		return err
	}
	z.Multistream(false)
	if _, err := io.Copy(&g.out, io.LimitReader(z, g.most+1-int64(g.out.Len()))); err != nil {
		return err
	}
	if int64(g.out.Len()) > g.most {
		return errTooLong
	}
	return nil
}

// rest decompresses what is after the first member, as Python does: zeros are
// skipped, and whatever else is there must be a member.
func (g *gunzip) rest() error {
	for range maxMembers {
		if skipZeros(g.in) {
			return nil
		}
		if err := g.member(); err != nil {
			return err
		}
	}
	return errors.New("more gzip members than allowed")
}

// skipZeros skips zeros and reports whether that was all.
func skipZeros(in *bytes.Reader) bool {
	for {
		c, err := in.ReadByte()
		if err != nil {
			return true
		}
		if c != 0 {
			_ = in.UnreadByte() // a byte was read
			return false
		}
	}
}

// parse checks the digest of the plaintext, whatever the options, and returns
// the documents.
func (r *reading) parse(plaintext []byte) (Documents, error) {
	if digest(plaintext) != r.m.Info.PlaintextSHA256 {
		return nil, r.fail("the documents do not match plaintext_sha256")
	}
	r.checks.Digest = true
	if r.m.Info.Encrypted {
		if len(plaintext) < saltBytes {
			return nil, r.fail("the salt is missing")
		}
		plaintext = plaintext[saltBytes:]
	}
	text, mark := bytes.CutPrefix(plaintext, []byte("\ufeff"))
	docs, err := decodeDocuments(text)
	if errors.Is(err, errTooMany) {
		return nil, &amber.Error{Op: "read snapshot", Kind: amber.KindQuota, ID: r.m.subject(r.o), Err: err}
	}
	if err != nil {
		return nil, r.fail("read documents: %w", err)
	}
	var objections []string
	object := func(wrong bool, why string) {
		if wrong {
			objections = append(objections, why)
		}
	}
	object(mark, "a byte order mark is before the documents")
	object(len(docs) == 0, "there are no documents")
	object(!mark && !bytes.Equal(docs.canonical(), text), "the documents are not in their one spelling")
	object(!r.m.Info.Encrypted && !slices.Equal(docs.Names(), r.m.Info.DocNames), "the doc_names are not those of the documents")
	for _, why := range objections {
		if err := r.object(why); err != nil {
			return nil, err
		}
	}
	return docs, nil
}
