// Package natsbus publishes events to NATS servers, plain or with JetStream,
// which keeps them.
//
// The life of one event:
//
//	encode    the JSON of docs/format/events.md, on its own subject
//	send      now, or not at all: what cannot be sent is an error, never a queue in memory
//	answer    plain NATS: the server has read it and did not refuse it
//	          JetStream: it is in the stream, or was there already under its id
//	return    only then Publish succeeds
//
// The caller keeps the event until Publish has succeeded and offers it
// again otherwise: events.Mutations from the change log, events.Relay from an
// outbox. They publish one after the other, so a listener never sees an event for
// the first time before the ones that came earlier in the same log. An answer can
// be lost on its way, so an event may be seen twice, under the same id; JetStream
// drops what it has stored within the last ten minutes.
//
// A broker that is away, refuses the login or answers nothing fails no more than
// the publications of that time: the bus connects again for as long as it is
// open. Passwords are neither in errors nor in logs.
package natsbus
