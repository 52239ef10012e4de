// Package trace tells an OpenTelemetry collector what Amber does, and how long
// each step takes.
//
// A [Tracer] is an observer of operations: each becomes a span, a child of the
// one in its context. [Tracer.Middleware] makes a span of each request and
// continues the trace of the caller, as W3C Trace Context says. A span names the
// layer, the operation, the tenant and the agent, counts bytes and records, and
// tells the kind of an error. It never holds text, a path or the id of a record.
//
// Without an endpoint a tracer does nothing and costs nothing. Spans wait in a
// bounded queue; when it is full spans are dropped, so that no operation waits
// for the collector.
package trace
