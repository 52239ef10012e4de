// Package foreign has what the formats of other programs share: where a file lies and how it is read, what is found
// in it, and how records get ids that are the same on every machine.
//
//	path, archive, upload ── Tree ──> Format.Read ── memories, sessions, turns, notes ──> Sink
//
// Each format is a package below this one. It knows the bytes of its program and nothing of a store: package
// transfer puts what a format finds into a store, and gives a format what a store holds.
//
// Everything here is read as hostile: files, entries of archives, lines, elements and expansion are bounded, links
// are not followed, and what cannot be read is named with its place while the rest goes on.
package foreign
