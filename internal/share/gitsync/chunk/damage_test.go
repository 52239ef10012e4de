package chunk_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/internal/test/must"
)

// small is a chunk and a pack of five, as small as they can be.
func small(t testing.TB) (plain, pack chunk.Part) {
	t.Helper()
	var parts []chunk.Part
	for i := range 5 {
		r := sample()[i+4 : i+5]
		id, b := mustEncode(t, header(), r, newSigner(byte(i)))
		parts = append(parts, chunk.Part{ID: id, Bytes: b})
	}
	id, b, err := chunk.EncodePack(parts)
	must.Do(t, err)
	return parts[0], chunk.Part{ID: id, Bytes: b}
}

// readAll reads a file as an import does.
func readAll(p chunk.Part) (all []chunk.Chunk, err error) {
	parts, err := chunk.Open(p.ID, p.Bytes)
	for _, part := range parts {
		c, err := chunk.Decode(part.ID, part.Bytes)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, err
}

func TestEveryChangedByteIsNoticed(t *testing.T) {
	t.Parallel()
	for _, p := range parts(t) {
		want := must.Get(readAll(p))(t)
		for i := 0; i < len(p.Bytes); i += step {
			for _, bits := range []byte{1, 1 << (i % 8), 0xff} {
				b := slices.Clone(p.Bytes)
				b[i] ^= bits
				if _, err := readAll(chunk.Part{ID: p.ID, Bytes: b}); amber.KindOf(err) != amber.KindDamaged {
					t.Fatalf("byte %d ^ %#x: %v", i, bits, err)
				}
				// Giving the file the name of its hash gets past that, and
				// then nothing else may come out.
				got, err := readAll(chunk.Part{ID: chunk.IDOf(b), Bytes: b})
				if amber.KindOf(err) == amber.KindInternal {
					t.Fatalf("byte %d ^ %#x: %v", i, bits, err)
				}
				if err == nil && !cmp.Equal(withoutIDs(got), withoutIDs(want), same) {
					t.Fatalf("byte %d ^ %#x: another chunk", i, bits)
				}
			}
		}
	}
}

func parts(t testing.TB) []chunk.Part {
	plain, pack := small(t)
	return []chunk.Part{plain, pack}
}

func withoutIDs(chunks []chunk.Chunk) []chunk.Chunk {
	chunks = slices.Clone(chunks)
	for i := range chunks {
		chunks[i].ID = ""
	}
	return chunks
}

func TestEveryCutIsNoticed(t *testing.T) {
	t.Parallel()
	for _, p := range parts(t) {
		for n := 0; n < len(p.Bytes); n += step {
			b := p.Bytes[:n]
			for _, id := range []chunk.ID{p.ID, chunk.IDOf(b)} {
				if _, err := readAll(chunk.Part{ID: id, Bytes: b}); amber.KindOf(err) != amber.KindDamaged {
					t.Fatalf("%d of %d bytes: %v", n, len(p.Bytes), err)
				}
				if _, err := chunk.DecodeHeader(id, b); amber.KindOf(err) != amber.KindDamaged {
					t.Fatalf("header, %d of %d bytes: %v", n, len(p.Bytes), err)
				}
			}
		}
	}
}

func TestEveryCutOfTheTextIsNoticed(t *testing.T) {
	t.Parallel()
	plain, _ := small(t)
	text := textOf(t, plain.Bytes)
	for n := 0; n < len(text); n += step {
		id, b := frame(text[:n])
		if _, err := chunk.Decode(id, b); err == nil {
			t.Fatalf("%d of %d bytes are a chunk", n, len(text))
		}
	}
}
