package web

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/amber-memory/amber"
)

// job is long work that goes on when its page is closed.
type job struct {
	ID      string
	Title   string // "Check snapshot s-1"
	Kind    string // which screen shows it
	Tenant  amber.TenantID
	Agent   amber.AgentID
	Subject string // what it is about, an id
	Begun   amber.Time
	Before  string        // the generation that was live before a restore
	Alone   bool          // no second one of its kind for the agent at the same time
	Wide    bool          // begun by a visitor who may see every tenant: texts may name places of the machine
	over    chan struct{} // closed at the end

	mu     sync.Mutex
	step   string
	done   int64
	total  int64
	ended  amber.Time
	result any
	err    error
}

// progress is how far a job is.
type progress struct {
	Step        string
	Done, Total int64
	Ended       amber.Time // zero: it goes on
	Result      any
	Err         error
}

func (j *job) progress() progress {
	j.mu.Lock()
	defer j.mu.Unlock()
	return progress{Step: j.step, Done: j.done, Total: j.total, Ended: j.ended, Result: j.result, Err: j.err}
}

// tell notes how far the job is.
func (j *job) tell(step string, done, total int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.step, j.done, j.total = step, done, total
}

func (j *job) end(at amber.Time, result any, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended, j.result, j.err = at, result, err
	close(j.over)
}

// jobs are the jobs of the page. Safe for concurrent use.
type jobs struct {
	clock  amber.Clock
	random io.Reader
	begun  amber.Time // what is older was begun by a process that is gone
	ctx    context.Context
	stop   context.CancelFunc
	all    sync.WaitGroup

	mu    sync.Mutex
	known []*job // oldest first
	ended bool
}

func newJobs(clock amber.Clock, random io.Reader) *jobs {
	ctx, stop := context.WithCancel(context.Background())
	return &jobs{clock: clock, random: random, begun: amber.At(clock()), ctx: ctx, stop: stop}
}

// start begins work that goes on after the request of its visitor. Errors: busy when too many jobs go on,
// or the server ends.
func (s *jobs) start(j *job, work func(ctx context.Context, j *job) (any, error)) error {
	j.ID, j.Begun, j.over = newID(s.random), amber.At(s.clock()), make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.Alone && s.busy(j) != nil {
		return amber.Errorf(amber.KindBusy, "begin work", string(j.Agent), "another %s of this agent is running: wait until it has ended", j.Kind)
	}
	if s.ended {
		return amber.Errorf(amber.KindBusy, "begin work", "", "the server ends and begins no more work")
	}
	if err := s.room(j); err != nil {
		return err
	}
	s.known = append(s.known, j)
	s.all.Go(func() {
		result, err := work(s.ctx, j)
		j.end(amber.At(s.clock()), result, err)
	})
	return nil
}

// running returns how many jobs go on, and when the last one ended.
func (s *jobs) running() (n int, last time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.known {
		switch ended := j.progress().Ended; {
		case ended.IsZero():
			n++
		case ended.Time().After(last):
			last = ended.Time()
		}
	}
	return n, last
}

// busy returns the job of the same kind and agent that goes on; nil where there is none.
func (s *jobs) busy(j *job) *job {
	for _, k := range s.known {
		if k.Kind == j.Kind && k.Tenant == j.Tenant && k.Agent == j.Agent && k.progress().Ended.IsZero() {
			return k
		}
	}
	return nil
}

// last returns the newest job of a kind about a subject of an agent; nil where there is none.
func (s *jobs) last(kind string, tenant amber.TenantID, agent amber.AgentID, subject string) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range slices.Backward(s.known) {
		if j.Kind == kind && j.Tenant == tenant && j.Agent == agent && j.Subject == subject {
			return j
		}
	}
	return nil
}

// find returns a job of an agent.
func (s *jobs) find(id string, tenant amber.TenantID, agent amber.AgentID) (*job, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.known {
		if j.ID == id && j.Tenant == tenant && j.Agent == agent {
			return j, true
		}
	}
	return nil, false
}

// close ends every job between two steps and waits for that, or until ctx ends.
func (s *jobs) close(ctx context.Context) error {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.stop()
	over := make(chan struct{})
	go func() {
		s.all.Wait()
		close(over)
	}()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return &amber.Error{Op: "end work of the page", Kind: amber.KindUnreachable, Err: ctx.Err()}
	}
}
