package repo

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
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
		if stub, ok := s.stubs[id]; ok && stub.problem == nil && e.Problem == nil && !s.deleted(id) {
			a.problem(recordName(stubPrefix, agent, id), errors.New("it is about another manifest than the one that is there"), id)
		}
	}
	for _, id := range sortedKeys(s.stubs) {
		if err := s.stubs[id].problem; err != nil {
			a.problem(recordName(stubPrefix, agent, id), err, id)
		}
	}
}

// pins checks all pins. One of a snapshot that is not there and has no stub
// says that its manifest got lost.
func (a *audit) pins(ctx context.Context) error {
	n := 0
	err := a.repo.target.List(ctx, pinPrefix, func(o amber.Object) error {
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
			a.problem(o.Name, errors.New("the snapshot it pins is missing, and there is no stub of it"), id)
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
		var e *amber.Error
		if errors.As(err, &e) {
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
