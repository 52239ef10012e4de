package mcpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/serve/mcpapi"
	"github.com/amber-memory/amber/internal/test/golden"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// wired is a client that sees the bytes of the answers.
type wired struct {
	t    testing.TB
	in   io.Writer
	out  *bufio.Scanner
	asks int
}

// wire connects a wired client over stdio.
func (r *rig) wire(o mcpapi.Options, who op.Caller) *wired {
	r.t.Helper()
	s := must.Get(mcpapi.NewServer(o, who, "default", "default"))(r.t)
	in, feed := io.Pipe()
	out, sink := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := s.Run(context.Background(), mcpapi.Stdio(in, sink))
		sink.Close()
		done <- err
	}()
	r.t.Cleanup(func() {
		feed.Close()
		<-done
	})
	w := &wired{t: r.t, in: feed, out: bufio.NewScanner(out)}
	w.out.Buffer(nil, 1<<20)
	must.Get(io.WriteString(feed, hello))(r.t)
	w.line()
	return w
}

func (w *wired) line() string {
	w.t.Helper()
	if !w.out.Scan() {
		w.t.Fatalf("the server has ended: %v", w.out.Err())
	}
	return w.out.Text()
}

// ask sends a request and returns its result, to the byte.
func (w *wired) ask(method, params string) json.RawMessage {
	w.t.Helper()
	w.asks++
	must.Get(fmt.Fprintf(w.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", w.asks, method, params))(w.t)
	var reply struct{ Result, Error json.RawMessage }
	must.Do(w.t, json.Unmarshal([]byte(w.line()), &reply))
	return append(reply.Result, reply.Error...)
}

// tools returns the parts of the answer to tools/list: each tool to the byte, and what stands around them.
func (w *wired) tools() (list []json.RawMessage, rest string) {
	w.t.Helper()
	result := w.ask("tools/list", "{}")
	var parts struct{ Tools []json.RawMessage }
	must.Do(w.t, json.Unmarshal(result, &parts))
	rest = string(result)
	for _, t := range parts.Tools {
		rest = strings.Replace(rest, string(t), "", 1)
	}
	return parts.Tools, strings.ReplaceAll(rest, ",,", "")
}

func nameOf(t testing.TB, tool json.RawMessage) string {
	t.Helper()
	var head struct{ Name string }
	must.Do(t, json.Unmarshal(tool, &head))
	return head.Name
}

// TestTheListOfToolsIsPinned compares the answer to tools/list with a golden file: every tool to the byte, and which of them
// each profile, switch, scope and bound leaves.
func TestTheListOfToolsIsPinned(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	whole, rest := r.wire(r.options("all"), everything).tools()
	var b strings.Builder
	known := map[string]string{}
	for _, tool := range whole {
		known[nameOf(t, tool)] = string(tool)
		fmt.Fprintf(&b, "%s\n", tool)
	}
	fmt.Fprintf(&b, "\naround them: %s\n", rest)
	list := func(what string, o mcpapi.Options, who op.Caller) {
		var names []string
		tools, _ := r.wire(o, who).tools()
		for _, tool := range tools {
			name := nameOf(t, tool)
			must.Equal(t, what+": "+name, string(tool), known[name])
			names = append(names, name)
		}
		fmt.Fprintf(&b, "\n%s: %s\n", what, strings.Join(names, " "))
	}
	for _, tools := range []string{"", "default", "snapshots", "control", "state", "engram", "reference", "chatgpt", "files", "files, chatgpt", "memory_get,snapshot_restore"} {
		list("--tools "+strconv.Quote(tools), r.options(tools), everything)
	}
	o := r.options("all")
	for _, scope := range wire.TokenScopes() {
		list("scope "+string(scope), o, holder("default", "", scope))
	}
	list("scopes read, write", o, holder("default", "", wire.TokenRead, wire.TokenWrite))
	bob := holder("default", "", wire.TokenAdmin)
	bob.Grant.Bound = wire.Bound{User: "bob"}
	list("bound", o, bob)
	o.AllowRestore = false
	list("without restore", o, everything)
	golden.Check(t, *update, "tools", b.String())
}

// chosen matches what is chosen by a snapshot engine that has chance and time of its own.
var chosen = regexp.MustCompile(`("token":|"bytes_total":|"bytes_new":|did:key:|, )("[0-9a-f]+"|z6Mk\w+|\d+ bytes|\d+ new|\d+\b)`)

var placeholder = regexp.MustCompile(`\$\{(\d+)\.([a-z_.0-9]+)\}`)

// TestCallsAnswerAsInTheTranscripts makes the calls of each transcript and compares the answers, and the entries of the audit log,
// with it to the byte. A line that begins with > is a call, with @ the scopes of the caller and whom it is bound to. ${2.id} is the
// field id of the answer to the second call.
func TestCallsAnswerAsInTheTranscripts(t *testing.T) {
	t.Parallel()
	files := must.Get(filepath.Glob("testdata/transcripts/*.golden"))(t)
	if len(files) < 8 {
		t.Fatalf("there are %d transcripts", len(files))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".golden")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.ReplaceAll(string(must.Get(os.ReadFile(file))(t)), "\r\n", "\n")
			golden.Check(t, *update, "transcripts/"+name, newRig(t).replay(text))
		})
	}
}

