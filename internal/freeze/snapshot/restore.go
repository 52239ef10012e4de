package snapshot

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// Restore implements [wire.Restorer].
func (e *Engine) Restore(ctx context.Context, r wire.RestoreRequest) (wire.RestoreReport, error) {
	s, err := e.restoration(r)
	if err != nil {
		return s.report, err
	}
	err = s.run(ctx, func(replaces bool, fn func(*repository) error) error {
		return e.with(ctx, r.Tenant, func(rep *repository) error {
			if err := s.find(ctx, rep); err != nil {
				return err
			}
			return fn(rep)
		})
	})
	if amber.KindOf(err) == amber.KindNotFound {
		err = s.elsewhere(ctx, err)
	}
	return s.done(ctx, err)
}

// restoration begins a restore. The error is of kind invalid.
func (e *Engine) restoration(r wire.RestoreRequest) (*restoration, error) {
	s := &restoration{e: e}
	r, err := r.Normalize()
	if err != nil {
		return s, err
	}
	if s.fork = r.To != ""; !s.fork {
		r.To = r.Agent
	}
	s.request = r
	s.report = wire.RestoreReport{From: r.ID, Agent: r.To, Restored: []string{}, Checks: []wire.Check{}, DryRun: r.DryRun}
	s.agent, err = e.place.Folder(r.Tenant, r.To)
	return s, err
}

// run plans a restore, replaces the agent or makes it. With opens the
// repository, which the safety snapshot of an agent that is replaced needs, and
// has made the origin known when it calls fn.
func (s *restoration) run(ctx context.Context, with func(replaces bool, fn func(*repository) error) error) error {
	r := s.request
	if s.e.o.Disabled != "" && !r.NoSafetySnapshot && !r.DryRun {
		s.request.NoSafetySnapshot = true
		s.warn("no safety snapshot is taken: %s", s.e.o.Disabled)
	}
	checked := func(replaces bool, do func(*repository) error) error {
		return with(replaces, func(rep *repository) error {
			if err := s.check(); err != nil {
				return err
			}
			return do(rep)
		})
	}
	_, err := s.e.place.Current(ctx, s.agent)
	switch {
	case err == nil && s.fork:
		return amber.Errorf(amber.KindConflict, "restore", string(r.To), "an agent of this name exists; --to-agent needs a new name")
	case err == nil && r.DryRun:
		return checked(false, func(*repository) error {
			if err := s.mayReplace(); err != nil {
				s.warn("the restore would be refused: %v", err)
			}
			if !s.e.place.Copies() {
				return s.plan(ctx)
			}
			return s.e.operate(ctx, s.agent, func(ctx context.Context, _ operation) error {
				if _, err := s.e.refresh(ctx, s.agent); err != nil {
					return err
				}
				return s.plan(ctx)
			})
		})
	case err == nil:
		return s.e.operate(ctx, s.agent, func(ctx context.Context, o operation) error {
			return checked(true, func(rep *repository) error {
				if err := s.mayReplace(); err != nil {
					return err
				}
				if s.e.place.Copies() {
					return s.replaceRows(ctx, o, rep)
				}
				return s.replace(ctx, o, rep)
			})
		})
	case amber.KindOf(err) == amber.KindNotFound && len(r.Only) < 3:
		return amber.Errorf(amber.KindInvalid, "restore", string(s.agent.ID()), "the agent does not exist yet, so --only cannot be used")
	case amber.KindOf(err) == amber.KindNotFound:
		return checked(false, func(*repository) error { return s.make(ctx) })
	case amber.KindOf(err) == amber.KindDamaged:
		return &amber.Error{
			Op: "restore", Kind: amber.KindDamaged, ID: string(r.ID), Err: err,
			Hint: "amber snapshot restore " + string(r.ID) + " --to-agent NEW",
		}
	}
	return err
}

// done ends a restore.
func (s *restoration) done(ctx context.Context, err error) (wire.RestoreReport, error) {
	if s.saved != nil {
		s.e.created(ctx, *s.saved)
	}
	if err == nil && !s.request.DryRun {
		s.e.restored(ctx, s.agent.ID(), s.agent.Tenant(), s.report, s.encrypted)
	}
	return s.report, fail("restore", string(s.request.ID), err)
}

// warn adds a warning to the report.
func (s *restoration) warn(format string, args ...any) {
	s.report.Warnings = append(s.report.Warnings, fmt.Sprintf(format, args...))
}

