// Package names is the one rule for names of files: which every system can hold,
// which some system or git takes for something else, and when two names are one.
//
// A letter with a mark is one character in one spelling (NFC) and two in
// another (NFD). Keyboards, file systems and programs use either, and both look
// the same.
package names

import "golang.org/x/text/unicode/norm"

// Canonical returns a name in the spelling that new names get: NFC.
func Canonical(name string) string { return norm.NFC.String(name) }

// Same reports whether two names differ in their spelling at most.
func Same(a, b string) bool { return a == b || Canonical(a) == Canonical(b) }
