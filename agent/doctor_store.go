package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/store/storetest"
	"github.com/amber-memory/amber/wire"
)

// databaseCodes are the checks that need open databases.
var databaseCodes = []string{
	"schema", "memory.integrity", "memory.foreign_keys", "memory.full_text", "memory.counters", "memory.rows",
	"control.integrity", "control.counters", "control.rows",
}

// deepLimit is the number of memories up to which the text of every memory is
// compared with the indexes without being asked; it takes about a second.
const deepLimit = 5000

// checkDatabases opens both databases without migrating them and looks
// through them.
func (d *doctor) checkDatabases(ctx context.Context, agent *home.Agent) {
	store, err := sqlite.Open(ctx, agent, sqlite.Options{Clock: d.o.Clock, Random: d.o.Random, KeepSchema: true, Model: d.model()})
	if err != nil {
		d.judge("schema", err, "")
		d.skip("the databases do not open", append(databaseCodes[1:], "clock", indexCode)...)
		return
	}
	defer store.Close()
	if store.ReadOnly() {
		d.warn("read_only", "make the folder writable", "the home is read-only: memory can be read and not changed")
	}
	memory, control, err := store.SchemaVersion(ctx)
	d.judge("schema", err, "memory.db %d, control.db %d", memory, control)
	for _, f := range store.Check(ctx) {
		code := f.File[:len(f.File)-len(".db")] + "." + f.Check
		if f.Check == "full_text" && f.Err == nil {
			d.checkText(ctx, store, code)
			continue
		}
		d.judge(code, f.Err, "%s", f.Scope)
	}
	d.checkClock(ctx, store)
	d.checkIndex(ctx, agent, store)
	d.checkViking(ctx, store)
}

// checkText goes beyond the rows of the full-text indexes where that is cheap
// or asked for, and says how far it went.
func (d *doctor) checkText(ctx context.Context, store *sqlite.Store, code string) {
	if d.failed("locks") {
		d.skip("the indexes have the rows of all memories; comparing their text needs the locks", code)
		return
	}
	stats, err := store.Stats(ctx)
	if err != nil {
		d.judge(code, err, "")
		return
	}
	if store.ReadOnly() {
		d.judge(code, nil, "the indexes have the rows of %s; comparing their text needs a home that can be written", words.Count(stats.Memories, "memory", "memories"))
		return
	}
	if stats.Memories > deepLimit && !d.Deep {
		d.judge(code, nil, "the indexes have the rows of %s; their text was not compared (--deep does)", words.Count(stats.Memories, "memory", "memories"))
		return
	}
	d.judge(code, store.DeepCheck(ctx), "the indexes equal the text of %s", words.Count(stats.Memories, "memory", "memories"))
}

// checkClock compares the wall clock with the newest change.
func (d *doctor) checkClock(ctx context.Context, store *sqlite.Store) {
	d.judge("clock", d.behind(store.LastStamp(ctx)), "not behind the newest change")
}

// behind is an error where the newest change is far ahead of the wall clock.
func (d *doctor) behind(last amber.Stamp, err error) error {
	if ahead := last.Time().Time().Sub(d.o.Clock()); err == nil && ahead > amber.MaxClockSkew {
		return amber.Errorf(amber.KindConflict, "check clock", "", "the newest change is %s ahead of this machine's clock", ahead.Round(1e9)).
			WithHint("set the clock; stamps go on from the newest change meanwhile")
	}
	return err
}

