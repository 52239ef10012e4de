// Package notes keeps an agent's notes: Markdown files in a folder under git, every change a commit.
//
// A note NAME is the file NAME.md. The life of one write, all of it inside [Guard.Write]:
//
//	look      git status: what does the folder hold that the branch does not?
//	recover   commit that first, as "recover NAME" or "recover N notes": an edit by hand, or a writer that died
//	objects   git fast-import stores blob, trees and commit; nothing points at them yet
//	file      the note file is replaced, synced, and its directory is synced
//	branch    git update-ref moves refs/heads/main; the ref and its directory are synced
//	index     git update-index; a cache, mended by the next write when it is lost
//
// The write is acknowledged once the branch moved. A crash before "file" leaves the old note, a
// crash after it is mended by the next "recover". A reader sees the old text or the new one.
//
// # What git may do
//
// The system git is run as a program, with an environment of its own: neither the user's
// configuration nor the variables of the calling process reach it. The repository is not trusted
// either: a .git folder with any setting that Amber does not write, with hooks, attributes,
// alternates or symbolic links is refused as damaged before git is started on it. No git
// command used here converts content, so what is committed is what the file holds.
//
// # Bounds
//
// Objects are stored one by one and never packed here: the repository grows with every write by the folders on the
// way to the note, and looking up the last commit of a note takes longer the older that commit is. Both are
// small for hundreds of notes and thousands of commits; git repack, run by the owner of the folder, makes both small again.
//
// Package internal/base/gitobj takes the history apart into objects and refs for a snapshot, and builds it again.
package notes
