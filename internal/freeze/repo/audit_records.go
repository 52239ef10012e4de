package repo

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/wire/sign"
)

// records checks everything that is neither a pack nor an index object.
func (a *audit) records(ctx context.Context) (err error) {
	if a.stock, err = a.catalog.stock(ctx, true); err != nil {
		return err
	}
	stubs := 0
	for _, agent := range sortedKeys(a.stock.shelves) {
		s := a.stock.shelves[agent]
		a.manifestsAndStubs(agent, s)
		stubs += len(s.stubs)
	}
	a.checked("%d manifests, %d stubs", len(a.stock.entries)+len(a.stock.halves), stubs)
	a.signatures()
	if err := a.pins(ctx); err != nil {
		return err
	}
	return a.condemned(ctx)
}

func (a *audit) manifestsAndStubs(agent amber.AgentID, s *shelf) {
	for _, id := range sortedKeys(s.manifests) {
		e := s.manifests[id]
		if e.Problem != nil {
			a.problem(recordName(manifestPrefix, agent, id), e.Problem, id)
		}
		stub, ok := s.stubs[id]
		if ok && stub.problem == nil && !stub.stub.signature.Untrusted() && e.Problem == nil && !s.deleted(id) {
			a.problem(recordName(stubPrefix, agent, id), stub.stub.misfit(e), id)
		}
	}
	for _, id := range sortedKeys(s.stubs) {
		if err := s.stubs[id].problem; err != nil {
			a.problem(recordName(stubPrefix, agent, id), err, id)
		}
	}
}

// misfit says why a stub whose signature is not to blame does not take the
// manifest beside it away.
func (s *storedStub) misfit(e Entry) error {
	if s.Digest != e.Digest {
		return errors.New("the record names another manifest than the one in the repository")
	}
	return errors.New("the record is not signed, but the manifest is")
}

// signatures checks those of all manifests and stubs.
func (a *audit) signatures() {
	valid, unsigned := 0, 0
	for _, agent := range sortedKeys(a.stock.shelves) {
		s := a.stock.shelves[agent]
		s.eachSignature(agent, func(record string, id amber.SnapshotID, sig SignatureState) {
			switch sig.Status {
			case sign.SignatureValid:
				valid++
			case sign.SignatureMissing:
				unsigned++
			default:
				a.problem(record, sig.problem(), id)
			}
		})
	}
	a.checked("signatures: %d valid, %d unsigned", valid, unsigned)
}

// pins checks all pins. One of a snapshot that is not there and has no stub
// says that its manifest got lost.
func (a *audit) pins(ctx context.Context) error {
	n := 0
	err := a.repo.target.List(ctx, pinPrefix, func(o target.Object) error {
		agent, id, ok := placeOf(pinPrefix, o.Name)
		if !ok {
			return nil
		}
		n++
		switch err := a.catalog.readPin(ctx, agent, id); {
		case amber.KindOf(err) == amber.KindNotFound: // meanwhile
		case err != nil && !isProblem(err):
			return err
		case err != nil:
			a.problem(o.Name, err, id)
		case !a.known(agent, id):
			a.problem(o.Name, errors.New("the pinned snapshot is missing and has no stub"), id)
		}
		return nil
	})
	a.checked("%d pins", n)
	return err
}

// known reports whether there is a manifest or a stub of a snapshot.
func (a *audit) known(agent amber.AgentID, id amber.SnapshotID) bool {
	s := a.stock.shelves[agent]
	if s == nil {
		return false
	}
	_, manifest := s.manifests[id]
	_, stub := s.stubs[id]
	return manifest || stub
}

func (a *audit) condemned(ctx context.Context) error {
	c, err := readCondemned(ctx, a.repo.target)
	if amber.KindOf(err) == amber.KindTooNew {
		a.notChecked("lists of condemned packs: %v", reasonOf(err))
		return nil
	}
	if err != nil {
		return err
	}
	for _, err := range c.damaged {
		if e, ok := errors.AsType[*amber.Error](err); ok {
			a.problem(e.ID, err)
		}
	}
	a.checked("%d lists of condemned packs", len(c.objects))
	return nil
}

// chains checks the chains of all agents.
func (a *audit) chains(ctx context.Context, known func(amber.AgentID, string) (Link, bool), expect []ChainName) error {
	devices := map[amber.AgentID][]string{}
	for agent := range a.stock.shelves {
		devices[agent] = nil
	}
	for _, x := range expect {
		devices[x.Agent] = append(devices[x.Agent], x.Device)
	}
	for _, agent := range sortedKeys(devices) {
		heads := func(device string) (Link, bool) {
			if known == nil {
				return Link{}, false
			}
			return known(agent, device)
		}
		r, err := a.catalog.CheckChain(ctx, agent, heads, devices[agent]...)
		if err != nil {
			return err
		}
		a.report.Checked = append(a.report.Checked, r.Checked...)
		a.report.NotChecked = append(a.report.NotChecked, r.NotChecked...)
		for _, d := range r.damage {
			a.found.addNew(d.Object, d.Reason, d.Snapshots...)
		}
	}
	return nil
}

// keys checks all key records. An older record beside the newest was left by a process that died, and means nothing.
func (a *audit) keys(ctx context.Context) error {
	serials, err := keySerials(ctx, a.repo.target)
	if err != nil {
		return err
	}
	for _, serial := range serials {
		switch _, err := readKeyRecord(ctx, a.repo.target, serial); {
		case amber.KindOf(err) == amber.KindNotFound: // meanwhile
		case err != nil && !isProblem(err):
			return err
		case err != nil:
			a.problem(keyRecordName(serial), err)
		}
	}
	// The newest record may have other damage than that, or there may be no record where there must be one.
	c := a.repo.keys()
	if c.damage != nil && a.found.byObject[c.damage.Object] == nil {
		a.found.add(c.damage.Object, c.damage.Reason)
	}
	if len(serials) > 0 {
		a.checked("%d key records", len(serials))
	}
	return nil
}

// whyLocked says why what is encrypted was not looked at.
func (a *audit) whyLocked() string {
	if a.repo.keys().damage != nil {
		return "the key record cannot be read"
	}
	return "no identity opens the repository key"
}
