package claudeai

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestDamage(t *testing.T) {
	t.Parallel()
	for file, most := range map[string]int{"conversations.json": 4, memoryFile: 4, projectFile: 2} {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			t.Parallel()
			foreigntest.Damage(t, Format, "testdata", filepath.FromSlash(file), most)
		})
	}
}

func TestOddFiles(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	for name, files := range map[string]map[string]string{
		"types":       {"conversations.json": `[{"uuid":"c","name":7,"summary":[],"chat_messages":[7,null,{"uuid":[],"sender":"human","text":"x"},{"uuid":"a","sender":"human","text":{},"content":"x","attachments":{},"files":"y","created_at":{}},{"uuid":"b","sender":"human","content":[7,null,{"type":7},{"type":"text","text":["x"]}],"parent_message_uuid":7}]}]`},
		"NUL, UTF-8":  {"conversations.json": "[{\"uuid\":\"c\\u0000\xff\",\"name\":\"\xff\",\"chat_messages\":[{\"uuid\":\"\\ud800\",\"sender\":\"human\",\"text\":\"\\u0000\xff\"}]}]"},
		"too deep":    {"conversations.json": `[{"uuid":"c","chat_messages":` + deep + `}]`, "memories.json": `{"conversations_memory":` + deep + `}`, "projects.json": `[{"uuid":"u","name":"n","docs":` + deep + `}]`},
		"words":       {"conversations.json": "hello", "memories.json": "null", "projects.json": "7", "memories/a.json": `"x"`, "projects/b.json": "true"},
		"empty files": {"conversations.json": "", "memories.json": "", "projects.json": "", "memories/a.json": "", "projects/b.json": ""},
		"odd members": {"memories.json": `{"conversations_memory":{"a":1},"project_memories":[1],"memory_files":{},"account_uuid":[]}`, "projects/b.json": `{"uuid":7,"name":[],"docs":{},"prompt_template":1,"created_at":"x"}`},
	} {
		r := foreigntest.ReadAny(t, Format, foreigntest.Files(t, files))
		must.Hold(t, r.Count() <= 2, "%s: %d items", name, r.Count())
	}
}

// Many documents of one name take no longer than others.
func TestManyDocumentsOfOneName(t *testing.T) {
	t.Parallel()
	const most = 20_000
	docs := strings.Repeat(`,{"uuid":"d","filename":"a.md","content":"x"}`, most)
	r := foreigntest.ReadAny(t, Format, foreigntest.Files(t, map[string]string{"projects/u.json": `{"uuid":"u","name":"n","docs":[` + docs[1:] + `]}`}))
	must.Equal(t, "notes", len(r.Notes), most)
	seen := map[string]bool{}
	for _, n := range r.Notes {
		must.Hold(t, !seen[n.Name], "%s is there twice", n.Name)
		seen[n.Name] = true
	}
}

// A long conversation is walked once.
func TestALongConversation(t *testing.T) {
	t.Parallel()
	const most = 20_000
	messages := make([]string, most)
	for i := range messages {
		messages[i] = fmt.Sprintf(`{"uuid":"%d","sender":"human","text":"x","parent_message_uuid":"%d"}`, i+1, i)
	}
	r := foreigntest.ReadAny(t, Format, foreigntest.Files(t, map[string]string{"conversations.json": `[{"uuid":"c","chat_messages":[` + strings.Join(messages, ",") + `]}]`}))
	must.Equal(t, "turns", len(r.Turns["claude-ai-c"]), most)
}

func fuzz(f *testing.F, name string, more ...string) {
	b, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(name)))
	must.Do(f, err)
	seeds := [][]byte{b}
	for _, s := range more {
		seeds = append(seeds, []byte(s))
	}
	foreigntest.Fuzz(f, Format, name, seeds...)
}

func FuzzConversations(f *testing.F) {
	fuzz(f, "conversations.json", `[{"uuid":"c","chat_messages":[{"uuid":"a","sender":"human","parent_message_uuid":"b","content":[{"type":"tool_use","name":"x"}]},{"uuid":"b","parent_message_uuid":"a"}]}]`)
}

func FuzzMemories(f *testing.F) { fuzz(f, memoryFile, `[{"conversations_memory":"# A\nx"}]`) }

func FuzzProjects(f *testing.F) {
	fuzz(f, projectFile, `[{"uuid":"u","name":"n","docs":[{"filename":"a","content":"x"}]}]`)
}
