package gitsync

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// A relation of a memory that stays does so too, also in a later step of the export.
func TestRelationsOfDigestsStay(t *testing.T) {
	t.Parallel()
	s, stay := &Sync{}, staying{}
	item := func(id amber.MemoryID, metadata map[string]string) amber.SyncRecord {
		return amber.SyncRecord{Memory: &amber.SyncMemory{Memory: amber.Memory{ID: id, Kind: amber.Constraint, Trust: amber.TrustDerived, Metadata: metadata}}}
	}
	relation := func(from, to amber.MemoryID) amber.SyncRecord {
		return amber.SyncRecord{Relation: &amber.Relation{From: from, To: to, Type: "supersedes"}}
	}
	var first, second kept
	must.Equal(t, "an item of a digest stays", first.count(s, stay, item("item", map[string]string{digestLabel: "rules"})), true)
	must.Equal(t, "another memory stays", first.count(s, stay, item("other", nil)), false)
	must.Equal(t, "a relation from the item stays", second.count(s, stay, relation("item", "other")), true)
	must.Equal(t, "a relation to the item stays", second.count(s, stay, relation("other", "item")), true)
	must.Equal(t, "another relation stays", second.count(s, stay, relation("other", "third")), false)
	must.Equal(t, "digests", []int{first.digests, second.digests}, []int{1, 0})
	s.o.Prompts = true
	must.Equal(t, "where prompts are shared, the item stays", second.count(s, stay, item("item", map[string]string{digestLabel: "rules"})), false)
}

// The summary that a digest wrote quotes prompts and stays. A summary that reads the same in a session that no journal
// has was written by an agent or a person, and leaves.
func TestOnlySummariesOfDigestsStay(t *testing.T) {
	t.Parallel()
	const quotes, other = "Task: tell me about the wombat", "We looked at marsupials"
	told := map[amber.SessionID]bool{"told": true}
	leaves := func(s *Sync, id amber.SessionID, trust amber.Trust, summary string) string {
		r := amber.SyncRecord{Session: &amber.SyncSession{Session: amber.Session{ID: id, Trust: trust, Summary: summary}}}
		return s.unquoted(r, told).Session.Summary
	}
	s := &Sync{}
	must.Equal(t, "a digest", leaves(s, "told", "", quotes), "")
	must.Equal(t, "another summary of a session with a journal", leaves(s, "told", "", other), other)
	must.Equal(t, "an own summary without a journal", leaves(s, "own", "", quotes), quotes)
	must.Equal(t, "what another device may have digested", leaves(s, "own", amber.TrustSigned, quotes), "")
	must.Equal(t, "another summary of another device", leaves(s, "own", amber.TrustSigned, other), other)
	s.o.Prompts = true
	must.Equal(t, "a digest where prompts are shared", leaves(s, "told", "", quotes), quotes)
}
