package web

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/wire"
)

// healthScreen is the health of the server and the agent.
type healthScreen struct{ *visit }

func healthRoutes(p *Page) { p.get("/health", on(healthScreen.health)) }

// healthData is what the screen of health shows.
type healthData struct {
	Server wire.ServerHealth
	Agent  amber.Health
	Stats  amber.Stats
	Counts []namedCount
	Queue  amber.Backpressure
	Lag    int64 // entries of the journal that the store has not taken yet

	Asked    bool // the doctor, who reads every row, so not whenever the screen is drawn
	Findings []wire.Finding
	Well     bool
	Whole    bool   // the visitor sees the whole server
	NoDoctor string // why there are no findings

	Restored, Verified amber.Time // through this server; zero: never
	Sparks             []spark
	Every              int // seconds between two samples
}

// namedCount is one number of the store.
type namedCount struct {
	Name  string
	Value int64
}

func (v healthScreen) health() error {
	ctx := v.r.Context()
	server, err := v.api.Health(ctx)
	if err != nil {
		return err
	}
	d := healthData{Server: server, Whole: v.grant.Tenant == "" && v.grant.Agent == "", Every: sampleEvery}
	if err := d.ofAgent(ctx, v.remote); err != nil {
		return err
	}
	s := screen{Title: "Health", Nav: "health", Command: v.command("stats"), Refresh: 30}
	if v.may(wire.TokenAdmin) {
		d.Restored, d.Verified = v.lastEntry(ctx, "snapshot.restore"), v.lastEntry(ctx, "snapshot.verify")
		if d.Asked = v.query("doctor") != ""; d.Asked {
			v.log.forget()
			d.askDoctor(ctx, v.remote)
			s.Command, s.Refresh = v.command("doctor"), 0
		}
	}
	if d.Whole {
		d.Sparks = v.sparks(d)
	}
	return v.render("health", s, d)
}

// ofAgent reads how the agent is doing.
func (d *healthData) ofAgent(ctx context.Context, agent *client.Agent) error {
	store, err := agent.Store(ctx)
	if err != nil {
		return err
	}
	if d.Agent, err = store.LongTerm.Health(ctx); err != nil {
		return err
	}
	if d.Stats, err = store.Stats.Stats(ctx); err != nil {
		return err
	}
	s := d.Stats
	d.Counts = []namedCount{
		{"memories", s.Memories},
		{"forgotten", s.Deleted},
		{"revisions", s.Revisions},
		{"relations", s.Relations},
		{"sessions", s.Sessions},
		{"turns", s.Turns},
		{"summaries of turns", s.Compactions},
		{"suspended loops", s.Loops},
		{"changes", s.Changes},
	}
	if d.Queue, err = store.QueueKeeper.Backpressure(ctx); err != nil && amber.KindOf(err) != amber.KindUnsupported {
		return err
	}
	sessions, err := agent.Journal(ctx)
	if err != nil && amber.KindOf(err) != amber.KindUnsupported {
		return err
	}
	for _, j := range sessions {
		d.Lag += j.Undrained
	}
	return nil
}

// askDoctor lets the agent be checked. Where it cannot be, the screen says why.
func (d *healthData) askDoctor(ctx context.Context, agent *client.Agent) {
	checkup, err := agent.Doctor(ctx, false)
	if err != nil {
		d.NoDoctor = err.Error()
	}
	d.Well, d.Findings = checkup.OK, checkup.Checks
	slices.SortStableFunc(d.Findings, func(a, b wire.Finding) int { return weight(b) - weight(a) })
}

// weight puts findings that need a person before those that are well.
func weight(f wire.Finding) int {
	return map[wire.FindingStatus]int{wire.FindingFailed: 3, wire.FindingWarning: 2, wire.FindingNotChecked: 1}[f.Status]
}

// lastEntry is the time of the newest entry of the audit log for an action that went well with the agent; zero:
// never.
func (v healthScreen) lastEntry(ctx context.Context, action string) amber.Time {
	p, err := v.api.ListAudit(ctx, wire.AuditQuery{Tenant: v.tenant, Agent: v.agent, Action: action, Limit: 10})
	if err != nil {
		return amber.Time{}
	}
	for _, e := range p.Items {
		if e.Outcome == "ok" {
			return e.At
		}
	}
	return amber.Time{}
}
