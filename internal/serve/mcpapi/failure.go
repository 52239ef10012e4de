package mcpapi

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// outside is the error as the caller gets it, see [op.Told]. Errors of which a part is hidden, and errors of the
// server itself, go into the log. An error whose words the contract of a tool prescribes stays as it is: it is
// about what the caller asked for.
func (b *bound) outside(ctx context.Context, err error) error {
	var rpc *jsonrpc.Error
	var own *op.Said
	if errors.As(err, &rpc) || errors.As(err, &own) || ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return err
	}
	told, hidden := op.Told(b.who, err)
	if kind := amber.KindOf(err); hidden || kind == amber.KindInternal || kind == amber.KindDamaged {
		b.shared.Log.ErrorContext(ctx, "a call failed", "kind", string(kind), "error", err.Error(), "actor", b.who.Actor(), "request_id", b.who.RequestID)
	}
	return told
}

// failed is the result of a tool that failed: an agent reads it and tries again.
func failed(err error, requestID string) *mcp.CallToolResult {
	f := failureOf(err)
	f.Error.RequestID = requestID
	text := string(f.Error.Kind) + ": " + f.Error.Message
	if f.Error.Hint != "" {
		text += " (" + f.Error.Hint + ")"
	}
	if own, ok := errors.AsType[*op.Said](err); ok {
		text = own.Text
	}
	f.Error.Message, f.Error.Hint = shown.ForAgent(f.Error.Message), shown.ForAgent(f.Error.Hint)
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: shown.ForAgent(text)}}, StructuredContent: f}
}

// maxErrorBytes bounds the message of an error.
const maxErrorBytes = 2000

// clipError cuts the text of an error in an answer and reports whether there was anything to cut.
func clipError(r *jsonrpc.Response) bool {
	var rpc *jsonrpc.Error // its code is told with the words of what wraps it
	if r.Error == nil || len(r.Error.Error()) <= maxErrorBytes || !errors.As(r.Error, &rpc) {
		return false
	}
	r.Error = &jsonrpc.Error{Code: rpc.Code, Message: clip.Marked(r.Error.Error(), maxErrorBytes), Data: rpc.Data}
	return true
}

func failureOf(err error) wire.Failure {
	f := wire.FailureOf(err)
	f.Error.Message = clip.Marked(f.Error.Message, maxErrorBytes)
	return f
}

// firstOfNewProtocol is the version from which a resource that is not there is
// an invalid parameter.
const firstOfNewProtocol = "2026-07-28"

// protocolError is the error of a request that is no call of a tool. An error that has a code of the SDK keeps it.
func protocolError(err error, req mcp.Request) error {
	read, reads := req.(*mcp.ReadResourceRequest)
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) && !(reads && rpc.Code == jsonrpc.CodeInvalidParams) {
		return err
	}
	if rpc != nil {
		err = amber.Errorf(amber.KindNotFound, "read resource", "", "the resource does not exist")
	}
	var known *amber.Error
	if !errors.As(err, &known) {
		return err
	}
	f := failureOf(err)
	data := struct {
		wire.Failure
		URI string `json:"uri,omitempty"`
	}{Failure: f}
	code := f.Error.Kind.MCPCode()
	if reads {
		data.URI = clip.Marked(read.Params.URI, maxErrorBytes)
		if f.Error.Kind == amber.KindNotFound && read.ProtocolVersion() >= firstOfNewProtocol {
			code = jsonrpc.CodeInvalidParams
		}
	}
	b, _ := json.Marshal(data)
	return &jsonrpc.Error{Code: int64(code), Message: f.Error.Message, Data: b}
}
