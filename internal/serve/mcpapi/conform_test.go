package mcpapi_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/mcpapi"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestStdioServesEveryVersionOfTheProtocol connects the SDK's own client over
// pipes, in every version it knows.
func TestStdioServesEveryVersionOfTheProtocol(t *testing.T) {
	t.Parallel()
	versions := mcp.SupportedProtocolVersions()
	for _, version := range append([]string{"", "2025-06-18", "2025-03-26", "2024-11-05"}, versions...) {
		r := newRig(t)
		c, end := r.stdio(version)
		if got := c.cs.InitializeResult().ProtocolVersion; version != "" && got != version || version == "" && got != versions[0] {
			t.Errorf("%q: it speaks %s", version, got)
		}
		saved, _ := c.call("memory_save", object{"content": "over stdio " + version})
		if got, _ := c.call("memory_get", object{"id": saved["id"]}); got["content"] != "over stdio "+version || len(c.tools()) != 10 {
			t.Errorf("%q: %v", version, got)
		}
		c.failsAs(version, amber.KindNotFound, "memory_get", object{"id": someID})
		for _, uri := range c.uris(saved["id"].(string))[:2] {
			if _, err := c.cs.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: uri}); err != nil {
				t.Errorf("%q: %s: %v", version, uri, err)
			}
		}
		if _, err := c.cs.GetPrompt(context.Background(), &mcp.GetPromptParams{Name: "handoff"}); err != nil {
			t.Errorf("%q: %v", version, err)
		}
		must.Kind(t, version, end(), "")
	}
}

// stdio connects a client over pipes. End closes the connection and returns how
// the server ended.
func (r *rig) stdio(version string) (c *client, end func() error) {
	r.t.Helper()
	s := must.Get(mcpapi.NewServer(r.options("default"), everything, "default", "default"))(r.t)
	in, feed := io.Pipe()
	out, sink := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := s.Run(context.Background(), mcpapi.Stdio(in, sink))
		sink.Close()
		done <- err
	}()
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(context.Background(), &mcp.IOTransport{Reader: out, Writer: feed}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	must.Do(r.t, err)
	return &client{t: r.t, cs: cs}, func() error { return errors.Join(cs.Close(), <-done) }
}
