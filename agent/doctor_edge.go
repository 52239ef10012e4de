package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/wire"
)

// doctorPatience is how long the doctor waits for the server of an edge.
const doctorPatience = 10 * time.Second

func (d *doctor) isEdge() bool { return d.ConfigErr == nil && d.o.Config != nil && d.o.Config.IsEdge() }

// examineEdge examines a home that keeps the crash journal, and asks the server where memory
// lies whether it is there and takes the token.
func (d *doctor) examineEdge(ctx context.Context) {
	h, agent, err := d.lookAtHome()
	if _, lerr := os.Lstat(d.o.Home); err == nil && errors.Is(lerr, fs.ErrNotExist) {
		d.add(wire.Finding{Code: "home", Status: wire.FindingWarning, Detail: "no home at " + d.o.Home + " yet; the first event makes it"})
	} else {
		d.judge("home", err, "%s", d.o.Home)
		if err == nil {
			d.checkModes(h.Dir())
		}
	}
	d.checkDisk(d.o.Home)
	if err != nil {
		return
	}
	d.checkWritable(agent.SpoolDir())
	d.unreached = !d.checkServer(ctx)
	d.checkSpool(ctx, agent)
	if _, err := agent.Current(); err == nil {
		d.warn("current", "AMBER_MEMORY__BACKEND=sqlite amber export takes its memories out, and amber import brings them to the server",
			"this home also holds a store of its own, which is not used while memory.backend is remote")
	}
	if d.Deep {
		d.skip("there is no store on this disk: "+d.deepHint(), "promises")
	}
}

func (d *doctor) deepHint() string {
	return "amber doctor --deep --remote " + d.agent.config.Memory.Backends.Remote.URL + " examines that of the server"
}

// checkWritable checks that events can be appended. It writes nothing.
func (d *doctor) checkWritable(spool string) {
	dir := spool
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
	}
	var err error
	if fsx.ReadOnly(dir) {
		err = amber.Errorf(amber.KindRefused, "check spool", dir, "the folder cannot be written to, so no event can be kept").WithHint("chmod u+rwx " + dir)
	}
	d.judge("spool.writable", err, "%s", spool)
}

// checkServer asks the server what the agent can do there, which takes a token that reaches
// it, and reports whether that is known.
func (d *doctor) checkServer(ctx context.Context) bool {
	c := d.agent.config
	s, err := d.agent.serverOf(c, client.Options{Attempts: 2, Patience: doctorPatience})
	if err != nil { // of the token or the certificates
		d.skip("it was not asked", "server")
		d.judge("server.token", err, "")
		return false
	}
	defer s.client.Close()
	_, err = s.Store(ctx)
	switch amber.KindOf(err) {
	case amber.KindRefused, amber.KindNotFound, amber.KindCrossTenant:
		d.judge("server", nil, "%s answers", c.Memory.Backends.Remote.URL)
		if e := (*amber.Error)(nil); errors.As(err, &e) && e.Hint == "" {
			err = e.WithHint("amber token create on the machine of the server makes a token; its file is memory.backends.remote.token_file")
		}
		d.judge("server.token", err, "")
		return false
	case "":
		d.judge("server", nil, "%s answers", c.Memory.Backends.Remote.URL)
		d.judge("server.token", nil, "accepted for agent %s of tenant %s", d.agent.ID(), d.agent.Tenant())
		return true
	}
	d.judge("server", err, "")
	d.skip("the server was not reached", "server.token")
	return false
}

// checkWaiting counts what the journal holds when it is not known what the server has of it.
func (d *doctor) checkWaiting(ctx context.Context, j *journal.Journal) {
	sessions, err := j.List(ctx, func(journal.Key) (int64, error) { return 0, nil })
	var entries int64
	for _, s := range sessions {
		entries += s.Entries
	}
	if err == nil && entries > 0 {
		d.warn("spool.undrained", "amber journal drain, once the server answers", "%s in the journal; how many of them the server has is not known", words.Count(entries, "entry is", "entries are"))
		return
	}
	d.judge("spool.undrained", err, "0 entries wait to be drained")
}

// servedCursor asks the server how far the journal is drained.
func (d *doctor) servedCursor(ctx context.Context, j *journal.Journal) (cursor func(journal.Key) (int64, error), done func() error, err error) {
	cursors, err := d.agent.Cursors(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, cursors.Close())
	}
	return func(k journal.Key) (int64, error) { return cursors.Of(ctx, j, k) }, cursors.Close, nil
}
