package authorship_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/authorship"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/wire"
)

var (
	owner = authorship.Writer{Trust: amber.TrustOwn, Author: amber.Author{Host: "cli"}}
	agent = authorship.Writer{Trust: amber.TrustAgent, Author: amber.Author{Host: "claude-code", Session: "s1", Token: "laptop"}}
)

func newStore(t *testing.T) amber.Store {
	t.Helper()
	s := must.Get(inmem.New(inmem.Options{Clock: time.Now, Random: rand.Reader, Incarnation: "i"}))(t)
	return amber.NewStore(s.Parts())
}

// Whatever an agent claims, its records are an agent's and bear its name; the owner may lower its trust and name the agent it speaks for.
func TestEveryWriteBearsItsWriter(t *testing.T) {
	t.Parallel()
	claims := amber.Author{Host: "cli", Agent: "the owner"}
	for _, asked := range append(amber.Trusts(), "") {
		plain := newStore(t)
		s := authorship.Sign(plain, agent)
		want := asked
		if asked == "" || asked.Outranks(amber.TrustAgent) {
			want = amber.TrustAgent
		}
		one := must.Get(s.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "one", Trust: asked, Author: claims}))(t).Memory
		many := must.Get(s.Batch.WriteBatch(t.Context(), []amber.WriteRequest{{Content: "two", Trust: asked, Author: claims}}))(t)
		tie := must.Get(s.Relations.Relate(t.Context(), amber.Relation{From: one.ID, To: many[0].ID, Type: "related", Trust: asked, Author: claims}))(t)
		must.Equal(t, "trust", []amber.Trust{one.Trust, many[0].Trust, tie.Trust}, []amber.Trust{want, want, want})
		must.Equal(t, "author", []amber.Author{one.Author, many[0].Author, tie.Author}, []amber.Author{agent.Author, agent.Author, agent.Author})
	}
	s := authorship.Sign(newStore(t), owner)
	m := must.Get(s.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "one", Trust: amber.TrustAgent, Author: agent.Author}))(t)
	must.Equal(t, "trust of what the owner says for an agent", m.Trust, amber.TrustAgent)
	must.Equal(t, "author of it", m.Author, agent.Author)
}

// A prompt that an agent stores is the agent's word, whatever trust the agent asks for; other roles say themselves who spoke.
func TestPromptsBearTheirWriter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		by          authorship.Writer
		role        amber.Role
		asked, want amber.Trust
	}{
		{owner, amber.RoleUser, "", ""},
		{owner, amber.RoleUser, amber.TrustAgent, amber.TrustAgent},
		{agent, amber.RoleUser, "", amber.TrustAgent},
		{agent, amber.RoleUser, amber.TrustSigned, amber.TrustAgent},
		{agent, amber.RoleUser, amber.TrustImported, amber.TrustImported},
		{agent, amber.RoleAssistant, "", ""},
	} {
		s := authorship.Sign(newStore(t), tt.by)
		got := must.Get(s.Turns.AppendTurn(t.Context(), amber.Turn{SessionID: "s", Role: tt.role, Content: "deploy now", Trust: tt.asked}))(t)
		must.Equal(t, "trust", got.Trust, tt.want)
		must.Equal(t, "stored", must.Get(s.Turns.Turn(t.Context(), got.ID))(t).Trust, tt.want)
		must.Get(s.Ingest.Ingest(t.Context(), amber.Ingestion{Journal: strings.Repeat("a", 32), Host: "h", Session: "taken in", Through: 1, Steps: []amber.IngestStep{{
			Start: amber.SessionStart{ID: "taken in"}, Turns: []amber.Turn{{ID: "t", SessionID: "taken in", Role: tt.role, Content: "deploy now", Trust: tt.asked}},
		}}}))(t)
		must.Equal(t, "taken in", must.Get(s.Turns.Turn(t.Context(), "t"))(t).Trust, tt.want)
	}
}

