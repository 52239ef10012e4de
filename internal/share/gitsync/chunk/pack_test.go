package chunk_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/internal/test/must"
)

// someParts are chunks of one length, more or less.
func someParts(t testing.TB, n int) []chunk.Part {
	t.Helper()
	parts := make([]chunk.Part, n)
	for i := range parts {
		r := amber.SyncRecord{Memory: memory(memoryA, fmt.Sprintf("text %04d", i), uint64(i+1))}
		parts[i].ID, parts[i].Bytes = mustEncode(t, header(), []amber.SyncRecord{r}, nil)
	}
	return parts
}

func TestAPackHoldsItsPartsByteForByte(t *testing.T) {
	t.Parallel()
	parts := someParts(t, 5)
	id, b, err := chunk.EncodePack(parts)
	must.Do(t, err)
	must.Equal(t, "id", id, chunk.IDOf(b))
	got := must.Get(chunk.Open(id, b))(t)
	must.Equal(t, "what was packed", got, parts)
	must.Equal(t, "text for a zstd program", textOf(t, b), "")
	for _, p := range parts {
		if bytes.Contains(b, p.Bytes[20:60]) {
			t.Error("a pack has bytes in common with a part")
		}
	}
	wantKind(t, must.Err(chunk.Decode(id, b)), amber.KindDamaged)
	_ = append(got[0].Bytes, 'x')
	must.Equal(t, "id of the next part", chunk.IDOf(b), id)
}

func TestOpenOfAChunkIsTheChunk(t *testing.T) {
	t.Parallel()
	id, b := mustEncode(t, header(), sample(), nil)
	must.Equal(t, "what is opened", must.Get(chunk.Open(id, b))(t), []chunk.Part{{ID: id, Bytes: b}})
	wantKind(t, must.Err(chunk.Open(someIDs[0], b)), amber.KindDamaged)
	wantKind(t, must.Err(chunk.Open("x", b)), amber.KindInvalid)
	big := make([]byte, chunk.MaxFileBytes+1)
	wantKind(t, must.Err(chunk.Open(chunk.IDOf(big), big)), amber.KindQuota)
}

func TestWhatDoesNotGoIntoAPack(t *testing.T) {
	t.Parallel()
	parts := someParts(t, 6)
	packID, pack, err := chunk.EncodePack(parts)
	must.Do(t, err)
	wrong := parts[0]
	wrong.ID = someIDs[0]
	noise := chunk.Part{ID: chunk.IDOf([]byte("noise")), Bytes: []byte("noise")}
	big := chunk.Part{Bytes: bytes.Repeat([]byte("x"), chunk.MaxFileBytes+1)}
	big.ID = chunk.IDOf(big.Bytes)
	for _, tt := range []struct {
		name  string
		parts []chunk.Part
		want  amber.Kind
	}{
		{"nothing", nil, amber.KindInvalid},
		{"one twice", append(slices.Clone(parts), parts[0]), amber.KindInvalid},
		{"a pack", append(slices.Clone(parts), chunk.Part{ID: packID, Bytes: pack}), amber.KindInvalid},
		{"noise", append(slices.Clone(parts), noise), amber.KindInvalid},
		{"no id", append(slices.Clone(parts), chunk.Part{Bytes: parts[0].Bytes}), amber.KindInvalid},
		{"another id", append(slices.Clone(parts[1:]), wrong), amber.KindDamaged},
		{"too many", make([]chunk.Part, chunk.MaxParts+1), amber.KindQuota},
		{"too large a part", append(slices.Clone(parts), big), amber.KindQuota},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, b, err := chunk.EncodePack(tt.parts)
			wantKind(t, err, tt.want)
			if b != nil {
				t.Error("there is a pack")
			}
		})
	}
}

// forge makes a pack of any index.
func forge(index string, parts ...chunk.Part) []byte {
	var all []byte
	for _, p := range parts {
		all = append(all, p.Bytes...)
	}
	key := sha256.Sum256([]byte("amber pack 1\x00" + index))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err)
	}
	cipher.NewCTR(block, make([]byte, 16)).XORKeyStream(all, all)
	return append(skippable(0x184D2A5B, index), skippable(0x184D2A5C, string(all))...)
}

func indexOf(parts ...chunk.Part) string {
	var list []string
	for _, p := range parts {
		list = append(list, fmt.Sprintf(`{"id":%q,"size":%d}`, p.ID, len(p.Bytes)))
	}
	return `{"format":"amber-pack/1","parts":[` + strings.Join(list, ",") + "]}\n"
}

