package hook_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestPluginRunsTheCommand(t *testing.T) {
	t.Parallel()
	source := hook.OpenCodePlugin([]string{`C:\Program Files\amber.exe`, "--home", `/x"</script>` + "\n"})
	line, _, _ := strings.Cut(source, "\n")
	if !strings.Contains(line, hook.OpenCodePluginMark) {
		t.Errorf("the first line is %q", line)
	}
	if want := `const command = ["C:\\Program Files\\amber.exe","--home","/x\"\u003c/script\u003e\n"]`; !strings.Contains(source, want+"\n") {
		t.Errorf("%s is not in the plugin", want)
	}
	if strings.Contains(source, `["amber"]`) || hook.OpenCodePlugin([]string{"amber"}) == source {
		t.Error("the placeholder is still there")
	}
}

// TestPluginKnowsTheEvents: the plugin sends the events that Amber understands,
// and no others.
func TestPluginKnowsTheEvents(t *testing.T) {
	t.Parallel()
	source := hook.OpenCodePlugin([]string{"amber"})
	for name := range recorded(t, hook.OpenCode) {
		event, _, _ := strings.Cut(name, "@")
		if !strings.Contains(source, `tell("`+event+`"`) {
			t.Errorf("it does not tell of %s", event)
		}
	}
	for _, part := range strings.Split(source, `tell("`)[1:] {
		event, _, _ := strings.Cut(part, `"`)
		if ev := hook.Read(input(hook.OpenCode, event, "{}")); ev.Kind == journal.HostOther && event != "file.edited" {
			t.Errorf("%s is not understood", event)
		}
	}
}

// TestPluginInNode runs the plugin with a command that notes what it is given
// and answers with context.
func TestPluginInNode(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("the plugin is JavaScript and node is not needed to build or test Amber otherwise; CI installs it")
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	log := filepath.Join(dir, "log")
	command := write("command.mjs", `
import { appendFileSync, readFileSync } from "node:fs"
const given = readFileSync(0, "utf8")
appendFileSync(`+quote(log)+`, JSON.stringify({ args: process.argv.slice(2), given }) + "\n")
if (process.argv.includes("chat.message")) console.log(JSON.stringify({ context: "remembered" }))
`)
	patient := strings.Replace(hook.OpenCodePlugin([]string{node, command}), "patience = 1500", "patience = 600_000", 1)
	plugin := write("amber.mjs", patient)
	broken := write("broken.mjs", hook.OpenCodePlugin([]string{filepath.Join(dir, "no such program")}))
	script := write("script.mjs", `
import { Amber } from `+quote("file://"+filepath.ToSlash(plugin))+`
import { Amber as Broken } from `+quote("file://"+filepath.ToSlash(broken))+`
const run = async (make) => {
  const p = await make({ directory: "/home/ana/shop", worktree: "/home/ana" })
  const event = (type, properties) => p.event({ event: { type, properties } })
  await event("session.created", { info: { id: "ses_1", title: "T", version: "1.18.33" } })
  await event("session.created", { info: { id: "ses_2", parentID: "ses_1" } })
  await p["chat.message"]({ sessionID: "ses_1", messageID: "msg_1" }, { message: {}, parts: [{ type: "text", text: "hello" }, { type: "file" }] })
  await p["tool.execute.before"]({ tool: "bash", sessionID: "ses_1", callID: "c" }, { args: { command: "ls" } })
  await p["tool.execute.after"]({ tool: "bash", sessionID: "ses_1", callID: "c", args: { command: "ls" } }, { title: "ls", output: "x", metadata: {} })
  await p["experimental.text.complete"]({ sessionID: "ses_1", messageID: "msg_2", partID: "prt_1" }, { text: "done" })
  await event("file.edited", { file: "/home/ana/shop/a.go" })
  await event("todo.updated", { sessionID: "ses_1", todos: [] })
  await event("session.error", { error: { name: "E" } })
  await event("session.idle", { sessionID: "ses_2" })
  await event("session.compacted", { sessionID: "ses_1" })
  await event("nobody.knows", undefined)
  await event("session.created", undefined)
  await p["chat.message"](undefined, undefined)
  await p["tool.execute.before"]({}, null)
  const system = ["base"], compacting = { context: [] }
  await p["experimental.chat.system.transform"]({ sessionID: "ses_1" }, { system })
  await p["experimental.chat.system.transform"]({}, { system })
  await p["experimental.session.compacting"]({ sessionID: "ses_1" }, compacting)
  await event("session.deleted", { info: { id: "ses_2" } })
  await p.dispose()
  return { system, compacting }
}
console.log(JSON.stringify([await run(Amber), await run(Broken)]))
`)
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), node, script)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	want := `[{"system":["base","remembered"],"compacting":{"context":["remembered"]}},{"system":["base"],"compacting":{"context":[]}}]`
	must.Equal(t, "context", strings.TrimSpace(string(out)), want)
	checkTold(t, log)
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// checkTold checks that each call of the command is an event with its session,
// and that all of them came.
func checkTold(t *testing.T, log string) {
	t.Helper()
	b := must.Get(os.ReadFile(log))(t)
	kinds := map[string]journal.EventKind{}
	for line := range strings.Lines(string(b)) {
		var call struct {
			Args  []string
			Given string
		}
		must.Do(t, json.Unmarshal([]byte(line), &call))
		if len(call.Args) != 4 || strings.Join(call.Args[:3], " ") != "hook opencode --event" {
			t.Errorf("arguments %q", call.Args)
			continue
		}
		ev := hook.Read(input(hook.OpenCode, call.Args[3], call.Given))
		if !strings.HasPrefix(string(ev.SessionID), "ses_") || filepath.ToSlash(ev.Directory) != "/home/ana/shop" {
			t.Errorf("%s is of session %q in %q", call.Args[3], ev.SessionID, ev.Directory)
		}
		kinds[call.Args[3]+" "+string(ev.SessionID)] = ev.Kind
	}
	want := map[string]journal.EventKind{
		"session.created ses_1": journal.HostSessionStart, "session.created ses_2": journal.HostSubagentStart, "chat.message ses_1": journal.HostPrompt,
		"tool.execute.before ses_1": journal.HostToolBefore, "tool.execute.after ses_1": journal.HostToolAfter,
		"experimental.text.complete ses_1": journal.HostTurnEnd, "file.edited ses_1": journal.HostOther, "todo.updated ses_1": journal.HostTaskChange,
		"session.error ses_1": journal.HostError, "session.idle ses_2": journal.HostSubagentEnd, "session.compacted ses_1": journal.HostCompactAfter,
		"experimental.session.compacting ses_1": journal.HostCompactBefore, "session.deleted ses_2": journal.HostSessionEnd, "dispose ses_1": journal.HostSessionEnd,
	}
	must.Equal(t, "events", kinds, want)
}
