package claudecode_test

import (
	"os"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/claudecode"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	sample  = "testdata/sample"
	session = "5f0c2f0e-3b1d-4c57-9a55-0d3f6a7b8c01"
)

// copied returns a copy of the sample whose files are of one time.
func copied(t testing.TB) string { return foreigntest.Copied(t, sample) }

func at(s string) amber.Time {
	at, err := amber.ParseTime(s)
	if err != nil {
		panic(err)
	}
	return at
}

func TestSample(t *testing.T) {
	t.Parallel()
	r := foreigntest.Read(t, claudecode.Format, copied(t))
	const dir = "projects/-src-shop/"
	must.Equal(t, "memories", r.Memories, []foreign.Memory{
		{
			Place: foreign.Place{File: dir + "memory/deploy-window.md"}, Key: foreign.Key{"shop", "deploy-window.md"},
			Kind: amber.ProjectFact, Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "shop", SessionID: session},
			Title: "deploy-window", Summary: "When we may deploy #release", Content: "Deploy on Mondays only. See [[feedback_no-mocks]].",
			Topic:      "deploy-window",
			SourceRefs: []amber.SourceRef{{Kind: "file", Value: "memory/deploy-window.md"}, {Kind: "session", Value: session}},
			CreatedAt:  at("2026-08-06T16:42:40.669Z"), UpdatedAt: at("2026-08-06T16:42:40.669Z"),
			Foreign: map[string]any{"modified": "2026-08-06T16:42:40.669Z"},
		},
		{
			Place: foreign.Place{File: dir + "memory/feedback_no-mocks.md"}, Key: foreign.Key{"shop", "feedback_no-mocks.md"},
			Kind: amber.UserPreference, Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "shop", SessionID: session},
			Title: "No mocks", Summary: "Integration tests use a real database", Content: "Never mock the database in integration tests.",
			Topic:      "feedback-no-mocks",
			SourceRefs: []amber.SourceRef{{Kind: "file", Value: "memory/feedback_no-mocks.md"}, {Kind: "session", Value: session}},
			CreatedAt:  foreigntest.Modified, UpdatedAt: foreigntest.Modified,
		},
	}, foreigntest.Times)
	must.Equal(t, "relations", r.Relations, []foreign.Relation{{
		Place: foreign.Place{File: dir + "memory/deploy-window.md"}, From: foreign.Key{"shop", "deploy-window.md"},
		To: foreign.Key{"shop", "feedback_no-mocks.md"}, Type: "related", Strength: 1, CreatedAt: at("2026-08-06T16:42:40.669Z"),
	}}, foreigntest.Times)
	index := string(must.Get(os.ReadFile(sample + "/projects/-src-shop/memory/MEMORY.md"))(t))
	must.Equal(t, "notes", r.Notes, []foreign.Note{{
		Place: foreign.Place{File: dir + "memory/MEMORY.md"}, Name: "claude-code/shop/MEMORY", Content: index, UpdatedAt: foreigntest.Modified,
	}}, foreigntest.Times)
	must.Equal(t, "skips", r.Skips, nil)
	sampleSession(t, r, dir+session+".jsonl")
}

func sampleSession(t *testing.T, r *foreigntest.Recorder, file string) {
	t.Helper()
	r.Sessions[0].State = ""
	must.Equal(t, "sessions", r.Sessions, []foreign.Session{{
		Place: foreign.Place{File: file}, ID: session, Name: "Coupon rounding", Project: "shop", Directory: "/src/shop",
		StartedAt: at("2026-01-02T03:04:05.678Z"), EndedAt: at("2026-01-02T03:04:11Z"), Turns: 4,
	}}, foreigntest.Times)
	const uuid = "a1000000-0000-4000-8000-00000000000"
	must.Equal(t, "turns", r.Turns[session], []foreign.Turn{
		{
			Place: foreign.Place{File: file, At: "line 2"}, Key: foreign.Key{uuid + "1"}, Role: amber.RoleUser,
			Content: "The total is wrong for two coupons", At: at("2026-01-02T03:04:05.678Z"),
		},
		{
			Place: foreign.Place{File: file, At: "line 4"}, Key: foreign.Key{uuid + "3"}, Role: amber.RoleAssistant,
			Content: "I look at the rounding.", At: at("2026-01-02T03:04:08Z"),
			Activity: []amber.Activity{
				{Kind: amber.ActivityTool, Name: "Read", Detail: `{"file_path":"/src/shop/total.go"}`, Status: "completed", Count: 1},
				{Kind: amber.ActivityFile, Name: "/src/shop/total.go", Status: "read", Count: 1},
			},
		},
		{
			Place: foreign.Place{File: file, At: "line 5"}, Key: foreign.Key{uuid + "4"}, Role: amber.RoleTool,
			Content: "package shop", At: at("2026-01-02T03:04:09Z"),
		},
		{
			Place: foreign.Place{File: file, At: "line 7"}, Key: foreign.Key{uuid + "6"}, Role: amber.RoleAssistant,
			Content: "It rounds twice.", At: at("2026-01-02T03:04:11Z"),
		},
	}, foreigntest.Times)
}
