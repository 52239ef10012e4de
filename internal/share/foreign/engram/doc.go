// Package engram reads and writes the sync folder of Engram: its manifest, its chunks, and the file of engram export.
//
// It knows bytes and values only, neither disk nor store. Anybody who may push writes the files that it reads. So
// everything is bounded, the name of a chunk is compared with its text, and no name that is not eight hexadecimal
// digits becomes part of a path.
//
//	manifest.json ── ParseManifest, RepairManifest ──► Manifest ── Encode ──► manifest.json
//	<id>.jsonl.gz ── DecodeChunk ──► Chunk ── EncodeChunk ──► <id>.jsonl.gz
//	export.json   ── DecodeBackup ─► Chunk ── ToRecords ───► records and links
//	                                  Chunk ◄── FromRecord ── a record, with its link
//
// Version 1.7.0 of Engram gives rows no identity. A row has one here: that of its topic, else that of its sync_id
// (which later versions write), else the fingerprint of what Engram keeps when it imports a row and exports it again.
// Fields that have no place in Amber travel in the field "engram" of a memory and in the link of the row, so that
// Amber writes a row that was not changed again byte for byte.
//
// The format to the byte and all tables: docs/format/engram.md.
//
// Every function is pure and safe for concurrent use.
package engram
