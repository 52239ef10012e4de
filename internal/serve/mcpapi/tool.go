package mcpapi

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/intake"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// need is what a call takes to be allowed, and whether it is written down.
type need struct {
	scope   wire.TokenScope
	mutates bool
	reads   bool // it shows what is stored while it changes something: the scope read is needed, too
	long    bool // it may take as long as a snapshot does
	// frozen says that it is about snapshots: the live agent is not opened,
	// which may be missing or damaged.
	frozen bool
	// within says that a bound caller may make the call and reaches its own part: see [server.Job].
	within bool
	// marks says that it also marks consolidations.
	marks bool
}

// The needs of most tools.
var (
	reading = need{scope: wire.TokenRead, within: true}
	writing = need{scope: wire.TokenWrite, mutates: true, within: true}
	working = need{scope: wire.TokenWrite, mutates: true, reads: true, within: true}
)

// whole is the same for what belongs to the whole agent.
func (n need) whole() need {
	n.within = false
	return n
}

// tool is one tool: its description for clients, and what it does.
type tool struct {
	mcp.Tool
	need need
	run  func(ctx context.Context, b *bound, who op.Caller, args json.RawMessage) (answer, error)
}

// hints say what a call may do, for clients that ask a person before.
type hints struct {
	destroys bool // something that was there is changed or gone afterwards
	again    bool // doing it twice is as doing it once
}

// define makes a tool of a function over its arguments. Arguments that say
// themselves what they need have a method need.
func define[A any](name, title, description string, n need, h hints, in, out *jsonschema.Schema,
	fn func(ctx context.Context, b *bound, a *op.Call, args A) (answer, error),
) *tool {
	closed := false
	in.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}} // others are refused
	return &tool{
		Tool: mcp.Tool{
			Name: name, Title: title, Description: description, InputSchema: in, OutputSchema: out,
			Annotations: &mcp.ToolAnnotations{
				ReadOnlyHint: !n.mutates, DestructiveHint: &h.destroys, IdempotentHint: h.again || !n.mutates, OpenWorldHint: &closed,
			},
		},
		need: n,
		run: func(ctx context.Context, b *bound, who op.Caller, raw json.RawMessage) (out answer, err error) {
			var args A
			if err := decode(raw, in, &args); err != nil {
				b.shared.Desk.ObserveTool(name, err, time.Time{})
				return out, err
			}
			n := n
			if own, ok := any(args).(interface{ need() need }); ok {
				n = own.need()
			}
			var call *op.Call
			err = b.do(ctx, who, name, n, func(ctx context.Context, a *op.Call) error {
				call = a
				err := frozenParts(n, a)
				if err == nil {
					out, err = fn(ctx, b, a, args)
				}
				a.Did, a.Subject = out.done, subjectOf(out.subject)
				return err
			})
			if err != nil {
				return out, err
			}
			out.redacted = call.Redacted
			return out.toldTo(who, n)
		},
	}
}

// frozenParts checks that an agent has what a call about snapshots works with.
// Errors: unsupported.
func frozenParts(n need, a *op.Call) error {
	if n.frozen && a.Snapshots == nil || n.marks && a.Consolidations == nil {
		return amber.Errorf(amber.KindUnsupported, "find snapshots", "", "this server takes no snapshots of the agent")
	}
	return nil
}

// answer is what a tool has to say.
type answer struct {
	text    string // for the reader
	data    any    // an object, for programs
	subject string // the id it was about, for the audit log
	// done are the ids that were changed one by one, for the audit log, also
	// when it fails after that.
	done []string
	// redacted counts the secrets that were taken out of what it wrote, by rule.
	redacted map[string]int
}

func (a answer) result() (*mcp.CallToolResult, error) {
	b, err := marshal(a.data)
	if err == nil && len(a.redacted) > 0 {
		b, err = a.tell(b)
	}
	if err != nil {
		return nil, err
	}
	if a.text == "" {
		a.text = string(b)
	}
	if len(a.redacted) > 0 {
		a.text += " Secrets were removed before storing: " + intake.Said(a.redacted) + "."
	}
	// Both are read by a model, so neither hides anything from a person nor imitates its host.
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: shown.ForAgent(a.text)}}, StructuredContent: json.RawMessage(shown.JSON(b))}, nil
}

// tell adds the counts of secrets that were taken out to an object.
func (a answer) tell(object json.RawMessage) (json.RawMessage, error) {
	counts, err := marshal(a.redacted)
	if err != nil || len(object) < 2 || object[0] != '{' {
		return object, err
	}
	rest := object[1:]
	if rest[0] != '}' {
		rest = append(json.RawMessage{','}, rest...)
	}
	return slices.Concat(json.RawMessage(`{"redacted":`), counts, rest), nil
}

// fields is the data of an answer that has few fields.
type fields map[string]any

// listed is the text of a list, or none when it is empty.
func listed(lines []string, none string) string {
	if len(lines) == 0 {
		return none
	}
	return strings.Join(lines, "\n")
}

// subjectOf keeps what is no id out of the audit log.
func subjectOf(id string) string {
	if amber.CheckID("subject", id) != nil {
		return ""
	}
	return id
}

// marshal writes JSON without escaping what only HTML would mind.
func marshal(v any) (json.RawMessage, error) {
	var b buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, &amber.Error{Op: "write answer", Kind: amber.KindInternal, Err: err}
	}
	return json.RawMessage(b[:len(b)-1]), nil
}

type buffer []byte

func (b *buffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// toldTo is the answer to a call as its caller may see it: a caller that may change something and may not read gets
// a receipt without stored text.
func (a answer) toldTo(who op.Caller, n need) (answer, error) {
	if !n.mutates || who.MayRead() {
		return a, nil
	}
	data, err := op.Receipt(a.data)
	a.data, a.text = data, "" // the text is the receipt, too
	return a, err
}
