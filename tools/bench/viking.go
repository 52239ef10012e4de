package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	settings "github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/store/openviking"
	"github.com/amber-memory/amber/store/sqlite"
)

// The targets, as docs/benchmarks.md explains them.
const (
	limitAsked  = 1.05              // of a question with the server up, over the primary and then one find
	limitAlone  = 1.05              // of a question with the server away, over the primary
	limitBeside = 1.05              // of a write, over one into a store without a server
	limitFile   = time.Second / 150 // each, in batches
)

// vikingSize is how much is measured of an OpenViking server beside a store.
type vikingSize struct {
	venv      string // of a real server; "": the fake
	memories  int
	vector    int           // its length
	questions int           // while the server is up
	away      int           // questions while it is away
	writes    int           // to each store, in each state of the server
	patience  time.Duration // with the server, of a question
}

var fullViking = vikingSize{memories: 2000, vector: 128, questions: 600, away: 2400, writes: 5000, patience: openviking.DefaultFindTimeout}

// viking is what is measured.
type viking struct {
	vikingSize
	dir     string
	texts   *writer
	server  *vikingServer
	primary *sqlite.Store
	later   atomic.Int64 // how much later it is than the clock says
}

// vikings measures what an OpenViking server beside a store costs questions and writes, and how
// fast it is fed.
func vikings(ctx context.Context, c config) (out outcome) {
	v := &viking{vikingSize: c.viking, dir: filepath.Join(c.dir, "viking"), texts: newWriter(uint64(time.Now().UnixNano()))}
	v.server = startViking(ctx, v.dir, v.vikingSize)
	defer v.server.stop()
	fmt.Printf("the server is %s\n", v.server.name)
	v.primary = v.open(ctx, "asked")
	defer func() { check(v.primary.Close()) }()
	for _, part := range []struct {
		name    string
		measure func(context.Context) outcome
	}{{"feeding", v.feeds}, {"questions", v.questionsUp}, {"questions, server away", v.questionsAway}, {"writes", v.writeBeside}} {
		within(part.name, func() {
			o := part.measure(ctx)
			out.ratios, out.lines = append(out.ratios, o.ratios...), append(out.lines, o.lines...)
		})
	}
	printLines(out.lines)
	return out
}

func (v *viking) open(ctx context.Context, name string) *sqlite.Store {
	return get(sqlite.Open(ctx, agentIn(filepath.Join(v.dir, name)), options()))
}

// vikingProject is the project that half of the memories are of, and that questions come from.
var vikingProject = amber.Identities{ProjectID: "acme/narrow"}

// vikingKinds are the kinds of the memories, in turn: each is a folder of the server.
var vikingKinds = []amber.MemoryKind{amber.UserFact, amber.ProjectFact, amber.Constraint, amber.WorkflowInsight}

func (v *viking) memory(i int) amber.WriteRequest {
	title, content := v.texts.text(i)
	r := amber.WriteRequest{Title: title, Content: content, Kind: vikingKinds[i%len(vikingKinds)]}
	if i/len(vikingKinds)%2 == 0 {
		r.Scope, r.Identities = amber.ScopeProject, vikingProject
	}
	return r
}

// write stores n memories in batches.
func (v *viking) write(ctx context.Context, s *sqlite.Store, n int) {
	for at := 0; at < n; at += amber.MaxBatchSize {
		batch := make([]amber.WriteRequest, min(amber.MaxBatchSize, n-at))
		for i := range batch {
			batch[i] = v.memory(at + i)
		}
		get(s.WriteBatch(ctx, batch))
	}
}

// question returns a question of a kind that i says.
func (v *viking) question(i int) amber.Query {
	return amber.Query{Text: v.texts.questionOf(askings[i%len(askings)]), Filter: amber.Filter{Identities: vikingProject}}
}

// clock returns the time, or a later one.
func (v *viking) clock() time.Time { return time.Now().Add(time.Duration(v.later.Load())) }

// everyScore lets every file be a hit that the server names. So a question loads as many memories
// as it ever does.
const everyScore = 1e-9

// beside puts a server beside a store, with the rules about secrets of the default configuration.
func (v *viking) beside(primary *sqlite.Store, url string, server openviking.Server) *openviking.Store {
	c := settings.Default()
	rules := c.Redactor()
	return get(openviking.New(openviking.Options{
		Primary: primary.Parts(), Cursors: primary, Server: server, URL: url, User: v.server.user,
		Tenant: amber.DefaultTenant, Agent: amber.DefaultAgent, MinScore: everyScore, FindTimeout: v.patience, Clock: v.clock,
		Redact: func(s string) string { s, _ = rules.String(s); return s }, Rules: c.RedactDigest(),
	}))
}