// check looks through the notes' repository.
func (d *doctor) checkNotes(ctx context.Context, agent *home.Agent) {
	guard := snapshot.NotesGuard(agent)
	notes, err := notes.New(notes.Options{Guard: guard, Clock: d.o.Clock})
	if err == nil {
		err = notes.Check(ctx)
	}
	if err != nil {
		d.judge("notes", err, "")
		return
	}
	err = guard.Read(ctx, func(dir string) error {
		_, err := os.Lstat(filepath.Join(dir, ".git"))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		d.checkLostNotes(ctx)
		return
	}
	if err == nil {
		var twins [][]string
		if twins, err = notes.Twins(ctx); err == nil && len(twins) > 0 {
			d.add(twinNotes(twins))
			return
		}
	}
	d.judge("notes", err, "every commit is whole")
}

// twinNotes warns of notes whose names look the same.
func twinNotes(twins [][]string) wire.Finding {
	const most = 5
	var named []string
	for _, t := range twins[:min(len(twins), most)] {
		named = append(named, fmt.Sprintf("%+q", t))
	}
	if more := len(twins) - most; more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	return wire.Finding{
		Code: "notes", Status: wire.FindingWarning,
		Detail: "every commit is whole; names that look the same and are spelled differently: " + strings.Join(named, ", "),
		Hint:   "amber note show NAME of each, write what you want to keep under one, and amber note delete NAME the other",
	}
}

// checkLostNotes asks the snapshots whether there were notes where there are
// none.
func (d *doctor) checkLostNotes(ctx context.Context) {
	if d.failed("config") { // it says where snapshots are
		d.skip("no notes, and it is not known whether there were any", "notes")
		return
	}
	last, err := d.lastWithNotes(ctx)
	switch {
	case err != nil:
		d.skip("no notes, and it is not known whether there were any: "+err.Error(), "notes")
	case last.ID != "":
		d.warn("notes", "amber snapshot restore "+short(last.ID)+" --only notes",
			"the history of the notes is gone; snapshot %s of %s has it", short(last.ID), last.CreatedAt)
	default:
		d.judge("notes", nil, "no notes yet")
	}
}

// lastWithNotes returns the newest snapshot of the agent that has a history of
// notes; none when no snapshot has one.
func (d *doctor) lastWithNotes(ctx context.Context) (last wire.SnapshotMeta, err error) {
	e, err := d.agent.Snapshots(ctx)
	if err != nil {
		return last, err
	}
	var unread error
	err = EachSnapshot(ctx, e, wire.SnapshotQuery{Tenant: d.agent.Tenant(), Agent: d.agent.ID()}, func(m wire.SnapshotMeta) error {
		switch {
		case m.Damage != "":
			unread = amber.Errorf(amber.KindDamaged, "read snapshot", string(m.ID), "%s", m.Damage)
		case m.GitOID != "":
			last = m
			return errFound
		}
		return nil
	})
	if errors.Is(err, errFound) {
		return last, nil
	}
	return last, errors.Join(err, unread)
}

// errFound ends a search.
var errFound = errors.New("found")

// checkPromises runs the store's suite on a temporary store.
func (d *doctor) checkPromises(ctx context.Context) {
	dir, err := os.MkdirTemp("", "amber-doctor-")
	if err != nil {
		d.judge("promises", &amber.Error{Op: "make temporary folder", Kind: amber.KindInternal, Err: err}, "")
		return
	}
	report, err := storetest.Run(ctx, storetest.Backend{
		Name: "sqlite", Durable: true, Shared: true,
		Fresh: func() (storetest.Place, error) {
			place, err := os.MkdirTemp(dir, "")
			return temporary(place), err
		},
	})
	err = errors.Join(err, os.RemoveAll(dir))
	d.judge("promises", err, "%d promises kept on a temporary store, %d not run", len(report.Passed), len(report.NotRun))
}

// temporary is a folder the suite opens stores in.
type temporary string

func (t temporary) Open(ctx context.Context, env storetest.Env) (amber.Store, io.Closer, error) {
	h, _, err := home.Open(filepath.Join(string(t), "home"), home.Options{Clock: env.Clock, Random: env.Random})
	if err != nil {
		return amber.Store{}, nil, err
	}
	agent, err := h.Agent(amber.DefaultTenant, amber.DefaultAgent)
	if err != nil {
		return amber.Store{}, nil, err
	}
	s, err := sqlite.Open(ctx, agent, sqlite.Options{Clock: env.Clock, Random: env.Random, Queue: env.Queue})
	if err != nil {
		return amber.Store{}, nil, err
	}
	return s.Store(), s, nil
}

func (t temporary) Remove() error { return os.RemoveAll(string(t)) }
