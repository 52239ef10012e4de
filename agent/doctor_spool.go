package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// spoolCodes are the checks of the crash journal.
var spoolCodes = []string{"spool", "spool.losses", "spool.quarantine", "spool.undrained", "spool.parked"}

// lateDrain is how long entries may wait before the doctor warns.
const lateDrain = time.Hour

// checkSpool looks through the crash journal. It takes no lock.
func (d *doctor) checkSpool(ctx context.Context, agent *home.Agent) {
	defer d.checkParked(ctx) // what is parked lies outside the spool
	live := spoolCodes[:len(spoolCodes)-1]
	dir := agent.SpoolDir()
	_, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		for _, code := range live {
			d.judge(code, nil, "no journal yet")
		}
		return
	}
	// The bounds do not matter for reading.
	j, err := journal.Open(dir, JournalOptions(config.Default().Journal, d.o.Clock))
	if err == nil {
		err = checkSpoolFolders(dir)
	}
	if err != nil {
		d.judge("spool", err, "")
		d.skip("the journal cannot be trusted", live[1:]...)
		return
	}
	d.checkFrames(ctx, j)
	d.checkLosses(j)
	d.checkHeld(ctx, j)
	if d.unreached {
		d.checkWaiting(ctx, j)
		return
	}
	d.checkUndrained(ctx, j, agent)
}

// checkSpoolFolders checks that the spool and everything in it is what it should be: folders and files, no
// links, and out of reach of other users.
func checkSpoolFolders(dir string) error {
	if err := checkPrivate(dir, true); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return &amber.Error{Op: "look at folder", Kind: amber.KindInternal, ID: dir, Err: err}
	}
	for _, e := range entries {
		_, notKey := journal.ParseKey(e.Name())
		path := filepath.Join(dir, e.Name())
		if err := checkPrivate(path, notKey == nil); err != nil {
			return err
		}
		if notKey != nil {
			continue
		}
		files, err := os.ReadDir(path)
		if err != nil {
			return &amber.Error{Op: "look at folder", Kind: amber.KindInternal, ID: path, Err: err}
		}
		for _, f := range files {
			if err := checkPrivate(filepath.Join(path, f.Name()), f.Name() == "quarantine"); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkPrivate checks that a path is a folder, or a file, and that only its owner can reach it. A path that is
// gone meanwhile is fine.
func checkPrivate(path string, folder bool) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &amber.Error{Op: "check spool", Kind: amber.KindInternal, ID: path, Err: err}
	case folder && !info.IsDir():
		return amber.Errorf(amber.KindDamaged, "check spool", path, "want a folder, found a file or a link")
	case !folder && !info.Mode().IsRegular():
		return amber.Errorf(amber.KindDamaged, "check spool", path, "want a regular file, found a folder or a link")
	case info.Mode().Perm()&0o077 != 0:
		return amber.Errorf(amber.KindRefused, "check spool", path, "the mode is %04o, want access for the owner only", info.Mode().Perm()).WithHint("chmod go= " + path)
	}
	return nil
}

// checkFrames checks every checksum.
func (d *doctor) checkFrames(ctx context.Context, j *journal.Journal) {
	reports, err := j.Verify(ctx)
	var intact int64
	for _, r := range reports {
		intact += r.Frames
		if err != nil {
			continue
		}
		switch {
		case r.Damage.Any():
			e := amber.Errorf(amber.KindDamaged, "verify journal", string(r.Key), "%s", r.Damage.String()).WithHint("amber journal verify; everything intact is still read")
			err = e
		case r.Error != "":
			err = amber.Errorf(amber.KindInternal, "verify journal", string(r.Key), "%s", r.Error)
		}
	}
	d.judge("spool", err, "%s, %s intact", words.Count(len(reports), "session", "sessions"), words.Count(intact, "entry", "entries"))
}

func (d *doctor) checkLosses(j *journal.Journal) {
	losses, err := j.Losses()
	if err == nil && losses.Count > 0 {
		d.warn("spool.losses", "amber journal status --json", "%s could not be kept, the last one at %s", words.Count(losses.Count, "event", "events"), losses.Last)
		return
	}
	d.judge("spool.losses", err, "every event was kept")
}

