package chunk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/internal/test/golden"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

// vectorRecords are few, so that the document can show them.
func vectorRecords() []amber.SyncRecord {
	s := sample()
	m := *s[2].Memory
	m.Saw = nil
	return []amber.SyncRecord{s[0], {Memory: &m}, s[3], s[4], s[5], s[7], s[8]}
}

// vectors are files that stay as they are: what was written once is read forever.
// Those without records were compressed by other programs.
var vectors = []struct {
	name    string
	records []amber.SyncRecord
	signer  sign.Signer
}{
	{"unsigned", vectorRecords(), nil},
	{"signed", vectorRecords()[1:2], newSigner(1)},
	{"zstd-19", nil, nil},     // zstd -19 of the text of unsigned
	{"zstd-stream", nil, nil}, // zstd -1 --no-check of the same, from a pipe
}

func vectorHeader() chunk.Header {
	h := header()
	h.Parents = someIDs[:1]
	return h
}

// vectorFile returns the one file of a vector. With -update it is written when
// there is none.
func vectorFile(t testing.TB, name string, make func() (chunk.ID, []byte)) chunk.Part {
	t.Helper()
	dir := must.Get(filepath.Abs(filepath.Join("testdata", "v1", name)))(t)
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err == nil && len(names) == 0 && *update && make != nil {
		id, b := make()
		names = []string{filepath.Join(dir, id.FileName())}
		if err = fsx.MkdirAll(fsx.OS(), dir, 0o755); err == nil {
			err = fsx.Replace(fsx.OS(), names[0], 0o644, b)
		}
	}
	if err != nil || len(names) != 1 {
		t.Fatalf("%v: %d files", err, len(names))
	}
	b, err := os.ReadFile(names[0])
	id, ok := chunk.ParseFileName(filepath.Base(names[0]))
	if err != nil || !ok {
		t.Fatalf("%s: %v", names[0], err)
	}
	return chunk.Part{ID: id, Bytes: b}
}

func TestVectorsAreReadForever(t *testing.T) {
	t.Parallel()
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			records, text := v.records, "v1/"+v.name
			if v.records == nil {
				records, text = vectorRecords(), "v1/unsigned"
			}
			p := vectorFile(t, v.name, func() (chunk.ID, []byte) { return mustEncode(t, vectorHeader(), records, v.signer) })
			c := must.Get(chunk.Decode(p.ID, p.Bytes))(t)
			must.Equal(t, "records", c.Records, records, same)
			golden.Check(t, *update, text, textOf(t, p.Bytes))
			// Today's compressor may find other bytes, but not another text.
			_, b := mustEncode(t, vectorHeader(), records, v.signer)
			golden.Check(t, false, text, textOf(t, b))
		})
	}
}

func vectorPack(t testing.TB) (parts []chunk.Part, pack chunk.Part) {
	t.Helper()
	for _, v := range vectors {
		if v.name != "zstd-19" {
			parts = append(parts, vectorFile(t, v.name, nil))
		}
	}
	h := vectorHeader()
	h.Rewrites = []chunk.ID{parts[0].ID}
	rewritten := vectorFile(t, "rewritten", func() (chunk.ID, []byte) { return mustEncode(t, h, vectorRecords()[:2], newSigner(1)) })
	parts = append(parts, rewritten)
	return parts, vectorFile(t, "pack", func() (chunk.ID, []byte) {
		id, b, err := chunk.EncodePack(parts)
		must.Do(t, err)
		return id, b
	})
}

func TestPackVectorsAreReadForever(t *testing.T) {
	t.Parallel()
	parts, pack := vectorPack(t)
	got := must.Get(chunk.Open(pack.ID, pack.Bytes))(t)
	must.Equal(t, "parts", got, parts)
	for _, p := range got {
		must.Get(chunk.Decode(p.ID, p.Bytes))(t)
	}
	// A pack is not compressed once more: it has one spelling.
	if id, _, err := chunk.EncodePack(parts); err != nil || id != pack.ID {
		t.Errorf("today the pack is %s, %v", id, err)
	}
}

// TestDocumentShowsTheVectors compares docs/format/sync.md with the vectors.
func TestDocumentShowsTheVectors(t *testing.T) {
	t.Parallel()
	b := must.Get(os.ReadFile("../../../../docs/format/sync.md"))(t)
	doc := strings.ReplaceAll(string(b), "\r\n", "\n")
	unsigned, signed := vectorFile(t, "unsigned", nil), vectorFile(t, "signed", nil)
	_, pack := vectorPack(t)
	lines := strings.Split(textOf(t, signed.Bytes), "\n")
	index := string(pack.Bytes[8:strings.IndexByte(string(pack.Bytes), '\n')])
	shown := append(strings.Split(textOf(t, unsigned.Bytes), "\n"), lines[0], lines[2], index,
		string(unsigned.ID), string(signed.ID), string(pack.ID),
		string(chunk.IDOf([]byte(lines[0]+"\n"+lines[1]+"\n"))),
		fmt.Sprintf("% x", unsigned.Bytes[:16]), fmt.Sprintf("% x", unsigned.Bytes[len(unsigned.Bytes)-4:]), fmt.Sprintf("% x", pack.Bytes[:16]),
		fmt.Sprintf("%d bytes", len(unsigned.Bytes)), fmt.Sprintf("%d bytes", len(signed.Bytes)), fmt.Sprintf("%d bytes", len(pack.Bytes)))
	for _, s := range shown {
		if !strings.Contains(doc, s) {
			t.Errorf("the document does not show\n%s", s)
		}
	}
}
