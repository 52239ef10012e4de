package capture

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"reflect"
	"sync/atomic"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/proc"
	"github.com/amber-memory/amber/internal/serve/hooksocket"
	"github.com/amber-memory/amber/wire"
)

// attendant answers hooks of one agent, in the process that drains its journal.
type attendant struct {
	hooksocket.Traffic
	listener *hooksocket.Listener
	socket   string
	place    fs.FileInfo      // of the socket
	server   string           // the socket of the server of the home
	config   *config.Reloader // as it is now
	began    config.Config    // as it was
	unfit    atomic.Bool      // a hook has asked that this process must not answer
}

// attend begins to answer hooks from an agent that was opened with a configuration. Errors:
// those of the socket.
func (a *app) attend(at *agent.Agent, c *config.Reloader) (agent.Attendant, error) {
	socket, err := hooksocket.OfHolder(at.BackgroundLock(), a.Getenv, true)
	if err != nil {
		return nil, err
	}
	v := &attendant{
		Traffic: hooksocket.Traffic{Clock: a.Clock, Crowded: proc.Crowded}, server: hooksocket.OfServer(at.Home().Dir()),
		config: c, began: c.Loaded().Config, socket: socket,
	}
	settings := v.began.ContextDigest()
	v.listener, err = hooksocket.Listen(socket, hooksocket.Options{
		Build: hooksocket.Build(a.Version, a.Commit), Settings: func() string { return settings },
		Unfit: func() { v.unfit.Store(true) }, Traffic: &v.Traffic, Log: slog.New(slog.DiscardHandler),
		Context: func(ctx context.Context, tenant amber.TenantID, id amber.AgentID, r wire.ContextRequest) (wire.ContextBlock, error) {
			if tenant != at.Tenant() || id != at.ID() {
				return wire.ContextBlock{}, amber.Errorf(amber.KindRefused, "answer hook", string(id), "this process answers for agent %s of tenant %s", at.ID(), at.Tenant())
			}
			return at.Context(ctx, r)
		},
	})
	if err != nil {
		return nil, err
	}
	if v.place, err = os.Lstat(socket); err != nil {
		return nil, errors.Join(err, v.listener.Close())
	}
	go v.listener.Serve()
	return v, nil
}

// Retires implements [agent.Attendant].
func (v *attendant) Retires(ctx context.Context) bool { return hooksocket.Answers(ctx, v.server) }

// Leaves implements [agent.Attendant]: this process has not what hooks need any more, or they
// cannot find it.
func (v *attendant) Leaves() bool {
	now, _ := v.config.Current() // a file that is broken changes nothing
	place, err := os.Lstat(v.socket)
	return v.unfit.Load() || !reflect.DeepEqual(now, v.began) || err != nil || !os.SameFile(place, v.place)
}

// Politely implements [agent.Attendant].
func (v *attendant) Politely() func(context.Context) {
	return v.Traffic.Politely(hooksocket.LongestRound)
}

// Close implements [agent.Attendant].
func (v *attendant) Close(ctx context.Context) error { return v.listener.Shutdown(ctx) }
