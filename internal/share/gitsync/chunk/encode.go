package chunk

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"

	"github.com/klauspost/compress/zstd"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire/sign"
)

// Encode returns a chunk of the records in their order, signed when signer is
// not nil, and its id. Format, Counts and SignedBy of the header are set here,
// Parents and Rewrites are sorted; nothing that is passed in is changed. Equal
// arguments give equal bytes, as long as the compressor stays the same.
//
// [Decode] reads every chunk that Encode returns: Encode reads each record back before it writes the record.
//
// Errors: invalid for a record or a header that Decode would refuse; quota above
// the limits of this package, and then fewer records may fit; that of the signer;
// that of ctx.
func Encode(ctx context.Context, h Header, records []amber.SyncRecord, signer sign.Signer) (ID, []byte, error) {
	b, err := encode(ctx, h, records, signer)
	if err != nil {
		return "", nil, at("write chunk", "", err)
	}
	return IDOf(b), b, nil
}

func encode(ctx context.Context, h Header, records []amber.SyncRecord, signer sign.Signer) ([]byte, error) {
	t := tally{project: h.Project}
	for i, r := range records {
		if err := t.add(r); err != nil {
			return nil, fmt.Errorf("record %d: %w", i+1, err)
		}
	}
	h = h.completed(formatOf(records), t.counts, signer)
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	w := newWriter()
	defer w.release()
	if err := w.write(ctx, h, records, signer); err != nil {
		return nil, err
	}
	return w.finish()
}

// completed returns the header as it is written.
func (h Header) completed(format string, counts Counts, signer sign.Signer) Header {
	h.Format, h.Counts, h.SignedBy = format, counts, ""
	if signer != nil {
		h.SignedBy = signer.KeyID()
	}
	h.Parents, h.Rewrites = idSet(h.Parents), idSet(h.Rewrites)
	return h
}

// writer writes the lines of one chunk.
type writer struct {
	out     bytes.Buffer
	enc     *zstd.Encoder
	release func()
	line    bytes.Buffer
	json    *json.Encoder // to line
	again   bytes.Buffer
	text    hash.Hash
	length  int // of the text
}

func newWriter() *writer {
	w := &writer{text: sha256.New()}
	w.enc, w.release = compressor(&w.out)
	w.json = plainJSON(&w.line)
	return w
}

// plainJSON writes values, one a line, and escapes only what has to be.
func plainJSON(to *bytes.Buffer) *json.Encoder {
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	return e
}

func (w *writer) write(ctx context.Context, h Header, records []amber.SyncRecord, signer sign.Signer) error {
	if err := w.put(h, maxHeaderBytes); err != nil {
		return err
	}
	for i, r := range records {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.record(r); err != nil {
			return fmt.Errorf("record %d: %w", i+1, err)
		}
	}
	if signer == nil {
		return nil
	}
	sig, err := signText(ctx, h.SignedBy, w.text, signer)
	if err != nil {
		return err
	}
	return w.put(line{Signature: &sig}, MaxLineBytes)
}

// record writes a record after reading it back.
func (w *writer) record(r amber.SyncRecord) error {
	b, err := w.marshal(r, MaxLineBytes)
	if err != nil {
		return err
	}
	l, err := parseLine(b[:len(b)-1])
	switch {
	case amber.KindOf(err) == amber.KindQuota:
		return err
	case err != nil:
		return invalid("the chunk could not be read back: %v", err)
	}
	w.again.Reset()
	if err := plainJSON(&w.again).Encode(l.SyncRecord); err != nil || !bytes.Equal(b, w.again.Bytes()) {
		return invalid("the chunk would be read back differently")
	}
	return w.append(b)
}

func (w *writer) put(v any, most int) error {
	b, err := w.marshal(v, most)
	if err != nil {
		return err
	}
	return w.append(b)
}

// marshal returns a line with its end. It is good until the next call.
func (w *writer) marshal(v any, most int) ([]byte, error) {
	w.line.Reset()
	if err := w.json.Encode(v); err != nil {
		return nil, invalid("%v", err)
	}
	if n := w.line.Len() - 1; n > most {
		return nil, overQuota("the length of a line", n, most)
	}
	return w.line.Bytes(), nil
}

func (w *writer) append(b []byte) error {
	if w.length += len(b); w.length > MaxTextBytes {
		return quotaText()
	}
	w.text.Write(b)
	_, err := w.enc.Write(b)
	return err
}

func (w *writer) finish() ([]byte, error) {
	if err := w.enc.Close(); err != nil {
		return nil, err
	}
	if n := w.out.Len(); n > MaxFileBytes {
		return nil, overQuota("the length of the file", n, MaxFileBytes)
	}
	return w.out.Bytes(), nil
}
