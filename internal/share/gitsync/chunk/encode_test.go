package chunk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

func TestWhatIsWrittenComesBack(t *testing.T) {
	t.Parallel()
	rewriting := header()
	rewriting.Rewrites, rewriting.Parents, rewriting.Project, rewriting.CreatedBy = someIDs, nil, "", ""
	for _, tt := range []struct {
		name    string
		header  chunk.Header
		records []amber.SyncRecord
		signer  sign.Signer
	}{
		{"unsigned", header(), sample(), nil},
		{"signed", header(), sample(), newSigner(1)},
		{"rewriting", rewriting, sample(), nil},
		{"with authors", header(), authored(), nil},
		{"empty", header(), nil, nil},
		{"empty, signed", rewriting, nil, newSigner(2)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			id, b := mustEncode(t, tt.header, tt.records, tt.signer)
			got := must.Get(chunk.Decode(id, b))(t)
			want := tt.header
			want.Format, want.Counts = "amber-sync/1", countsOf(tt.records)
			if tt.name == "with authors" {
				want.Format = chunk.Format
			}
			want.Parents = slices.Sorted(slices.Values(want.Parents))
			want.Rewrites = slices.Sorted(slices.Values(want.Rewrites))
			if tt.signer != nil {
				want.SignedBy = tt.signer.KeyID()
			}
			must.Equal(t, "header", got.Header, want, same)
			must.Equal(t, "records", got.Records, tt.records, same)
			if (got.Signature != nil) != (tt.signer != nil) || got.ID != id || got.Text != len(textOf(t, b)) {
				t.Errorf("signature %v, id %s, text %d", got.Signature, got.ID, got.Text)
			}
			h := must.Get(chunk.DecodeHeader(id, b))(t)
			must.Equal(t, "header alone", h, got.Header, same)
		})
	}
}

// authored are records that say who wrote them: a chunk of them has the later format.
func authored() []amber.SyncRecord {
	all := sample()
	for i, r := range all {
		if r.Prompt != nil {
			p := *r.Prompt
			p.Trust = amber.TrustAgent
			all[i].Prompt = &p
		}
		if r.Memory != nil {
			m := *r.Memory
			m.Trust, m.Author = amber.TrustAgent, amber.Author{Host: "claude-code", Session: "s"}
			all[i].Memory = &m
		}
	}
	return all
}

func countsOf(records []amber.SyncRecord) chunk.Counts {
	if len(records) == 0 {
		return chunk.Counts{}
	}
	return chunk.Counts{Sessions: 1, Memories: 2, Prompts: 1, Relations: 1, Deleted: 4}
}

func TestEqualArgumentsGiveEqualBytes(t *testing.T) {
	t.Parallel()
	first, b := mustEncode(t, header(), sample(), newSigner(1))
	h := header()
	h.Parents = []chunk.ID{someIDs[1], someIDs[0], someIDs[1]}
	h.Format, h.SignedBy, h.Counts.Memories = "x", "y", 7 // are set anew
	again, c := mustEncode(t, h, sample(), newSigner(1))
	if first != again || !bytes.Equal(b, c) {
		t.Error("the same chunk has other bytes")
	}
	must.Equal(t, "the parents that were passed in", h.Parents[0], someIDs[1])
	if other, _ := mustEncode(t, h, sample(), newSigner(2)); other == first {
		t.Error("another signer, and the same id")
	}
}

func TestEncodeRefusesWhatDecodeWould(t *testing.T) {
	t.Parallel()
	with := func(change func(h *chunk.Header)) chunk.Header {
		h := header()
		change(&h)
		return h
	}
	record := func(change func(m *amber.SyncMemory)) []amber.SyncRecord {
		m := memory(memoryA, "text", 1)
		change(m)
		return []amber.SyncRecord{{Memory: m}}
	}
	deep := json.RawMessage(strings.Repeat("[", 100) + strings.Repeat("]", 100))
	wide := json.RawMessage("{" + strings.Repeat(`"`, 2) + ":0" + manyNames(5000) + "}")
	for _, tt := range []struct {
		name    string
		header  chunk.Header
		records []amber.SyncRecord
		want    amber.Kind
	}{
		{"no device", with(func(h *chunk.Header) { h.Device = "" }), nil, amber.KindInvalid},
		{"no incarnation", with(func(h *chunk.Header) { h.Incarnation = "" }), nil, amber.KindInvalid},
		{"no time", with(func(h *chunk.Header) { h.CreatedAt = amber.Time{} }), nil, amber.KindInvalid},
		{"a time before 1970", with(func(h *chunk.Header) { h.CreatedAt = amber.UnixMilli(-1) }), nil, amber.KindInvalid},
		{"a line end in the author", with(func(h *chunk.Header) { h.CreatedBy = "a\nb" }), nil, amber.KindInvalid},
		{"half a character in the project", with(func(h *chunk.Header) { h.Project = "\xff" }), nil, amber.KindInvalid},
		{"a path as a parent", with(func(h *chunk.Header) { h.Parents = []chunk.ID{"../../x"} }), nil, amber.KindInvalid},
		{"too many parents", with(func(h *chunk.Header) { h.Parents = manyIDs(chunk.MaxParents + 1) }), nil, amber.KindQuota},
		{"too many rewrites", with(func(h *chunk.Header) { h.Rewrites = manyIDs(chunk.MaxParents + 1) }), nil, amber.KindQuota},
		{"no record in a record", header(), []amber.SyncRecord{{}}, amber.KindInvalid},
		{"scope user", header(), record(func(m *amber.SyncMemory) { m.Scope, m.UserID = amber.ScopeUser, "ada" }), amber.KindInvalid},
		{"another digest", header(), record(func(m *amber.SyncMemory) { m.ContentDigest = "" }), amber.KindInvalid},
		{"one version twice", header(), append(sample(), sample()[2]), amber.KindInvalid},
		{"one prompt twice", header(), append(sample(), sample()[4]), amber.KindInvalid},
		{"foreign fields are no JSON", header(), record(func(m *amber.SyncMemory) { m.Foreign = foreign("x", "{") }), amber.KindInvalid},
		{"foreign fields with a double name", header(), record(func(m *amber.SyncMemory) { m.Foreign = foreign("x", `{"a":1,"a":2}`) }), amber.KindInvalid},
		{"foreign fields with half a character", header(), record(func(m *amber.SyncMemory) { m.Foreign = foreign("x", "\"\xff\"") }), amber.KindInvalid},
		{"a foreign name with half a character", header(), record(func(m *amber.SyncMemory) { m.Foreign = foreign("x\xff", "1") }), amber.KindInvalid},
		{"foreign fields too deep", header(), record(func(m *amber.SyncMemory) { m.Foreign = map[string]json.RawMessage{"x": deep} }), amber.KindInvalid},
		{"foreign fields with too many names", header(), record(func(m *amber.SyncMemory) { m.Foreign = map[string]json.RawMessage{"x": wide} }), amber.KindQuota},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := chunk.Encode(t.Context(), tt.header, tt.records, nil)
			wantKind(t, err, tt.want)
		})
	}
}

