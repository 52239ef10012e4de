// Package colony backs up the documents of an agent to a small text vault, and
// brings them back, in the format colony-memory/1.
//
// A vault is flat: names and texts, at most a megabyte each, some ten in all,
// and few changes an hour. A snapshot is a set of documents in one compressed
// text, cut into parts, with a manifest that declares them; a pointer for each
// label names the newest. [Vault] takes, lists, restores and removes snapshots
// over any [Backend]. The format is in docs/format/colony.md.
//
// Four answers are never mistaken for one another: nothing is there
// (not_found), nobody could be asked (unreachable), somebody said no (refused,
// quota), and what is there is not what was put there (damaged, untrusted).
package colony
