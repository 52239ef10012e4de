package contextblock_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/contextblock"
	"github.com/amber-memory/amber/internal/recall/policy"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/wire"
)

// built builds the context of a store for a caller without identities.
func built(t *testing.T, s amber.Store, size int) wire.ContextBlock {
	t.Helper()
	b := must.Get(contextblock.Build(t.Context(), s, policy.Conservative{}, wire.ContextRequest{MaxBytes: size}, rand.Reader))(t)
	if size == 0 {
		size = wire.DefaultContextBytes
	}
	if len(b.Text) > size || !utf8.ValidString(b.Text) || len(b.Memories)+b.Omitted == 0 {
		t.Errorf("%d bytes of at most %d, %d memories, %d left out", len(b.Text), size, len(b.Memories), b.Omitted)
	}
	return b
}

func newStore() amber.Store {
	s, err := inmem.New(inmem.Options{Clock: time.Now, Random: rand.Reader, Device: "d", Incarnation: "i"})
	if err != nil {
		panic(err)
	}
	return s.Store()
}

func save(t *testing.T, s amber.Store, content string) amber.MemoryID {
	t.Helper()
	ack := must.Get(s.LongTerm.Write(t.Context(), amber.WriteRequest{Content: content}))(t)
	return ack.ID
}

// A memory larger than the context is in it up to the end of a sentence, and
// says that it was cut and where the whole is.
func TestContextCutsLargeMemoriesAtASentence(t *testing.T) {
	t.Parallel()
	s := newStore()
	small := save(t, s, "Deploys freeze on Fridays.")
	large := save(t, s, strings.Repeat("The key rotates every 1.5 weeks. ", 1000))
	b := built(t, s, 0)
	if len(b.Memories) != 2 || b.Omitted != 0 || len(b.Cut) != 1 || b.Cut[0] != large {
		t.Fatalf("%d memories, %d left out, cut %v", len(b.Memories), b.Omitted, b.Cut)
	}
	for _, m := range b.Memories {
		if m.ID == large && len(m.Content) != 33000 {
			t.Errorf("the answer has %d bytes of the memory, want it whole", len(m.Content))
		}
	}
	mark := fmt.Sprintf("every 1.5 weeks.\n  [cut: this is the beginning of 33000 bytes; the whole is memory %s]\n", large)
	if !strings.Contains(b.Text, mark) || !strings.Contains(b.Text, "Deploys freeze on Fridays.\n") || strings.Contains(b.Text, string(small)) {
		t.Errorf("the block is\n%s", b.Text)
	}
	if n := len(b.Text); n < wire.DefaultContextBytes/3 {
		t.Errorf("only %d bytes are used", n)
	}
}

func TestContextCutsWhereTextsEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ content, ends string }{
		"lines":            {strings.Repeat("one line without a stop\n", 500), "\n  one line without a stop"},
		"words":            {strings.Repeat("word ", 3000), " word"},
		"no words":         {strings.Repeat("é", 6000), "é"},
		"accents":          {strings.Repeat("e\u0301", 6000), "e\u0301"},
		"full-width stops": {strings.Repeat("東京は晴れ。", 1000), "東京は晴れ。"},
		"one long line":    {strings.Repeat("x", 60000), "x"},
		"code":             {"Run:\n```sh\n" + strings.Repeat("make it so\n", 2000) + "```\n", "make it so\n  ```"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore()
			save(t, s, c.content)
			b := built(t, s, 2048)
			shown, _, ok := strings.Cut(b.Text, "\n  [cut: this is the beginning of ")
			if !ok || !strings.HasSuffix(shown, c.ends) || len(b.Text) < 1024 {
				t.Errorf("the block of %d bytes ends with %q", len(b.Text), shown[max(0, len(shown)-80):])
			}
		})
	}
}

// A memory that would be cut to next to nothing is left out, and counted.
func TestContextLeavesOutWhatHasNoRoom(t *testing.T) {
	t.Parallel()
	s := newStore()
	for i := range 8 {
		save(t, s, fmt.Sprint(i, strings.Repeat(" many words in one memory", 40)))
	}
	b := built(t, s, 1024)
	if len(b.Cut) == 0 || b.Omitted == 0 || len(b.Memories)+b.Omitted != 8 {
		t.Errorf("%d memories, cut %v, %d left out", len(b.Memories), b.Cut, b.Omitted)
	}
}

// curious is a policy that asks for another project and another user.
type curious struct{ policy.Conservative }

func (curious) Recall(in amber.RecallInput) (amber.Query, amber.Decision) {
	return amber.Query{Filter: amber.Filter{Identities: amber.Identities{ProjectID: "theirs", UserID: "bob"}}}, amber.Decision{Requested: true, Effective: true}
}

// heedless is a catalogue that does not know about projects.
type heedless struct{ amber.Sessions }

func (h heedless) ListSessions(ctx context.Context, q amber.SessionQuery) (amber.Page[amber.Session], error) {
	q.Project = ""
	return h.Sessions.ListSessions(ctx, q)
}

func TestContextIsClosedToCuriousPoliciesAndHeedlessBackends(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), newStore()
	for _, r := range []amber.WriteRequest{
		{Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "theirs"}, Content: "canary"},
		{Scope: amber.ScopeUser, Identities: amber.Identities{UserID: "bob"}, Content: "canary too"},
		{Content: "for everybody"},
	} {
		must.Do(t, must.Err(s.LongTerm.Write(ctx, r)))
	}
	for _, project := range []string{"theirs", ""} {
		must.Do(t, must.Err(s.Sessions.StartSession(ctx, amber.SessionStart{Name: "canary of " + project, Project: project})))
	}
	s.Sessions = heedless{s.Sessions}
	for _, project := range []string{"ours", ""} {
		r := wire.ContextRequest{RecallInput: amber.RecallInput{Identities: amber.Identities{ProjectID: project, UserID: "ann"}}}
		b, err := contextblock.Build(ctx, s, curious{}, r, rand.Reader)
		if err != nil || strings.Contains(b.Text, "canary") || !strings.Contains(b.Text, "for everybody") {
			t.Errorf("of %q: %v\n%s", project, err, b.Text)
		}
	}
}