func foreign(name, value string) map[string]json.RawMessage {
	return map[string]json.RawMessage{name: json.RawMessage(value)}
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"-` + string(rune('a'+i%26)) + strings.Repeat("x", i/26) + `":0`)
	}
	return b.String()
}

func manyIDs(n int) []chunk.ID {
	ids := make([]chunk.ID, n)
	for i := range ids {
		ids[i] = chunk.IDOf([]byte{byte(i), byte(i >> 8)})
	}
	return ids
}

func TestAChunkHasRoomForItsLimitsAndNotMore(t *testing.T) {
	notWithRace(t)
	t.Parallel()
	h := header()
	h.Parents, h.Rewrites = manyIDs(chunk.MaxParents), manyIDs(chunk.MaxParents)
	records := make([]amber.SyncRecord, chunk.MaxRecords)
	for i := range records {
		records[i].Gone = &amber.SyncGone{Scope: amber.ChangeTurn, ID: "t", Origin: origin(uint64(i) + 1)}
	}
	id, b := mustEncode(t, h, records, nil)
	must.Equal(t, "records", len(must.Get(chunk.Decode(id, b))(t).Records), chunk.MaxRecords)
	one := amber.SyncRecord{Gone: &amber.SyncGone{Scope: amber.ChangeTurn, ID: "u", Origin: origin(1)}}
	_, _, err := chunk.Encode(t.Context(), h, append(records, one), nil)
	wantKind(t, err, amber.KindQuota)
}

func TestTheLargestRecordsFit(t *testing.T) {
	notWithRace(t)
	t.Parallel()
	prompt := func(id amber.TurnID) amber.SyncRecord {
		return amber.SyncRecord{Prompt: &amber.Turn{
			ID: id, SessionID: "s", Role: amber.RoleUser, Content: strings.Repeat("\x01", amber.MaxContentBytes-1) + "x", CreatedAt: amber.At(start),
		}}
	}
	records := []amber.SyncRecord{prompt("a"), prompt("b")}
	id, b := mustEncode(t, header(), records, nil)
	c, err := chunk.Decode(id, b)
	if err != nil || !cmp.Equal(c.Records, records, same) {
		t.Errorf("decode: %v", err)
	}
	_, _, err = chunk.Encode(t.Context(), header(), append(records, prompt("c")), nil)
	wantKind(t, err, amber.KindQuota)
}

// otherSigner says one thing and does another.
type otherSigner struct {
	signer
	as  sign.Signer
	err error
}

func (s otherSigner) Sign(ctx context.Context, message []byte) (sign.Signature, error) {
	if s.err != nil {
		return sign.Signature{}, s.err
	}
	return s.as.Sign(ctx, append([]byte("x"), message...))
}

func TestASignerThatFailsWritesNothing(t *testing.T) {
	t.Parallel()
	locked := amber.Errorf(amber.KindRefused, "sign", "", "the key is locked")
	for _, tt := range []struct {
		name   string
		signer otherSigner
		want   amber.Kind
	}{
		{"it has an error", otherSigner{signer: newSigner(1), err: locked}, amber.KindRefused},
		{"another message", otherSigner{signer: newSigner(1), as: newSigner(1)}, amber.KindInternal},
		{"another key", otherSigner{signer: newSigner(1), as: newSigner(2)}, amber.KindInternal},
	} {
		id, b, err := chunk.Encode(t.Context(), header(), sample(), tt.signer)
		wantKind(t, err, tt.want)
		if id != "" || b != nil {
			t.Errorf("%s: wrote %s", tt.name, id)
		}
	}
}

func TestEncodeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := chunk.Encode(ctx, header(), sample(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