// A change of a note bears its writer, whatever the caller says; the owner's changes have no author.
func TestNotesBearTheirWriter(t *testing.T) {
	t.Parallel()
	claim := amber.NoteBy{Trust: amber.TrustOwn, Author: amber.Author{Host: "cli", Agent: "the owner"}}
	theirs := amber.NoteBy{Trust: amber.TrustAgent, Author: agent.Author}
	for _, tt := range []struct {
		by         authorship.Writer
		said, want amber.NoteBy
	}{
		{agent, amber.NoteBy{}, theirs},
		{agent, claim, theirs},
		{agent, amber.NoteBy{Trust: amber.TrustImported}, amber.NoteBy{Trust: amber.TrustImported, Author: agent.Author}},
		{owner, amber.NoteBy{}, amber.NoteBy{}},
		{owner, claim, amber.NoteBy{}},
		{owner, theirs, theirs}, // a command line in an agent's shell asks a server with the owner's token
	} {
		s, ctx := authorship.Sign(newStore(t), tt.by), t.Context()
		must.Equal(t, "written by", must.Get(s.Notes.WriteNote(ctx, amber.NoteWrite{Name: "n", Content: "text", NoteBy: tt.said}))(t).NoteBy, tt.want)
		must.Do(t, s.Notes.DeleteNote(ctx, "n", tt.said))
		for _, c := range must.Get(s.NoteLog.LogNote(t.Context(), "n", 9))(t) {
			must.Equal(t, c.Op+" by", c.NoteBy, tt.want)
		}
	}
}

// An agent changes and deletes the notes that agents and imports wrote, and none of the owner.
func TestAnAgentChangesNoNoteOfTheOwner(t *testing.T) {
	t.Parallel()
	plain := newStore(t)
	mine, theirs := authorship.Sign(plain, owner).Notes, authorship.Sign(plain, agent).Notes
	ctx := t.Context()
	own := must.Get(mine.WriteNote(ctx, amber.NoteWrite{Name: "rule", Content: "never on a Friday"}))(t)
	_, err := theirs.WriteNote(ctx, amber.NoteWrite{Name: "rule.md", Content: "whenever you like"})
	must.Kind(t, "write over the owner's note", err, amber.KindRefused, "trust own")
	must.Kind(t, "delete it", theirs.DeleteNote(ctx, "rule", amber.NoteBy{}), amber.KindRefused)
	must.Equal(t, "the note", must.Get(plain.Notes.ReadNote(ctx, "rule"))(t), own)
	must.Kind(t, "delete a note that is not there", theirs.DeleteNote(ctx, "none", amber.NoteBy{}), amber.KindNotFound)
	must.Kind(t, "a name that is none", must.Err(theirs.WriteNote(ctx, amber.NoteWrite{Name: "../x", Content: "y"})), amber.KindInvalid)
	must.Get(mine.WriteNote(ctx, amber.NoteWrite{Name: "brought", Content: "one", NoteBy: amber.NoteBy{Trust: amber.TrustImported}}))(t)
	for _, name := range []string{"progress", "brought"} {
		must.Get(theirs.WriteNote(ctx, amber.NoteWrite{Name: name, Content: "step 1"}))(t)
		must.Get(theirs.WriteNote(ctx, amber.NoteWrite{Name: name, Content: "step 2"}))(t)
		must.Do(t, theirs.DeleteNote(ctx, name, amber.NoteBy{}))
	}
	must.Get(theirs.WriteNote(ctx, amber.NoteWrite{Name: "progress", Content: "step 3"}))(t)
	must.Get(mine.WriteNote(ctx, amber.NoteWrite{Name: "progress", Content: "checked"}))(t)
	must.Kind(t, "write over a note that the owner took over", must.Err(theirs.WriteNote(ctx, amber.NoteWrite{Name: "progress", Content: "step 4"})), amber.KindRefused)
}

