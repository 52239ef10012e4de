package engram_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/internal/test/must"
)

// pack makes a chunk file of a text, and its id.
func pack(t testing.TB, text string) (id string, gz []byte) {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	must.Get(w.Write([]byte(text)))(t)
	must.Do(t, w.Close())
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4]), b.Bytes()
}

// decode makes a chunk of a text.
func decode(t testing.TB, text string) engram.Chunk {
	t.Helper()
	return must.Get(engram.DecodeChunk(pack(t, text)))(t)
}

// In Engram altered text, a broken checksum, truncated and empty files are imported, skipped, or stop
// everything.
func TestChangedBytesOfAChunkAreNoticed(t *testing.T) {
	t.Parallel()
	const id = "8e3713a4"
	whole := read(t, "basic", "chunks", engram.FileName(id))
	fails := func(what string, at int, gz []byte) {
		t.Helper()
		if _, err := engram.DecodeChunk(id, gz); amber.KindOf(err) != amber.KindDamaged {
			t.Fatalf("%s at %d: kind is %q (%v), want damaged", what, at, amber.KindOf(err), err)
		}
	}
	for n := range len(whole) {
		fails("cut off", n, whole[:n])
		// Bytes 4 to 9 are time, level and system, which say nothing about the text; the flags before them do.
		if n < 4 || n > 9 {
			b := bytes.Clone(whole)
			b[n] ^= 0x10
			fails("changed byte", n, b)
		}
	}
	fails("a byte behind", len(whole), append(bytes.Clone(whole), 0))
	fails("a member behind", len(whole), append(bytes.Clone(whole), whole...))
	altered := strings.Replace(`{"sessions":null,"observations":null,"prompts":null}`, "null", "[]", 1)
	_, other := pack(t, altered)
	fails("another text", 0, other)
}

func TestIDOfAChunkIsCheckedFirst(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "../../x", "8E3713A4", "8e3713a", "8e3713a41"} {
		must.Fail(engram.DecodeChunk(id, nil))(t, fmt.Sprintf("%q", id), amber.KindInvalid)
	}
}

func TestTextOfAChunkIsChecked(t *testing.T) {
	t.Parallel()
	const nothing = `"sessions":null,"observations":null,"prompts":null`
	for name, c := range map[string]struct {
		text string
		kind amber.Kind
	}{
		"empty lists":     {`{` + nothing + `}`, ""},
		"nothing at all":  {`{}`, ""},
		"lists of []":     {`{"sessions":[],"observations":[],"prompts":[],"mutations":[]}`, ""},
		"unknown field":   {`{` + nothing + `,"later":{"a":1}}`, ""},
		"a list":          {`[]`, amber.KindDamaged},
		"JSONL":           {"{}\n{}", amber.KindDamaged},
		"a name twice":    {`{"sessions":null,"sessions":null}`, amber.KindDamaged},
		"cut off":         {`{"sessions":[`, amber.KindDamaged},
		"too deep":        {`{"prompts":[{"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}]}`, amber.KindDamaged},
		"a row too long":  {`{"prompts":[{"content":"` + strings.Repeat("x", engram.MaxRowBytes) + `"}]}`, amber.KindQuota},
		"too many rows":   {`{"prompts":[` + strings.Repeat("{},", engram.MaxRows) + `{}]}`, amber.KindQuota},
		"too many fields": {`{"0":1` + manyFields(100) + `}`, amber.KindQuota},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && len(c.text) > 1<<20 {
				t.Skip("-short: a text at the limit has 128 MB")
			}
			id, gz := pack(t, c.text)
			got, err := engram.DecodeChunk(id, gz)
			if amber.KindOf(err) != c.kind {
				t.Fatalf("kind is %q (%v), want %q", amber.KindOf(err), err, c.kind)
			}
			if err != nil && cmp.Diff(engram.Chunk{}.Sessions, got.Sessions) != "" {
				t.Errorf("a chunk comes with the error: %+v", got)
			}
		})
	}
}

