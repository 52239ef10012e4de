package gemini

import (
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// turn returns the turn of a message. Messages of the program about itself (info, error, warning) make none.
func turn(o foreign.Object, dir string) (t foreign.Turn) {
	switch o.Text("type") {
	case "user":
		t.Role, t.Content = amber.RoleUser, content(o["content"])
	case "gemini":
		t.Role, t.Content = amber.RoleAssistant, content(o["content"])
		for _, c := range o.List("toolCalls") {
			if c, ok := c.(map[string]any); ok {
				t.Activity = append(t.Activity, activity(c, dir)...)
			}
		}
	}
	return t
}

// content returns the text of a message: a text, a part, or a list of parts. Thoughts are left out.
func content(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case map[string]any:
		return part(v)
	case []any:
		var texts []string
		for _, p := range v {
			s, _ := p.(string)
			if m, ok := p.(map[string]any); ok {
				s = part(m)
			}
			if s != "" {
				texts = append(texts, s)
			}
		}
		return strings.TrimSpace(strings.Join(texts, "\n"))
	}
	return ""
}

func part(p foreign.Object) string {
	if thought, _ := p["thought"].(bool); thought {
		return ""
	}
	if p["inlineData"] != nil || p["fileData"] != nil {
		return "[file]"
	}
	return p.Text("text")
}

func activity(c foreign.Object, dir string) []amber.Activity {
	status := c.Text("status")
	call := foreign.ToolCall{Name: c.Text("name"), Input: foreign.JSON(c["args"]), Directory: dir}
	if status == "error" || status == "cancelled" {
		call.Failed, call.Output = true, said(c)
	}
	return call.Activity()
}

// said returns what a failed tool said.
func said(c foreign.Object) string {
	for _, p := range c.List("result") {
		m, _ := p.(map[string]any)
		if s := foreign.Object(m).Sub("functionResponse").Sub("response").Text("error", "output"); s != "" {
			return s
		}
	}
	return c.Text("resultDisplay")
}
