package embed

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// ngramFile is the file of a small model of n-grams with random weights.
func ngramFile(pieces []string) []byte {
	r := rand.New(rand.NewPCG(40, 2))
	b := []byte(MagicNgram)
	u32 := func(v uint32) { b = binary.LittleEndian.AppendUint32(b, v) }
	align := func() { b = append(b, make([]byte, -len(b)&63)...) }
	floats := func(n int, f func() float32) {
		align()
		for range n {
			u32(math.Float32bits(f()))
		}
	}
	random := func() float32 { return r.Float32() - 0.5 }
	h := NgramHeader{Name: "small", Dim: 64, Inner: 64, Hidden: 64, Vocabulary: len(pieces), Shards: 2, MaxTokens: 16, Languages: []string{"de"}}
	head, _ := json.Marshal(h)
	u32(uint32(len(head)))
	b = append(b, head...)
	align()
	at := 0
	for _, p := range pieces {
		u32(uint32(at))
		at += len(p)
	}
	u32(uint32(at))
	ids := make([]int, len(pieces))
	for i := range ids {
		ids[i] = i
	}
	slices.SortFunc(ids, func(x, y int) int { return strings.Compare(pieces[x], pieces[y]) })
	align()
	for _, id := range ids {
		u32(uint32(id))
	}
	align()
	b = append(b, strings.Join(pieces, "")...)
	i := 0
	floats(len(pieces), func() float32 { i++; return -float32(len(pieces[i-1])) / 8 })
	for _, part := range []string{"\x00\x00\x00\x00", ""} {
		align()
		u32(uint32(len(part)))
		b = append(b, part...)
	}
	floats(2, func() float32 { return 0.02 })
	floats(2, func() float32 { return -0.6 })
	align()
	for range len(pieces) * h.Dim / 4 * 3 {
		b = append(b, byte(r.IntN(256)))
	}
	linear := func(n, k int) {
		rows, sums := make([]byte, n*k), make([]int32, n)
		for i := range rows {
			w := r.IntN(2*MaxWeight+1) - MaxWeight
			rows[i] = byte(w)
			sums[i/k] += int32(w)
		}
		floats(n, func() float32 { return 0.01 })
		align()
		for _, s := range sums {
			u32(uint32(s))
		}
		align()
		b = append(b, rows...)
		floats(n, random)
	}
	norm := func(n int) { floats(n, func() float32 { return 1 }); floats(n, random) }
	linear(192, 64)
	norm(192)
	for _, n := range []int{2, 3, 5} {
		linear(64, n*64)
		linear(64, n*64)
	}
	norm(256)
	linear(64, 256)
	for range 6 {
		linear(64, 64)
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

var smallPieces = []string{"<unk>", "<s>", "</s>", blank, blank + "der", blank + "d", "er", "e", "r", "d", blank + "Bau", "B", "a", "u", "au", "ß", blank + "die"}

func TestPiecesAreTheLikeliest(t *testing.T) {
	t.Parallel()
	m := must.Get(ParseNgram(ngramFile(smallPieces)))(t)
	for text, want := range map[string][]string{
		"der Bau": {blank + "der", blank + "Bau"},
		"  der\t": {blank + "der", "<unk>"}, // the small model replaces no tabulator
		"dau":     {blank + "d", "au"},
		"x":       {blank, "<unk>"},
		"":        {"<unk>"},
		"ßer":     {blank, "ß", "er"},
	} {
		var got []string
		for _, id := range m.pieces.tokenize(text, 16) {
			got = append(got, m.pieces.word(uint32(id)))
		}
		must.Equal(t, text, got, append(append([]string{"<s>"}, want...), "</s>"))
	}
	must.Equal(t, "pieces of a long text", len(m.pieces.tokenize(strings.Repeat("der ", 1000), 16)), 16)
}

// TestNgramsAreTheSameToTheBit compares with what one platform made: every other makes the same.
func TestNgramsAreTheSameToTheBit(t *testing.T) {
	t.Parallel()
	must.Equal(t, "the vectors", ngramDigest(t), ngramBits)
}

const ngramBits = "15954c5d864ad00b219f2ef8b1e29b3607a2ae8530d84372f85b29e69316fc70"

// ngramDigest is the digest of what the small model makes of some texts.
func ngramDigest(t *testing.T) string {
	t.Helper()
	m, h := must.Get(ParseNgram(ngramFile(smallPieces)))(t), sha256.New()
	for _, text := range []string{"", "der Bau", "die der au", strings.Repeat("Bau er ", 20)} {
		v := m.Query(text)
		length := 0.0
		for _, x := range v {
			length += float64(x) * float64(x)
		}
		if math.Abs(length-1) > 1e-5 {
			t.Errorf("%q: the vector has the length %v, want 1", text, length)
		}
		must.Do(t, binary.Write(h, binary.LittleEndian, v))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// TestDamagedNgramFiles cuts and changes a file: it is refused, or makes vectors without a panic.
func TestDamagedNgramFiles(t *testing.T) {
	t.Parallel()
	whole := ngramFile(smallPieces)
	head := len(MagicNgram) + 4 + int(binary.LittleEndian.Uint32(whole[len(MagicNgram):]))
	for n := 0; n < len(whole); n += 1 + n/64 {
		if _, err := ParseNgram(whole[:n]); err == nil {
			t.Errorf("a file of %d bytes of %d was read", n, len(whole))
		}
	}
	words := head + 2048 // words, scores and replacements lie before
	for at := range words {
		for _, flip := range []byte{1, 0x80, 0xff} {
			b := slices.Clone(whole)
			b[at] ^= flip
			if m, err := ParseNgram(b); err == nil {
				m.pieces.tokenize("der Bau x", 16)
			}
		}
	}
}
