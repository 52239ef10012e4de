package web

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// begin starts a job for an agent that ends when until is closed.
func (s *jobs) begin(tenant amber.TenantID, agent amber.AgentID, until chan struct{}) (*job, error) {
	j := &job{Kind: jobVerify, Tenant: tenant, Agent: agent}
	return j, s.start(j, func(context.Context, *job) (any, error) { <-until; return nil, nil })
}

// finished starts a job and waits for its end.
func (s *jobs) finished(t *testing.T, tenant amber.TenantID, agent amber.AgentID) *job {
	t.Helper()
	now := make(chan struct{})
	close(now)
	j := must.Get(s.begin(tenant, agent, now))(t)
	<-j.over
	return j
}

func TestTheWorkOfOneAgentLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	s, until := newJobs(time.Now, rand.Reader), make(chan struct{})
	for range agentRuns {
		must.Get(s.begin("acme", "ada", until))(t)
	}
	must.Kind(t, "one more", must.Err(s.begin("acme", "ada", until)), amber.KindBusy)
	for i := range tenantRuns/agentRuns - 1 {
		for range agentRuns {
			must.Get(s.begin("acme", amber.AgentID(fmt.Sprint("a", i)), until))(t)
		}
	}
	must.Kind(t, "one more of the tenant", must.Err(s.begin("acme", "bob", until)), amber.KindBusy)
	must.Get(s.begin("umbrella", "ada", until))(t)
	close(until)
	must.Do(t, s.close(t.Context()))
}

func TestNobodysReportIsForgottenForTheWorkOfOthers(t *testing.T) {
	t.Parallel()
	s := newJobs(time.Now, rand.Reader)
	known := func(j *job) bool { _, ok := s.find(j.ID, j.Tenant, j.Agent); return ok }
	eve, bob := s.finished(t, "umbrella", "eve"), s.finished(t, "acme", "bob")
	first := s.finished(t, "acme", "ada")
	for range agentJobs - 1 {
		s.finished(t, "acme", "ada")
	}
	must.Hold(t, known(first), "a report is forgotten while there is room")
	for range 300 {
		s.finished(t, "acme", "ada")
	}
	must.Hold(t, !known(first), "more than %d reports of an agent are kept", agentJobs)
	must.Hold(t, known(bob), "the report of another agent is forgotten")
	for i := range 2 * tenantJobs {
		s.finished(t, "acme", amber.AgentID(fmt.Sprint("a", i)))
	}
	must.Hold(t, !known(bob), "more than %d reports of a tenant are kept", tenantJobs)
	must.Hold(t, known(eve), "the report of another tenant is forgotten")
	must.Equal(t, "what is kept", len(s.known), tenantJobs+1)
	must.Do(t, s.close(t.Context()))
}

func TestTheReportsOfAllTenantsAreBounded(t *testing.T) {
	t.Parallel()
	s := newJobs(time.Now, rand.Reader)
	quiet := s.finished(t, "umbrella", "eve")
	for i := range maxJobs + 10 {
		tenant := amber.TenantID(fmt.Sprint("t", i/tenantJobs))
		s.finished(t, tenant, amber.AgentID(fmt.Sprint("a", i)))
	}
	must.Equal(t, "what is kept", len(s.known), maxJobs)
	_, ok := s.find(quiet.ID, "umbrella", "eve")
	must.Hold(t, ok, "the only report of a tenant went for one of a tenant with many")
	must.Do(t, s.close(t.Context()))
}
