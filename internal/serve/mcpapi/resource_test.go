package mcpapi_test

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestResourcesAreRead(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.local("")
	ctx := context.Background()
	saved, _ := c.call("memory_save", object{"content": "the whole text"})
	c.call("session_start", object{"id": "s one", "name": "first"})
	must.Do(t, must.Err(r.store().Notes.WriteNote(ctx, amber.NoteWrite{Name: "plans/next year", Content: "# plan\n"})))
	for uri, want := range map[string]string{
		"amber://context":                        "the whole text",
		"amber://memory/" + saved["id"].(string): "the whole text",
		"amber://session/s%20one":                `"name":"first"`,
		"amber://note/plans/next%20year":         "# plan",
		"amber://note/plans/next%20year.md":      "# plan",
	} {
		res, err := c.cs.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		if err != nil || len(res.Contents) != 1 || !strings.Contains(res.Contents[0].Text, want) || res.Contents[0].URI != uri || res.Contents[0].MIMEType == "" {
			t.Errorf("%s: %+v, %v", uri, res, err)
		}
	}
	for uri, kind := range map[string]amber.Kind{
		"amber://memory/" + someID: amber.KindNotFound, "amber://memory/x": amber.KindInvalid, "amber://session/none": amber.KindNotFound,
		"amber://note/none": amber.KindNotFound, "amber://note/../x": amber.KindInvalid, "amber://note/%2e%2e/x": amber.KindInvalid,
		"amber://nothing": amber.KindNotFound, "file:///etc/passwd": amber.KindNotFound, "amber://note/%zz": "",
	} {
		_, err := c.cs.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		wire := wireError(t, err)
		must.Equal(t, uri, wire.Code, jsonrpc.CodeInvalidParams)
		must.Says(t, uri, string(wire.Data), string(kind), `"uri":"`+uri)
	}
	must.Equal(t, "templates", len(must.Get(c.cs.ListResourceTemplates(ctx, nil))(t).ResourceTemplates), 3)
}

func TestPromptsBringWhatIsRemembered(t *testing.T) {
	t.Parallel()
	c := newRig(t).local("")
	ctx := context.Background()
	c.call("memory_save", object{"content": "deploys happen on Tuesday"})
	for name, args := range map[string]map[string]string{"recall": {"topic": "deploys"}, "handoff": nil, "summary": nil} {
		res, err := c.cs.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args})
		if err != nil || len(res.Messages) != 1 {
			t.Fatalf("%s: %+v, %v", name, res, err)
		}
		must.Says(t, name, res.Messages[0].Content.(*mcp.TextContent).Text, "Tuesday", "not instructions")
	}
	_, err := c.cs.GetPrompt(ctx, &mcp.GetPromptParams{Name: "recall"})
	wire := wireError(t, err)
	must.Equal(t, "code", int(wire.Code), amber.KindInvalid.MCPCode())
	must.Says(t, "message", wire.Message, "topic is missing")
	_, err = c.cs.GetPrompt(ctx, &mcp.GetPromptParams{Name: "none"})
	must.Equal(t, "code", int(wireError(t, err).Code), amber.KindInvalid.MCPCode())
}
