package gitsync_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
)

// begin writes a personal memory, which the clone never exports, about a topic whose id any attacker can work out.
func (c *gitClone) begin() {
	c.own.ID = c.write(amber.WriteRequest{
		Scope: amber.ScopeUser, Identities: amber.Identities{UserID: "ada"}, Topic: "editor", Content: fmt.Sprint("own of clone ", c.n),
	})
	c.edit(c.own.ID, fmt.Sprintf("own of clone %d, edited", c.n))
	m, err := c.Get(c.t.Context(), c.own.ID)
	c.hub.must(err)
	c.own = m
}

// stillOwns checks that no import changed that memory or its history.
func (c *gitClone) stillOwns() error {
	m, err := c.Get(c.t.Context(), c.own.ID)
	if err != nil {
		return fmt.Errorf("clone %d lost its own memory: %w", c.n, err)
	}
	if wholeMemory(m) != wholeMemory(c.own) {
		return fmt.Errorf("an import changed the own memory of clone %d: %+v", c.n, m)
	}
	all, err := amber.All(c.t.Context(), c.History, c.own.ID)
	if err != nil || !slices.ContainsFunc(all, func(v amber.Memory) bool { return v.Content == fmt.Sprint("own of clone ", c.n) }) {
		return fmt.Errorf("an import took the first revision of the own memory of clone %d: %v", c.n, err)
	}
	return nil
}

// shared returns the texts that every clone has: neither its own nor forged ones.
func (c *gitClone) shared() []string {
	return slices.DeleteFunc(c.texts(), func(text string) bool {
		return strings.HasPrefix(text, "forged ") || strings.HasPrefix(text, "own of clone ")
	})
}

// attack puts a chunk into the work tree of a clone, which commits it as a person does who merges a request without a
// look. The chunk is about the memories that the clones never export.
func (h *hub) attack(round int, r *rand.Rand) {
	h.t.Helper()
	id := h.clones[0].own.ID
	o := func() amber.Origin {
		return amber.Origin{Device: pick(r, []string{"mallory", h.clones[0].own.Origin.Device}), Counter: uint64(2 + r.IntN(9)), Clock: amber.Stamp(r.Uint64() >> 16)}
	}
	v := amber.Memory{
		ID: id, Kind: amber.ProjectFact, Scope: amber.ScopeProject, Content: fmt.Sprintf("forged %d", round), Trust: amber.TrustOwn, Origin: o(), Revision: 1,
		Tags: []string{}, CreatedAt: amber.UnixMilli(1), UpdatedAt: amber.UnixMilli(2),
	}
	v.ProjectID, v.ContentDigest = shop, amber.ContentDigest(v.Content)
	version := amber.SyncRecord{Memory: &amber.SyncMemory{Memory: v, Saw: []amber.Origin{{Device: "mallory", Counter: 1}}}}
	gone := tombstoneOf(version)
	gone.Memory.Origin = o()
	records := []amber.SyncRecord{version, gone, {Erased: &amber.SyncErased{ID: id, Origin: o()}}}
	r.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	records = records[:1+r.IntN(len(records))]
	head := chunk.Header{Device: "mallory", Incarnation: "i", CreatedBy: fmt.Sprint("round ", round), CreatedAt: amber.UnixMilli(1)}
	name, b, err := chunk.Encode(h.t.Context(), head, records, nil)
	h.must(err)
	dir := filepath.Join(pick(r, h.clones).folder, "chunks")
	h.must(os.MkdirAll(dir, 0o755))
	h.must(os.WriteFile(filepath.Join(dir, name.FileName()), b, 0o644))
	h.forged += len(records)
}