// replay makes the calls of a transcript and returns it with what was answered.
func (r *rig) replay(text string) string {
	r.t.Helper()
	r.agents["default/default"].Doctor = func(context.Context, bool) (wire.Checkup, error) {
		return wire.Checkup{Checks: []wire.Finding{{Code: "home", Status: wire.FindingOK}, {Code: "disk", Status: wire.FindingFailed, Detail: "full"}}}, nil
	}
	r.agents["default/default"].Join = func(context.Context, string, string) (int, int, error) { return 2, 1, nil }
	w := r.wire(r.options("all"), everything)
	var b strings.Builder
	var answers []any
	seen, ids := 0, map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "@"):
			w = r.wire(r.options("all"), callerOf(line))
			fmt.Fprintf(&b, "%s\n\n", line)
		case strings.HasPrefix(line, "#"):
			fmt.Fprintf(&b, "%s\n\n", line)
		case strings.HasPrefix(line, "> "):
			tool, args, _ := strings.Cut(line[2:], " ")
			args = placeholder.ReplaceAllStringFunc(args, func(s string) string { return valueAt(r.t, answers, s) })
			result := w.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
			var parsed struct{ StructuredContent any }
			must.Do(r.t, json.Unmarshal(result, &parsed))
			answers = append(answers, parsed.StructuredContent)
			fmt.Fprintf(&b, "%s\n< %s\n", line, r.plain(string(result), ids))
			entries := r.audit.Entries(0)
			for _, e := range entries[seen:] {
				b.WriteString(r.plain(fmt.Sprintf("! %s by %s in %s/%s about %q: %s\n", e.Action, e.Actor, e.Tenant, e.Agent, e.Subject, e.Outcome), ids))
			}
			seen = len(entries)
			b.WriteString("\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// callerOf reads a line as in "@ read,write user=bob".
func callerOf(line string) op.Caller {
	words := strings.Fields(line[1:])
	var scopes []wire.TokenScope
	for s := range strings.SplitSeq(words[0], ",") {
		scopes = append(scopes, wire.TokenScope(s))
	}
	who := holder("default", "", scopes...)
	for _, word := range words[1:] {
		switch name, value, _ := strings.Cut(word, "="); name {
		case "user":
			who.Grant.Bound.User = value
		case "project":
			who.Grant.Bound.Project = value
		}
	}
	return who
}

// valueAt returns the value that a placeholder names.
func valueAt(t testing.TB, answers []any, s string) string {
	t.Helper()
	m := placeholder.FindStringSubmatch(s)
	v := answers[must.Get(strconv.Atoi(m[1]))(t)-1]
	for name := range strings.SplitSeq(m[2], ".") {
		switch at := v.(type) {
		case object:
			v = at[name]
		case []any:
			v = at[must.Get(strconv.Atoi(name))(t)]
		}
	}
	if text, ok := v.(string); ok {
		return text
	}
	return string(must.Get(json.Marshal(v))(t))
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// plain puts names in the place of what is not the same in every run.
func (r *rig) plain(result string, ids map[string]string) string {
	result = anyID.ReplaceAllStringFunc(result, func(id string) string {
		if ids[id] == "" {
			ids[id] = fmt.Sprintf("id-%d", len(ids)+1)
		}
		return ids[id]
	})
	return chosen.ReplaceAllString(result, `$1"..."`)
}

// Every tool is called in a transcript.
func TestTheTranscriptsCallEveryTool(t *testing.T) {
	t.Parallel()
	var called []string
	for _, file := range must.Get(filepath.Glob("testdata/transcripts/*.golden"))(t) {
		for line := range strings.SplitSeq(string(must.Get(os.ReadFile(file))(t)), "\n") {
			if words := strings.Fields(line); len(words) > 1 && words[0] == ">" {
				called = append(called, words[1])
			}
		}
	}
	for _, name := range mcpapi.Names() {
		if !slices.Contains(called, name) {
			t.Errorf("no transcript calls %s", name)
		}
	}
}
