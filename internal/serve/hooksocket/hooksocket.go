// Package hooksocket is the socket on which a process that has a store open answers hooks of the
// same user: both ends of it, where it lies, and who stands back while hooks are answered.
package hooksocket

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"reflect"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/localsock"
	"github.com/amber-memory/amber/wire"
)

// Bounds of the socket.
const (
	maxConns  = 64
	reading   = 5 * time.Second
	maxBudget = time.Minute
	maxHeader = 8 << 10
)

var (
	requestRules = strictjson.Rules{MaxDepth: 8, MaxElements: wire.MaxKnown}
	requestShape = sync.OnceValue(func() *strictjson.Shape { return strictjson.Of(reflect.TypeFor[wire.NearRequest]()) })
)

// Options say who answers hooks, and which. All but Unfit are required.
type Options struct {
	// Build is what the process was built of: hooks of others are refused.
	Build string
	// Settings is the digest of what answers depend on: hooks with another one are refused.
	// "": none fits any more.
	Settings func() string
	// Context answers a hook. Errors are told to it.
	Context func(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, r wire.ContextRequest) (wire.ContextBlock, error)
	// Unfit is told when a hook of another build or with other settings was refused, or one
	// that could not be understood.
	Unfit   func()
	Traffic *Traffic
	Log     *slog.Logger
}

// Listener answers hooks. It asks for no token: the kernel says that the caller is the user,
// who can read every file of the home anyway.
type Listener struct {
	o        Options
	http     *http.Server
	listener net.Listener
}

// Listen listens at a socket. The caller holds a lock that makes it the only listener. No caller is
// answered before Serve. Errors: those of [localsock.Listen].
func Listen(socket string, o Options) (*Listener, error) {
	l, err := localsock.Listen(socket)
	if err != nil {
		return nil, err
	}
	n := &Listener{o: o}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+wire.NearPath, n.answer)
	mux.HandleFunc("/", n.unknown)
	n.http = &http.Server{
		Handler: o.Traffic.ofHooks(mux), ReadTimeout: reading, WriteTimeout: maxBudget + reading, IdleTimeout: time.Second,
		MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0),
	}
	n.listener = httpapi.Limit(n.http, l, maxConns)
	return n, nil
}

// Serve answers until Close.
func (n *Listener) Serve() {
	if err := n.http.Serve(n.listener); !errors.Is(err, http.ErrServerClosed) {
		n.o.Log.Warn("hooks are not answered any more", "error", err)
	}
}

// Close ends it at once: a hook that is cut off opens the store itself.
func (n *Listener) Close() error { return n.http.Close() }

// Shutdown lets no new caller in. The requests that are being answered have until ctx ends.
func (n *Listener) Shutdown(ctx context.Context) error {
	return errors.Join(n.http.Shutdown(ctx), n.http.Close())
}

// answer answers one hook. That the request is taken is told at once, so that the hook can
// tell a process that works from one that hangs; an error after that is part of the answer.
func (n *Listener) answer(w http.ResponseWriter, r *http.Request) {
	in, err := n.read(http.MaxBytesReader(w, r.Body, wire.MaxNearRequest))
	w.Header().Set("Content-Type", "application/json")
	var out wire.NearAnswer
	if err != nil {
		w.WriteHeader(http.StatusConflict)
	} else {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush() // a caller that is gone is noticed below
		out, err = n.context(r.Context(), in)
	}
	if err != nil {
		out = wire.NearAnswer{Error: err.Error()}
	}
	b, err := json.Marshal(out)
	if err != nil {
		n.o.Log.LogAttrs(r.Context(), slog.LevelError, "answer to a hook", slog.Any("error", err))
		return
	}
	_, _ = w.Write(b)
}

// context builds the context that a hook asks for.
func (n *Listener) context(ctx context.Context, in wire.NearRequest) (wire.NearAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(in.BudgetMS)*time.Millisecond)
	defer cancel()
	b, err := n.o.Context(ctx, in.Tenant, in.Agent, in.Request)
	return wire.NearAnswer{Text: b.Text, Items: b.Items, Degraded: b.Degraded, Late: b.Late}, err
}

// read reads and checks a request. Errors: invalid; refused for a hook of another version
// or with other settings.
func (n *Listener) read(body io.Reader) (in wire.NearRequest, err error) {
	const op = "answer hook"
	b, err := io.ReadAll(body)
	if err != nil {
		return in, &amber.Error{Op: op, Kind: amber.KindInvalid, Err: err}
	}
	if err := requestRules.Decode(b, requestShape(), &in); err != nil {
		n.unfit() // another version may have other fields
		return in, &amber.Error{Op: op, Kind: amber.KindInvalid, Err: err}
	}
	if _, err := amber.ParseTenantID(string(in.Tenant)); err != nil {
		return in, err
	}
	if _, err := amber.ParseAgentID(string(in.Agent)); err != nil {
		return in, err
	}
	if in.BudgetMS < 1 || in.BudgetMS > maxBudget.Milliseconds() {
		return in, amber.Errorf(amber.KindInvalid, op, "", "the budget is %d ms, not 1 to %d", in.BudgetMS, maxBudget.Milliseconds())
	}
	switch settings := n.o.Settings(); {
	case in.Build != n.o.Build:
		err = amber.Errorf(amber.KindRefused, op, "", "the hook is of build %q, this process of %q", in.Build, n.o.Build)
	case in.Settings != settings || settings == "":
		err = amber.Errorf(amber.KindRefused, op, "", "the hook has other settings than this process was started with")
	}
	if err != nil {
		n.unfit()
	}
	return in, err
}

func (n *Listener) unfit() {
	if n.o.Unfit != nil {
		n.o.Unfit()
	}
}

// unknown answers what this build does not know; another one may.
func (n *Listener) unknown(w http.ResponseWriter, r *http.Request) {
	n.unfit()
	http.NotFound(w, r)
}

// Build names a build of the program: only equal ones talk over the socket.
func Build(version, commit string) string { return version + " " + commit }
