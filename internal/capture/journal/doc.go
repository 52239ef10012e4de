// Package journal is the crash journal: an append-only spool, a folder per
// session, from which events reach the store later.
//
// [Journal.Append] returns when its entry is on disk. Nothing else is waited
// for: no database is opened, and the spool lies outside the generations, so
// that an appender never meets a migration or a restore.
//
//	spool/
//	  losses          one byte for every event that could not be kept
//	  <key>/
//	    lock          kernel lock of appends, cuts and clearing
//	    meta          whose session it is; written once
//	    000001.seg …  segments
//	    quarantine/   what was cut, could not be read or could not be stored
//
// # The order of durability
//
// A name is durable before anything below it is acknowledged:
//
//	folder · sync its parent · meta · segment with its header only · sync the folder ·
//	frame · sync the segment · answer
//
// A segment with a frame in it therefore has a durable name; one with only a
// header may not, and the writer of its first frame syncs the folders again.
// A segment is synced before another follows it, and [Journal.Read] syncs
// what it is about to hand out: a sequence that a store has seen can not be
// undone by a power cut and given to another entry.
//
// # Failure
//
// A short write is cut off again. A failed sync poisons the segment: the
// kernel may have dropped the pages and would not say so a second time, so the
// entries go to a new segment under the same sequence numbers, and readers
// believe the later segment. A tail that is torn by a crash is cut, the bytes
// kept in quarantine. Damage stays where it is and is counted; every intact
// frame before and behind it is read, and no sequence is used again.
//
// The bytes are described in docs/format/journal.md.
package journal
