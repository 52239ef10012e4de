package chunk_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/internal/test/must"
)

// skippable is a frame that decoders skip.
func skippable(magic uint32, content string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, magic)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(content)))
	return append(b, content...)
}

func encodeWith(t testing.TB, text []byte, options ...zstd.EOption) []byte {
	t.Helper()
	e := must.Get(zstd.NewWriter(nil, append(options, zstd.WithEncoderConcurrency(1))...))(t)
	return e.EncodeAll(text, nil)
}

// stream compresses without knowing how long the text will be.
func stream(t testing.TB, text []byte, options ...zstd.EOption) []byte {
	t.Helper()
	var out bytes.Buffer
	e := must.Get(zstd.NewWriter(&out, append(options, zstd.WithEncoderConcurrency(1))...))(t)
	must.Get(e.Write(text))(t)
	must.Do(t, e.Close())
	return out.Bytes()
}

func TestAChunkIsOneFrame(t *testing.T) {
	t.Parallel()
	_, whole := mustEncode(t, header(), sample(), nil)
	text := []byte(textOf(t, whole))
	half := len(text) / 2
	first, second := encodeWith(t, text[:half]), encodeWith(t, text[half:])
	empty := encodeWith(t, nil, zstd.WithZeroFrames(true))
	note := skippable(0x184D2A50, "hidden")
	descriptor := func(bits byte) []byte {
		b := slices.Clone(whole)
		b[4] |= bits
		return b
	}
	for _, tt := range []struct {
		name string
		file []byte
		want amber.Kind
	}{
		{"as it was written", whole, ""},
		{"without a checksum", encodeWith(t, text, zstd.WithEncoderCRC(false)), ""},
		{"at another level", encodeWith(t, text, zstd.WithEncoderLevel(zstd.SpeedBestCompression)), ""},
		{"with a window of 8 MiB", stream(t, slices.Concat(text), zstd.WithWindowSize(8<<20)), ""},
		{"no bytes", nil, amber.KindDamaged},
		{"only the magic", whole[:4], amber.KindDamaged},
		{"gzip", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"), amber.KindDamaged},
		{"plain text", text, amber.KindDamaged},
		{"an empty frame", empty, amber.KindDamaged},
		{"two frames", slices.Concat(first, second), amber.KindDamaged},
		{"twice the same", slices.Concat(whole, whole), amber.KindDamaged},
		{"an empty frame behind it", slices.Concat(whole, empty), amber.KindDamaged},
		{"an empty frame before it", slices.Concat(empty, whole), amber.KindDamaged},
		{"a skippable frame behind it", slices.Concat(whole, note), amber.KindDamaged},
		{"a skippable frame before it", slices.Concat(note, whole), amber.KindDamaged},
		{"only a skippable frame", note, amber.KindDamaged},
		{"a byte behind it", append(slices.Clone(whole), 0), amber.KindDamaged},
		{"a line end behind it", append(slices.Clone(whole), '\n'), amber.KindDamaged},
		{"a line end before it", append([]byte{'\n'}, whole...), amber.KindDamaged},
		{"a dictionary", descriptor(1), amber.KindDamaged},
		{"a reserved bit", descriptor(8), amber.KindDamaged},
		{"an unused bit", descriptor(16), amber.KindDamaged},
		{"a window of 16 MiB", bigWindow(t, text), amber.KindQuota},
		{"a window of all there is", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0xff, 1, 0, 0}, amber.KindQuota},
		{"a text that says it is long", []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0xff, 1, 0, 0}, amber.KindQuota},
		{"a block of a kind that is reserved", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0, 7, 0, 0}, amber.KindDamaged},
		{"a block that is too long", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0, 1, 0, 0xff}, amber.KindDamaged},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			id := chunk.IDOf(tt.file)
			wantKind(t, must.Err(chunk.Decode(id, tt.file)), tt.want)
			wantKind(t, must.Err(chunk.DecodeHeader(id, tt.file)), tt.want)
			if _, err := chunk.Open(id, tt.file); tt.want == "" && err != nil || len(tt.file) == 0 && err == nil {
				t.Errorf("open: %v", err)
			}
		})
	}
}

// bigWindow streams enough for the encoder to tell its window.
func bigWindow(t testing.TB, text []byte) []byte {
	return stream(t, append(slices.Clone(text), bytes.Repeat([]byte("\n"), 1<<20)...), zstd.WithWindowSize(16<<20))
}

// bomb is a frame of some text and then one byte, repeated.
func bomb(text string, c byte, n int) []byte {
	h := len(text) << 3
	b := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x50, byte(h), byte(h >> 8), byte(h >> 16)}, text...)
	for n > 0 {
		size := min(n, 128<<10)
		n -= size
		h := size<<3 | 1<<1
		if n == 0 {
			h |= 1
		}
		b = append(b, byte(h), byte(h>>8), byte(h>>16), c)
	}
	return b
}

// TestExpansionIsBounded reads files of some KB that would be 200 MB. It does not
// run beside others: it counts what is allocated.
func TestExpansionIsBounded(t *testing.T) {
	const expanded = 200 << 20
	lines := sampleLines(t, nil)
	begin := lines[0] + lines[1]
	prompt := `{"prompt":{"id":"t%d","session_id":"s","role":"user","content":"` + strings.Repeat("x", 1<<20) + `","created_at":null}}` + "\n"
	prompts := lines[0]
	for i := range 2 * chunk.MaxTextBytes >> 20 {
		prompts += fmt.Sprintf(prompt, i)
	}
	honest := bomb(begin, 'x', expanded)
	honest = slices.Concat(honest[:4], []byte{0x80}, honest[5:6], []byte{0, 0, 0, 0x0d}, honest[6:]) // 0x0d000000 bytes
	for _, tt := range []struct {
		name string
		file []byte
		want amber.Kind
	}{
		{"one line", bomb(begin, 'x', expanded), amber.KindQuota},
		{"one line, and its length is told", honest, amber.KindQuota},
		{"one long header", bomb("", 'x', expanded), amber.KindQuota},
		{"blank lines", bomb(begin, '\n', expanded), amber.KindDamaged},
		{"lists in lists", bomb(begin, '[', expanded), amber.KindQuota},
		{"a window of 8 MiB", stream(t, bytes.Repeat([]byte("x"), 2*chunk.MaxTextBytes), zstd.WithWindowSize(8<<20)), amber.KindQuota},
		{"records that are in order", stream(t, []byte(prompts)), amber.KindQuota},
	} {
		id := chunk.IDOf(tt.file)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := chunk.Decode(id, tt.file)
		_, herr := chunk.DecodeHeader(id, tt.file)
		runtime.ReadMemStats(&after)
		t.Run(tt.name, func(t *testing.T) { wantKind(t, err, tt.want) })
		known(t, herr)
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(64<<20); got > most {
			t.Errorf("%s: %d bytes were allocated for %d, the limit is %d", tt.name, got, len(tt.file), most)
		} else {
			t.Logf("%s: %d bytes, %.1f MiB allocated", tt.name, len(tt.file), float64(got)/(1<<20))
		}
	}
}
