package repo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// ChainReport says what a check of the chains of an agent has found.
type ChainReport struct {
	Checked    []string
	NotChecked []string
	Damaged    []string
	// Signers are those of each chain in the order of its links, one again when
	// another came between. Whether they are to be trusted is not asked here.
	Signers []ChainSigner

	damage []wire.Damage // what is wrong with chains, with the snapshots
}

// ChainSigner is who signed a stretch of a chain.
type ChainSigner struct {
	Device   string
	KeyID    sign.KeyID
	From, To int64 // the counters of the first and the last link
}

// CheckChain checks the chains of an agent: no link is missing that has no stub, none is there twice, each names the
// one before it, signatures match, no link is without one that comes after a link that has one, and the last link is
// not older than the one that heads returns for a device. Heads returns what is known from elsewhere; it may be nil.
// Without a head the end of the chain is not checked: removing the last snapshots together with their stubs leaves a
// chain without a gap. A change of signers is reported and is no damage. Devices are those that are looked for even
// when nothing of them is there. Damage is no error. Errors: invalid; those of the target.
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
	s.eachSignature(agent, func(record string, _ amber.SnapshotID, sig SignatureState) {
		if err := sig.problem(); err != nil {
			x.report.Damaged = append(x.report.Damaged, record+": "+err.Error())
		}
	})
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
	unreadable map[amber.SnapshotID]excuse
	chain      string // the one that is looked at
	signed     int64  // counter of its last signed link so far; 0 for none
	report     ChainReport
}

func (x *chainCheck) device(device string, links []link, head *Link) {
	x.chain, x.signed = fmt.Sprintf("chain of agent %s, device %s", x.agent, device), 0
	before := link{}
	for _, l := range links {
		x.step(before, l)
		x.signature(l)
		before = l
	}
	if len(links) > 0 {
		x.report.Checked = append(x.report.Checked, fmt.Sprintf("%s: %d links", x.chain, len(links)))
		x.tellSigners(device)
	}
	x.tail(links, head)
}

// step checks a link against the one before it, which is zero before the
// first.
func (x *chainCheck) step(before, l link) {
	switch missing := l.Counter - before.Counter - 1; {
	case missing < 0:
		x.bad(fmt.Sprintf("two snapshots have the counter %d", l.Counter), before.ID, l.ID)
	case missing > 0 && x.excused(l.parentID) && missing <= x.excuses():
		x.notChecked(fmt.Sprintf("counters %d to %d: their records cannot be read", before.Counter+1, l.Counter-1))
	case missing > 0 && x.unreadable[l.parentID] == excuseStub:
		x.bad(fmt.Sprintf("counters %d to %d are missing, and their stub is not signed although counter %d is", before.Counter+1, l.Counter-1, x.signed), l.ID)
	case missing > 0:
		x.bad(fmt.Sprintf("counters %d to %d are missing and have no stub", before.Counter+1, l.Counter-1), l.ID)
	case l.parent != before.Digest || l.parentID != before.ID:
		x.bad(fmt.Sprintf("counter %d does not follow from the one before it", l.Counter), before.ID, l.ID)
	}
}

// excused reports whether a snapshot may stand where a link is missing. Where links are signed, a stub without a
// signature is no excuse: any person could write one.
func (x *chainCheck) excused(id amber.SnapshotID) bool {
	why := x.unreadable[id]
	return why != 0 && (why != excuseStub || x.signed == 0)
}

// excuses counts the snapshots that may stand where links are missing.
func (x *chainCheck) excuses() (n int64) {
	for id := range x.unreadable {
		if x.excused(id) {
			n++
		}
	}
	return n
}

// signature checks that a chain that is signed stays so. A signature that does
// not match has been noted with its record.
func (x *chainCheck) signature(l link) {
	device, n := l.device, len(x.report.Signers)-1
	switch {
	case l.author == "" && !l.untrusted && x.signed > 0:
		x.bad(fmt.Sprintf("counter %d is not signed, but counter %d before it is", l.Counter, x.signed), l.ID)
	case l.author == "":
	case x.signed > 0 && x.report.Signers[n].KeyID == l.author:
		x.report.Signers[n].To, x.signed = l.Counter, l.Counter
	default:
		x.report.Signers = append(x.report.Signers, ChainSigner{Device: device, KeyID: l.author, From: l.Counter, To: l.Counter})
		x.signed = l.Counter
	}
}

// tellSigners says who signed the chain.
func (x *chainCheck) tellSigners(device string) {
	var stretches []string
	for _, s := range x.report.Signers {
		if s.Device == device {
			stretches = append(stretches, fmt.Sprintf("by %s from counter %d to %d", s.KeyID, s.From, s.To))
		}
	}
	if len(stretches) > 0 {
		x.report.Checked = append(x.report.Checked, x.chain+": signed "+strings.Join(stretches, ", "))
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
	case x.excused(head.ID):
		x.notChecked(fmt.Sprintf("tail not checked: the record of the known head, counter %d, cannot be read", head.Counter))
	case head.Counter > tip:
		x.bad(fmt.Sprintf("the chain ends at counter %d, but counter %d was written", tip, head.Counter), head.ID)
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
	x.report.damage = append(x.report.damage, wire.Damage{Object: x.chain, Reason: why, Snapshots: ids})
}
