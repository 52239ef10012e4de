package mcpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/mcpapi"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/race"
)

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
	`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// pipe runs a server over stdio until its input ends, and returns what it wrote,
// a line each.
func (r *rig) pipe(in io.Reader) []string { return r.pipeWith("default", in) }

func (r *rig) pipeWith(tools string, in io.Reader) []string {
	r.t.Helper()
	s := must.Get(mcpapi.NewServer(r.options(tools), everything, "default", "default"))(r.t)
	var out bytes.Buffer
	if err := s.Run(context.Background(), mcpapi.Stdio(in, &out)); err != nil && !errors.Is(err, io.EOF) {
		r.t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// reply is one line of output.
type reply struct {
	ID    any `json:"id"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Result json.RawMessage `json:"result"`
}

func parse(t *testing.T, line string) reply {
	t.Helper()
	var r reply
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return r
}

// TestTheServerSurvivesWhatIsNoMessage sends it rubbish between two good calls.
func TestTheServerSurvivesWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		line, message string
		code          int
	}{
		"garbage":           {"garbage", "not valid JSON", -32700},
		"half a message":    {`{"jsonrpc":"2.0","id":5,`, "not valid JSON", -32700},
		"not UTF-8":         {"{\"a\":\"\xff\"}", "not valid UTF-8", -32700},
		"NUL":               {"\x00", "not valid JSON", -32700},
		"no version":        {`{"id":5,"method":"tools/list"}`, "not a message of JSON-RPC 2.0", -32600},
		"a number":          {"17", "not a message of JSON-RPC 2.0", -32600},
		"an empty list":     {"[]", "no message in the list", -32600},
		"a list of rubbish": {"[1]", "not a message of JSON-RPC 2.0", -32600},
		"two on a line":     {`{"jsonrpc":"2.0","id":5,"method":"ping"} {"jsonrpc":"2.0","id":6,"method":"ping"}`, "not valid JSON", -32700},
		"too deep":          {strings.Repeat("[", 20000) + strings.Repeat("]", 20000), "not valid JSON", -32700},
		"an odd id":         {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "not a message of JSON-RPC 2.0", -32600},
	} {
		r := newRig(t)
		lines := r.pipe(strings.NewReader(hello + test.line + "\n\n" + `{"jsonrpc":"2.0","id":9,"method":"ping"}`)) // the last line lacks its break
		refused, answered := 0, 0
		for _, l := range lines {
			switch p := parse(t, l); {
			case p.Error != nil && p.ID == nil:
				refused++
				must.Equal(t, name, p.Error.Code, test.code)
				must.Says(t, name, p.Error.Message, test.message)
			case p.ID == 9.0 && p.Error == nil:
				answered++
			}
		}
		must.Equal(t, name+": refused", refused, 1)
		must.Equal(t, name+": answered", answered, 1)
	}
}

// endless is a line without end, of which only so much can be held.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.left -= n
	return n, nil
}

func TestALineThatIsTooLongIsRefusedAndNotKept(t *testing.T) {
	t.Parallel()
	in := io.MultiReader(strings.NewReader(hello), &endless{3 * mcpapi.MaxMessageBytes}, strings.NewReader("\n"+`{"jsonrpc":"2.0","id":9,"method":"ping"}`+"\n"))
	lines := newRig(t).pipe(in)
	text := strings.Join(lines, "\n")
	must.Says(t, "the answer", text, fmt.Sprintf("the message has more than %d bytes", mcpapi.MaxMessageBytes), `"id":9,"result"`)
}

// TestTheEndOfInputLosesNothing closes stdin right behind many writes: each is
// answered, and each answer is true.
func TestTheEndOfInputLosesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var in strings.Builder
	in.WriteString(hello)
	const calls = 200
	for i := range calls {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"memory_save","arguments":{"content":"fact %d"}}}`+"\n", i+1, i)
	}
	saved := 0
	for _, l := range r.pipe(strings.NewReader(in.String())) {
		if p := parse(t, l); p.ID != 0.0 && p.Error == nil && strings.Contains(string(p.Result), "Saved ") {
			saved++
		}
	}
	s, err := r.store().Stats.Stats(context.Background())
	if err != nil || saved != calls || s.Memories != calls {
		t.Errorf("%d answers, %d memories, %v", saved, s.Memories, err)
	}
}

// TestBatchesAndRepeatedIDs sends what only old clients, or broken ones, do.
func TestBatchesAndRepeatedIDs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	old := strings.Replace(hello, "2025-11-25", "2025-03-26", 1)
	lines := r.pipe(strings.NewReader(old + `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":"two","method":"tools/list"},3]` + "\n"))
	text := strings.Join(lines, "\n")
	must.Equal(t, "lines", len(lines), 4)
	must.Says(t, "the answer", text, `"id":1,"result"`, `"id":"two","result"`)
	stuck := make(chan struct{})
	slow := r.agents["default/default"]
	slow.Store.Stats = waiting{slow.Store.Stats, stuck}
	o := r.options("engram")
	in, feed := io.Pipe()
	out, sink := io.Pipe()
	done := make(chan error)
	go func() {
		s, err := mcpapi.NewServer(o, everything, "default", "default")
		if err == nil {
			err = s.Run(context.Background(), mcpapi.Stdio(in, sink))
		}
		sink.Close()
		done <- err
	}()
	call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"mem_stats"}}` + "\n"
	go io.WriteString(feed, hello+call+call)
	answers := bufio.NewScanner(out)
	for answers.Scan() {
		if strings.Contains(answers.Text(), "not answered yet") {
			break
		}
	}
	close(stuck)
	feed.Close()
	for answers.Scan() {
		if p := parse(t, answers.Text()); p.ID != 7.0 && p.ID != 0.0 || p.Error != nil { // in whatever order
			t.Errorf("%s", answers.Text())
		}
	}
	must.NoError(t, <-done)
}

type waiting struct {
	amber.StatsReader
	until chan struct{}
}

func (w waiting) Stats(ctx context.Context) (amber.Stats, error) {
	<-w.until
	return w.StatsReader.Stats(ctx)
}

// TestStoppingEndsTheServer cancels the server while its client sends nothing.
func TestStoppingEndsTheServer(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	r := newRig(t)
	s := must.Get(mcpapi.NewServer(r.options(""), everything, "default", "default"))(t)
	in, feed := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	out, sink := io.Pipe()
	go func() { done <- s.Run(ctx, mcpapi.Stdio(in, sink)) }()
	go io.WriteString(feed, hello)
	must.Do(t, must.Err(bufio.NewReader(out).ReadString('\n')))
	stop()
	must.Is(t, "", <-done, context.Canceled)
	feed.Close()
}

// TestAPanicIsCaught has a store that breaks: the server lives on.
func TestAPanicIsCaught(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.agents["default/default"]
	a.Store.Stats = broken{}
	lines := r.pipeWith("engram", strings.NewReader(hello+`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mem_stats"}}`+"\n"+`{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n"))
	text := strings.Join(lines, "\n")
	must.Says(t, "the answers", text, `"id":2,"result"`, fmt.Sprintf(`"code":%d`, amber.KindInternal.MCPCode()))
}

type broken struct{ amber.StatsReader }

func (broken) Stats(context.Context) (amber.Stats, error) { panic("broken") }

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
