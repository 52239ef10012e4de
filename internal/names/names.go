// Package names says when two names are one. A letter with a mark is one
// character in one spelling (NFC) and two in another (NFD); keyboards, file
// systems and programs each have theirs, and nobody sees the difference.
package names

import "golang.org/x/text/unicode/norm"

// Canonical returns a name in the spelling that new names get: NFC.
func Canonical(name string) string { return norm.NFC.String(name) }

// Same reports whether two names differ in their spelling at most.
func Same(a, b string) bool { return a == b || Canonical(a) == Canonical(b) }
