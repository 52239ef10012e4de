package ovtest_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/amber-memory/amber/internal/store/openviking/ovtest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/ovfake"
)

// venvVariable names the folder of a Python environment with OpenViking.
const venvVariable = "AMBER_OPENVIKING"

// realServer starts a real server, and the embedder that it needs. Without one, the test
// is skipped.
func realServer(t *testing.T) ovtest.Target {
	venv := os.Getenv(venvVariable)
	if venv == "" {
		fmt.Println("=== NOT RUN: " + t.Name() + " needs a real OpenViking; make test-openviking has one, or set " + venvVariable)
		t.Skip("no real OpenViking")
	}
	stub := &ovfake.Stub{}
	embedder := httptest.NewServer(stub)
	t.Cleanup(embedder.Close)
	t.Cleanup(func() { stub.Hold(false) })
	server := must.Get(ovtest.Start(t.Context(), ovtest.Setup{Venv: venv, Dir: t.TempDir(), Embedder: embedder.URL, Dimensions: 128}))(t)
	t.Cleanup(server.Stop)
	return ovtest.Target{
		URL: server.URL, RootKey: server.RootKey, EmbedderHold: stub.Hold,
		EmbedderDown: func(down bool) {
			if stub.Fail(0); down {
				stub.Fail(503)
			}
		},
	}
}

// TestRealServer asks a real server for everything, since it takes half a minute to
// start. With -update it writes the transcripts anew.
func TestRealServer(t *testing.T) {
	target := realServer(t)
	t.Run("transcripts", func(t *testing.T) { compare(t, target) })
	t.Run("promises", func(t *testing.T) { ask(t, target) })
}
