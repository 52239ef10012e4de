package engram

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// Bounds of what is read. Engram bounds nothing: its first export is one chunk, about 100 MB of text for a hundred thousand
// memories.
const (
	MaxFileBytes = 64 << 20  // of a chunk as it lies on disk
	MaxTextBytes = 128 << 20 // of a chunk decompressed, and of a backup
	MaxRowBytes  = 8 << 20   // of one row as JSON; a text of [amber.MaxContentBytes] fits however it is escaped
	MaxRows      = 1 << 19
)

// maxUnknown bounds the lists and fields a chunk may have beside those that are known.
const maxUnknown = 64

// Chunk is what a chunk or a backup holds. An empty list is nil where it is null, as 1.7.0 writes it, and not nil where
// it is [].
type Chunk struct {
	ID           string // "" for a backup, and for a chunk that is not encoded yet
	Sessions     []Session
	Observations []Observation
	Prompts      []Prompt
	Mutations    []Mutation

	extra   string
	unknown []string // names in extra
	bad     []string // rows that could not be read, each with its place and the reason
	backup  bool     // it may have a list of relations
	related []Mutation
}

// DecodeChunk reads a chunk and checks that it is the one with the id: the checksum and the length that gzip has, that
// nothing follows, and that id is the beginning of the SHA-256 of the text. All of that is done before anything is
// decoded, in constant memory; the rows then take about twice the size of their text. Fields that are not known are kept.
// Errors: invalid for an id that is not valid; damaged; quota.
func DecodeChunk(id string, gz []byte) (Chunk, error) {
	if !ValidID(id) {
		return Chunk{}, amber.Errorf(amber.KindInvalid, "read chunk", "", "%q is not the id of a chunk", clip.Name(id))
	}
	if len(gz) > MaxFileBytes {
		return Chunk{}, amber.Errorf(amber.KindQuota, "read chunk", id, "%d bytes, want at most %d", len(gz), MaxFileBytes)
	}
	if err := checkChunk(id, gz); err != nil {
		return Chunk{}, err
	}
	text, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		return Chunk{}, damaged(id, err)
	}
	c := Chunk{ID: id}
	if err := c.decode(text); err != nil {
		return Chunk{}, fail(id, err)
	}
	return c, nil
}

// checkChunk reads the text once, keeping nothing of it.
func checkChunk(id string, gz []byte) error {
	in := bytes.NewReader(gz)
	text, err := gzip.NewReader(in)
	if err != nil {
		return damaged(id, err)
	}
	text.Multistream(false)
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(text, MaxTextBytes+1))
	switch {
	case err != nil:
		return damaged(id, err)
	case n > MaxTextBytes:
		return amber.Errorf(amber.KindQuota, "read chunk", id, "the text has more than %d bytes", MaxTextBytes)
	case in.Len() > 0:
		return damaged(id, fmt.Errorf("%d bytes follow the end of the gzip data", in.Len()))
	case hex.EncodeToString(h.Sum(nil)[:4]) != id:
		return damaged(id, errors.New("the text does not match the id"))
	}
	return nil
}

func damaged(id string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the data ends too early")
	}
	return &amber.Error{Op: "read chunk", Kind: amber.KindDamaged, ID: id, Err: err}
}

// fail gives an error of decoding its kind.
func fail(id string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errTooLong), errors.Is(err, errTooMany):
		return &amber.Error{Op: "read chunk", Kind: amber.KindQuota, ID: id, Err: err}
	case amber.KindOf(err) == amber.KindTooNew:
		return err
	}
	return damaged(id, err)
}

// decode reads the one object a chunk is. More names top-level fields beside the lists.
func (c *Chunk) decode(text io.Reader, more ...field) error {
	s := newScanner(text)
	bad := func(what string) func(int, error) {
		return func(at int, err error) { c.bad = append(c.bad, fmt.Sprintf("%s %d of the list: %v", what, at, err)) }
	}
	return s.object(func(name string) error {
		switch name {
		case "sessions":
			return list(s, &c.Sessions, (*Session).decode, bad("session"))
		case "observations":
			return list(s, &c.Observations, (*Observation).decode, bad("observation"))
		case "prompts":
			return list(s, &c.Prompts, (*Prompt).decode, bad("prompt"))
		case "mutations":
			return list(s, &c.Mutations, (*Mutation).decode, bad("mutation"))
		case "relations":
			if c.backup {
				return list(s, &c.related, (*Mutation).decodeRelation, bad("relation"))
			}
		}
		raw, err := s.value()
		if err != nil {
			return err
		}
		if at := slices.IndexFunc(more, func(f field) bool { return f.name == name }); at >= 0 {
			return more[at].put(raw)
		}
		if c.unknown = append(c.unknown, name); len(c.unknown) > maxUnknown {
			return errTooMany
		}
		c.extra = addMember(c.extra, name, raw)
		return nil
	})
}

// Entity is one row: exactly one field is set.
type Entity struct {
	Session     *Session
	Observation *Observation
	Prompt      *Prompt
}

// Add appends a row to its list.
func (c *Chunk) Add(e Entity) {
	switch {
	case e.Session != nil:
		c.Sessions = append(c.Sessions, *e.Session)
	case e.Observation != nil:
		c.Observations = append(c.Observations, *e.Observation)
	case e.Prompt != nil:
		c.Prompts = append(c.Prompts, *e.Prompt)
	}
}

// Entry returns what a manifest says about the chunk: its counts, and [EntryDate].
func (c Chunk) Entry(createdBy string) Entry {
	return Entry{
		ID: c.ID, CreatedBy: createdBy, CreatedAt: EntryDate(c),
		Sessions: int64(len(c.Sessions)), Memories: int64(len(c.Observations)), Prompts: int64(len(c.Prompts)),
	}
}

// EncodeChunk writes the rows, in the order they have, exactly as 1.7.0 does. It returns the id that follows from the text,
// the text, and the text compressed. Rows that have a sync_id have it after their id, and mutations are last; 1.7.0
// passes over both. ID is not looked at.
func EncodeChunk(c Chunk) (id string, text, gz []byte) {
	text = c.text()
	sum := sha256.Sum256(text)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(text); err != nil {
		panic("engram: memory takes every write: " + err.Error())
	}
	if err := w.Close(); err != nil {
		panic("engram: memory takes every write: " + err.Error())
	}
	return hex.EncodeToString(sum[:4]), text, packed.Bytes()
}

func (c Chunk) text() []byte {
	var b bytes.Buffer
	b.WriteString(`{"sessions":`)
	encodeList(&b, c.Sessions, Session.encode)
	b.WriteString(`,"observations":`)
	encodeList(&b, c.Observations, Observation.encode)
	b.WriteString(`,"prompts":`)
	encodeList(&b, c.Prompts, Prompt.encode)
	if len(c.Mutations) > 0 {
		b.WriteString(`,"mutations":`)
		encodeList(&b, c.Mutations, Mutation.encode)
	}
	b.WriteByte('}')
	return withExtra(b.Bytes(), c.extra)
}

func encodeList[T any](b *bytes.Buffer, rows []T, encode func(T) []byte) {
	if rows == nil {
		b.WriteString("null")
		return
	}
	b.WriteByte('[')
	for i, r := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(r))
	}
	b.WriteByte(']')
}
