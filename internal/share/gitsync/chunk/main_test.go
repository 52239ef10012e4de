package chunk_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

var (
	update = flag.Bool("update", false, "write the golden files and those vectors that are missing")
	seed   = flag.Uint64("seed", 0, "seed of random records; 0: several fixed ones")
)

// same compares what was written with what was read: lists that are empty are
// equal to none.
var same = cmp.Options{cmp.AllowUnexported(amber.Time{}), cmpopts.EquateEmpty()}

// signer signs with a key that is the same in every run.
type signer struct{ key ed25519.PrivateKey }

func newSigner(n byte) signer {
	return signer{ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))}
}

func (s signer) KeyID() sign.KeyID { return sign.NewKeyID(s.key.Public().(ed25519.PublicKey)) }

func (s signer) Sign(_ context.Context, message []byte) (sign.Signature, error) {
	return sign.SignWith(s.key, message), nil
}

const (
	device      = "01998c5e-6f00-7abc-8def-0123456789ab"
	incarnation = "01998c5e-7000-7abc-8def-0123456789ab"
	memoryA     = amber.MemoryID("01998c5e-8000-7abc-8def-0123456789ab")
	memoryB     = amber.MemoryID("01998c5e-8001-7abc-8def-0123456789ab")
)

var (
	start   = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	someIDs = []chunk.ID{chunk.IDOf([]byte("a")), chunk.IDOf([]byte("b"))}
)

func origin(counter uint64) amber.Origin {
	return amber.Origin{Device: device, Counter: counter, Clock: amber.StampAt(start) + amber.Stamp(counter)}
}

func header() chunk.Header {
	return chunk.Header{Device: device, Incarnation: incarnation, CreatedBy: "Ada", CreatedAt: amber.At(start), Parents: someIDs, Project: "tea"}
}

func memory(id amber.MemoryID, content string, counter uint64) *amber.SyncMemory {
	return &amber.SyncMemory{Memory: amber.Memory{
		ID: id, Kind: amber.ProjectFact, Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "tea"},
		Title: "Tea", Content: content, Tags: []string{"tea"}, Metadata: map[string]string{"k": "v"},
		SourceRefs: []amber.SourceRef{{Kind: "file", Value: "README.md"}}, Trust: amber.TrustOwn,
		Origin: origin(counter), Revision: 1, ContentDigest: amber.ContentDigest(content), CreatedAt: amber.At(start), UpdatedAt: amber.At(start),
	}}
}

func tombstone(id amber.MemoryID, counter uint64) *amber.SyncMemory {
	return &amber.SyncMemory{
		Memory: amber.Memory{
			ID: id, Kind: amber.ProjectFact, Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "tea"}, Trust: amber.TrustOwn,
			Origin: origin(counter), Revision: 2, CreatedAt: amber.At(start), UpdatedAt: amber.At(start), DeletedAt: amber.At(start),
		},
		Saw: []amber.Origin{origin(counter - 1)},
	}
}

// sample has a record of every kind.
func sample() []amber.SyncRecord {
	topic := memory(amber.TopicID("tea", amber.ScopeProject, "tea", "tea/brewing", 0), "Green: 80 °C.\n\"Never\" <boil> & \u2028 it 🍵", 1)
	topic.Topic = "tea/brewing"
	topic.Foreign = map[string]json.RawMessage{"engram": json.RawMessage(`{"type":"decision","n":[1,2.5,null,{"a":"\u00e9"}]}`)}
	session := amber.Session{
		ID: "s1", Name: "Tea", Binding: "terminal", Project: "tea", Directory: "/src/tea", StartedAt: amber.At(start),
		CreatedAt: amber.At(start), UpdatedAt: amber.At(start),
	}
	relation := amber.Relation{ID: "r1", From: memoryA, To: memoryB, Type: "related", Strength: 0.25, Origin: origin(1), CreatedAt: amber.At(start)}
	gone := relation
	gone.ID, gone.DeletedAt = "r2", amber.At(start)
	return []amber.SyncRecord{
		{Session: &amber.SyncSession{Session: session, Origin: origin(1)}},
		{Memory: topic},
		{Memory: memory(memoryA, "Oolong is drunk without milk.", 1)},
		{Memory: tombstone(memoryB, 2)},
		{Prompt: &amber.Turn{ID: "t1", SessionID: "s1", Role: amber.RoleUser, Content: "Which tea?\x01", ProjectID: "tea", CreatedAt: amber.At(start)}},
		{Relation: &relation},
		{Relation: &gone},
		{Erased: &amber.SyncErased{ID: memoryB, Origin: origin(3)}},
		{Gone: &amber.SyncGone{Scope: amber.ChangeTurn, ID: "t0", Origin: origin(4)}},
	}
}

func mustEncode(t testing.TB, h chunk.Header, records []amber.SyncRecord, s sign.Signer) (chunk.ID, []byte) {
	t.Helper()
	id, b, err := chunk.Encode(t.Context(), h, records, s)
	must.Do(t, err)
	return id, b
}

// frame makes a file of any text, by hand: blocks that are not compressed and a
// window of 1 MiB.
func frame(text string) (chunk.ID, []byte) {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x50}
	for last := false; !last; {
		n := min(len(text), 128<<10)
		last = n == len(text)
		h := n << 3
		if last {
			h |= 1
		}
		b = append(b, byte(h), byte(h>>8), byte(h>>16))
		b = append(b, text[:n]...)
		text = text[n:]
	}
	return chunk.IDOf(b), b
}

// textOf decompresses a file with a decoder that takes anything.
func textOf(t testing.TB, b []byte) string {
	t.Helper()
	d := must.Get(zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)))(t)
	defer d.Close()
	return string(must.Get(d.DecodeAll(b, nil))(t))
}

// sampleLines are the lines of a chunk of sample, with their ends.
func sampleLines(t testing.TB, s sign.Signer) []string {
	t.Helper()
	_, b := mustEncode(t, header(), sample(), s)
	lines := strings.SplitAfter(textOf(t, b), "\n")
	return lines[:len(lines)-1]
}

func wantKind(t testing.TB, err error, want amber.Kind) {
	t.Helper()
	must.Kind(t, "", err, want)
	if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
		t.Errorf("the message has more than one line: %q", err)
	}
}

// notWithRace skips a test of one goroutine and many megabytes.
func notWithRace(t *testing.T) {
	t.Helper()
	if step > 1 {
		t.Skip("the race detector makes it twenty times as slow, and has nothing to see in one goroutine")
	}
}

// compactForeign compares fields of other tools by what they say.
var compactForeign = cmp.Transformer("compact", func(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return string(raw)
	}
	return b.String()
})