func (d *doctor) checkHeld(ctx context.Context, j *journal.Journal) {
	keys, err := j.Keys()
	n := 0
	for _, k := range keys {
		if err == nil {
			err = j.Quarantined(ctx, k, func(journal.Held) error { n++; return nil })
		}
	}
	if err == nil && n > 0 {
		d.warn("spool.quarantine", "amber journal quarantine", "%s set aside", words.Count(n, "file was", "files were"))
		return
	}
	d.judge("spool.quarantine", err, "nothing was set aside")
}

// checkUndrained reports entries that wait for too long.
func (d *doctor) checkUndrained(ctx context.Context, j *journal.Journal, agent *home.Agent) {
	cursor, closeStore, err := d.cursorOf(ctx, j, agent)
	if err != nil {
		d.skip("cannot read how far the journal is drained: "+err.Error(), "spool.undrained")
		return
	}
	defer closeStore()
	var unknown error
	sessions, err := j.List(ctx, func(k journal.Key) (int64, error) {
		n, err := cursor(k)
		unknown = errors.Join(unknown, err)
		return n, err
	})
	if unknown != nil {
		d.skip("cannot read how far the journal is drained: "+unknown.Error(), "spool.undrained")
		return
	}
	var waiting int64
	var oldest amber.Time
	for _, s := range sessions {
		if s.LastError != "" {
			d.warn("spool.undrained", "amber journal status", "session %s cannot be drained: %s", s.Key, s.LastError)
			return
		}
		waiting += s.Undrained
		if s.Undrained > 0 && (oldest.IsZero() || s.Oldest.Before(oldest)) {
			oldest = s.Oldest
		}
	}
	if err == nil && waiting > 0 && d.o.Clock().Sub(oldest.Time()) > lateDrain {
		d.warn("spool.undrained", "amber journal drain", "%s to be drained, the oldest since %s", words.Count(waiting, "entry waits", "entries wait"), oldest)
		return
	}
	d.judge("spool.undrained", err, "%s to be drained", words.Count(waiting, "entry waits", "entries wait"))
}

// checkParked looks whether a restore has left entries behind that
// were neither drained nor removed.
func (d *doctor) checkParked(ctx context.Context) {
	states, err := parking{d.agent}.states(ctx, nil)
	if err != nil {
		d.skip("cannot read the parked sessions: "+err.Error(), "spool.parked")
		return
	}
	for _, p := range states {
		if p.Error != "" {
			d.warn("spool.parked", "amber journal status", "what a restore parked of generation %d cannot be read: %s", p.Generation, p.Error)
			return
		}
	}
	if len(states) > 0 {
		p := states[0]
		hint := fmt.Sprintf("amber journal drain --from-generation %d", p.Generation)
		d.warn("spool.parked", hint, "a restore parked %s of generation %d", words.Count(p.Entries, "entry", "entries"), p.Generation)
		return
	}
	d.judge("spool.parked", nil, "nothing is parked")
}

// cursorOf asks the databases how far the journal is drained, without
// migrating them. Where there is no agent yet nothing is.
func (d *doctor) cursorOf(ctx context.Context, j *journal.Journal, agent *home.Agent) (cursor func(journal.Key) (int64, error), done func() error, err error) {
	if d.isEdge() {
		return d.servedCursor(ctx, j)
	}
	none := func(journal.Key) (int64, error) { return 0, nil }
	_, err = agent.Current()
	if amber.KindOf(err) == amber.KindNotFound {
		return none, func() error { return nil }, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if d.agent.config.OnPostgres() {
		c, err := d.agent.Cursors(ctx)
		return func(k journal.Key) (int64, error) { return c.Of(ctx, j, k) }, c.Close, err
	}
	store, err := sqlite.Open(ctx, agent, sqlite.Options{Clock: d.o.Clock, Random: d.o.Random, KeepSchema: true})
	if err != nil {
		return nil, nil, err
	}
	ingest := store.Store().Ingest
	return func(k journal.Key) (int64, error) { return cursorSeq(ctx, j, ingest, k) }, store.Close, nil
}
