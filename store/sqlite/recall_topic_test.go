package sqlite

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/sqlite/internal/sqlrows"
)

func TestConcurrentClientsAreNotTurnedAway(t *testing.T) {
	t.Parallel()
	const clients = 16
	each := scale(100)
	s, _ := freshStore(t, amber.QueueOptions{})
	var saved atomic.Int64
	var done sync.WaitGroup
	for c := range clients {
		done.Go(func() {
			for i := range each {
				if _, err := s.Write(t.Context(), amber.WriteRequest{Content: fmt.Sprintf("client %d saves %d", c, i)}); err != nil {
					t.Errorf("client %d, save %d: %v", c, i, err)
					return
				}
				saved.Add(1)
			}
		})
	}
	done.Wait()
	if n := try(s.Stats(t.Context()))(t).Memories; n != int64(clients*each) || saved.Load() != n {
		t.Errorf("%d acknowledged, %d stored, want %d", saved.Load(), n, clients*each)
	}
}

func TestQuoteInsideAWordIsSearchedFor(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	want := save(t, s, amber.WriteRequest{Content: `O'Neil calls the 19" rack "comet"; don't move it.`})
	save(t, s, amber.WriteRequest{Content: "something else"})
	for _, text := range []string{
		`comet`, `"comet`, `com"et rack`, `O'Neil`, `19"`, `"""" comet`, `don"t move`, `comet*`, `^comet`, `content:comet`, `comet AND`, `OR comet`,
		`NOT comet`, `NEAR(comet, 3)`, `(comet`, `{title} : comet`, `comet"; DROP TABLE memories; --`, "comet\x01", `\comet\`, `+comet -rack`, `'comet'`,
	} {
		if got := found(t, s, amber.Query{Text: text, Limit: 1}); !slices.Equal(got, []amber.MemoryID{want}) {
			t.Errorf("%q finds %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{`"`, `'`, `""`, `*`, `(`, `-`, `\`, `^`} {
		if _, err := s.Recall(t.Context(), amber.Query{Text: text}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestPartOfAWordFindsIt(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	want := save(t, s, amber.WriteRequest{Content: "The alphabet has letters; see SQLITE_BUSY_TIMEOUT and parseHTTPResponse."})
	save(t, s, amber.WriteRequest{Content: "something else entirely"})
	for _, text := range []string{"alph", "phab", "abet", "alphabets", "sqlite", "BUSY_TIME", "httpresp", "parsehttp", "response"} {
		if got := found(t, s, amber.Query{Text: text}); !slices.Equal(got, []amber.MemoryID{want}) {
			t.Errorf("%q finds %v, want %v", text, got, want)
		}
	}
}

func TestNotAllWordsMustMatch(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	best := save(t, s, amber.WriteRequest{Content: "The harbour master owns a red lantern."})
	second := save(t, s, amber.WriteRequest{Content: "The harbour closes at ten, as it always did."})
	save(t, s, amber.WriteRequest{Content: "Nothing of the kind."})
	got := found(t, s, amber.Query{Text: "which harbour lantern zeppelin submarine"})
	if !slices.Equal(got, []amber.MemoryID{best, second}) {
		t.Errorf("found %v, want %v and %v", got, best, second)
	}
}

func TestLongContentIsKeptWhole(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	for name, content := range map[string]string{
		"a character across the mark": strings.Repeat("x", 1999) + "€ and more",
		"50 thousand bytes":           strings.Repeat("naïve ", 50_000/7) + "end",
		"the most there may be":       strings.Repeat("é", amber.MaxContentBytes/2-2) + "last",
	} {
		ack := try(s.Write(ctx, amber.WriteRequest{Content: content}))(t)
		m := try(s.Get(ctx, ack.ID))(t)
		if m.Content != content || m.ContentDigest != amber.ContentDigest(content) {
			t.Errorf("%s: %d bytes of %d come back", name, len(m.Content), len(content))
		}
	}
	_, err := s.Write(ctx, amber.WriteRequest{Content: strings.Repeat("x", amber.MaxContentBytes+1)})
	wantKind(t, err, amber.KindInvalid, "content over the limit") // refused, not cut
}

// Every leaf of the tables that grow is made unreadable: what opens without an
// error has not read them.
func TestOpenReadsNoTableThatGrows(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, clock := agentIn(t, filepath.Join(t.TempDir(), "home")), newHandClock()
	o := Options{Clock: clock.read, Random: rand.Reader}
	s := try(Open(ctx, a, o))(t)
	var rs []amber.WriteRequest
	for i := range 200 {
		rs = append(rs, amber.WriteRequest{Content: fmt.Sprintf("memory %d %s", i, strings.Repeat("with some text ", 20))})
	}
	try(s.WriteBatch(ctx, rs))(t)
	path := s.memory.path(try(a.Current())(t))
	pages := growingPages(t, s)
	do(t, s.Close())
	if len(pages) < 20 {
		t.Fatalf("the tables have only %d pages", len(pages))
	}
	file := try(os.OpenFile(path, os.O_RDWR, 0))(t)
	for _, p := range pages {
		try(file.WriteAt(slices.Repeat([]byte{0xff}, 4096), (p-1)*4096))(t)
	}
	do(t, file.Close())

	s = openAgent(t, a, o)
	_, err := s.List(ctx, amber.ListQuery{})
	wantKind(t, err, amber.KindDamaged, "list of what is damaged")
}

// growingPages returns the leaves of the tables that grow with the number of
// memories.
func growingPages(t *testing.T, s *Store) (pages []int64) {
	t.Helper()
	do(t, s.memory.view(t.Context(), "list pages", "", func(x *tx) (err error) {
		pages, err = sqlrows.All(x.Tx, scanRowid, `SELECT pageno FROM dbstat WHERE pagetype = 'leaf' AND path <> '/'
AND name IN ('memories', 'changes', 'memories_created', 'memories_updated', 'memory_fts_data', 'memory_grams_data', 'memory_fts_docsize', 'memory_grams_docsize')`)
		return err
	}))
	return pages
}

func TestForeignKeysHoldOnEveryConnection(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	const nobody = "00000000-0000-7000-8000-000000000000"
	var done sync.WaitGroup
	for c := range 8 {
		done.Go(func() {
			for range 40 {
				err := s.SetConcepts(ctx, nobody, []string{fmt.Sprint("c", c)})
				if amber.KindOf(err) != amber.KindNotFound {
					t.Errorf("a concept of a memory that is not there: %v", err)
				}
			}
		})
	}
	done.Wait()
	// Past the check the store makes itself, SQLite holds the line.
	for name, query := range map[string]string{
		"revision":  `INSERT INTO revisions (memory_id, revision, body) VALUES ('` + nobody + `', 1, '{}')`,
		"embedding": `INSERT INTO embeddings (memory_id, model, dimension, vector) VALUES ('` + nobody + `', 'm', 1, x'00000000')`,
		"concept":   `INSERT INTO concepts (memory_id, concept) VALUES ('` + nobody + `', 'c')`,
		"active":    `INSERT INTO active_sessions (binding, session_id) VALUES ('b', '` + nobody + `')`,
	} {
		err := s.memory.update(ctx, "insert", "", func(x *tx) error { _, err := x.Exec(query); return err })
		if err == nil {
			t.Errorf("an orphaned %s is stored", name)
		}
	}
}

func TestTopicKeepsItsOldText(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, clock := freshStore(t, amber.QueueOptions{})
	var id amber.MemoryID
	var want []string
	for i := range 5 {
		clock.move(time.Minute)
		want = append(want, fmt.Sprint("what was decided in week ", i))
		ack := try(s.Write(ctx, amber.WriteRequest{Topic: "Decision", Content: want[i]}))(t)
		if ack.Revision != int64(i+1) || i > 0 && ack.ID != id {
			t.Fatalf("write %d is revision %d of %s, want a revision of %s", i, ack.Revision, ack.ID, id)
		}
		id = ack.ID
	}
	var got []string
	for _, m := range try(s.History(ctx, id))(t) {
		got = append(got, m.Content)
	}
	if !slices.Equal(got, want) {
		t.Errorf("history %q, want %q", got, want)
	}
	if hits := found(t, s, amber.Query{Text: "week"}); len(hits) != 1 {
		t.Errorf("%d memories of one topic are recalled", len(hits))
	}
}

// A topic that two clients write at once is one memory with both texts.
func TestTopicWrittenByTwoClientsIsOneMemory(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	const clients = 8
	var done sync.WaitGroup
	errs := make([]error, clients)
	for c := range clients {
		done.Go(func() {
			_, errs[c] = s.Write(ctx, amber.WriteRequest{Topic: "decision", Content: fmt.Sprint("by client ", c)})
		})
	}
	done.Wait()
	do(t, errors.Join(errs...))
	page := try(s.List(ctx, amber.ListQuery{}))(t)
	if len(page.Items) != 1 {
		t.Fatalf("%d memories of one topic", len(page.Items))
	}
	texts := map[string]bool{}
	for _, m := range try(s.History(ctx, page.Items[0].ID))(t) {
		texts[m.Content] = true
	}
	if len(texts) != clients {
		t.Errorf("the history holds %d of %d texts", len(texts), clients)
	}
}
