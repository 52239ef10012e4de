package agent

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/inmem"
)

// sameBytes is a random source that always returns the same bytes: the ids it
// makes differ in their time only.
type sameBytes struct{}

func (sameBytes) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 0xab
	}
	return len(p), nil
}

// openInMemory returns a store with n memories whose ids end alike, and those
// ids.
func openInMemory(t *testing.T, random io.Reader, n int) (amber.Store, []amber.MemoryID) {
	t.Helper()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	store := must.Get(inmem.New(inmem.Options{Clock: clock, Random: random, Device: "d", Incarnation: "i"}))(t)
	s := store.Store()
	var ids []amber.MemoryID
	for i := range n {
		ack := must.Get(s.LongTerm.Write(t.Context(), amber.WriteRequest{Content: strings.Repeat("x", i+1)}))(t)
		ids = append(ids, ack.ID)
	}
	return s, ids
}

func TestAnEndOfSeveralIDsIsRefused(t *testing.T) {
	t.Parallel()
	s, ids := openInMemory(t, sameBytes{}, 5)
	_, err := find(t.Context(), s, "abababab")
	if amber.KindOf(err) != amber.KindInvalid {
		t.Fatalf("an end of five ids: got error %v, want kind invalid", err)
	}
	named := 0
	for _, id := range ids {
		if strings.Contains(err.Error(), string(id)) {
			named++
		}
	}
	must.Equal(t, "ids that are named in "+err.Error(), named, maxNamed)

	// The part of the id that is time tells them apart.
	for _, id := range ids {
		for _, arg := range []string{string(id), strings.ToUpper(string(id)), undashed(string(id)), string(id)[1:]} {
			got, err := find(t.Context(), s, arg)
			must.Hold(t, err == nil && got == id, "resolve %s: got %s, %v, want %s", arg, got, err, id)
		}
	}
}

func TestAMemoryIsFoundPastTheFirstPage(t *testing.T) {
	t.Parallel()
	s, ids := openInMemory(t, counting(0), amber.MaxPageSize+1)
	end := undashed(string(ids[0]))[wholeID-minIDEnd:] // the oldest is on the last page
	got, err := find(t.Context(), s, end)
	if err != nil || got != ids[0] {
		t.Errorf("resolve %s: got %s, %v, want %s", end, got, err, ids[0])
	}
}

// counting returns a source in which no two reads are equal.
func counting(n uint32) io.Reader { return &counter{n} }

type counter struct{ n uint32 }

func (c *counter) Read(p []byte) (int, error) {
	c.n++
	for i := range p {
		p[len(p)-1-i] = byte(c.n >> (8 * (i % 4)))
	}
	return len(p), nil
}

func find(ctx context.Context, s amber.Store, arg string) (amber.MemoryID, error) {
	end, err := ParseIDEnd(arg)
	if err != nil {
		return "", err
	}
	return FindMemory(ctx, s, end)
}
