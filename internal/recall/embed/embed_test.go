//go:build !nomodel

package embed

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

func model(t testing.TB) *Model {
	t.Helper()
	return must.Get(Builtin())(t)
}

// reference is a text, and what the published model makes of it in onnxruntime.
type reference struct {
	Text   string  `json:"text"`
	IDs    []int32 `json:"ids"`
	Vector string  `json:"vector"`
}

// cosine compares a vector with that of the published model.
func (r reference) cosine(t *testing.T, v []float32) float64 {
	t.Helper()
	want := must.Get(base64.StdEncoding.DecodeString(r.Vector))(t)
	dot, length := 0.0, 0.0
	for i, x := range v {
		y := float64(int8(want[i]))
		dot += float64(x) * y
		length += y * y
	}
	return dot / math.Sqrt(length)
}

func references(t *testing.T) (out []reference) {
	t.Helper()
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("testdata/reference.json"))(t), &out))
	return out
}

func TestTokensAreThoseOfThePublishedTokenizer(t *testing.T) {
	t.Parallel()
	m := model(t)
	for _, r := range references(t) {
		must.Equal(t, r.Text, m.words.tokenize(r.Text, m.MaxTokens), r.IDs)
	}
}

func TestVectorsAreThoseOfThePublishedModel(t *testing.T) {
	t.Parallel()
	m := model(t)
	sum, all := 0.0, references(t)
	for _, r := range all {
		cosine := r.cosine(t, passage(m, r.Text))
		if sum += cosine; cosine < 0.99 && len(r.Text) > 1 {
			t.Errorf("%.60q: the cosine to the published vector is %.4f, want at least 0.99", r.Text, cosine)
		}
	}
	if mean := sum / float64(len(all)); mean < 0.995 {
		t.Errorf("the mean cosine is %.4f, want at least 0.995", mean)
	}
}

// TestVectorsAreTheSameToTheBit compares with what one platform made: every other makes the same.
func TestVectorsAreTheSameToTheBit(t *testing.T) {
	t.Parallel()
	m, h := model(t), sha256.New()
	must.Do(t, binary.Write(h, binary.LittleEndian, geluTable()[:]))
	must.Equal(t, "the table of gelu", hex.EncodeToString(h.Sum(nil)), "409065005fa67bd35ca030e131aa0e64508cc988885ceb143120aa85b7087574")
	h.Reset()
	for _, r := range references(t) {
		if len(r.Text) < 200 { // longer ones take a minute where a processor is emulated
			must.Do(t, binary.Write(h, binary.LittleEndian, passage(m, r.Text)))
		}
	}
	must.Equal(t, "the vectors", hex.EncodeToString(h.Sum(nil)), "c31f85434595600bea21b06439554cc56400fc13c6eeb4eb6a0ed373ce3b8c0c")
}

func TestNearTextsAreNear(t *testing.T) {
	t.Parallel()
	m := model(t)
	near := func(a, b string) (sum float64) {
		y := passage(m, b)
		for i, x := range m.encode(t.Context(), m.QueryPrefix+a) {
			sum += float64(x * y[i])
		}
		return sum
	}
	question := "how do I book a room?"
	right := near(question, "Rooms are reserved through the bot: /room take 3 2h")
	wrong := near(question, "The parser fails on files with a byte order mark.")
	if right < wrong+0.3 {
		t.Errorf("the answer is as near as %.2f, another text %.2f", right, wrong)
	}
}

// passage returns the vector of a text that questions are to find.
func passage(m *Model, text string) []float32 {
	return m.encode(context.Background(), m.PassagePrefix+text)
}

func TestTheModelFileIsWhole(t *testing.T) {
	t.Parallel()
	end := len(builtin) - sha256.Size
	must.Equal(t, "digest", sha256.Sum256([]byte(builtin[:end])), [sha256.Size]byte([]byte(builtin[end:])))
	m := model(t)
	if m.Licence == "" || m.Source == "" || m.SourceSHA256 == "" || m.Header.Name == "" {
		t.Errorf("the model does not say where it comes from: %+v", m.Header)
	}
	for _, l := range m.layers {
		for _, rows := range [][]int8{l.qkv.rows, l.out.rows, l.inner.rows, l.outer.rows} {
			if least, most := slices.Min(rows), slices.Max(rows); least < -MaxWeight || most > MaxWeight {
				t.Errorf("weights from %d to %d, want at most %d", least, most, MaxWeight)
			}
		}
	}
}

// A file that is cut off, or whose header lies, is refused; it never makes Parse read
// beyond its end.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	whole := []byte(builtin)
	for _, n := range []int{0, 1, len(Magic), 100, 1000, 1 << 20, len(whole) / 2, len(whole) - 33, len(whole) - 1} {
		if _, err := Parse(whole[:n]); err == nil {
			t.Errorf("the first %d bytes were taken for a model", n)
		}
	}
	for _, lie := range [][2]string{
		{`"dim":384`, `"dim":385`},
		{`"dim":384`, `"dim":448`},
		{`"layers":6`, `"layers":7`},
		{`"layers":6`, `"layers":5`},
		{`"vocabulary":30522`, `"vocabulary":30523`},
		{`"vocabulary":30522`, `"vocabulary":10522`},
		{`"max_tokens":256`, `"max_tokens":999`},
		{`"heads":12`, `"heads":99`},
		{`"name":"all`, `"name":null`},
	} {
		text := strings.Replace(string(whole[:4096]), lie[0], lie[1], 1)
		if len(text) != 4096 || text == string(whole[:4096]) {
			t.Fatalf("the header has no %s", lie[0])
		}
		if _, err := Parse(append([]byte(text), whole[4096:]...)); err == nil {
			t.Errorf("a header with %s was believed", lie[1])
		}
	}
}

func TestALongTextIsCutOff(t *testing.T) {
	t.Parallel()
	m := model(t)
	long := strings.Repeat("word ", 1<<20)
	must.Equal(t, "tokens", len(m.words.tokenize(long, m.MaxTokens)), m.MaxTokens)
}

func FuzzTokenize(f *testing.F) {
	for _, s := range []string{"", "hello", "a\x00b", "\xff\xfe", "é́́", "漢字", strings.Repeat("x", 300)} {
		f.Add(s, 16)
	}
	m := model(f)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = 4 + int(uint(limit)%300)
		ids := m.words.tokenize(text, limit)
		if len(ids) < 2 || len(ids) > limit || ids[0] != startWord || ids[len(ids)-1] != endWord {
			t.Fatalf("%q: %d tokens %v", text, len(ids), ids)
		}
		for _, id := range ids {
			if id < 0 || int(id) >= m.Vocabulary {
				t.Fatalf("%q: token %d", text, id)
			}
		}
	})
}
