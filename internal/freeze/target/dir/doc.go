// Package dir is a target in a folder: of this computer, of a disk that is
// plugged in, of a file system from the network.
//
//	<folder>/
//	  packs/3f/3f9c…   an object is a file, its name is its path
//	  snapshots/…
//
// Files have mode 0600 and folders 0700. An object is written to a temporary
// file beside its name, synced, linked to the name and the name synced, so it
// is there whole or not at all; a writer that was killed leaves the temporary
// file, which [Dir.Sweep] removes. Every folder on the way is durable before
// an object in it is acknowledged.
//
// A folder cannot hold an object below another one: where there is "a" there
// is no "a/b", and the other way round. A file that is not an object does no
// harm: files with other names, temporary files and links are not listed. No
// link below the folder is followed; a link in the place of an object or of a
// folder is damage. A person who can write to the folder can still exchange
// its files between one look and the next: a target is not trusted, and
// the reader checks the bytes that it gets.
//
// The folder itself is never made again: when it is gone, as with a disk that
// was taken away, the answer is unreachable.
package dir
