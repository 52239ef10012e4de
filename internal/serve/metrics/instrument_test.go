package metrics_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// snake returns the name of a method as observers get it.
func snake(method string) string {
	var b strings.Builder
	for i, r := range strings.ReplaceAll(method, "ID", "Id") {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// stubReplica stands in for the part that the store in memory does not have.
type stubReplica struct{ amber.Replica }

func wholeStore(t *testing.T) amber.Store {
	t.Helper()
	p := newStore(t).Present()
	p.Sync = stubReplica{amber.NewStore(amber.Parts{}).Sync}
	return amber.NewStore(p)
}

// callAll calls every method of a contract with zero values.
func callAll(contract any, as reflect.Type, each func(method string)) {
	v := reflect.ValueOf(contract)
	for method := range as.Methods() {
		f := v.MethodByName(method.Name)
		args := []reflect.Value{reflect.ValueOf(context.Background())}
		for i := 1; i < f.Type().NumIn(); i++ {
			args = append(args, reflect.Zero(f.Type().In(i)))
		}
		f.Call(args)
		each(method.Name)
	}
}

// TestEveryMethodIsToldOnce holds for what will be added too.
func TestEveryMethodIsToldOnce(t *testing.T) {
	t.Parallel()
	r := &tape{}
	m := beside(r)
	s := reflect.ValueOf(m.Store(tenant, agent, wholeStore(t)).Parts)
	contracts := map[string]reflect.Value{
		"Snapshots":  reflect.ValueOf(m.Snapshots(tenant, agent, noSnapshots{})),
		"Repository": reflect.ValueOf(m.Repository(tenant, noSnapshots{})),
		"Publisher":  reflect.ValueOf(m.Publisher(events.NoopPublisher{})),
	}
	types := map[string]reflect.Type{
		"Snapshots": reflect.TypeFor[wire.Snapshotter](), "Repository": reflect.TypeFor[wire.RepositoryChecker](),
		"Publisher": reflect.TypeFor[events.Publisher](),
	}
	for field, v := range s.Fields() {
		contracts[field.Name], types[field.Name] = v, field.Type
	}
	for name, contract := range contracts {
		callAll(contract.Interface(), types[name], func(method string) {
			if len(r.ops) != 1 || len(r.outs) != 1 {
				t.Errorf("%s.%s was told %d times and ended %d times, want once", name, method, len(r.ops), len(r.outs))
			} else if r.ops[0].Name != snake(method) {
				t.Errorf("%s.%s is told as %q", name, method, r.ops[0].Name)
			}
			r.ops, r.outs = nil, nil
		})
	}
}

// noSnapshots answers everything with nothing.
type noSnapshots struct{}

func (noSnapshots) Snapshot(context.Context, wire.SnapshotRequest) (wire.SnapshotMeta, error) {
	return wire.SnapshotMeta{}, nil
}

func (noSnapshots) ListSnapshots(context.Context, wire.SnapshotQuery) (amber.Page[wire.SnapshotMeta], error) {
	return amber.Page[wire.SnapshotMeta]{}, nil
}

func (noSnapshots) ShowSnapshot(context.Context, wire.SnapshotRef) (wire.SnapshotDetail, error) {
	return wire.SnapshotDetail{}, nil
}

func (noSnapshots) DiffSnapshots(context.Context, wire.DiffRequest) (wire.SnapshotDiff, error) {
	return wire.SnapshotDiff{}, nil
}

func (noSnapshots) VerifySnapshot(context.Context, wire.VerifyRequest) (wire.VerifyReport, error) {
	return wire.VerifyReport{}, nil
}

func (noSnapshots) DeleteSnapshot(context.Context, wire.SnapshotRef) error    { return nil }
func (noSnapshots) PinSnapshot(context.Context, wire.SnapshotRef, bool) error { return nil }

func (noSnapshots) PruneSnapshots(context.Context, wire.PruneRequest) (wire.PruneReport, error) {
	return wire.PruneReport{}, nil
}

func (noSnapshots) CollectGarbage(context.Context, wire.GCRequest) (wire.GCReport, error) {
	return wire.GCReport{}, nil
}

func (noSnapshots) Restore(context.Context, wire.RestoreRequest) (wire.RestoreReport, error) {
	return wire.RestoreReport{}, nil
}

func (noSnapshots) CheckRepository(context.Context, wire.CheckRequest) (wire.CheckReport, error) {
	return wire.CheckReport{}, nil
}

func TestWhatAStoreCannotDoStaysSo(t *testing.T) {
	t.Parallel()
	whole := wholeStore(t).Present()
	for field := range reflect.TypeFor[amber.Parts]().Fields() {
		parts := whole
		reflect.ValueOf(&parts).Elem().FieldByName(field.Name).SetZero()
		plain := amber.NewStore(parts)
		r := &tape{}
		s := beside(r).Store(tenant, agent, plain)
		must.Equal(t, "without "+field.Name, s.Capabilities(), plain.Capabilities())
		if !reflect.ValueOf(s.Present()).FieldByName(field.Name).IsZero() {
			t.Errorf("without %s: it is there", field.Name)
		}
		callAll(reflect.ValueOf(s.Parts).FieldByName(field.Name).Interface(), field.Type, func(method string) {
			must.Equal(t, "operations told without "+field.Name, len(r.ops), 0)
		})
	}
	s := newMetrics(t).Store(tenant, agent, amber.Disabled("switched off"))
	_, err := s.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "x"})
	must.Kind(t, "writing where memory is switched off", err, amber.KindRefused, "switched off")
}