// restoration is one restore.
type restoration struct {
	e       *Engine
	request wire.RestoreRequest
	agent   *home.Agent // that gets it
	fork    bool        // it was named, and does not exist
	from    origin
	report  wire.RestoreReport
	saved   *wire.SnapshotMeta // the safety snapshot

	redacted  bool // secrets are missing in what is restored
	encrypted bool
	old       int64            // the generation that was live
	whole     bool             // the safety snapshot has all of it
	covered   map[string]int64 // captured journal entries that were drained, by cursor
}

// restores reports whether a part comes from the snapshot.
func (s *restoration) restores(part string) bool {
	if part == partControl {
		return s.request.WithControl
	}
	return slices.Contains(s.request.Only, part)
}

// elsewhere says whose snapshot it is when it is not this agent's.
func (s *restoration) elsewhere(ctx context.Context, err error) error {
	_ = s.e.with(ctx, s.request.Tenant, func(rep *repository) error {
		agents, lerr := rep.catalog.Agents(ctx)
		if lerr != nil {
			return lerr
		}
		for _, id := range agents {
			if _, gerr := rep.catalog.Get(ctx, id, s.request.ID); gerr == nil && id != s.request.Agent {
				e := amber.Errorf(amber.KindCrossTenant, "restore", string(s.request.ID), "the snapshot belongs to agent %s", string(id)).
					WithHint(fmt.Sprintf("amber --agent %s snapshot restore %s --to-agent NEW", id, s.request.ID))
				err = e
				return nil
			}
		}
		return nil
	})
	return err
}

// find makes a snapshot the origin: it reads the manifests and looks for every
// object.
func (s *restoration) find(ctx context.Context, rep *repository) error {
	entry, err := rep.catalog.Get(ctx, s.request.Agent, s.request.ID)
	if amber.KindOf(err) == amber.KindCrossTenant && s.fork {
		err = nil // a new agent may be made of anybody's
	}
	if err != nil {
		return err
	}
	if err := s.trusted(ctx, rep, entry); err != nil {
		return err
	}
	inner, err := rep.inner(ctx, entry.Manifest)
	if err != nil {
		return err
	}
	s.from, s.redacted = &snapshotOrigin{e: s.e, rep: rep, inner: inner}, entry.Manifest.Redacted
	s.encrypted = entry.Manifest.Encrypted
	return rep.NeededBy(ctx, inner, func(id repo.ID, kind repo.Kind) error {
		if !rep.Has(id) {
			return amber.Errorf(amber.KindDamaged, "restore", string(s.request.ID), "%s %s of the snapshot is not in the repository", kind, id).
				WithHint("amber snapshot verify " + string(s.request.ID))
		}
		return nil
	})
}

// trusted refuses a snapshot whose signature does not do.
func (s *restoration) trusted(ctx context.Context, rep *repository, entry repo.Entry) error {
	signature, err := s.e.signature(ctx, entry)
	if err == nil {
		err = s.e.Acceptable(string(s.request.ID), signature)
	}
	s.tellSigner(signature)
	if err != nil || s.request.AcceptUnsigned {
		return err
	}
	return rep.linked(ctx, entry)
}

// tellSigner warns of a snapshot that is not signed, or signed by a key that is not
// trusted here.
func (s *restoration) tellSigner(r sign.SignatureReport) {
	s.report.Signature = r
	switch {
	case r.Status == sign.SignatureMissing:
		s.warn("the snapshot is not signed")
	case r.Status == sign.SignatureValid && r.Standing == sign.StandingStranger:
		s.warn("the snapshot is signed by %s, which is not trusted here", r.KeyID)
	}
}

// mayReplace keeps what was redacted from taking the place of a live agent,
// which has what is missing there.
func (s *restoration) mayReplace() error {
	if !s.redacted || s.request.AcceptRedacted {
		return nil
	}
	return amber.Errorf(amber.KindRefused, "restore", string(s.request.ID), "the snapshot is redacted, and the live agent would lose the removed secrets").
		WithHint("--to-agent NEW restores to a new agent; --accept-redacted replaces the live agent")
}

// check looks whether the origin has what is asked for, and compares the space.
func (s *restoration) check() error {
	held := s.from.databases()
	for _, name := range []string{memoryDB, controlDB} {
		if s.restores(partOf(name)) && !slices.ContainsFunc(held, func(d storedDatabase) bool { return d.name == name }) {
			return amber.Errorf(amber.KindDamaged, "restore", string(s.request.ID), "the snapshot does not hold %s, which could not be read when it was taken", name).
				WithHint("amber snapshot show " + string(s.request.ID) + "; restore other parts with --only")
		}
	}
	return s.space()
}

