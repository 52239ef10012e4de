package graphiti_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/share/foreign/graphiti"
	"github.com/amber-memory/amber/internal/test/must"
)

func dump(t testing.TB, text string) string {
	return foreigntest.Files(t, map[string]string{"dump.json": text})
}

func TestSample(t *testing.T) {
	r := foreigntest.Read(t, graphiti.Format, "testdata")
	must.Equal(t, "skipped", r.Skips, nil)
	place := func(at string) foreign.Place { return foreign.Place{File: "dump.json", At: at} }
	created := foreigntest.At(t, "2026-01-02T03:04:06Z")
	must.Equal(t, "memories", r.Memories, []foreign.Memory{
		{
			Place: place("nodes 1"), Key: foreign.Key{"n-1"}, Title: "Ada", Content: "Maintains checkout", Tags: []string{"Person"},
			Metadata: map[string]string{"group_id": "shop"}, CreatedAt: created,
		},
		{
			Place: place("nodes 2"), Key: foreign.Key{"n-2"}, Title: "checkout", Content: "checkout",
			Metadata: map[string]string{"group_id": "shop"}, CreatedAt: created,
		},
		{
			Place: place("edges 1"), Key: foreign.Key{"d-1"}, Title: "MAINTAINS", Content: "Ada maintains checkout",
			Metadata: map[string]string{"group_id": "shop", "valid_at": "2026-01-02T03:04:05Z"}, CreatedAt: created,
			Foreign: foreign.Object{"episodes": []any{"e-1"}},
		},
	}, foreigntest.Times)
	must.Equal(t, "relations", r.Relations, []foreign.Relation{
		{Place: place("edges 1"), From: foreign.Key{"d-1"}, To: foreign.Key{"n-1"}, Type: "related", CreatedAt: created},
		{Place: place("edges 1"), From: foreign.Key{"d-1"}, To: foreign.Key{"n-2"}, Type: "related", CreatedAt: created},
	}, foreigntest.Times)
	must.Equal(t, "sessions", r.Sessions, []foreign.Session{{
		Place: place("group shop"), ID: "graphiti-shop", Name: "shop", StartedAt: foreigntest.At(t, "2026-01-02T03:04:05Z"),
		EndedAt: foreigntest.At(t, "2026-01-02T03:04:05Z"), Turns: 1, State: "e-1 28",
	}}, foreigntest.Times)
	must.Equal(t, "turns", r.Turns["graphiti-shop"], []foreign.Turn{{
		Place: place("episodes 1"), Key: foreign.Key{"e-1"}, Role: amber.RoleUser, Content: "Ada maintains checkout", At: foreigntest.At(t, "2026-01-02T03:04:05Z"),
	}}, foreigntest.Times)
}

func TestAnEmptyAliasHidesNothing(t *testing.T) {
	for _, names := range [][3]string{{"episodic_nodes", "entity_nodes", "entity_edges"}, {"episodes", "entities", "facts"}} {
		text := fmt.Sprintf(`{"nodes":[],"edges":[],"entities":[],%q:[{"uuid":"e","source":"message","content":"user: hi","valid_at":"2026-01-02T03:04:05Z"}],
%q:[{"uuid":"n","name":"Ada","labels":[]}],%q:[{"uuid":"d","source_node_uuid":"n","target_node_uuid":"n","fact":"x"}],"facts":[],"episodes":[]}`, names[0], names[1], names[2])
		r := foreigntest.Read(t, graphiti.Format, dump(t, text))
		must.Equal(t, "items", r.Count(), 5)
	}
}

