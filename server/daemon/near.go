package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/block"
	"github.com/amber-memory/amber/internal/localsock"
	"github.com/amber-memory/amber/internal/strictjson"
	"github.com/amber-memory/amber/server/httpapi"
	"github.com/amber-memory/amber/wire"
)

// Bounds of the socket.
const (
	nearConns   = 64
	nearReading = 5 * time.Second
	nearBudget  = time.Minute
	nearHeader  = 8 << 10
)

var (
	nearRules = strictjson.Rules{MaxDepth: 8, MaxElements: wire.MaxKnown}
	nearShape = sync.OnceValue(func() *strictjson.Shape { return strictjson.Of(reflect.TypeFor[wire.NearRequest]()) })
)

// near answers hooks of this home over a socket. It asks for no token: the kernel says that
// the caller is the user, who can read every file of the home anyway.
type near struct {
	*Daemon
	settings string // that agents were opened with
	http     *http.Server
	listener net.Listener
}

// openNear listens for hooks; nil where that is not possible, and then hooks open the store
// themselves.
func (s *Daemon) openNear() *near {
	n := &near{Daemon: s, settings: s.o.Config.Loaded().Config.ContextDigest()}
	l, err := localsock.Listen(filepath.Join(s.o.Home.Dir(), wire.NearSocket))
	if err != nil {
		s.o.Log.Warn("hooks cannot ask this server and open the store themselves", "error", err)
		return nil
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+wire.NearPath, n.answer)
	n.http = &http.Server{
		Handler: s.traffic.ofHooks(mux), ReadTimeout: nearReading, WriteTimeout: nearBudget + nearReading, IdleTimeout: time.Second,
		MaxHeaderBytes: nearHeader, ErrorLog: log.New(io.Discard, "", 0),
	}
	n.listener = httpapi.Limit(n.http, l, nearConns)
	return n
}

// serve answers until close.
func (n *near) serve() {
	if n == nil {
		return
	}
	if err := n.http.Serve(n.listener); !errors.Is(err, http.ErrServerClosed) {
		n.o.Log.Warn("hooks cannot ask this server any more", "error", err)
	}
}

func (n *near) close() error {
	if n == nil {
		return nil
	}
	return n.http.Close()
}

// answer answers one hook. That the request is taken is told at once, so that the hook can
// tell a server that works from one that hangs; an error after that is part of the answer.
func (n *near) answer(w http.ResponseWriter, r *http.Request) {
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

// context builds the context that a hook asks for. Errors: those of opening an agent and of
// the store.
func (n *near) context(ctx context.Context, in wire.NearRequest) (out wire.NearAnswer, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(in.BudgetMS)*time.Millisecond)
	defer cancel()
	a, release, err := n.pool.Agent(ctx, in.Tenant, in.Agent, false)
	if err != nil {
		return out, err
	}
	defer release()
	b, err := block.Build(ctx, a.Store, a.Policy, in.Request, a.Random)
	return wire.NearAnswer{Text: b.Text, Items: b.Items, Degraded: b.Degraded, Late: b.Late}, err
}

// read reads and checks a request. Errors: invalid; refused for a hook of another version
// or with other settings.
func (n *near) read(body io.Reader) (in wire.NearRequest, err error) {
	const op = "answer hook"
	b, err := io.ReadAll(body)
	if err != nil {
		return in, &amber.Error{Op: op, Kind: amber.KindInvalid, Err: err}
	}
	if err := nearRules.Decode(b, nearShape(), &in); err != nil {
		return in, &amber.Error{Op: op, Kind: amber.KindInvalid, Err: err}
	}
	if _, err := amber.ParseTenantID(string(in.Tenant)); err != nil {
		return in, err
	}
	if _, err := amber.ParseAgentID(string(in.Agent)); err != nil {
		return in, err
	}
	switch build := Build(n.o.Version, n.o.Commit); {
	case in.Build != build:
		return in, amber.Errorf(amber.KindRefused, op, "", "the hook is of build %q, the server of %q", in.Build, build)
	case in.Settings != n.settings || n.settings != n.o.Config.Loaded().Config.ContextDigest():
		return in, amber.Errorf(amber.KindRefused, op, "", "the hook has other settings than the server was started with")
	case in.BudgetMS < 1 || in.BudgetMS > nearBudget.Milliseconds():
		return in, amber.Errorf(amber.KindInvalid, op, "", "the budget is %d ms, not 1 to %d", in.BudgetMS, nearBudget.Milliseconds())
	}
	return in, nil
}

// Build names a build of the program: only equal ones talk over the socket.
func Build(version, commit string) string { return version + " " + commit }