func TestHostilePacks(t *testing.T) {
	t.Parallel()
	parts := someParts(t, 4)
	a, b := parts[0], parts[1]
	good := indexOf(parts...)
	_, inner, err := chunk.EncodePack(parts)
	must.Do(t, err)
	pack := chunk.Part{ID: chunk.IDOf(inner), Bytes: inner}
	swap := func(old, new string) []byte { return forge(strings.Replace(good, old, new, 1), parts...) }
	sized := func(p chunk.Part, n int) chunk.Part {
		return chunk.Part{ID: p.ID, Bytes: make([]byte, n)}
	}
	cut := forge(good, parts...)
	for _, tt := range []struct {
		name string
		file []byte
		want amber.Kind
	}{
		{"as Amber would write it", forge(good, parts...), ""},
		{"of two, which Amber would not", forge(indexOf(a, b), a, b), ""},
		{"only the magic", cut[:4], amber.KindDamaged},
		{"only a length", cut[:8], amber.KindDamaged},
		{"an index that is cut", cut[:40], amber.KindDamaged},
		{"an empty index", forge("", parts...), amber.KindDamaged},
		{"an index without an end", forge(strings.TrimSuffix(good, "\n"), parts...), amber.KindDamaged},
		{"an index with two ends", forge(good+"\n", parts...), amber.KindDamaged},
		{"an index of two lines", forge(good+good, parts...), amber.KindDamaged},
		{"an index with a space", swap(",", ", "), amber.KindDamaged},
		{"an index that is too long", forge(strings.Repeat(" ", 2<<20)+good, parts...), amber.KindQuota},
		{"an index longer than all", skippable(0x184D2A5B, good)[:8], amber.KindDamaged},
		{"a length of 4 GiB", append([]byte{0x5b, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff}, good...), amber.KindQuota},
		{"another magic", append([]byte{0x50}, forge(good, parts...)[1:]...), amber.KindDamaged},
		{"another format", swap("amber-pack", "amber-sync"), amber.KindDamaged},
		{"version 2", swap("amber-pack/1", "amber-pack/2"), amber.KindTooNew},
		{"a field nobody knows", swap(`"parts"`, `"x":1,"parts"`), amber.KindTooNew},
		{"a field nobody knows in a part", swap(`"size"`, `"x":1,"size"`), amber.KindTooNew},
		{"a field twice", swap(`"parts"`, `"parts":[],"parts"`), amber.KindDamaged},
		{"parts are null", forge(`{"format":"amber-pack/1","parts":null}` + "\n"), amber.KindDamaged},
		{"no parts", forge(indexOf()), amber.KindDamaged},
		{"too many parts", forge(indexOf(make([]chunk.Part, chunk.MaxParts+1)...)), amber.KindQuota},
		{"invalid UTF-8", swap("amber-pack/1", "amber-pack/1\xff"), amber.KindDamaged},
		{"an id that is a path", swap(string(a.ID), "../../../x"), amber.KindDamaged},
		{"another id", swap(string(a.ID), string(someIDs[0])), amber.KindDamaged},
		{"parts in another order", forge(good, b, a, parts[2], parts[3]), amber.KindDamaged},
		{"a part twice", forge(indexOf(a, a), a, a), amber.KindDamaged},
		{"a part that is not there", forge(good, parts[:3]...), amber.KindDamaged},
		{"a part that is not in the index", forge(indexOf(parts[:3]...), parts...), amber.KindDamaged},
		{"a pack in a pack", forge(indexOf(a, pack), a, pack), amber.KindDamaged},
		{"a part of size 0", forge(indexOf(a, chunk.Part{ID: chunk.IDOf(nil)}), a), amber.KindDamaged},
		{"a size below zero", swap(`"size":`, `"size":-`), amber.KindDamaged},
		{"a size that overflows", swap(`"size":`, `"size":9223372036854775807`), amber.KindDamaged},
		{"a size beyond the end", forge(indexOf(sized(a, 1<<20), b), a, b), amber.KindDamaged},
		{"a byte behind the last part", append(forge(good, parts...), 0), amber.KindDamaged},
		{"a byte between parts", slices.Concat(forge(indexOf(a, b), a), []byte{0}, b.Bytes), amber.KindDamaged},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := chunk.Open(chunk.IDOf(tt.file), tt.file)
			wantKind(t, err, tt.want)
			if err != nil && got != nil {
				t.Error("there is an error, and parts")
			}
		})
	}
}
