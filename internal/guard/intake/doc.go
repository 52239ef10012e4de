// Package intake takes secrets out of what is written through a store, before
// the store sees it.
//
//	door ── request ──> intake ── the same without secrets ──> store
//	                      │
//	                      └── what was taken, by rule ──> answer of the door
//
// Doors that take text from agents and people (MCP, HTTP, the command line) write through [Clean]. Other writers do
// not: hooks clean what they put into the crash journal, and sync, snapshots and restores bring back what was written
// once.
//
// Texts lose what package redact finds. Ids do not: records are found by them, so
// one that holds a secret is refused, names of files, keys and versions of schemas among them. The fields of every request
// say in a tag which they are; a test holds that every string of a request has one.
package intake
