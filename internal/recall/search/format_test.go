package search

import (
	"encoding/hex"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// The vectors of docs/format/index.md.
func TestBytesAreThoseOfTheFormat(t *testing.T) {
	t.Parallel()
	d := Document{Row: 7, Length: 3, Terms: []Term{{"deploi", 7}, {"freez", 1}}}
	docs := documents{rows: []int64{3, 4, 300}, lengths: []uint16{9, 12, 70}}
	lengths := []uint16{9, 9, 9, 9, 9, 4, 12}
	for name, c := range map[string]struct {
		got  []byte
		want string
	}{
		"document":  {d.Marshal(), "030200066465706c6f69070005667265657a01"},
		"documents": {docs.marshal(), "030301a80209000c004600"},
		"texts":     {marshalTexts([]string{"deploi", "deploy", "freez"}), "0300066465706c6f690501790005667265657a"},
		"list":      {marshalList([]posting{{0, 1}, {5, 3}, {6, 1}}, lengths), "0307030404020b0302"},
		"vector":    {Quantize([]float32{0.5, -0.25, 0.125, 0}), "0402813b7fc02000"},
		"signs":     {Quantize([]float32{0.5, -0.25, 0.125, 0, -1, -1, 1, 1}).AppendSigns(nil), "32"},
	} {
		must.Equal(t, name, hex.EncodeToString(c.got), c.want)
	}
	must.Equal(t, "document", must.Get(UnmarshalDocument(7, d.Marshal()))(t), d)
}

// Bytes that are cut off or changed are refused, or mean something else: nothing fails on
// them.
func FuzzOpen(f *testing.F) {
	for _, seed := range []string{"030200066465706c6f69070005667265657a01", "030301a80209000c004600", "0300066465706c6f690501790005667265657a", "0307030404020b0302"} {
		b, _ := hex.DecodeString(seed)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = UnmarshalDocument(1, b)
		_, _ = openTexts(b)
		_, _ = openDocuments(b)
		l, err := openList(b, 1000)
		if err != nil {
			return
		}
		_, _ = l.postings()
		c := newCursor(l, worth{idf: 1, average: 10})
		for c.doc != end {
			if c.doc >= 1000 {
				t.Fatalf("document %d of 1000", c.doc)
			}
			c.seek(c.doc + 1)
		}
	})
}
