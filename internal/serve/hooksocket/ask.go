package hooksocket

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/internal/serve/localsock"
	"github.com/amber-memory/amber/wire"
)

// askOp is what an error of asking is about.
const askOp = "ask near"

// Ask asks the process behind a socket for context, within the time of ctx, which has an end:
// the budget of the request is what is left of it. Taken is closed when the process has taken
// the request and works on it. Errors: those of [localsock.Dial]; unreachable when it does not
// answer; refused with what it says, as for another version; invalid for an answer that no
// such process gives.
func Ask(ctx context.Context, socket string, r wire.NearRequest, taken chan<- struct{}) (wire.ContextBlock, error) {
	r.BudgetMS = budget(ctx)
	body, err := json.Marshal(r)
	if err != nil {
		return wire.ContextBlock{}, &amber.Error{Op: askOp, Kind: amber.KindInternal, Err: err}
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://amber"+wire.NearPath, bytes.NewReader(body))
	if err != nil {
		return wire.ContextBlock{}, &amber.Error{Op: askOp, Kind: amber.KindInternal, Err: err}
	}
	t := &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return localsock.Dial(ctx, socket) },
		DisableKeepAlives: true, MaxResponseHeaderBytes: maxHeader,
	}
	answer, err := t.RoundTrip(q) // follows no redirection
	if err != nil {
		return wire.ContextBlock{}, &amber.Error{Op: askOp, Kind: amber.KindUnreachable, ID: socket, Err: err}
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK {
		close(taken)
	}
	b, err := io.ReadAll(io.LimitReader(answer.Body, wire.MaxNearAnswer+1))
	if err != nil {
		return wire.ContextBlock{}, &amber.Error{Op: askOp, Kind: amber.KindUnreachable, ID: socket, Err: err}
	}
	return readAnswer(socket, answer.StatusCode, b, r.Request.MaxBytes)
}

// budget is the time that the other end has, in milliseconds: what is left, but for the way
// back.
func budget(ctx context.Context) int64 {
	end, _ := ctx.Deadline()
	return max(1, time.Until(end).Milliseconds()*7/8)
}

// readAnswer reads what came back.
func readAnswer(socket string, status int, b []byte, most int) (block wire.ContextBlock, err error) {
	var in wire.NearAnswer
	if len(b) > wire.MaxNearAnswer {
		return block, amber.Errorf(amber.KindInvalid, askOp, socket, "the answer has more than %d bytes", wire.MaxNearAnswer)
	}
	rules := strictjson.Rules{MaxDepth: 4, MaxElements: wire.MaxKnown}
	if err := rules.Decode(b, strictjson.Of(reflect.TypeFor[wire.NearAnswer]()), &in); err != nil {
		return block, &amber.Error{Op: askOp, Kind: amber.KindInvalid, ID: socket, Err: err}
	}
	switch {
	case status != http.StatusOK || in.Error != "":
		return block, amber.Errorf(amber.KindRefused, askOp, socket, "status %d: %.200q", status, in.Error)
	case len(in.Text) > most || !utf8.ValidString(in.Text):
		return block, amber.Errorf(amber.KindInvalid, askOp, socket, "the text has %d bytes, at most %d were asked for", len(in.Text), most)
	}
	return wire.ContextBlock{Text: in.Text, Items: in.Items, Degraded: in.Degraded, Late: in.Late}, nil
}