// A row that is JSON and no row is left out and named; the rows beside it are there.
func TestARowThatCannotBeReadLeavesTheOthers(t *testing.T) {
	t.Parallel()
	const whole = `{"id":"s","project":"shop","directory":"/d","started_at":"2026-01-02 03:04:05"}`
	for name, bad := range map[string]struct{ list, row, why string }{
		"no object":          {"observations", `1`, "not a JSON object"},
		"a field twice":      {"observations", `{"id":1,"id":2}`, "twice"},
		"a wrong type":       {"observations", `{"title":1}`, `"title"`},
		"a number too large": {"observations", `{"id":99999999999999999999}`, `"id"`},
		"not UTF-8":          {"prompts", "{\"content\":\"\xff\"}", "UTF-8"},
		"a mutation":         {"mutations", `{"seq":"one"}`, `"seq"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := must.Get(engram.DecodeChunk(pack(t, `{"`+bad.list+`":[`+bad.row+`],"sessions":[`+whole+`]}`)))(t)
			rows, dropped := engram.ToRecords(c, engram.ReadOptions{})
			if len(rows) != 1 || rows[0].Record.Session == nil {
				t.Errorf("rows are %+v, want the session", rows)
			}
			if len(dropped) != 1 || !strings.Contains(dropped[0], " 1 of the list: ") || !strings.Contains(dropped[0], bad.why) {
				t.Errorf("dropped %q, want the place and %s", dropped, bad.why)
			}
		})
	}
}

func manyFields(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"x` + strings.Repeat("y", i) + `":1`)
	}
	return b.String()
}

// In Engram 194 KB that expand to 200 MB took 882 MB of memory.
func TestBombIsRefusedInConstantMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 200 MB take long to compress")
	}
	var b bytes.Buffer
	w := must.Get(gzip.NewWriterLevel(&b, gzip.BestSpeed))(t)
	zeros := make([]byte, 1<<20)
	for range engram.MaxTextBytes>>20 + 1 {
		must.Get(w.Write(zeros))(t)
	}
	must.Do(t, w.Close())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := engram.DecodeChunk("8e3713a4", b.Bytes())
	runtime.ReadMemStats(&after)
	must.Kind(t, "", err, amber.KindQuota)
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("%d bytes were taken to refuse it", used)
	}
	must.Fail(engram.DecodeChunk("8e3713a4", make([]byte, engram.MaxFileBytes+1)))(t, "a large file", amber.KindQuota)
}

// Amber writes rows of later versions again as they were.
func TestRowsOfLaterVersionsAreWrittenByteForByte(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"sync ids":  `{"sessions":null,"observations":[{"id":1,"sync_id":"obs-1","session_id":"s","type":"manual","title":"t","content":"c","scope":"project","revision_count":1,"duplicate_count":1,"last_seen_at":"2026-01-02 03:04:05","review_after":"2026-07-02 03:04:05","created_at":"2026-01-02 03:04:05","updated_at":"2026-01-02 03:04:05"}],"prompts":[{"id":1,"sync_id":"","session_id":"s","content":"c","created_at":"2026-01-02 03:04:05"}]}`,
		"sessions":  `{"sessions":[{"id":"s","project":"p","directory":"/d","started_at":"2026-01-02 03:04:05","ownership_mode":"shared"}],"observations":[],"prompts":null}`,
		"mutations": `{"sessions":null,"observations":null,"prompts":null,"mutations":[{"seq":1,"target_key":"local","entity":"observation","entity_key":"obs-1","op":"delete","payload":"{\"sync_id\":\"obs-1\"}","source":"local","project":"p","occurred_at":"2026-01-02 03:04:05","disposition":"pending"}]}`,
		"top level": `{"sessions":null,"observations":null,"prompts":null,"later":[1,{"a":"\u003c"}]}`,
	} {
		if _, got, _ := engram.EncodeChunk(decode(t, text)); string(got) != text {
			t.Errorf("%s differs (-want +got):\n%s", name, cmp.Diff(text, string(got)))
		}
	}
}

func TestBackupIsChecked(t *testing.T) {
	t.Parallel()
	for text, kind := range map[string]amber.Kind{
		`{"version":"0.1.0","exported_at":"x","sessions":null}`:          "",
		`{"sessions":[],"version":"0.2.0","relations":[{}],"later":[1]}`: "",
		`{"version":"0.3.0"}`:                   amber.KindTooNew,
		`{"sessions":null}`:                     amber.KindDamaged,
		`{"version":1}`:                         amber.KindDamaged,
		`{"version":"0.1.0"`:                    amber.KindDamaged,
		``:                                      amber.KindDamaged,
		`{"version":"0.1.0","version":"0.2.0"}`: amber.KindDamaged,
	} {
		c, err := engram.DecodeBackup([]byte(text))
		must.Kind(t, text, err, kind)
		if _, dropped := engram.ToRecords(c, engram.ReadOptions{}); strings.Contains(text, "later") {
			must.Equal(t, "what is not read", dropped, []string{"relation 1 of the list: the relation has no sync_id", "the chunk: unknown fields: later"})
		}
	}
	must.Fail(engram.DecodeBackup(make([]byte, engram.MaxTextBytes+1)))(t, "a large file", amber.KindQuota)
}
