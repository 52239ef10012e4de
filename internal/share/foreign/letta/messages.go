package letta

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// conversation gives out the messages of an agent as a session. An export of Amber holds those of several.
func (d *document) conversation(who, at string, messages []any) error {
	var order []amber.SessionID
	turns := map[amber.SessionID][]foreign.Turn{}
	names := map[amber.SessionID]string{}
	last, repeated := d.created, map[string]int{}
	for i, v := range messages {
		rec, ok := v.(map[string]any)
		if !ok {
			d.to.Skip(d.at(fmt.Sprintf("%s, message %d", at, i+1)), "message is no object")
			continue
		}
		t, ok := d.turn(foreign.Object(rec), foreign.Turn{Place: d.at(fmt.Sprintf("%s, message %d", at, i+1)), At: last})
		if !ok {
			continue
		}
		last = t.At
		t.Key = messageKey(who, rec, t, repeated)
		id, called := foreign.SessionID(formatName, who), who
		if own := foreign.Object(rec).Sub("amber"); amber.CheckID("session id", own.Text("session")) == nil {
			id, called = amber.SessionID(own.Text("session")), own.Text("name")
		}
		if turns[id] == nil {
			order, names[id] = append(order, id), called
		}
		turns[id] = append(turns[id], t)
	}
	for _, id := range order {
		if err := d.session(id, names[id], at, turns[id]); err != nil {
			return err
		}
	}
	return nil
}

// messageKey names a message: its number in the file names nothing outside of it. The same words of the same moment are
// counted.
func messageKey(who string, rec foreign.Object, t foreign.Turn, repeated map[string]int) foreign.Key {
	text := t.Content + t.Compaction
	for _, a := range t.Activity {
		text += "\x00" + a.Name + "\x00" + a.Detail
	}
	key := foreign.Key{who, rec.Text("created_at"), rec.Text("role"), foreign.Hex(foreign.Digest(text))}
	id := strings.Join(key, "\x00")
	if repeated[id]++; repeated[id] > 1 {
		key = append(key, fmt.Sprint(repeated[id]))
	}
	return key
}

func (d *document) session(id amber.SessionID, called, at string, turns []foreign.Turn) error {
	s := foreign.Session{
		Place: d.at(at), ID: id, Name: called, Project: d.o.Project,
		Turns: int64(len(turns)), State: strings.Join(turns[len(turns)-1].Key, " "),
	}
	s.Span(turns)
	if !d.take(s.Place, "the conversation "+string(id)) {
		return nil
	}
	return foreign.Tell(d.to, s, turns)
}

// turn makes a turn of a message; false where a message says nothing.
func (d *document) turn(m foreign.Object, t foreign.Turn) (foreign.Turn, bool) {
	at, err := m.Time("created_at")
	if err != nil {
		d.to.Skip(t.Place, "%v", err)
		return t, false
	}
	t.At = cmp.Or(at, t.At)
	text := textOf(m)
	switch role := m.Text("role"); role {
	case "user":
		t.Role, t.Content = amber.RoleUser, userText(text)
	case "assistant", "approval":
		t.Role, t.Content = amber.RoleAssistant, text
		addCalls(&t, m.List("tool_calls"))
	case "tool", "function":
		t.Role, t.Content = amber.RoleTool, toolText(m, text)
	case "summary":
		t.Role, t.Compaction = amber.RoleSystem, userText(text)
	case "system":
	default:
		d.to.Skip(t.Place, "message has the role %.40q, want user, assistant or tool", role)
	}
	return t, strings.TrimSpace(t.Content) != "" || len(t.Activity) > 0 || t.Compaction != ""
}

// textOf returns what a message says: its text, or the parts that are text.
func textOf(m foreign.Object) string {
	if s := m.Text("content"); s != "" {
		return s
	}
	var parts []string
	for _, v := range m.List("content") {
		part, _ := v.(map[string]any)
		switch p := foreign.Object(part); p.Text("type") {
		case "text":
			parts = append(parts, p.Text("text"))
		case "image":
			parts = append(parts, "[image]")
		case "tool_return":
			parts = append(parts, p.Text("content"))
		case "": // a list of texts
			if s, ok := v.(string); ok {
				parts = append(parts, s)
			}
		}
	}
	if len(parts) == 0 {
		return m.Text("text")
	}
	return strings.Join(parts, "\n")
}

// userText takes the words of a user out of the envelope that older servers put around them, and drops what the server
// said to itself.
func userText(text string) string {
	env, ok := envelope(text)
	switch kind := env.Text("type"); {
	case !ok || kind == "":
		return text
	case kind == "user_message" || kind == "system_alert" && strings.Contains(env.Text("message"), "summar"):
		return env.Text("message")
	case kind == "heartbeat" || kind == "login" || kind == "system_alert":
		return ""
	}
	return text
}

func envelope(text string) (foreign.Object, bool) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return nil, false
	}
	env, err := foreign.ParseRecord([]byte(text))
	return env, err == nil
}

// toolText returns what a tool answered. The answer to send_message says nothing.
func toolText(m foreign.Object, text string) string {
	if m.Text("name") == "send_message" {
		return ""
	}
	for _, v := range m.List("tool_returns") {
		if ret, _ := v.(map[string]any); text == "" {
			text = foreign.Object(ret).Text("func_response", "tool_return")
		}
	}
	if env, ok := envelope(text); ok && env["status"] != nil && env.Text("message") != "" {
		return env.Text("message")
	}
	return text
}

// addCalls adds what an agent did. Where it called send_message, the message is what it said, and the text beside the
// call is only thought.
func addCalls(t *foreign.Turn, calls []any) {
	var said []string
	for _, v := range calls {
		call, _ := v.(map[string]any)
		fn := foreign.Object(call).Sub("function")
		if fn == nil {
			fn = call
		}
		args := fn.Text("arguments")
		if fn.Text("name") == "send_message" {
			if env, ok := envelope(args); ok && env.Text("message") != "" {
				said = append(said, env.Text("message"))
			}
			continue
		}
		if called := strings.TrimSpace(fn.Text("name")); called != "" {
			t.Activity = append(t.Activity, foreign.Block{Name: called, Input: foreign.JSON(args)}.Activity("", foreign.Unknown)...)
		}
	}
	if len(said) > 0 {
		t.Content = strings.Join(said, "\n\n")
	}
}
