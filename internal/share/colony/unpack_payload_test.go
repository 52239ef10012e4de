package colony_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
)

// handmade is an unsigned snapshot of a payload in one part, with right digests.
func handmade(t testing.TB, plaintext []byte, blob string, names []string) colony.Packed {
	t.Helper()
	part := colony.PartName(testLabel, testID, 0)
	content := func(object map[string]any) string {
		return string(must.Get(json.Marshal(object))(t))
	}
	return colony.Packed{
		Parts: []colony.NamedText{{Name: part, Content: content(map[string]any{
			"format": "colony-memory/1", "snapshot_id": testID, "seq": 0, "b64": blob,
		})}},
		Manifest: colony.NamedText{Name: colony.ManifestName(testLabel, testID), Content: content(map[string]any{
			"format": "colony-memory/1", "snapshot_id": testID, "label": testLabel, "created_at": "2026-06-19T05:16:43Z", "codec": "gzip+base64",
			"doc_names": names, "plaintext_sha256": "sha256:" + hexSum(plaintext), "part_count": 1, "part_files": []string{part},
			"byte_size": len(plaintext), "blob_chars": len(blob), "part_sha256": []string{hexSum(blob)},
		})},
	}
}

// gzipped makes a member of gzip that is not compressed: it is made often.
func gzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	if len(b) > math.MaxUint16 {
		t.Fatalf("%d bytes do not fit", len(b))
	}
	out := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3, 1} // the header, and the last block
	out = binary.LittleEndian.AppendUint16(out, uint16(len(b)))
	out = append(binary.LittleEndian.AppendUint16(out, ^uint16(len(b))), b...)
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(b))
	return binary.LittleEndian.AppendUint32(out, uint32(len(b)))
}

func join(list ...[]byte) []byte { return bytes.Join(list, nil) }

// TestThePayloadHasOneSpelling for a strict reader. A tolerant one takes what
// Python takes.
func TestThePayloadHasOneSpelling(t *testing.T) {
	t.Parallel()
	docs := newDraft(t).Documents
	plaintext := must.Get(docs.Canonical())(t)
	z := gzipped(t, plaintext)
	if len(z)%3 == 0 {
		t.Fatal("choose other documents: there is no padding")
	}
	encode := base64.StdEncoding.EncodeToString
	blob := encode(z)
	first, second := gzipped(t, plaintext[:7]), gzipped(t, plaintext[7:])
	tests := []struct {
		name string
		blob string
		want verdict
	}{
		{"as it is written", blob, verdict{}},
		{"junk", blob[:8] + "!\u00e9 " + blob[8:], tolerantOnly},
		{"line ends", blob[:8] + "\r\n" + blob[8:] + "\n", tolerantOnly},
		{"more after the padding", blob + "AAAA", tolerantOnly},
		{"no padding", strings.TrimRight(blob, "="), refused},
		{"of the other alphabet", base64.URLEncoding.EncodeToString(z), refusedUnless(blob == base64.URLEncoding.EncodeToString(z))},
		{"cut", blob[:len(blob)-4], refused},
		{"empty", "", refused},
		{"trailing zeros", encode(join(z, make([]byte, 5))), tolerantOnly},
		{"trailing junk", encode(join(z, []byte("x"))), verdict{amber.KindDamaged, amber.KindDamaged}},
		{"two members", encode(join(first, second)), tolerantOnly},
		{"zeros between members", encode(join(first, []byte{0, 0}, second)), tolerantOnly},
		{"an empty member", encode(join(z, gzipped(t, nil))), tolerantOnly},
		{"too many members", encode(join(z, bytes.Repeat(gzipped(t, nil), 300))), refused},
		{"half a member after it", encode(join(z, z[:9])), refused},
		{"no gzip", encode(plaintext), refused},
		{"more than it says", encode(gzipped(t, join(plaintext, plaintext))), refused},
	}
	for _, tt := range tests {
		p := handmade(t, plaintext, tt.blob, docs.Names())
		strict, tolerant := unpackBoth(t, p)
		must.Equal(t, tt.name+": strict", strict, tt.want.strict)
		must.Equal(t, tt.name+": tolerant", tolerant, tt.want.tolerant)
	}
	// The last bits of the last character do not count.
	spare := strings.IndexByte(blob, '=') - 1
	other := blob[:spare] + string(blob[spare]+1) + blob[spare+1:]
	if b, err := base64.StdEncoding.DecodeString(other); err != nil || !bytes.Equal(b, z) {
		t.Fatalf("choose other documents: %v", err)
	}
	tolerantOnly.check(t, "other last bits", handmade(t, plaintext, other, docs.Names()))
}

func refusedUnless(same bool) verdict {
	if same {
		return verdict{}
	}
	return refused
}

