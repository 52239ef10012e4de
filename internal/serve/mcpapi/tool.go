package mcpapi

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/internal/guard/intake"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/op"
)

// tool is one tool of an operation, and its description for clients.
type tool struct {
	*op.Tool
	listed *mcp.Tool
	in     *jsonschema.Schema
}

// offer describes a tool for clients.
func offer(t *op.Tool) *tool {
	in, changes, destroys, closed := inputOf(t.Args), t.Op.Is(op.Changes), t.Hints&op.Destroys != 0, false
	in.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}} // others are refused
	hints := &mcp.ToolAnnotations{ReadOnlyHint: !changes, DestructiveHint: &destroys, IdempotentHint: !changes || t.Hints&op.Again != 0, OpenWorldHint: &closed}
	if t.Hints&op.Changing != 0 {
		hints.ReadOnlyHint, hints.IdempotentHint = false, false
	}
	return &tool{t, &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Use, InputSchema: in, OutputSchema: outputOf(t.Data, t.Shows), Annotations: hints,
	}, in}
}

// run calls the tool for a caller.
func (t *tool) run(ctx context.Context, b *bound, who op.Caller, raw json.RawMessage) (out answer, err error) {
	args, err := decode(raw, t.in, t.Args)
	if err != nil {
		b.shared.Desk.ObserveTool(t.Name, err, time.Time{})
		return out, err
	}
	row := t.Needs(args)
	var call *op.Call
	err = b.do(ctx, who, t.Name, row, func(ctx context.Context, c *op.Call) (err error) {
		call = c
		out.data, out.text, err = t.Answer(ctx, c, args)
		c.Subject = subjectOf(c.Subject)
		return err
	})
	if err != nil {
		return out, err
	}
	out.redacted = call.Redacted
	return out.toldTo(who, row)
}

// answer is what a tool has to say.
type answer struct {
	text string // for the reader
	data any    // an object, for programs
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

// subjectOf keeps what is no id out of the audit log.
func subjectOf(id string) string {
	if amber.CheckID("subject", id) != nil {
		return ""
	}
	return id
}

// marshal writes JSON without escaping what only HTML would mind.
func marshal(v any) (json.RawMessage, error) {
	b, err := strictjson.Line(v)
	if err != nil {
		return nil, &amber.Error{Op: "write answer", Kind: amber.KindInternal, Err: err}
	}
	return b, nil
}

// toldTo is the answer to a call as its caller may see it: a caller that may change something and may not read gets
// a receipt without stored text.
func (a answer) toldTo(who op.Caller, row *op.Row) (answer, error) {
	if !row.Is(op.Changes) || who.MayRead() {
		return a, nil
	}
	data, err := op.Receipt(a.data)
	a.data, a.text = data, "" // the text is the receipt, too
	return a, err
}
