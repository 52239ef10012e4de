// Package crashfs is an in-memory file system that knows what a power cut would leave of it.
//
// It keeps two states side by side: what programs see, and what is durable. [fsx.File.Sync] makes the
// content and length of a file durable, but not its name; [fsx.FS.SyncDir] makes the names in one
// directory durable, but not their content, and not the directory's own name. [fsx.FS.SyncAll] does both for everything below
// a directory; until then a file that was made there may be lost, empty, torn or whole after a power cut.
//
// [FS.CrashClone] returns what a power cut leaves: everything durable, plus a random part of the rest.
//
//   - Of the directory operations not yet synced each is kept or dropped by itself, a later one
//     perhaps without an earlier one. A rename within one directory is kept or dropped as a whole. A rename
//     across directories becomes durable one directory at a time, so a file may keep both names when only the
//     new directory was synced, and may have none when only the old one was.
//   - Of a file each 4 KiB block written since the last sync is new, old or (where the file did not reach
//     before, or was cut off in between) zero. The length is any that the file could have had since.
//   - Synced bytes that were not written again, and not cut off, always survive.
//
// [FS.StopAt] makes the process die at a chosen call. A test that cuts everywhere counts the calls of one run
// with [FS.Calls], then repeats the run once per call:
//
//	for n := 1; n <= calls; n++ {
//		c := crashfs.New()
//		c.StopAt(n)
//		err := run(c)
//		after := c.CrashClone(rand.New(rand.NewPCG(seed, 0)))
//		// err is nil: after holds the new state. Otherwise the old or the new one.
//	}
//
// Everything is deterministic: equal calls and equal seeds give equal results. There are no symbolic
// links, permissions are not enforced, and modification times count calls.
package crashfs
