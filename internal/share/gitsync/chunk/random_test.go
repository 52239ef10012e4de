package chunk_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

// TestRandomRecordsComeBack writes chunks of random records and reads them
// again. Run it with -seed to see one again.
func TestRandomRecordsComeBack(t *testing.T) {
	t.Parallel()
	seeds := []uint64{1, 2, 3, 4, 5, 6, 7, 8}
	if *seed != 0 {
		seeds = []uint64{*seed}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			r := randomRecords{rand.New(rand.NewPCG(seed, 1))}
			open := header()
			open.Project = ""
			for range 20 {
				records := r.records()
				var s sign.Signer
				if r.IntN(2) == 0 {
					s = newSigner(byte(r.IntN(3)))
				}
				id, b := mustEncode(t, open, records, s)
				c := must.Get(chunk.Decode(id, b))(t)
				must.Equal(t, "records", c.Records, records, same)
				must.Equal(t, "counted", c.Header.Counts.Total(), len(records))
			}
		})
	}
}

type randomRecords struct{ *rand.Rand }

func (r randomRecords) records() []amber.SyncRecord {
	list := make([]amber.SyncRecord, r.IntN(40))
	for i := range list {
		list[i] = r.record(uint64(i + 2))
	}
	return list
}

func (r randomRecords) record(counter uint64) amber.SyncRecord {
	id := amber.MemoryID(fmt.Sprintf("01998c5e-%04x-7abc-8def-0123456789ab", r.IntN(1<<16)))
	o := amber.Origin{Device: r.name(), Counter: counter + r.Uint64N(1<<40), Clock: amber.StampAt(start) + amber.Stamp(r.Uint64N(1<<50))}
	when := amber.UnixMilli(1 + r.Int64N(1<<46))
	switch r.IntN(6) {
	case 0:
		return amber.SyncRecord{Session: &amber.SyncSession{Origin: o, Session: amber.Session{
			ID: amber.SessionID(r.name()), Name: "n", Binding: r.name(), Project: r.name(), Summary: r.text(), StartedAt: when, UpdatedAt: when,
		}}}
	case 1:
		return amber.SyncRecord{Prompt: &amber.Turn{
			ID: amber.TurnID(fmt.Sprint("t", counter)), SessionID: "s", Role: amber.RoleUser, Content: r.text() + "\x02\x7f", CreatedAt: when,
		}}
	case 2:
		return amber.SyncRecord{Relation: &amber.Relation{
			ID: r.name(), From: id, To: memoryA, Type: r.name(), Strength: r.Float64(), Origin: o, CreatedAt: when, DeletedAt: amber.UnixMilli(r.Int64N(2)),
		}}
	case 3:
		return amber.SyncRecord{Erased: &amber.SyncErased{ID: id, Origin: o}}
	case 4:
		return amber.SyncRecord{Gone: &amber.SyncGone{Scope: amber.ChangeSession, ID: r.name(), Origin: o}}
	}
	return amber.SyncRecord{Memory: r.memory(id, o)}
}

func (r randomRecords) memory(id amber.MemoryID, o amber.Origin) *amber.SyncMemory {
	if r.IntN(4) == 0 {
		m := tombstone(id, o.Counter)
		m.Origin, m.Saw = o, nil
		return m
	}
	m := memory(id, r.text(), 1)
	m.Origin, m.Title, m.Revision, m.Summary = o, r.name(), 1+r.Int64N(1<<40), r.text()
	for range r.IntN(4) {
		seen := o
		seen.Counter = r.Uint64N(o.Counter-1) + 1
		m.Saw = append(m.Saw, seen)
		m.Metadata[r.name()] = r.text()
	}
	if r.IntN(2) == 0 {
		m.Tags, m.Metadata, m.SourceRefs = nil, nil, nil
		m.Foreign = foreign(r.name(), `{"a":[1e-7,-0,true,null,"\ud83c\udf75"]}`)
	}
	return m
}

// name is text that is fit for an id.
func (r randomRecords) name() string {
	return r.of("abcXYZ012-_./<>&'\"\\é日🍵", 1+r.IntN(20))
}

func (r randomRecords) text() string {
	return "x" + r.of("ab \n\t\r\"\\/<>&\u2028\u2029\ufeff\ufffdé日🍵", r.IntN(200))
}

func (r randomRecords) of(alphabet string, n int) string {
	runes := []rune(alphabet)
	var b strings.Builder
	for range n {
		b.WriteRune(runes[r.IntN(len(runes))])
	}
	return b.String()
}
