package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/localsock"
	"github.com/amber-memory/amber/internal/strictjson"
	"github.com/amber-memory/amber/server/daemon"
	"github.com/amber-memory/amber/wire"
)

// nearSocket returns the socket of the server of the home; "" where there is none.
func (a *app) nearSocket() string {
	dir, err := a.HomeDir()
	if err != nil {
		return ""
	}
	path := filepath.Join(dir, wire.NearSocket)
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}

// askNear asks the server of the home for context. Errors: those of [localsock.Dial];
// unreachable when it does not answer; refused with what it says, as for another version;
// invalid for an answer that no server gives. Taken is closed when the server has taken the
// request and works on it.
func (a *app) askNear(ctx context.Context, socket string, c config.Config, r wire.ContextRequest, taken chan<- struct{}) (wire.ContextBlock, error) {
	const op = "ask server"
	build := thisBuild()
	body, err := json.Marshal(wire.NearRequest{
		Build: daemon.Build(build.Version, build.Commit), Settings: c.ContextDigest(), Tenant: amber.TenantID(a.Global.Tenant), Agent: amber.AgentID(a.Global.Agent),
		BudgetMS: nearBudget(ctx), Request: r,
	})
	if err != nil {
		return wire.ContextBlock{}, &amber.Error{Op: op, Kind: amber.KindInternal, Err: err}
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://amber"+wire.NearPath, bytes.NewReader(body))
	if err != nil {
		return wire.ContextBlock{}, &amber.Error{Op: op, Kind: amber.KindInternal, Err: err}
	}
	t := &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return localsock.Dial(ctx, socket) },
		DisableKeepAlives: true, MaxResponseHeaderBytes: 8 << 10,
	}
	answer, err := t.RoundTrip(q) // follows no redirection
	if err != nil {
		return wire.ContextBlock{}, &amber.Error{Op: op, Kind: amber.KindUnreachable, ID: socket, Err: err}
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK {
		close(taken)
	}
	b, err := io.ReadAll(io.LimitReader(answer.Body, wire.MaxNearAnswer+1))
	if err != nil {
		return wire.ContextBlock{}, &amber.Error{Op: op, Kind: amber.KindUnreachable, ID: socket, Err: err}
	}
	return readNear(socket, answer.StatusCode, b, r.MaxBytes)
}

// nearBudget is the time that a server has, in milliseconds: what is left, but for the way
// back.
func nearBudget(ctx context.Context) int64 {
	end, _ := ctx.Deadline()
	return max(1, time.Until(end).Milliseconds()*7/8)
}

// readNear reads what a server answers.
func readNear(socket string, status int, b []byte, most int) (block wire.ContextBlock, err error) {
	const op = "ask server"
	var in wire.NearAnswer
	if len(b) > wire.MaxNearAnswer {
		return block, amber.Errorf(amber.KindInvalid, op, socket, "the answer has more than %d bytes", wire.MaxNearAnswer)
	}
	rules := strictjson.Rules{MaxDepth: 4, MaxElements: wire.MaxKnown}
	if err := rules.Decode(b, strictjson.Of(reflect.TypeFor[wire.NearAnswer]()), &in); err != nil {
		return block, &amber.Error{Op: op, Kind: amber.KindInvalid, ID: socket, Err: err}
	}
	switch {
	case status != http.StatusOK || in.Error != "":
		return block, amber.Errorf(amber.KindRefused, op, socket, "status %d: %.200q", status, in.Error)
	case len(in.Text) > most || !utf8.ValidString(in.Text):
		return block, amber.Errorf(amber.KindInvalid, op, socket, "the text has %d bytes, at most %d were asked for", len(in.Text), most)
	}
	return wire.ContextBlock{Text: in.Text, Items: in.Items, Degraded: in.Degraded, Late: in.Late}, nil
}
