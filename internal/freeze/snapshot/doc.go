// Package snapshot freezes an agent at one point in time, and brings it back.
//
// An agent lies in several places: two databases, a folder of notes with its
// git history, small files of runtime state, and the entries of the crash
// journal that no database has yet. A snapshot holds all of them as they were
// at one instant.
//
// The life of one snapshot:
//
//	before    hand edits of notes are committed; files are read that the last snapshot does not have
//	fence     the writers stand still: both databases are pinned by a reader, refs and
//	          state are read, files that changed since are copied, the end of the journal is noted
//	capture   the writers go on; pages, objects and files go from the pinned instant to the repository
//	read back every pack that was written is read again and compared
//	publish   the manifest, after a last check that no garbage collection condemned what it needs
//	head      keys/ remembers the end of the chain; caches remember what need not be read again
//
// And of one restore:
//
//	check     the manifest, every object it needs, the space
//	build     gen/<n+1> beside the live generation, each page compared while it is written
//	examine   the databases as a stranger's, the notes' history
//	switch    the writers stand still: the last safety snapshot, the stamps, CURRENT
//	clean     the old generation goes when its last state is in a verified snapshot
//
// A restore that is killed leaves the old agent or the new one, at whatever
// instant. The next writer finishes or removes what the restore has built; a
// hook never does.
//
// The engine reads and writes the databases of package store/sqlite, the notes
// of package notes and the journal of package journal, and keeps snapshots in
// repositories of package repo. Only the methods of [Engine] in databases.go
// touch a database, so a mirror of another store in SQLite files belongs there.
package snapshot
