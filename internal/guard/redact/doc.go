// Package redact removes secrets from text before the text is written down.
//
// A [Redactor] replaces each secret with [REDACTED:rule] and leaves every
// other byte alone. Three stages decide what a secret is:
//
//	text ── literals ──> places ── shapes ──> keys of known providers,
//	        one pass               RE2        blocks, tokens
//	                                │
//	                      gaps between them
//	                                │
//	        literals ──> places ── names, entropy ──> headers, URLs,
//	        one pass                                  assignments
//
// First one pass over the bytes finds literals that every secret of a kind contains ("ghp_",
// "-----BEGIN"). The text beside such a place is judged by counting bytes, where a key is a prefix
// and so many of a class, and else by a regular expression over a bounded window. Expressions are
// compiled when they are first needed; most texts need none. Text that no shape has claimed is
// searched a second time for secrets that only their surroundings give away: credentials in
// headers, URLs and commands, and values that look random beside a name that says "password",
// "token" or "key".
//
// The rules recognise a password that a person chose by its name, its quotation marks and its mix
// of bytes. Where the form leaves no doubt that it is one, as in "password": "..." and
// DB_PASSWORD=..., a letter and a digit are enough. Words alone ("correcthorse") and placeholders
// stay, for they are mostly code and examples; the rules distinguish letters that a machine picked
// by their pairs and cases.
//
// A secret may be spelled with escapes, full-width letters or invisible characters, be broken
// over lines or strings, or stand in base64 or hexadecimal digits. The rules look at what such
// parts of a text read, too, and what they find goes from where it stands; see hidden.go.
//
// A text between <private> and </private> goes as a whole; see private.go.
//
// # Promises
//
// The same text always gives the same result, and redacting a result again
// changes nothing. A valid JSON document stays one: a replacement holds no
// quote and no backslash, and nothing removed contains half an escape or the
// end of a string. Time is linear in the length of the text whatever it holds;
// invalid UTF-8 passes through as it is.
//
// # Rules that keep the promises
//
// No shape may look past what it removes for a reason to remove it, and none
// may contain a square bracket: text next to a secret must be judged alike
// before and after the secret became a marker. A shape therefore fixes a head
// of known length, judges the head alone, and then takes as much of its tail
// as there is.
package redact