// unpackBoth returns what both readers say.
func unpackBoth(t testing.TB, p colony.Packed) (strict, tolerant amber.Kind) {
	t.Helper()
	_, _, err := unpack(t, p, colony.ReadOptions{})
	_, _, lenient := unpack(t, p, colony.ReadOptions{Tolerant: true})
	return amber.KindOf(err), amber.KindOf(lenient)
}

// TestTheDocumentsHaveOneSpelling for a strict reader.
func TestTheDocumentsHaveOneSpelling(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, plaintext string
		names           []string
		want            verdict
		docs            colony.Documents
	}{
		{"canonical", `{"a":"b"}`, []string{"a"}, verdict{}, colony.Documents{"a": "b"}},
		{"spaces", `{"a": "b"}`, []string{"a"}, tolerantOnly, colony.Documents{"a": "b"}},
		{"order", `{"b":"","a":""}`, []string{"a", "b"}, tolerantOnly, colony.Documents{"a": "", "b": ""}},
		{"escapes", `{"\u0061":"\ud83d\ude00"}`, []string{"a"}, tolerantOnly, colony.Documents{"a": "\U0001f600"}},
		{"twice", `{"a":"x","a":"b"}`, []string{"a"}, tolerantOnly, colony.Documents{"a": "b"}},
		{"byte order mark", "\ufeff" + `{"a":"b"}`, []string{"a"}, tolerantOnly, colony.Documents{"a": "b"}},
		{"none", `{}`, []string{}, tolerantOnly, colony.Documents{}},
		{"two marks", "\ufeff\ufeff{}", []string{}, refused, nil},
		{"nothing", ``, []string{}, refused, nil},
		{"not JSON", `{"a":"b"`, []string{"a"}, refused, nil},
		{"more", `{"a":"b"}{}`, []string{"a"}, refused, nil},
		{"an array", `["a"]`, []string{"a"}, refused, nil},
		{"a text", `"a"`, []string{"a"}, refused, nil},
		{"a number", `{"a":1}`, []string{"a"}, refused, nil},
		{"null", `{"a":null}`, []string{"a"}, refused, nil},
		{"an object", `{"a":{"b":"c"}}`, []string{"a"}, refused, nil},
		{"a number that is overwritten", `{"a":1,"a":"b"}`, []string{"a"}, refused, nil},
		{"half a pair", `{"a":"\ud800"}`, []string{"a"}, refused, nil},
		{"not UTF-8", "{\"a\":\"\xff\"}", []string{"a"}, refused, nil},
	}
	for _, tt := range tests {
		p := handmade(t, []byte(tt.plaintext), base64.StdEncoding.EncodeToString(gzipped(t, []byte(tt.plaintext))), tt.names)
		strict, tolerant := unpackBoth(t, p)
		must.Equal(t, tt.name+": strict", strict, tt.want.strict)
		must.Equal(t, tt.name+": tolerant", tolerant, tt.want.tolerant)
		docs, _, _ := unpack(t, p, colony.ReadOptions{Tolerant: true})
		must.Equal(t, tt.name, docs, tt.docs)
	}
}

// TestABombIsNotUnpacked reads 87 KB that are 64 MiB, and uses no more memory
// than it may. It is not parallel: others would use some meanwhile.
func TestABombIsNotUnpacked(t *testing.T) {
	const id = "20260619T051643072000Z-abc048"
	files := vaultFiles(t, "testdata/mut/gzip_bomb_64MiB/vault")
	// As it is, it does not even say how long the blob is.
	name := colony.ManifestName("m", id)
	files[name] = edit(t, files[name], map[string]any{"blob_chars": 87020, "doc_names": []string{"bomb"}})
	m, parts := snapshotOf(t, files, "m", id)
	for _, tt := range []struct {
		o    colony.ReadOptions
		want amber.Kind
		most uint64 // bytes of memory
	}{
		{colony.ReadOptions{}, amber.KindDamaged, 2 << 20}, // it says that it has 10 bytes
		{colony.ReadOptions{Tolerant: true, MaxBytes: 1 << 20}, amber.KindQuota, 8 << 20},
		{colony.ReadOptions{Tolerant: true}, amber.KindQuota, 256 << 20},
	} {
		tt.o.Label, tt.o.ID = "m", id
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		docs, _, err := colony.Unpack(t.Context(), m, parts, tt.o)
		runtime.ReadMemStats(&after)
		if amber.KindOf(err) != tt.want || docs != nil {
			t.Errorf("%+v: got %v, want kind %s", tt.o, err, tt.want)
		}
		if err != nil && !strings.Contains(err.Error(), " bytes, which is the limit") && !strings.Contains(err.Error(), "longer than the byte_size") {
			t.Errorf("%+v: it was refused for another reason: %v", tt.o, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > tt.most {
			t.Errorf("%+v: got %d bytes of memory, want at most %d", tt.o, used, tt.most)
		}
	}
}