// contextual is a long-term memory that looks at its context, and may panic.
type contextual struct {
	amber.LongTerm
	saw    any
	panics bool
}

func (c *contextual) Delete(ctx context.Context, _ amber.MemoryID) error {
	c.saw = ctx.Value(tapeKey{})
	if c.panics {
		panic("bug")
	}
	return errSecret
}

func TestAnOperationRunsInTheContextOfItsObservers(t *testing.T) {
	t.Parallel()
	r, below := &tape{}, &contextual{}
	s := beside(r).Store(tenant, agent, amber.NewStore(amber.Parts{LongTerm: below}))
	if err := s.LongTerm.Delete(t.Context(), "x"); err != errSecret { //nolint:errorlint // the very same
		t.Errorf("error %v is not the one of the store", err)
	}
	must.Equal(t, "the context", below.saw, "delete")
	want := []wire.Operation{{Tenant: tenant, Agent: agent, Layer: "long_term", Name: "delete"}}
	must.Equal(t, "", r.ops, want)
	must.Is(t, "the outcome", r.outs[0].Err, errSecret)
	must.Equal(t, "items", r.outs[0].Items, 0)
}

func TestAnOperationThatPanicsDoesNotCountAsGood(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	s := m.Store(tenant, agent, amber.NewStore(amber.Parts{LongTerm: &contextual{panics: true}}))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = s.LongTerm.Delete(t.Context(), "x")
	}()
	want := []string{`amber_operations_total{agent="scout",layer="long_term",operation="delete",outcome="internal",tenant="acme"} 1`}
	must.Equal(t, "", lines(t, m, "amber_operations_total"), want)
	must.Equal(t, "", lines(t, m, "amber_operations_in_flight"), []string{`amber_operations_in_flight{layer="long_term"} 0`})
}

func TestSnapshotsOfManyAgentsAreTheirs(t *testing.T) {
	t.Parallel()
	r := &tape{}
	m := beside(r)
	many := m.Snapshots("", "", noSnapshots{})
	_, _ = many.Snapshot(t.Context(), wire.SnapshotRequest{Tenant: "t1", Agent: "a1"})
	_, _ = many.CollectGarbage(t.Context(), wire.GCRequest{Tenant: "t2"})
	one := m.Snapshots(tenant, agent, noSnapshots{})
	_, _ = one.Snapshot(t.Context(), wire.SnapshotRequest{Tenant: "t3", Agent: "a3"})
	_, _ = one.CollectGarbage(t.Context(), wire.GCRequest{Tenant: "t4"})
	ofTenant := m.Snapshots(tenant, "", noSnapshots{}) // as a server has them that opens no agent for it
	_, _ = ofTenant.Snapshot(t.Context(), wire.SnapshotRequest{Tenant: tenant, Agent: "a5"})
	_, _ = ofTenant.CollectGarbage(t.Context(), wire.GCRequest{Tenant: tenant})
	want := []wire.Operation{
		{Tenant: "t1", Agent: "a1", Layer: "snapshots", Name: "snapshot"},
		{Tenant: "t2", Layer: "snapshots", Name: "collect_garbage"},
		{Tenant: tenant, Agent: agent, Layer: "snapshots", Name: "snapshot"},
		{Tenant: tenant, Layer: "snapshots", Name: "collect_garbage"},
		{Tenant: tenant, Agent: "a5", Layer: "snapshots", Name: "snapshot"},
		{Tenant: tenant, Layer: "snapshots", Name: "collect_garbage"},
	}
	must.Equal(t, "", r.ops, want)
}

// taker keeps the chunk that it is given.
type taker struct {
	amber.Replica
	chunk amber.Incoming
}

func (a *taker) Apply(_ context.Context, c amber.Incoming) (amber.Applied, error) {
	a.chunk = c
	return amber.Applied{Memories: 1}, nil
}

func TestAChunkReachesTheStoreAsItIs(t *testing.T) {
	t.Parallel()
	below := &taker{}
	s := newMetrics(t).Store(tenant, agent, amber.NewStore(amber.Parts{Sync: below}))
	c := amber.Incoming{Place: "p", Chunk: "c", Trust: amber.TrustOwn, Records: []amber.SyncRecord{{Erased: &amber.SyncErased{ID: "m"}}}}
	must.Equal(t, "applied", must.Get(s.Replica().Apply(t.Context(), c))(t), amber.Applied{Memories: 1})
	must.Equal(t, "the chunk", below.chunk, c, cmp.AllowUnexported(amber.Time{}))
}
