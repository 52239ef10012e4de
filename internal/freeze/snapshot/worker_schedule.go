package snapshot

import (
	"context"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/timetable"
	"github.com/amber-memory/amber/wire"
)

// LabelScheduled is the label of snapshots that are taken because it was time.
const LabelScheduled = "auto:scheduled"

const (
	// schedulePoll is how often the worker checks whether a snapshot is due: the resolution of a
	// schedule.
	schedulePoll = time.Minute
	// scheduleRetry is how long an agent whose snapshot failed has peace.
	scheduleRetry = 15 * time.Minute
	// scheduleLook is how many of the newest snapshots are looked at to find one
	// that can be read.
	scheduleLook = 16
)

// Taker is what a schedule needs of a snapshotter.
type Taker interface {
	Snapshot(ctx context.Context, r wire.SnapshotRequest) (wire.SnapshotMeta, error)
	ListSnapshots(ctx context.Context, q wire.SnapshotQuery) (amber.Page[wire.SnapshotMeta], error)
}

// Schedule takes snapshots of every agent of every tenant when it is time.
//
// An agent is due at the first time of the schedule after its newest snapshot
// that can be read, scheduled or not, and at once without a snapshot. So a
// process that was not running makes up for the times it missed, once. Fields are set
// before Run; one goroutine uses it at a time.
type Schedule struct {
	Taker  Taker
	Roster Roster
	Clock  amber.Clock // in the location whose calendar counts
	// When returns the schedule: "off", an interval or five fields of cron; see [timetable.Parse].
	// The worker calls it each time.
	When func() string
	// Mark returns a text that changes whenever something changes that a snapshot
	// of the agent would hold. An agent whose mark is that of its last scheduled
	// snapshot is left out. If Mark is nil or returns "", the snapshot is taken.
	Mark  func(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (string, error)
	After func(time.Duration) <-chan time.Time // nil: [time.After]
	// Report is given what was done each time that something was. It may be
	// nil, and returns at once.
	Report func(ScheduleReport)

	text  string // the schedule that next was worked out with
	table timetable.Table
	next  map[agentKey]time.Time // not due before
	marks map[agentKey]string    // of the last scheduled snapshot
	taken map[agentKey]taken
}

// taken is the last scheduled snapshot. It counts from when it was due and not
// from when it was taken, or every interval would be a little longer.
type taken struct {
	id amber.SnapshotID
	at time.Time
}

type agentKey struct {
	tenant amber.TenantID
	agent  amber.AgentID
}

func (k agentKey) String() string { return string(k.tenant) + "/" + string(k.agent) }

// ScheduleReport says what was done because it was time.
type ScheduleReport struct {
	Taken     []wire.SnapshotMeta `json:"taken"`
	Unchanged int                 `json:"unchanged"` // agents that were due and are as their last snapshot
	Errors    []string            `json:"errors"`
	At        amber.Time          `json:"at"`
}

// idle reports whether nothing was done.
func (r ScheduleReport) idle() bool { return len(r.Taken)+r.Unchanged+len(r.Errors) == 0 }

// Run takes snapshots until ctx ends, and returns nil then. The error is of
// kind invalid, for missing fields.
func (s *Schedule) Run(ctx context.Context) error {
	if s.Taker == nil || s.Roster == nil || s.Clock == nil || s.When == nil {
		return amber.Errorf(amber.KindInvalid, "take scheduled snapshots", "", "taker, roster, clock and schedule are required")
	}
	for ctx.Err() == nil {
		report, _ := s.Tick(ctx)
		if s.Report != nil && !report.idle() {
			s.Report(report)
		}
		wait(ctx, s.After, schedulePoll)
	}
	return nil
}

// Tick takes a snapshot of every agent that is due. A failure of one agent is in the report and
// does not prevent the turn of another; Tick tries that agent again a quarter of an hour later. A
// schedule that cannot be read is in the report once, and the schedule before it stays. The error
// is of kind unreachable, when ctx ended.
func (s *Schedule) Tick(ctx context.Context) (ScheduleReport, error) {
	now := s.Clock()
	n := round{now: amber.At(now)}
	report := ScheduleReport{Taken: []wire.SnapshotMeta{}, At: n.now}
	if err := s.reload(); err != nil {
		n.fail("schedule", err)
	}
	if !s.table.Off() {
		for _, k := range s.agents(&n) {
			if ctx.Err() != nil {
				break
			}
			if s.next[k].After(now) {
				continue
			}
			meta, unchanged, err := s.visit(ctx, k, now)
			switch {
			case err != nil:
				n.fail(k.String(), err)
			case unchanged:
				report.Unchanged++
			case meta.ID != "":
				report.Taken = append(report.Taken, meta)
			}
		}
	}
	report.Errors = n.report().Errors
	if err := ctx.Err(); err != nil {
		return report, &amber.Error{Op: "take scheduled snapshots", Kind: amber.KindUnreachable, Err: err}
	}
	return report, nil
}

// reload asks for the schedule and starts anew when it is another one.
func (s *Schedule) reload() error {
	text := s.When()
	if s.next != nil && text == s.text {
		return nil
	}
	s.text, s.next = text, map[agentKey]time.Time{}
	table, err := timetable.Parse(text)
	if err != nil {
		return err
	}
	s.table = table
	return nil
}

// agents returns every agent there is, and forgets the others.
func (s *Schedule) agents(n *round) []agentKey {
	tenants, err := s.Roster.Tenants()
	if err != nil {
		n.fail("tenants", err)
	}
	var all []agentKey
	next, marks, last := map[agentKey]time.Time{}, map[agentKey]string{}, map[agentKey]taken{}
	for _, tenant := range tenants {
		agents, err := s.Roster.Agents(tenant)
		if err != nil {
			n.fail(string(tenant), err)
			continue
		}
		for _, agent := range agents {
			k := agentKey{tenant, agent}
			all = append(all, k)
			next[k], marks[k], last[k] = s.next[k], s.marks[k], s.taken[k]
		}
	}
	s.next, s.marks, s.taken = next, marks, last
	return all
}

// visit takes a snapshot of an agent if it is due, and notes when to look
// again.
func (s *Schedule) visit(ctx context.Context, k agentKey, now time.Time) (meta wire.SnapshotMeta, unchanged bool, err error) {
	s.next[k] = s.after(now, now.Add(scheduleRetry))
	last, err := s.newest(ctx, k, now)
	if err != nil {
		return meta, false, err
	}
	if !last.IsZero() {
		if due, ok := s.table.Next(last); !ok || due.After(now) {
			s.next[k] = due
			return meta, false, nil
		}
	}
	mark := s.mark(ctx, k)
	if mark != "" && mark == s.marks[k] && !last.IsZero() {
		s.next[k] = s.after(now, time.Time{})
		return meta, true, nil
	}
	meta, err = s.Taker.Snapshot(ctx, wire.SnapshotRequest{Tenant: k.tenant, Agent: k.agent, Label: LabelScheduled})
	if amber.KindOf(err) == amber.KindNotFound {
		return meta, false, nil // a folder that is no agent, or not yet
	}
	if err == nil {
		s.marks[k], s.taken[k] = mark, taken{meta.ID, now}
		s.next[k] = s.after(now, time.Time{})
	}
	return meta, false, err
}

// after returns the next time of the schedule, or sooner.
func (s *Schedule) after(now, sooner time.Time) time.Time {
	next, ok := s.table.Next(now)
	if !sooner.IsZero() && (!ok || sooner.Before(next)) {
		return sooner
	}
	return next
}

// newest returns when the newest snapshot was taken that can be read; zero for
// none. One of a time to come is of a clock that was wrong, and does not count.
func (s *Schedule) newest(ctx context.Context, k agentKey, now time.Time) (time.Time, error) {
	page, err := s.Taker.ListSnapshots(ctx, wire.SnapshotQuery{Tenant: k.tenant, Agent: k.agent, Limit: scheduleLook})
	if err != nil {
		return time.Time{}, err
	}
	for _, m := range page.Items {
		at := m.CreatedAt.Time().In(now.Location())
		switch {
		case m.Damage != "" || at.After(now):
		case m.ID == s.taken[k].id:
			return s.taken[k].at, nil
		default:
			return at, nil
		}
	}
	return time.Time{}, nil
}

// mark returns the mark of an agent; "" when it is not known.
func (s *Schedule) mark(ctx context.Context, k agentKey) string {
	if s.Mark == nil {
		return ""
	}
	mark, err := s.Mark(ctx, k.tenant, k.agent)
	if err != nil {
		return ""
	}
	return mark
}
