package chunk

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire/sign"
)

// Chunk is what a chunk holds.
type Chunk struct {
	ID      ID
	Header  Header
	Records []amber.SyncRecord
	// Signature is that of Header.SignedBy; nil when the chunk is not signed. It
	// matches, which says nothing about whether the key is to be trusted.
	Signature *sign.Signature
	Text      int // bytes of its lines
}

// Decode reads the chunk with an id from the bytes of its file. Every record has
// passed [amber.SyncRecord.Check]. Nothing in the answer refers to b.
//
// Errors: invalid when id is not valid; damaged when the bytes have another hash, are
// not one frame of zstd, or the text in it is not what the format says; too_new
// for a later version, a field or a kind of record that is not known; invalid
// for a record or a header that breaks a rule, a record that is there twice, one
// of another project than the header names, and a memory of scope user;
// untrusted when the signature does not match, or was taken away; quota above
// the limits of this package.
func Decode(id ID, b []byte) (Chunk, error) {
	c := Chunk{ID: id}
	err := c.read(b)
	if err != nil {
		return Chunk{}, at("read chunk", id, err)
	}
	return c, nil
}

// DecodeHeader reads the header of a chunk and no more of it than that. The hash
// of b has been compared, and the header is in order by itself; whether the
// counts are right and the signature matches only [Decode] tells. Errors: those
// of Decode.
func DecodeHeader(id ID, b []byte) (Header, error) {
	l, err := openText(id, b)
	if err != nil {
		return Header{}, at("read chunk", id, err)
	}
	defer l.close()
	h, _, err := readHeader(l)
	return h, at("read chunk", id, err)
}

// openText checks the hash of a chunk, and begins to read its lines.
func openText(id ID, b []byte) (*lines, error) {
	if err := checkHash(id, b); err != nil {
		return nil, err
	}
	if err := checkFrame(b); err != nil {
		return nil, err
	}
	return readLines(b)
}

// checkHash compares the bytes of a file with its name.
func checkHash(id ID, b []byte) error {
	if _, err := ParseID(string(id)); err != nil {
		return err
	}
	if len(b) > MaxFileBytes {
		return overQuota("the length of the file", len(b), MaxFileBytes)
	}
	if IDOf(b) != id {
		return damaged("the bytes do not match the name of the chunk")
	}
	return nil
}

// readHeader reads the first line; the bytes of it are good until the next.
func readHeader(l *lines) (Header, []byte, error) {
	first, err := l.next(maxHeaderBytes)
	if err == io.EOF {
		err = damaged("the chunk is empty")
	}
	if err != nil {
		return Header{}, nil, err
	}
	h, err := parseHeader(first)
	if err != nil {
		return Header{}, nil, fmt.Errorf("header: %w", err)
	}
	return h, first, nil
}

func (c *Chunk) read(b []byte) error {
	l, err := openText(c.ID, b)
	if err != nil {
		return err
	}
	defer l.close()
	h, first, err := readHeader(l)
	if err != nil {
		return err
	}
	c.Header = h
	if err := c.readRecords(l, first); err != nil {
		return err
	}
	c.Text = l.text
	return nil
}

// readRecords reads what follows the first line.
func (c *Chunk) readRecords(l *lines, last []byte) error {
	t := tally{project: c.Header.Project}
	text := sha256.New()
	for n := 1; c.Signature == nil; n++ {
		text.Write(last)
		text.Write([]byte{'\n'})
		var err error
		if last, err = l.next(MaxLineBytes); err == io.EOF {
			break
		}
		if err == nil {
			err = c.readLine(last, &t)
		}
		if err != nil {
			return fmt.Errorf("record %d: %w", n, err)
		}
	}
	if c.Signature != nil {
		if _, err := l.next(MaxLineBytes); !errors.Is(err, io.EOF) {
			return damaged("a line follows the signature")
		}
	}
	if err := checkSignature(c.Header.SignedBy, c.Signature, signedMessage(text)); err != nil {
		return err
	}
	if c.Header.Format == withoutAuthors && formatOf(c.Records) != withoutAuthors {
		return tooNew("a record has an author or a trust that %s does not have", withoutAuthors)
	}
	if t.counts != c.Header.Counts {
		return damaged("the chunk has %d records, which is not what the header counts", t.counts.Total())
	}
	return nil
}

func (c *Chunk) readLine(b []byte, t *tally) error {
	l, err := parseLine(b)
	if err != nil {
		return err
	}
	if l.Signature != nil {
		c.Signature = l.Signature
		return nil
	}
	if err := t.add(l.SyncRecord); err != nil {
		return err
	}
	c.Records = append(c.Records, l.SyncRecord)
	return nil
}
