// Package keyring keeps the keys of a home: the seed it signs with, and the
// keys of others whose signatures count.
//
//	keys/signing.seed   32 bytes, mode 0600
//	keys/trusted        one key a line, "did:key:z6Mk… comment"
//	keys/trusted.lock   empty; held while the list is changed
//
// Both are plain files: they can be copied, reviewed and distributed without
// Amber. A seed is read as 32 bytes, as 64 hexadecimal digits, or as base64 of
// either alphabet, so that one that colony-memory uses keeps its did:key here.
//
// A seed that others may read is not used, and a list that others may write is
// not believed. Windows has no such modes; there the folder's own permissions
// decide.
package keyring
