package engram_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/share/foreign/engram"
)

// words are texts that have been trouble somewhere.
var words = []string{
	"", " ", "a", "B c", "\n", "\t", "\x00", "\x1b[0m", "\u0085", "\u00a0", "\u2028", "\ufffd", "<&>", "ü", "日本", "🎉", `"\`, "null", "obs-1", "obs-2",
	"a/b", "A  B", at, later, "2026-01-02T03:04:05Z", "1970-01-01 00:00:00", "9999-12-31 23:59:59", "01890a5d-ac96-774b-bcce-b302099a8057",
	"project", "personal", "global", "session_summary", "observation", "upsert", "delete", `{"sync_id":"obs-1","content":"new"}`, `{}`, strings.Repeat("x", 300),
}

// Random rows, which no writer of tests would think of, come back as they were, and their records pass.
func TestRandomRowsSurviveTheWayThroughAmber(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 1))
	word := func() string {
		s := words[r.IntN(len(words))]
		if r.IntN(3) == 0 {
			s += words[r.IntN(len(words))]
		}
		return s
	}
	maybe := func() *string {
		if r.IntN(2) == 0 {
			return nil
		}
		return text(word())
	}
	when := func() string { return []string{at, later, word()}[r.IntN(3)] }
	for range 200 {
		var c engram.Chunk
		for range r.IntN(3) {
			c.Sessions = append(c.Sessions, engram.Session{ID: word(), Project: word(), Directory: word(), StartedAt: when(), EndedAt: maybe(), Summary: maybe()})
		}
		for range r.IntN(8) {
			c.Observations = append(c.Observations, engram.Observation{
				ID: r.Int64(), SyncID: maybe(), SessionID: word(), Type: word(), Title: word(), Content: word(), ToolName: maybe(), Project: maybe(),
				Scope: word(), TopicKey: maybe(), RevisionCount: r.Int64N(5) - 1, DuplicateCount: r.Int64(), LastSeenAt: maybe(), ReviewAfter: maybe(),
				CreatedAt: when(), UpdatedAt: when(), DeletedAt: maybe(),
			})
		}
		for range r.IntN(3) {
			c.Prompts = append(c.Prompts, engram.Prompt{ID: r.Int64(), SyncID: maybe(), SessionID: word(), Content: word(), Project: word(), CreatedAt: when()})
		}
		for range r.IntN(4) {
			entity := []string{"observation", "session", "prompt", "relation"}[r.IntN(4)]
			op := []string{"upsert", "delete"}[r.IntN(2)]
			c.Mutations = append(c.Mutations, engram.Mutation{Seq: r.Int64N(9), Entity: entity, Op: op, EntityKey: word(), Payload: word(), Project: word(), OccurredAt: when()})
		}
		mapped(t, c)
	}
}
