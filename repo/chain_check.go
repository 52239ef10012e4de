package repo

import (
	"context"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
)

// ChainReport says what a check of the chains of an agent has found.
type ChainReport struct {
	Checked    []string
	NotChecked []string
	Damaged    []string

	damage []amber.Damage // the same, with the snapshots
}

// CheckChain checks the chains of an agent: no link is missing that has no
// stub, none is there twice, each names the one before it, and the last one is
// not older than the one that heads tells for a device. Heads is what is known
// from elsewhere; it may be nil. Where it knows nothing the end of the chain is
// not checked: whoever takes the last snapshots away together with their stubs
// leaves a chain without a gap. Devices are those that are looked for even when
// nothing of them is there. Damage is no error. Errors: invalid; those of the
// target.
func (c *Catalog) CheckChain(ctx context.Context, agent amber.AgentID, heads func(device string) (Link, bool), devices ...string) (ChainReport, error) {
	r, err := c.checkChain(ctx, agent, heads, devices)
	if err != nil || len(r.Damaged) == 0 {
		return r, err
	}
	// A listing need not be of one instant: a link that was written meanwhile
	// may be missing and the next one not. A gap is there at the second look too.
	return c.checkChain(ctx, agent, heads, devices)
}

func (c *Catalog) checkChain(ctx context.Context, agent amber.AgentID, heads func(string) (Link, bool), devices []string) (ChainReport, error) {
	s, err := c.shelf(ctx, agent, true)
	if err != nil {
		return ChainReport{}, err
	}
	byDevice := map[string][]link{}
	devices = slices.Clone(devices)
	for _, l := range s.links() {
		byDevice[l.device] = append(byDevice[l.device], l)
		devices = append(devices, l.device)
	}
	slices.Sort(devices)
	x := &chainCheck{agent: agent, unreadable: s.unreadable()}
	for _, device := range slices.Compact(devices) {
		var head *Link
		if heads != nil {
			if l, ok := heads(device); ok {
				head = &l
			}
		}
		x.device(device, byDevice[device], head)
	}
	return x.report, nil
}

// chainCheck is one check.
type chainCheck struct {
	agent      amber.AgentID
	unreadable map[amber.SnapshotID]bool
	chain      string // the one that is looked at
	report     ChainReport
}

func (x *chainCheck) device(device string, links []link, head *Link) {
	x.chain = fmt.Sprintf("chain of agent %s, device %s", x.agent, device)
	before := link{}
	for _, l := range links {
		x.step(before, l)
		before = l
	}
	if len(links) > 0 {
		x.report.Checked = append(x.report.Checked, fmt.Sprintf("%s: %d links", x.chain, len(links)))
	}
	x.tail(links, head)
}

// step checks a link against the one before it, which is zero before the
// first.
func (x *chainCheck) step(before, l link) {
	switch missing := l.Counter - before.Counter - 1; {
	case missing < 0:
		x.bad(fmt.Sprintf("two snapshots have the counter %d", l.Counter), before.ID, l.ID)
	case missing > 0 && x.unreadable[l.parentID] && missing <= int64(len(x.unreadable)):
		x.notChecked(fmt.Sprintf("counters %d to %d: their records cannot be read", before.Counter+1, l.Counter-1))
	case missing > 0:
		x.bad(fmt.Sprintf("counters %d to %d are missing, and there is no stub of them", before.Counter+1, l.Counter-1), l.ID)
	case l.parent != before.Digest || l.parentID != before.ID:
		x.bad(fmt.Sprintf("counter %d does not follow from the one before it", l.Counter), before.ID, l.ID)
	}
}

// tail compares the end of a chain with the one that is known from elsewhere.
func (x *chainCheck) tail(links []link, head *Link) {
	if head == nil {
		x.notChecked("tail not checked: no known head")
		return
	}
	for _, l := range links {
		if l.Link == *head {
			return
		}
	}
	tip := int64(0)
	if len(links) > 0 {
		tip = links[len(links)-1].Counter
	}
	switch {
	case x.unreadable[head.ID]:
		x.notChecked(fmt.Sprintf("tail not checked: the record of the known head, counter %d, cannot be read", head.Counter))
	case head.Counter > tip:
		x.bad(fmt.Sprintf("it ends at counter %d, and counter %d was written", tip, head.Counter), head.ID)
	default:
		x.bad(fmt.Sprintf("counter %d is not the snapshot that was written", head.Counter), head.ID)
	}
}

func (x *chainCheck) notChecked(what string) {
	x.report.NotChecked = append(x.report.NotChecked, x.chain+": "+what)
}

func (x *chainCheck) bad(why string, ids ...amber.SnapshotID) {
	x.report.Damaged = append(x.report.Damaged, x.chain+": "+why)
	ids = slices.DeleteFunc(ids, func(id amber.SnapshotID) bool { return id == "" })
	x.report.damage = append(x.report.damage, amber.Damage{Object: x.chain, Reason: why, Snapshots: ids})
}
