// Package drain moves what the crash journal holds into a store: each event
// once, whatever is killed in between.
//
//	journal ── Read ──> frames ── meaning ──> steps ── Ingest ──> store
//	   ▲                  │                              │
//	   └──── Clear ◄──────┼───────── cursor ◄────────────┘
//	                      └── Quarantine: what the store will never take
//
// The cursor is in the store and moves in the transaction that applies the
// steps. A drain that dies is repeated from the cursor; two at once cannot both
// move it. So reading is at least once and the effect exactly once.
//
// An event that cannot be understood or stored is tried again with growing
// pauses, then kept in quarantine with the reason, and the drain goes on behind
// it. A store that takes nothing at all, because the disk is full say, stops the
// session instead: nothing is given up for a fault that is not its own.
//
// Rules decide what events mean (meaning.go): sessions, turns, activity, learnings
// (learn.go), and a digest when a session ends or is compacted (digest.go, keep.go).
// [Worker.Once] ends sessions whose process is gone or that are silent for long, with
// reason crash or idle (sweep.go). A drain asks no model, unless [Options] name a writer
// of digests.
package drain
