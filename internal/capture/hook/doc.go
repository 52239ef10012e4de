// Package hook turns what agent hosts say into entries of the crash journal.
//
// A host starts one process per event and hands it a JSON object. [Read] makes
// a [journal.HostEvent] of it, [Keeper.Keep] puts that on disk, and [Reply] is
// what the host gets back:
//
//	payload ── scan ──> values ── clean ──> values ── dialect ──> event ── Keep ──> journal
//	           bounds             secrets             of the host   │
//	                                                                └── Reply ──> host
//
// Nothing here opens a database or a connection. A payload is hostile: it may be
// endless, deeply nested, cut off, no JSON at all. Reading never fails; what is
// no JSON is kept as text. How much is kept is bounded, see docs/format/host-event.md,
// and what is left out is counted. A secret never leaves clean.go.
//
// Some hosts leave the words out of the payload and name the file they are in;
// transcript.go says where such a file may be and how its last turn is read. It is
// as hostile as a payload.
//
// Each host has a file with its dialect: how it names its events, and what it
// does unlike the others.
package hook
