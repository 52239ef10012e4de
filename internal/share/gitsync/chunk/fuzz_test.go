package chunk_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/internal/test/must"
)

// known fails for kinds of errors that reading never has.
func known(t *testing.T, err error) {
	t.Helper()
	switch k := amber.KindOf(err); k {
	case "", amber.KindDamaged, amber.KindInvalid, amber.KindTooNew, amber.KindUntrusted, amber.KindQuota:
	default:
		t.Errorf("kind %s: %v", k, err)
	}
}

// rewrite writes what was read and reads it again.
func rewrite(t *testing.T, c chunk.Chunk) {
	t.Helper()
	id, b, err := chunk.Encode(t.Context(), c.Header, c.Records, nil)
	if err != nil {
		// JSON has more spellings than Amber writes, and longer ones.
		t.Fatalf("it was read and cannot be written: %v", err)
	}
	again := must.Get(chunk.Decode(id, b))(t)
	c.Header.SignedBy = ""
	must.Equal(t, "what is read again", []any{again.Header, again.Records}, []any{c.Header, c.Records}, same, compactForeign)
}

// FuzzDecode reads hostile files.
func FuzzDecode(f *testing.F) {
	plain, pack := small(f)
	f.Add(plain.Bytes)
	f.Add(pack.Bytes)
	f.Add([]byte("\x28\xb5\x2f\xfd\x00\x00\x01\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := chunk.Decode(chunk.IDOf(b), b)
		known(t, err)
		h, herr := chunk.DecodeHeader(chunk.IDOf(b), b)
		known(t, herr)
		if err != nil {
			return
		}
		if d := cmp.Diff(c.Header, h, same); herr != nil || d != "" {
			t.Errorf("the header alone: %v %s", herr, d)
		}
		rewrite(t, c)
	})
}

// FuzzText reads hostile lines.
func FuzzText(f *testing.F) {
	f.Add(strings.Join(sampleLines(f, nil), ""))
	f.Add(strings.Join(sampleLines(f, newSigner(1)), ""))
	f.Fuzz(func(t *testing.T, text string) {
		id, b := frame(text)
		c, err := chunk.Decode(id, b)
		known(t, err)
		if err != nil {
			return
		}
		if c.Text != len(text) || strings.Count(text, "\n") != 1+len(c.Records)+len(c.Header.SignedBy)/len(newSigner(1).KeyID()) {
			t.Errorf("%d bytes of %d, %d records", c.Text, len(text), len(c.Records))
		}
		rewrite(t, c)
	})
}

// FuzzHeader reads hostile headers.
func FuzzHeader(f *testing.F) {
	f.Add(strings.TrimSuffix(sampleLines(f, nil)[0], "\n"))
	f.Add(strings.TrimSuffix(sampleLines(f, newSigner(1))[0], "\n"))
	f.Add(`{"format":"amber-sync/2"}`)
	f.Fuzz(func(t *testing.T, line string) {
		id, b := frame(line + "\n")
		h, err := chunk.DecodeHeader(id, b)
		known(t, err)
		if err == nil {
			rewrite(t, chunk.Chunk{Header: zeroCounts(h)})
		}
	})
}

func zeroCounts(h chunk.Header) chunk.Header {
	h.Counts = chunk.Counts{}
	return h
}

// FuzzOpen reads hostile packs.
func FuzzOpen(f *testing.F) {
	plain, pack := small(f)
	f.Add(plain.Bytes)
	f.Add(pack.Bytes)
	f.Add(forge(indexOf(plain), plain))
	f.Fuzz(func(t *testing.T, b []byte) {
		parts, err := chunk.Open(chunk.IDOf(b), b)
		known(t, err)
		size := 0
		for _, p := range parts {
			must.Equal(t, "id of a part", chunk.IDOf(p.Bytes), p.ID)
			size += len(p.Bytes)
		}
		if size > len(b) || err == nil && len(parts) == 0 {
			t.Errorf("%d parts, %d bytes of %d", len(parts), size, len(b))
		}
	})
}
