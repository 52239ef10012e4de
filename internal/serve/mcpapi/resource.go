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
	memoryRoot = "amber://memory/"
	sessionURI = "amber://session/"
	noteURI    = "amber://note/"
)

func memoryURI(id amber.MemoryID) string { return memoryRoot + string(id) }

// resourceBytes bounds one resource.
const resourceBytes = 256 << 10

// reader reads what a URI names: its text and what kind of text it is.
type reader func(ctx context.Context, b *bound, a *op.Call, name string) (text, mime string, err error)

func (b *bound) addResources(s *mcp.Server) {
	s.AddResource(&mcp.Resource{URI: contextURI, Name: "context", Title: "What Amber remembers", Description: "The newest memories, and the last sessions of the project.", MIMEType: "text/markdown"},
		b.resource("", readContext))
	for _, r := range []struct {
		root, name, title, mime string
		read                    reader
	}{
		{memoryRoot + "{id}", "memory", "A memory", "text/markdown", readMemoryResource},
		{sessionURI + "{id}", "session", "A session", "application/json", readSessionResource},
		{noteURI + "{+name}", "note", "A note", "text/markdown", readNoteResource},
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
		err = b.do(ctx, b.speaker(req), "read_resource", reading, func(ctx context.Context, a *op.Call) error {
			var err error
			text, mime, err = read(ctx, b, a, name)
			return err
		})
		if err != nil {
			return nil, err
		}
		text = shown.PageAt(text, 0, resourceBytes).Marked("tools read the rest, memory_get that of a memory")
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: mime, Text: readable(mime, text)}}}, nil
	}
}

func readContext(ctx context.Context, b *bound, a *op.Call, _ string) (text, mime string, err error) {
	block, err := b.context(ctx, a, "", amber.Identities{}, 0)
	return contextText(block), "text/markdown", err
}

func readMemoryResource(ctx context.Context, _ *bound, a *op.Call, name string) (text, mime string, err error) {
	id, err := amber.ParseMemoryID(name)
	if err != nil {
		return "", "", err
	}
	m, err := a.Store.Memories.Get(ctx, id)
	return m.Content, "text/markdown", err
}

func readSessionResource(ctx context.Context, _ *bound, a *op.Call, name string) (text, mime string, err error) {
	id, err := amber.ParseSessionID(name)
	if err != nil {
		return "", "", err
	}
	s, err := a.Store.Sessions.Session(ctx, id)
	if err != nil {
		return "", "", err
	}
	doc, err := marshal(sessionOf(s))
	return string(doc), "application/json", err
}

func readNoteResource(ctx context.Context, _ *bound, a *op.Call, name string) (text, mime string, err error) {
	n, err := a.Store.Notes.ReadNote(ctx, name)
	return n.Content, "text/markdown", err
}

// readable is a resource as a model reads it.
func readable(mime, text string) string {
	if mime == "application/json" {
		return string(shown.JSON([]byte(text)))
	}
	return shown.ForAgent(text)
}
