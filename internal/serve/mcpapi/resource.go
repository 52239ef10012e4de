package mcpapi

import (
	"context"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/op"
)

// The URIs of the resources, or how they begin.
const (
	contextURI = "amber://context"
	memoryRoot = op.MemoryURI
	sessionURI = "amber://session/"
	noteURI    = "amber://note/"
)

// resourceBytes bounds one resource.
const resourceBytes = 256 << 10

// reader reads what a URI names: its text and what kind of text it is.
type reader func(ctx context.Context, c *op.Call, name string) (text, mime string, err error)

func (b *bound) addResources(s *mcp.Server) {
	s.AddResource(&mcp.Resource{URI: contextURI, Name: "context", Title: "What Amber remembers", Description: "The newest memories, and the last sessions of the project.", MIMEType: "text/markdown"},
		b.resource("", readContext))
	for _, r := range []struct {
		root, name, title, mime string
		read                    reader
	}{
		{memoryRoot + "{id}", "memory", "A memory", "text/markdown", readMemory},
		{sessionURI + "{id}", "session", "A session", "application/json", readSession},
		{noteURI + "{+name}", "note", "A note", "text/markdown", readNote},
	} {
		root, _, _ := strings.Cut(r.root, "{")
		s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: r.root, Name: r.name, Title: r.title, MIMEType: r.mime}, b.resource(root, r.read))
	}
}

// resource makes a reader answer requests for what begins with a root.
func (b *bound) resource(root string, read reader) mcp.ResourceHandler {
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		uri := req.Params.URI
		name, err := url.PathUnescape(strings.TrimPrefix(uri, root))
		if err != nil {
			return nil, amber.Errorf(amber.KindInvalid, "read resource", "", "the name in the URI is not escaped correctly")
		}
		var text, mime string
		err = b.do(ctx, b.speaker(req), "read_resource", op.MemoryContext.Row, func(ctx context.Context, c *op.Call) error {
			var err error
			text, mime, err = read(ctx, c, name)
			return err
		})
		if err != nil {
			return nil, err
		}
		text = shown.PageAt(text, 0, resourceBytes).Marked("tools read the rest, memory_get that of a memory")
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: mime, Text: readable(mime, text)}}}, nil
	}
}

func readContext(ctx context.Context, c *op.Call, _ string) (text, mime string, err error) {
	_, text, err = c.Context(ctx, "", amber.Identities{}, 0)
	return text, "text/markdown", err
}

func readMemory(ctx context.Context, c *op.Call, name string) (text, mime string, err error) {
	m, err := op.MemoryGet.Call(ctx, c, op.MemoryID{ID: name})
	return m.Content, "text/markdown", err
}

func readSession(ctx context.Context, c *op.Call, name string) (text, mime string, err error) {
	id, err := amber.ParseSessionID(name)
	if err != nil {
		return "", "", err
	}
	s, err := c.Store.Sessions.Session(ctx, id)
	if err != nil {
		return "", "", err
	}
	doc, err := marshal(op.SessionPageOf(s))
	return string(doc), "application/json", err
}

func readNote(ctx context.Context, c *op.Call, name string) (text, mime string, err error) {
	n, err := op.NoteGet.Call(ctx, c, op.NoteName{Name: name})
	return n.Content, "text/markdown", err
}

// readable is a resource as a model reads it.
func readable(mime, text string) string {
	if mime == "application/json" {
		return string(shown.JSON([]byte(text)))
	}
	return shown.ForAgent(text)
}