func TestEdgesThatAreNoLongerValid(t *testing.T) {
	r := foreigntest.Read(t, graphiti.Format, dump(t, `{"edges":[
 {"uuid":"1","source_node_uuid":"a","target_node_uuid":"b","fact":"x","invalid_at":"2026-01-02T03:04:05Z","expired_at":"2026-02-02T03:04:05Z"},
 {"uuid":"2","source_node_uuid":"a","target_node_uuid":"b","fact":""},
 {"uuid":"1","source_node_uuid":"a","target_node_uuid":"b","fact":"again"},
 {"uuid":"3","source_node_uuid":"a","target_node_uuid":"b","fact":"z","created_at":"1066-01-01T00:00:00Z"},
 {"fact":"no uuid"}, 7
]}`))
	must.Equal(t, "memories", r.Memories[0].Metadata, map[string]string{"invalid_at": "2026-01-02T03:04:05Z", "expired_at": "2026-02-02T03:04:05Z"})
	must.Equal(t, "tags", r.Memories[0].Tags, []string{"invalid"})
	must.Equal(t, "count", len(r.Memories), 1)
	must.Equal(t, "skipped", r.Skips, []string{
		"dump.json: edges 2: the edge has no fact", "dump.json: edges 3: uuid 1 is there before",
		"dump.json: edges 4: created_at: time is 1066-01-01T00:00:00Z, want one from 1990 to 2099",
		"dump.json: edges 5: element has no uuid", "dump.json: edges 6: element found JSON that is no object",
	})
}

func TestMessagesOfGroupsAreApartAndInOrder(t *testing.T) {
	episode := func(uuid, group, second, text string) string {
		return fmt.Sprintf(`{"uuid":%q,"group_id":%q,"source":"message","valid_at":"2026-01-02T03:04:%sZ","content":%q}`, uuid, group, second, text)
	}
	r := foreigntest.Read(t, graphiti.Format, dump(t, `{"episodes":[`+strings.Join([]string{
		episode("1", "b", "09", "Ada(user): later\nsecond line\n(assistant): fine"), episode("2", "a", "01", "Note: no role\nuser: x"),
		episode("3", "b", "05", "Human: first"), episode("4", "", "05", "AI: nowhere"), episode("4", "a", "05", "user: twice"),
		`{"uuid":"5","source":"json","content":"{}"}`, `{"uuid":"6","source":"message","content":" "}`,
		`{"uuid":"7","source":"message","content":"x","valid_at":"soon"}`,
	}, ",\n")+`]}`))
	must.Equal(t, "a", foreigntest.Texts(r.Turns["graphiti-a"]), "user: Note: no role\nuser: x\n")
	must.Equal(t, "b", foreigntest.Texts(r.Turns["graphiti-b"]), "user: first\nuser: later\nsecond line\nassistant: fine\n")
	must.Equal(t, "without a group", foreigntest.Texts(r.Turns["graphiti-default"]), "assistant: nowhere\n")
	must.Equal(t, "skipped", len(r.Skips), 4)
	for _, s := range r.Sessions {
		must.Equal(t, "number of turns", s.Turns, int64(len(r.Turns[s.ID])))
	}
}

func TestDetect(t *testing.T) {
	foreigntest.Detects(t, graphiti.Format, map[string]foreign.Match{
		"testdata": foreign.Sure, "testdata/dump.json": foreign.Sure, t.TempDir(): foreign.No,
		dump(t, `{"nodes":[{"id":"x","memory":"y","metadata":{}}],"edges":[]}`):  foreign.No,
		dump(t, `{"profiles":[{"id":"x","content":"y"}]}`):                       foreign.No,
		dump(t, `[{"uuid":"x","name":"conversation","chat_messages":[]}]`):       foreign.No,
		dump(t, `{"nodes":[{"name":"Ada","entityType":"person"}],"edges":[{}]}`): foreign.No,
		dump(t, `SQLite`): foreign.No,
	})
}

func TestDamage(t *testing.T) { foreigntest.Damage(t, graphiti.Format, "testdata", "dump.json", -1) }

func FuzzDump(f *testing.F) {
	foreigntest.Fuzz(f, graphiti.Format, "dump.json", must.Get(os.ReadFile("testdata/dump.json"))(f))
}
