package hook

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// Bounds of a tool's use.
const (
	maxOutput      = 16 << 10 // half of it the first bytes, half the last
	maxBeforeText  = 512      // of a string in the input, before the tool runs
	maxBeforeInput = 8 << 10
	maxCommand     = 16 << 10
)

// fillTool sets the use of a tool.
func (d *draft) fillTool() {
	t := &journal.HostTool{Name: d.name("tool_name", "toolName", "tool")}
	d.ev.Tool = t
	input := d.unpack(d.any("tool_input", "toolArgs", "tool_args", "args"))
	t.Command = d.command(t.Name, input)
	if d.ev.Kind == journal.HostToolBefore {
		t.Command = d.clean.clip(t.Command, maxBeforeText)
		t.Input = d.smallInput(input)
		return
	}
	if input.kind > null {
		t.Input = input.appendJSON(nil)
	}
	answer := d.unpack(d.any(
		"tool_response", "tool_output", "toolResult", "tool_result", "result_json", "output"))
	failure := d.any("error", "error_message")
	t.Failed = strings.HasSuffix(fold(d.event.name), "failure") || saysFailed(answer) || isError(failure) ||
		saysFailed(d.value.get("metadata")) || endedBadly(d.value)
	t.Output = d.middle(cmp.Or(d.output(answer), errorString(failure)), maxOutput)
	t.DurationMS = duration(d.any("duration_ms", "durationMs", "duration"))
	d.toolTasks(t.Name, input)
	d.touched(t.Name, input, answer)
}

// unpack returns the value in a text that is JSON, as some hosts write
// arguments, and any other value as it is.
func (d *draft) unpack(v value) value {
	s := strings.TrimSpace(v.str())
	if !strings.HasPrefix(s, "{") || !strings.HasSuffix(s, "}") {
		return v
	}
	inner, lost, ok := scanText(s)
	if !ok || inner.kind != object {
		return v
	}
	d.clean.lost += lost
	return d.clean.value(inner)
}

// smallInput returns the input of a tool that is about to run, cut short.
func (d *draft) smallInput(v value) []byte {
	if v.kind <= null {
		return nil
	}
	whole := len(v.appendJSON(nil))
	b := shorten(v, maxBeforeText).appendJSON(nil)
	if len(b) > maxBeforeInput {
		b = nil
	}
	d.clean.lost += int64(max(0, whole-len(b)))
	return b
}

// shorten returns a value whose strings have at most limit bytes.
func shorten(v value, limit int) value {
	switch v.kind {
	case text:
		v.text = clip.Bytes(v.text, limit)
	case array, object:
		list := make([]value, len(v.list))
		for i, e := range v.list {
			list[i] = shorten(e, limit)
		}
		v.list = list
	}
	return v
}

// shells are tools that run a command, by their folded names.
var shells = map[string]bool{
	"bash": true, "shell": true, "localshell": true, "runshellcommand": true, "execcommand": true, "unifiedexec": true,
	"runinterminal": true, "runterminalcmd": true, "runterminalcommand": true, "execute": true, "powershell": true, "terminal": true,
}

// command returns the command line that a shell tool was given.
func (d *draft) command(tool string, input value) string {
	if !shells[fold(tool)] {
		return ""
	}
	v := input.first("command", "cmd", "script")
	if v.kind != array {
		return d.clean.clip(v.str(), maxCommand)
	}
	var words []string
	for _, w := range v.list {
		words = append(words, w.text)
	}
	if len(words) == 3 && strings.HasSuffix(words[0], "sh") && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
		return d.clean.clip(words[2], maxCommand)
	}
	return d.clean.clip(d.clean.text(strings.Join(words, " ")), maxCommand)
}

// saysFailed reports whether a tool's answer has a host's sign of failure.
func saysFailed(v value) bool {
	if v.get("is_error").isTrue() || v.get("isError").isTrue() || v.get("interrupted").isTrue() ||
		v.get("success").isFalse() || endedBadly(v) || endedBadly(v.get("metadata")) {
		return true
	}
	if isError(v.get("error")) {
		return true
	}
	if code, ok := strings.CutPrefix(v.str(), "Exit code: "); ok && !strings.HasPrefix(code, "0") {
		return true
	}
	switch v.first("resultType", "result_type").str() {
	case "failure", "denied", "rejected", "error":
		return true
	}
	return false
}

func isError(v value) bool {
	return v.kind == text && v.text != "" || v.kind == object || v.isTrue()
}

// endedBadly reports whether a command's exit code says so.
func endedBadly(v value) bool {
	code := v.scalar("exit_code", "exitCode", "exit")
	return code != "" && code != "0"
}

// output returns what a tool has answered, but for the files that tools which
// change them answer with, old and new: the input says it.
func (d *draft) output(v value) string {
	if v.get("filePath").kind == text {
		d.clean.lost += int64(len(v.appendJSON(nil)))
		return ""
	}
	return outputText(v)
}

// outputText returns what a tool has answered as text: the part that the model
// sees, where it can be told.
func outputText(v value) string {
	switch v.kind {
	case text, number, boolean:
		return v.text
	case array:
		if s := joinParts(v.list); s != "" {
			return s
		}
	case object:
		if out := v.get("stdout"); out.kind == text {
			return strings.TrimSuffix(strings.Join([]string{out.text, v.get("stderr").str()}, "\n"), "\n")
		}
		for _, key := range []string{"output", "llmContent", "textResultForLlm", "text_result_for_llm", "content", "text", "result", "file"} {
			if m := v.get(key); m.kind > null {
				return outputText(m)
			}
		}
		if s := errorString(v.get("error")); s != "" {
			return s
		}
	}
	if v.kind <= null {
		return ""
	}
	return string(v.appendJSON(nil))
}

// joinParts returns the texts of a message in parts, "" when the value is not
// such a message.
func joinParts(list []value) string {
	var texts []string
	for _, p := range list {
		s := cmp.Or(p.str(), p.get("text").str())
		if s == "" {
			return ""
		}
		texts = append(texts, s)
	}
	return strings.Join(texts, "\n")
}

func errorString(v value) string {
	return cmp.Or(v.str(), v.get("message").str())
}

// duration reads milliseconds.
func duration(v value) int64 {
	const most = 1e12
	ms, err := strconv.ParseFloat(v.text, 64)
	if err != nil || !(ms > 0 && ms < most) {
		return 0
	}
	return int64(ms)
}

// middle cuts the middle out of s when it is longer than limit.
func (d *draft) middle(s string, limit int) string {
	out, lost := cutMiddle(s, limit)
	d.clean.lost += lost
	return out
}

func cutMiddle(s string, limit int) (out string, lost int64) {
	if len(s) <= limit {
		return s, 0
	}
	head := clip.Bytes(s, limit/2)
	tail := s[len(s)-limit/2:]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	lost = int64(len(s) - len(head) - len(tail))
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", head, lost, tail), lost
}
