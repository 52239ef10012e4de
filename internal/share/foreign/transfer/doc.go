// Package transfer carries what a format finds into a store, takes an import back, and gives a format what a store holds.
//
//	Format.Read ──> carrier ── memories, sessions, relations ──> Sync.Apply      versions, conflicts, links
//	                   │────── turns, activity ────────────────> Ingest.Ingest   each event once
//	                   └────── documents ──────────────────────> Notes.WriteNote
//
// Importing twice writes nothing: a link for each row holds the digest of what the row said, and is written in the same
// transaction as the record, or after it. An import that was killed goes on where it stopped.
package transfer
