package chatgpt

import (
	"os"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestDamage(t *testing.T) {
	t.Parallel()
	foreigntest.Damage(t, Format, "testdata", "conversations-000.json", -1)
}

// A conversation that is broken costs none of the others.
func TestABrokenConversationCostsItselfAlone(t *testing.T) {
	t.Parallel()
	one := talk(t, "one", "a", nil, said("a", "root", "user", 1767225601, "one"))
	two := talk(t, "two", "b", nil, said("b", "root", "user", 1767225602, "two"))
	for _, broken := range []string{`{"id":"x","mapping":{`, `{"id":"x","mapping":{"a":"` + "\x00", `{"id":"x",}`, `}`, `"`, `{"id":"x" "mapping":{}}`, ``, strings.Repeat("[", 100_000)} {
		r := foreigntest.Read(t, Format, foreigntest.Files(t, map[string]string{"conversations.json": "[\n " + one + ",\n " + broken + ",\n " + two + "\n]"}))
		must.Hold(t, len(r.Sessions) == 2 && len(r.Skips) > 0, "%.30q: %d sessions, %q", broken, len(r.Sessions), r.Skips)
	}
}

func TestOddConversations(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"types":          `[{"id":7,"conversation_id":"c","title":["x"],"create_time":"now","mapping":{"a":{"parent":7,"message":{"id":{},"author":"user","content":"text","metadata":[],"recipient":1}},"b":null,"c":"x","d":[]},"current_node":{}}]`,
		"content":        `[{"id":"c","title":"t","mapping":{"a":{"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":"not a list"}}}},"current_node":"a"}]`,
		"parts":          `[{"id":"c","title":"t","mapping":{"a":{"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":[[["x"]],{"text":7},{"content_type":{}}]}}}},"current_node":"a"}]`,
		"mapping":        `[{"id":"c","title":"t","mapping":[]}]`,
		"empty mapping":  `[{"id":"c","title":"t","mapping":{}}]`,
		"an empty id":    `[{"id":"","title":"t","mapping":{"":{"parent":"","message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["x"]}}}}}]`,
		"NUL and UTF-8":  "[{\"id\":\"c\xff\\u0000\",\"title\":\"t\xff\",\"mapping\":{\"\xff\":{\"message\":{\"author\":{\"role\":\"user\"},\"content\":{\"content_type\":\"text\",\"parts\":[\"\\u0000\xff\\ud800\"]}}}}}]",
		"an object":      `{"title":"t","mapping":{}}`,
		"an object list": `{"conversations":[{"title":"t","mapping":{}}]}`,
		"huge numbers":   `[{"id":"c","title":"t","create_time":1e400,"update_time":-1e400,"mapping":{"a":{"message":{"create_time":99999999999999999999,"author":{"role":"user"},"content":{"content_type":"text","parts":[1e400,"x"]}}}}}]`,
		"deep":           `[{"id":"c","title":"t","mapping":{"a":` + strings.Repeat(`{"message":`, 5000) + `1` + strings.Repeat("}", 5000) + `}}]`,
		"too deep":       `[{"id":"c","title":"t","mapping":` + strings.Repeat(`[`, 20_000) + strings.Repeat("]", 20_000) + `}]`,
		"a word":         `hello`,
		"nothing":        ``,
	} {
		r := foreigntest.ReadAny(t, Format, foreigntest.Files(t, map[string]string{"conversations.json": text}))
		must.Hold(t, r.Count() <= 2, "%s: %d items", name, r.Count())
		if r.Count() == 0 && !strings.Contains("content parts types empty mapping", name) {
			must.Hold(t, len(r.Skips) > 0, "%s is passed over without a word", name)
		}
	}
}

// Two nodes may hold one message.
func TestAMessageThatIsThereTwice(t *testing.T) {
	t.Parallel()
	text := talk(t, "c", "b", nil, said("a", "root", "user", 1767225601, "x"), said("b", "a", "user", 1767225602, "y"))
	r := readTalks(t, strings.Replace(text, `"id":"b","metadata"`, `"id":"a","metadata"`, 1))
	must.Equal(t, "turns", foreigntest.Texts(r.Turns["chatgpt-c"]), "user: x\n")
	must.Equal(t, "skips", strings.Join(r.Skips, "\n"), `conversations.json: conversation 1, message b: message "a" is in the conversation twice; the first is read`)
}

// A long conversation without times is no reason to look at each message for each message.
func TestALongConversationWithoutTimes(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`[{"id":"c","title":"t","mapping":{"n0":{}`)
	const most = 20_000
	for i := 1; i <= most; i++ {
		b.WriteString(`,"n` + itoa(i) + `":{"parent":"n` + itoa(i-1) + `","message":{"recipient":"bio","author":{"role":"assistant"},"content":{"content_type":"text","parts":["fact ` + itoa(i) + `"]}}}`)
	}
	b.WriteString(`}}]`)
	r := foreigntest.ReadAny(t, Format, foreigntest.Files(t, map[string]string{"conversations.json": b.String()}))
	must.Equal(t, "memories", len(r.Memories), most)
}

func FuzzRead(f *testing.F) {
	b, err := os.ReadFile("testdata/conversations-000.json")
	must.Do(f, err)
	foreigntest.Fuzz(f, Format, "conversations.json", b, []byte(`[{"id":"c","title":"t","mapping":{"a":{"parent":"b","message":{"id":"m","author":{"role":"user"},"content":{"content_type":"text","parts":["x",{"content_type":"image"}]}}},"b":{"parent":"a"}}}]`))
}