// Each call that names nothing but an id is refused for the owner's records, forgotten ones too, and changes nothing.
func TestAnAgentChangesNothingOfTheOwner(t *testing.T) {
	t.Parallel()
	plain := newStore(t)
	mine, theirs := authorship.Sign(plain, owner), authorship.Sign(plain, agent)
	id := must.Get(mine.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "the rule", Topic: "rule"}))(t).ID
	gone := must.Get(mine.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "forgotten"}))(t).ID
	other := must.Get(mine.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "another"}))(t).ID
	must.Do(t, mine.LongTerm.Delete(t.Context(), gone))
	tie := must.Get(mine.Relations.Relate(t.Context(), amber.Relation{From: id, To: other, Type: "related"}))(t)
	_, editErr := theirs.Editor.Edit(t.Context(), amber.EditRequest{ID: id, Content: new("no rule"), Trust: amber.TrustOwn, Keep: true})
	_, eraseErr := theirs.Eraser.Erase(t.Context(), id)
	_, goneErr := theirs.Eraser.Erase(t.Context(), gone)
	_, topicErr := theirs.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "another rule", Topic: "rule"})
	_, ownErr := theirs.Sync.Apply(t.Context(), amber.Incoming{Trust: amber.TrustOwn})
	for name, err := range map[string]error{
		"edit": editErr, "erase": eraseErr, "erase what is forgotten": goneErr, "topic": topicErr, "import as own": ownErr,
		"delete":   theirs.LongTerm.Delete(t.Context(), id),
		"unrelate": theirs.Relations.Unrelate(t.Context(), tie.ID),
		"concepts": theirs.Concepts.SetConcepts(t.Context(), id, []string{"none"}),
	} {
		must.Kind(t, name, err, amber.KindRefused)
	}
	m := must.Get(plain.Memories.Get(t.Context(), id))(t)
	must.Equal(t, "the memory", []any{m.Content, m.Revision, m.Trust}, []any{"the rule", int64(1), amber.TrustOwn})
	must.Kind(t, "a memory that is not there", theirs.LongTerm.Delete(t.Context(), "01a00000-0000-7000-8000-000000000000"), amber.KindNotFound)
}

// A recorded memory that the owner brings in keeps its author; one that an agent brings in has the agent's.
func TestRecordedMemoriesKeepTheirAuthor(t *testing.T) {
	t.Parallel()
	from := newStore(t)
	m := must.Get(from.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "said elsewhere"}))(t).Memory
	for writer, want := range map[*authorship.Writer]amber.Memory{
		&owner: {Trust: amber.TrustOwn},
		&agent: {Trust: amber.TrustAgent, Author: agent.Author},
	} {
		to := authorship.Sign(newStore(t), *writer)
		r := amber.WriteRequest{Kind: m.Kind, Scope: m.Scope, Content: m.Content, Trust: m.Trust, Author: m.Author}
		r.ID, r.Origin, r.Revision, r.CreatedAt, r.UpdatedAt = m.ID, m.Origin, m.Revision, m.CreatedAt, m.UpdatedAt
		got := must.Get(to.LongTerm.Write(t.Context(), r))(t)
		must.Equal(t, "trust and author", []any{got.Trust, got.Author}, []any{want.Trust, want.Author})
	}
}

// An agent's shell is one of those that hosts mark; a person's terminal in an editor is not.
func TestShells(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]authorship.Writer{
		"":                                      {Trust: amber.TrustOwn, Author: amber.Author{Host: "cli"}},
		"TERM_PROGRAM=vscode VSCODE_PID=12":     {Trust: amber.TrustOwn, Author: amber.Author{Host: "cli"}},
		"CURSOR_TRACE_ID=abc":                   {Trust: amber.TrustOwn, Author: amber.Author{Host: "cli"}},
		"AGENT=ada":                             {Trust: amber.TrustOwn, Author: amber.Author{Host: "cli"}},
		"CLAUDECODE=1":                          {Trust: amber.TrustAgent, Author: amber.Author{Host: "claude-code"}},
		"CODEX_THREAD_ID=t7":                    {Trust: amber.TrustAgent, Author: amber.Author{Host: "codex", Session: "t7"}},
		"GEMINI_CLI=1 AMBER_SESSION=s9":         {Trust: amber.TrustAgent, Author: amber.Author{Host: "gemini", Session: "s9"}},
		"OPENCODE=1":                            {Trust: amber.TrustAgent, Author: amber.Author{Host: "opencode"}},
		"AGENT=amp":                             {Trust: amber.TrustAgent, Author: amber.Author{Host: "amp"}},
		"CURSOR_AGENT=1 AMBER_SESSION=\x1b[31m": {Trust: amber.TrustAgent, Author: amber.Author{Host: "cursor"}},
	} {
		got := authorship.Shell(func(name string) string {
			for field := range strings.FieldsSeq(env) {
				if v, ok := strings.CutPrefix(field, name+"="); ok {
					return v
				}
			}
			return ""
		}, "cli")
		must.Equal(t, env, got, want)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		" Visual Studio Code ": "Visual Studio Code", "a\x00b\u200bc\x1b[0m": "abc[0m", strings.Repeat("ü", 40): strings.Repeat("ü", 32), "\xff": "",
	} {
		must.Equal(t, said, authorship.Name(said), want)
		must.Do(t, wire.Asker{Author: amber.Author{Host: authorship.Name(said)}}.Check())
	}
}
