// Package events tells listeners what happens to an agent's memory, and never
// what is in it.
//
// The life of one mutation:
//
//	commit    the store changes a record and its change log in one transaction
//	read      [Mutations] asks the change log what came after its position
//	publish   one event per entry, in order; the publisher has taken it or it is offered again
//	save      the position, in a place that no restore replaces
//
// A process that dies between publishing and saving publishes some events a
// second time, under the same ids; it never leaves one out. [Tail] keeps the end
// of a change log in memory, so that many listeners cost one reader.
//
// Notes, their commits and documents of runtime state that lie in files have no change log: [Notes]
// and [Documents] stand in front of them and publish after each write, so an event
// of theirs is lost when the process dies in between. In a database they are in the change log of the memory.
//
// [Bus] hands events to listeners of the same process. A publisher that may be
// away or slow does not belong behind [Notes], [Documents] or a snapshot: they get
// an outbox that keeps events durably, and [Relay] brings the events from there to
// the publisher, in order, however long that takes. [Fan] makes one publisher of
// several.
package events
