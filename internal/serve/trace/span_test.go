package trace_test

import (
	"context"
	"encoding/json"
	"testing"

	"go.opentelemetry.io/otel/codes"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/trace"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func TestOperationsBecomeSpansInsideEachOther(t *testing.T) {
	t.Parallel()
	tracer, spans := opened(t, trace.Options{})
	ctx, outer := tracer.Begin(t.Context(), wire.Operation{Tenant: "acme", Agent: "scout", Layer: "long_term", Name: "write"})
	_, inner := tracer.Begin(ctx, wire.Operation{Layer: "notes", Name: "read_note"})
	inner(wire.Outcome{Out: 3})
	outer(wire.Outcome{In: 7, Items: 2})

	got := spans()
	if len(got) != 2 {
		t.Fatalf("%d spans, want 2", len(got))
	}
	child, parent := got[0], got[1]
	must.Equal(t, "parent of the inner operation", child.Parent.SpanID(), parent.SpanContext.SpanID())
	must.Equal(t, "name", child.Name, "notes.read_note")
	must.Equal(t, "name", parent.Name, "long_term.write")
	want := map[string]string{
		"amber.tenant": "acme", "amber.agent": "scout", "amber.layer": "long_term", "amber.operation": "write",
		"amber.bytes_in": "7", "amber.bytes_out": "0", "amber.items": "2",
	}
	must.Equal(t, "", attributes(parent), want)
	must.Equal(t, "status of an operation that went well", parent.Status.Code, codes.Unset)
}

func TestAnErrorTellsItsKindAndNoText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"amber":   {&amber.Error{Kind: amber.KindConflict, ID: "0190", Err: errSecret}, "conflict"},
		"foreign": {errSecret, "internal"},
		"unknown": {&amber.Error{Kind: "the cat", Err: errSecret}, "internal"},
		"ended":   {context.Canceled, "unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tracer, spans := opened(t, trace.Options{})
			_, end := tracer.Begin(t.Context(), wire.Operation{Layer: "long_term", Name: "get", Tenant: "not an id: the cat"})
			end(wire.Outcome{Err: c.err})
			s := only(t, spans())
			if s.Status.Code != codes.Error || s.Status.Description != c.want || attributes(s)["error.type"] != c.want {
				t.Errorf("status %+v, error.type %q, want %s", s.Status, attributes(s)["error.type"], c.want)
			}
			all := must.Get(json.Marshal(s))(t)
			must.Hides(t, "the span", string(all), "cat")
			must.Equal(t, "events of the span", len(s.Events), 0)
		})
	}
}

func TestWithoutAnEndpointNothingIsMadeAndItCostsNothing(t *testing.T) {
	tracer := must.Get(trace.Open(t.Context(), trace.Options{}))(t)
	ctx, op := t.Context(), wire.Operation{Tenant: "acme", Layer: "long_term", Name: "get"}
	allocs := testing.AllocsPerRun(100, func() {
		inner, end := tracer.Begin(ctx, op)
		if inner != ctx {
			t.Fatal("the context is another one")
		}
		end(wire.Outcome{Err: errSecret})
	})
	must.Equal(t, "allocations", allocs, 0)
	must.NoError(t, tracer.Close(ctx))
	var zero trace.Tracer
	if _, end := zero.Begin(ctx, op); end == nil {
		t.Error("the zero tracer is not ready")
	}
}
