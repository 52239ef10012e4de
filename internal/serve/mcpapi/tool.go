package mcpapi

import (
	"context"
	"encoding/json"
	"reflect"
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
	scope wire.TokenScope
	kind  op.Kind
}

func (n need) is(k op.Kind) bool { return n.kind&k == k }

// The needs of most tools.
var (
	reading = need{wire.TokenRead, op.Bound}
	writing = need{wire.TokenWrite, op.Changes | op.Bound}
	working = need{wire.TokenWrite, op.Changes | op.Shows | op.Bound}
)

// whole is the same for what belongs to the whole agent.
func (n need) whole() need {
	n.kind &^= op.Bound
	return n
}

// tool is one tool: its description for clients, and what it does.
type tool struct {
	mcp.Tool
	in   *jsonschema.Schema
	need need
	args reflect.Type
	call func(ctx context.Context, b *bound, c *op.Call, args any) (answer, error)
}

// hints say what a call may do, for clients that ask a person before.
type hints struct {
	destroys bool // something that was there is changed or gone afterwards
	again    bool // doing it twice is as doing it once
}

// offer describes a tool of an operation for clients.
func offer(t *op.Tool) *tool {
	h := hints{t.Hints&op.Destroys != 0, t.Hints&op.Again != 0}
	return describe(t.Name, t.Title, t.Use, need{t.Op.Scope, t.Op.Kind}, h, inputOf(t.Args), outputOf(t.Data, t.Shows), t.Args,
		func(ctx context.Context, _ *bound, c *op.Call, args any) (out answer, err error) {
			out.data, out.text, err = t.Answer(ctx, c, args)
			c.Subject = subjectOf(c.Subject)
			return out, err
		})
}

// define makes a tool of a function over its arguments. Arguments that say
// themselves what they need have a method need.
func define[A any](name, title, description string, n need, h hints, in, out *jsonschema.Schema,
	fn func(ctx context.Context, b *bound, a *op.Call, args A) (answer, error),
) *tool {
	return describe(name, title, description, n, h, in, out, reflect.TypeFor[A](), func(ctx context.Context, b *bound, c *op.Call, args any) (answer, error) {
		out, err := fn(ctx, b, c, args.(A))
		c.Did, c.Subject = out.done, subjectOf(out.subject)
		return out, err
	})
}

func describe(name, title, use string, n need, h hints, in, out *jsonschema.Schema, args reflect.Type,
	call func(ctx context.Context, b *bound, c *op.Call, args any) (answer, error),
) *tool {
	closed := false
	in.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}} // others are refused
	return &tool{
		Tool: mcp.Tool{
			Name: name, Title: title, Description: use, InputSchema: in, OutputSchema: out,
			Annotations: &mcp.ToolAnnotations{
				ReadOnlyHint: !n.is(op.Changes), DestructiveHint: &h.destroys, IdempotentHint: h.again || !n.is(op.Changes), OpenWorldHint: &closed,
			},
		},
		in: in, need: n, args: args, call: call,
	}
}

// run calls the tool for a caller.
func (t *tool) run(ctx context.Context, b *bound, who op.Caller, raw json.RawMessage) (out answer, err error) {
	args, err := decode(raw, t.in, t.args)
	if err != nil {
		b.shared.Desk.ObserveTool(t.Name, err, time.Time{})
		return out, err
	}
	n := t.need
	if own, ok := args.(interface{ need() need }); ok {
		n = own.need()
	}
	var call *op.Call
	err = b.do(ctx, who, t.Name, n, func(ctx context.Context, c *op.Call) error {
		call, c.Host, c.House = c, b.Host, b.shared.house
		out, err = t.call(ctx, b, c, args)
		return err
	})
	if err != nil {
		return out, err
	}
	out.redacted = call.Redacted
	return out.toldTo(who, n)
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
	if !n.is(op.Changes) || who.MayRead() {
		return a, nil
	}
	data, err := op.Receipt(a.data)
	a.data, a.text = data, "" // the text is the receipt, too
	return a, err
}