// slack is what a restore needs beside the data: logs of databases, an index
// of git objects.
const slack = 32 << 20

// space compares what is needed with what is free.
func (s *restoration) space() error {
	needed := slack + s.from.room()
	for _, d := range s.from.databases() {
		if s.restores(partOf(d.name)) {
			needed += d.bytes
		}
	}
	needed += s.carried()
	s.report.Plan.SpaceNeeded = needed
	info, err := fsx.Info(s.e.o.Home.Dir())
	if err != nil {
		return fail("look for space", s.e.o.Home.Dir(), err)
	}
	s.report.Plan.SpaceFree = int64(min(info.FreeBytes, 1<<62))
	if s.report.Plan.SpaceFree < needed && !s.request.DryRun {
		return amber.Errorf(amber.KindQuota, "restore", string(s.request.ID), "the restore needs %d bytes, %d are free", needed, s.report.Plan.SpaceFree).
			WithHint("amber snapshot gc, or free space in " + s.e.o.Home.Dir())
	}
	return nil
}

// carried returns how large the live databases are that are carried over.
func (s *restoration) carried() (bytes int64) {
	c, err := s.agent.Current()
	if err != nil {
		return 0 // there is no such agent yet
	}
	for _, name := range []string{memoryDB, controlDB} {
		if s.restores(partOf(name)) {
			continue
		}
		if info, err := s.e.o.FS.Lstat(filepath.Join(s.agent.GenDir(c), name)); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// replace restores an agent that exists. The caller is inside Operate.
func (s *restoration) replace(ctx context.Context, o operation, rep *repository) error {
	// The last restore may have left an old generation behind. The live generation proves that it
	// may be removed, and will not be live much longer, so it is removed now.
	if err := s.e.migrate(ctx, s.agent); err != nil {
		return err
	}
	if _, err := rep.removeReplaced(ctx, o, s.agent); err != nil {
		s.warn("an old generation could not be removed: %v", err)
	}
	next, err := s.agent.BeginRestore(ctx, string(s.request.ID))
	if err != nil {
		return err
	}
	if err = s.build(ctx, next.Dir()); err == nil {
		err = s.swap(ctx, o, rep, next)
	}
	if err != nil {
		return errors.Join(err, next.Abort())
	}
	s.report.Generation, s.old = next.Current().Generation, next.Replaces()
	return s.clean(ctx, o, rep)
}

// swap stops the writers, saves what they have written, and puts the new
// generation in the place of the old one.
func (s *restoration) swap(ctx context.Context, o operation, rep *repository, next *home.Restore) error {
	if _, err := s.e.refresh(ctx, s.agent); err != nil {
		return err
	}
	request := s.safetyRequest()
	// Most of the safety snapshot is taken before anybody has to wait.
	var rehearsal *capture
	if !s.request.NoSafetySnapshot {
		var err error
		if rehearsal, err = s.e.capture(ctx, s.agent, rep, request, under{fence: s.agent.Exclusive}, nil); err != nil {
			return err
		}
		rehearsal.close()
	}
	// A drain holds the journal and then waits to write, so the journal is taken
	// before the lock. Nothing may be opened once the lock is held.
	hold, err := s.e.holdSpool(ctx, s.agent)
	if err != nil {
		return err
	}
	defer hold.close()
	if err := next.Sync(); err != nil { // what is left to sync later is little
		return err
	}
	s.e.progress(ctx, "put the restored agent in the place of the live one", 0, 0)
	return next.Switch(ctx, func(old home.Current) (amber.Stamp, error) {
		if rehearsal != nil {
			if err := s.save(ctx, o, rep, request, held(old, hold), rehearsal); err != nil {
				return 0, err
			}
		}
		stamp, err := s.settle(ctx, hold, old, next)
		if err == nil && s.whole {
			err = vouch(s.e.o.FS, next.Dir(), replaced{generation: old.Generation, safety: s.report.SafetySnapshot})
		}
		if err == nil {
			err = s.sayOrigin(next.Dir(), old.Generation)
		}
		if err == nil {
			err = o.Ask(ctx)
		}
		return stamp, err
	})
}

// safetyRequest asks for the safety snapshot.
func (s *restoration) safetyRequest() wire.SnapshotRequest {
	return wire.SnapshotRequest{Tenant: s.agent.Tenant(), Agent: s.agent.ID(), Label: wire.LabelBeforeRestore + string(s.request.ID)}
}

// save takes the safety snapshot: the agent as it is once no process writes any more. It takes none
// where no database of the agent can be read.
func (s *restoration) save(ctx context.Context, o operation, rep *repository, r wire.SnapshotRequest, u under, rehearsal *capture) error {
	c, err := s.e.capture(ctx, s.agent, rep, r, u, rehearsal)
	if err != nil {
		return err
	}
	defer c.close()
	if len(c.inner.Databases) == 0 {
		s.warn("no database of the agent can be read: no safety snapshot is taken, and the old generation stays")
		return nil
	}
	meta, err := c.publish(ctx, o.Permit)
	if err != nil {
		return err
	}
	s.report.SafetySnapshot, s.saved = meta.ID, &meta
	s.report.Warnings = append(s.report.Warnings, meta.Warnings...)
	for _, sk := range c.inner.Skipped {
		s.warn("the safety snapshot does not hold %s %s: %s", sk.Part, sk.Path, sk.Reason)
	}
	s.whole = c.complete()
	return nil
}

// settle completes the new generation while everything stands still.
func (s *restoration) settle(ctx context.Context, hold *spool, old home.Current, next *home.Restore) (amber.Stamp, error) {
	if err := s.carry(ctx, old, next.Dir()); err != nil {
		return 0, err
	}
	if err := s.replay(ctx, next.Current()); err != nil {
		return 0, err
	}
	var cursors map[string]int64
	if s.restores(wire.PartMemory) {
		folder, err := s.e.homeOf(s.agent)
		if err != nil {
			return 0, err
		}
		parked, err := hold.Park(ctx, folder.ParkedDir(old.Generation), s.covered)
		if err != nil {
			return 0, err
		}
		s.report.ParkedFrames, cursors = parked.Frames, parked.Floors
		if parked.Frames > 0 {
			s.report.ParkedGeneration = old.Generation
		}
		s.report.Warnings = append(s.report.Warnings, notParked(parked)...)
	}
	return s.adopt(ctx, next.Dir(), s.agent.GenDir(old), next.Current(), cursors)
}

// make restores to an agent that does not exist: on another machine, or as a
// fork. It gets a device of its own.
func (s *restoration) make(ctx context.Context) error {
	if s.request.DryRun {
		return s.planNew(ctx)
	}
	if s.e.place.Copies() {
		return s.makeRows(ctx)
	}
	c, err := s.agent.Fork(ctx, func(dir string, c home.Current) (amber.Stamp, error) { return s.found(ctx, dir, c) })
	if err != nil {
		return err
	}
	s.report.Generation = c.Generation
	return nil
}

// found fills the folder of the first generation of an agent, and returns the latest stamp in it.
func (s *restoration) found(ctx context.Context, dir string, c home.Current) (amber.Stamp, error) {
	if err := s.build(ctx, dir); err != nil {
		return 0, err
	}
	if !s.restores(partControl) {
		if err := sqlite.MakeControl(ctx, filepath.Join(dir, controlDB), c, s.e.writing()); err != nil {
			return 0, err
		}
	}
	if err := s.replay(ctx, c); err != nil {
		return 0, err
	}
	return s.adopt(ctx, dir, "", c, nil)
}

// clean removes the old generation once its last state is in a verified
// snapshot.
func (s *restoration) clean(ctx context.Context, o operation, rep *repository) error {
	s.e.progress(ctx, "read the safety snapshot and remove the old generation", 0, 0)
	list, err := s.e.place.Old(ctx, s.agent)
	if err != nil {
		s.report.OldGeneration = s.old
		s.warn("old generations could not be listed: %v", err)
		return nil
	}
	for _, n := range list {
		switch {
		case n == s.old && (s.request.DiscardOld || s.safe(ctx, rep)):
			if err := o.remove(ctx, s.agent, n); err != nil {
				s.report.OldGeneration = n
				s.warn("generation %d could not be removed: %v", n, err)
			}
		case n == s.old:
			s.report.OldGeneration = n
		default: // an earlier restore has kept it, or died
			s.warn("generation %d was replaced by an earlier restore and stays (amber snapshot gc --old-generations)", n)
		}
	}
	return nil
}

// safe reports whether the agent as it was is in a snapshot, every byte of
// which has been read.
func (s *restoration) safe(ctx context.Context, rep *repository) bool {
	if s.report.SafetySnapshot == "" || !s.whole {
		return false
	}
	ref := wire.SnapshotRef{Tenant: s.agent.Tenant(), Agent: s.agent.ID(), ID: s.report.SafetySnapshot}
	if err := rep.readAll(ctx, ref); err != nil {
		s.warn("the safety snapshot cannot be read, so the old generation stays: %v", err)
		return false
	}
	return true
}
