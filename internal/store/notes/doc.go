// Package notes keeps an agent's notes: Markdown files in a folder that is a repository of git, every change a commit.
//
// A note NAME is the file NAME.md. The life of one write, all of it inside [Guard.Write]:
//
//	look      what does the folder hold that the branch does not? The index of git says which files cannot have changed
//	recover   commit that first, as "recover NAME" or "recover N notes": an edit by hand, or a writer that died
//	objects   blob, trees and commit are stored, each in a file of its own; nothing points at them yet
//	file      the note file is replaced, synced, and its directory is synced
//	branch    refs/heads/main is replaced under the lock of git; the ref and its directory are synced
//	index     a cache, mended by the next write when it is lost
//
// The write is acknowledged once the branch moved. A crash before "file" leaves the old note, a
// crash after it is mended by the next "recover". A reader sees the old text or the new one.
//
// Package internal/store/notefile is the engine: histories and commits over git's objects. This package has the
// folder: its files, its branch and its index. No git program runs but for [Dir.Export]; people may use one beside Amber, and pack the
// repository with it.
//
// # A repository that is not trusted
//
// A .git folder with any setting that Amber does not write, with hooks, attributes, alternates or symbolic links is
// refused as damaged: a person who runs git in it would run what it says. Amber follows none of these itself.
//
// # Bounds
//
// Objects are stored one by one and never packed here: the repository grows with every write by the folders on the
// way to the note, and looking up the last commit of a note takes longer the older that commit is. Both are
// small for hundreds of notes and thousands of commits; git repack, run by the owner of the folder, makes both small again.
//
// Package internal/base/gitobj takes the history apart into objects and refs for a snapshot, and builds it again.
package notes
