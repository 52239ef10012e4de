package foreign

import (
	"encoding/json"
	"strings"
)

// Item is one item of a conversation as OpenAI's Responses API has it. Codex and the Agents SDK keep such items.
type Item struct {
	Type   string // "message" also where an item has a role alone
	Role   string
	Parts  []string // the texts of a message
	CallID string
	Call   *ToolCall // what a tool was asked for
	Output string    // what a tool answered
	Failed bool      // the answer says so
}

// ParseItem reads an item.
func ParseItem(raw []byte) (Item, error) {
	o, err := ParseObject(raw)
	if err != nil {
		return Item{}, err
	}
	it := Item{Type: o.Text("type"), Role: o.Text("role"), CallID: o.Text("call_id", "id")}
	if it.Type == "" && it.Role != "" {
		it.Type = "message"
	}
	switch {
	case it.Type == "message":
		it.Parts = messageParts(o["content"])
	case strings.HasSuffix(it.Type, "_call"):
		it.Call = callOf(it.Type, o.Text("name"), raw)
	case strings.HasSuffix(it.Type, "_call_output"):
		it.Output, it.Failed = toolAnswer(o["output"])
	}
	return it, nil
}

// Text returns the parts of a message as one text.
func (it Item) Text() string { return strings.Join(it.Parts, "\n") }

func callOf(typ, name string, raw []byte) *ToolCall {
	if name == "" {
		name = strings.TrimSuffix(typ, "_call")
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) == nil {
		for _, member := range []string{"arguments", "input", "action"} {
			if v := members[member]; len(v) > 0 && string(v) != "null" {
				return &ToolCall{Name: name, Input: v}
			}
		}
	}
	return &ToolCall{Name: name}
}

// messageParts returns the texts of the content of a message: a text, or a list of parts.
func messageParts(content any) []string {
	if s, ok := content.(string); ok && s != "" {
		return []string{s}
	}
	list, _ := content.([]any)
	var out []string
	for _, p := range list {
		if s := messagePart(p); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func messagePart(v any) string {
	m, _ := v.(map[string]any)
	p := Object(m)
	switch p.Text("type") {
	case "input_image", "image", "image_url":
		return "[image]"
	case "input_file", "file":
		return "[file]"
	case "input_audio", "audio":
		if s := p.Text("transcript"); s != "" {
			return s
		}
		return "[audio]"
	case "refusal":
		return p.Text("refusal")
	}
	return p.Text("text")
}

// toolAnswer returns what a tool answered, and whether it says that it failed.
func toolAnswer(v any) (text string, failed bool) {
	switch v := v.(type) {
	case string:
		if inner, err := ParseObject([]byte(v)); err == nil && inner["output"] != nil {
			return toolAnswer(map[string]any(inner))
		}
		return v, exitedBadly(v)
	case []any:
		return strings.Join(messageParts(v), "\n"), false
	case map[string]any:
		o := Object(v)
		body := o["output"]
		if body == nil {
			body = o["content"]
		}
		if body == nil {
			return "", false
		}
		if m, ok := body.(map[string]any); ok { // no deeper: no program nests an answer in an answer in an answer
			return Object(m).Text("output", "content", "text"), o["success"] == false
		}
		text, failed = toolAnswer(body)
		code := o.Sub("metadata").Text("exit_code")
		return text, failed || o["success"] == false || code != "" && code != "0"
	}
	return "", false
}

// exitedBadly reports whether the head of an answer names an exit code that is not 0.
func exitedBadly(s string) bool {
	n := 0
	for line := range strings.Lines(s) {
		for _, before := range []string{"Exit code: ", "Process exited with code "} {
			if code, ok := strings.CutPrefix(line, before); ok {
				return strings.TrimSpace(code) != "0"
			}
		}
		if n++; n == 6 || strings.HasPrefix(line, "Output:") {
			break
		}
	}
	return false
}
