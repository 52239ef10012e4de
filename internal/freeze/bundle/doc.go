// Package bundle reads and writes snapshots as single files, which may leave the machine.
//
// There are two formats. Amber's own is a tar in zstd, in age if it is encrypted, so that tar, zstd and age open it
// without Amber:
//
//	plain       skippable frame [outer manifest] · zstd [tar]
//	encrypted   age header [recipients · outer manifest] · age [zstd [tar]]
//	passphrase  age header [passphrase] · age [zstd [tar]]
//	tar         entries in the order of their paths · manifest.json, the inner manifest
//
// The outer manifest says what everybody may know and the digest of the bytes behind it. The inner one names every
// entry with its size and digest. Both are signed by the same key, or neither is. The inner manifest is the last entry
// and the outer one goes into room that was left for it, so that a bundle is written in one pass.
//
// The other format is nexo-memory-snapshot-v1. [WriteNexo] adds one entry to it, a signed inner manifest, which the
// original does not look at.
//
// Beside a bundle lies its sidecar, <file>.sha256: 64 hexadecimal digits and nothing else.
//
// The content of a file decides what the file is, never its name. [Bundle.Verify] sorts everything that can be looked
// at into what holds, what is damaged, and what was not looked at and why; nothing is in two of them.
// docs/format/bundle.md has the formats to the byte.
package bundle
