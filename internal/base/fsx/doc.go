// Package fsx is the only code in Amber that creates, syncs, renames and locks durable files.
//
// A durable file is written with one of three intents:
//
//   - [CreateNew]: the name must be free.
//   - [CreateSame]: the name is free, or holds these very bytes already.
//   - [Replace]: the name holds the old bytes or the new ones, at every instant.
//
// [StageNew] is CreateNew for content that does not fit in memory. All do the same work in the same
// order, so that a reader never sees half a file and a power cut leaves the old state or the new one:
//
//	create .amber-tmp-X     in the directory of the target
//	write  .amber-tmp-X
//	sync   .amber-tmp-X     the bytes are durable, under a name that no program reads
//	link or rename          the bytes are visible
//	syncdir                 the name is durable: only now does the call return nil
//
// A folder that no program looks into before a pointer names it needs less: [Build] makes its files
// under their own names, [FS.SyncAll] makes all of them durable at once, and then the pointer is
// replaced.
//
// A writer killed on the way leaves a .amber-tmp-X file behind; [SweepTemp] removes those.
//
// The functions work on an [FS]. [OS] is the real one. Package crashfs knows what a power cut would
// leave, and package errfs injects errors and records the order of calls.
//
// [AcquireLock] and [TryLock] take kernel file locks. They always work on the real file system.
package fsx
