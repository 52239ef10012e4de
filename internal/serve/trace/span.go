package trace

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// ignore is how a span ends that was never made.
func ignore(wire.Outcome) {}

// Begin implements [wire.Observer]: it begins a span that ends with the
// operation.
func (t *Tracer) Begin(ctx context.Context, op wire.Operation) (context.Context, func(wire.Outcome)) {
	if t.tracer == nil {
		return ctx, ignore
	}
	ctx, span := t.tracer.Start(ctx, op.Layer+"."+op.Name)
	if !span.IsRecording() {
		return ctx, func(wire.Outcome) { span.End() }
	}
	span.SetAttributes(attribute.String("amber.layer", op.Layer), attribute.String("amber.operation", op.Name))
	setID(span, "amber.tenant", string(op.Tenant))
	setID(span, "amber.agent", string(op.Agent))
	return ctx, func(o wire.Outcome) { end(span, o) }
}

// setID adds an id, if it is one: tenants and agents are called alike.
func setID(span oteltrace.Span, key, id string) {
	if _, err := amber.ParseAgentID(id); err == nil {
		span.SetAttributes(attribute.String(key, id))
	}
}

// end ends the span of an operation. The span gets the kind of an error, never the text.
func end(span oteltrace.Span, o wire.Outcome) {
	span.SetAttributes(attribute.Int64("amber.bytes_in", o.In), attribute.Int64("amber.bytes_out", o.Out), attribute.Int("amber.items", o.Items))
	if o.Err != nil {
		fail(span, amber.KindOf(o.Err))
	}
	span.End()
}

func fail(span oteltrace.Span, k amber.Kind) {
	if !k.Known() {
		k = amber.KindInternal
	}
	span.SetStatus(codes.Error, string(k))
	span.SetAttributes(attribute.String("error.type", string(k)))
}
