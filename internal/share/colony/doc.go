// Package colony backs up the documents of an agent to a small text vault, and
// brings them back, in the format colony-memory/1.
//
// A vault is flat: names and texts, at most a megabyte each, about ten megabytes
// in all, and few changes an hour. A snapshot is a set of documents in one compressed
// text, cut into parts, with a manifest that declares them; a pointer for each
// label names the newest. [Vault] takes, lists, restores and removes snapshots
// over any [Backend]. The format is in docs/format/colony.md.
//
// Four outcomes are never mistaken for one another: the label has no snapshot
// (not_found), the vault did not answer (unreachable), the vault refused or is full
// (refused, quota), and a snapshot is not what was uploaded (damaged, untrusted).
// Only the first means that there is no memory to restore.
package colony
