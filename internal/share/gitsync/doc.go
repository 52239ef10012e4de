// Package gitsync shares memory through a folder of files that git can merge
// without ever asking.
//
//	store ── what changed ──> redact ──> chunk ──> .amber/chunks/<sha-256>.jsonl.zst
//	                                                        │ git
//	store <── apply, one transaction ── check <── chunk <───┘
//
// The life of one memory: it is saved, and its version has an origin (counter,
// clock, device). Export reads the change log from where the last export to
// this folder ended, takes secrets and private passages out, and writes a chunk
// under the hash of its bytes; only then does the store note how far it got.
// Git merges the folder: chunks are never edited, so they cannot conflict.
// Import checks each chunk that was not applied, and the store applies it in
// one transaction. Whatever order chunks arrive in, the version with the later
// origin wins, the others are kept in the history, and what was made without
// knowing of another is listed as a conflict.
//
// A chunk that cannot be used is put on a list with the reason and tried again
// at the next import; the others go in.
//
// Two formats share this: Amber's own, package chunk, and that of Engram,
// package engram. Formats to the byte: docs/format/sync.md.
package gitsync
