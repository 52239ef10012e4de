// Package digest says what a session amounts to: the task, decisions with their
// reason, root causes and fixes, what the user wants done always or never, commands
// that work, files that were changed, and what is unfinished.
//
//	turns ── sentences ── cue words, place in the conversation, how central ── best of each kind ── items
//	activity ── commands that work, commands that failed and what mended them, files ──────────────┘
//
// It is extractive: an item is a stretch of one turn, with its white space
// collapsed, and names that turn; or it is made of the names of commands and files.
// Only what the user and the assistant said is read. Text that came out of tools is
// not, nor are code blocks, quotations and tables, which may hold such text. The
// rules are pure: the same session gives the same digest. Everything is bounded,
// whatever the session holds.
//
// The cue words are files: those of English in cues, those of the other languages that a
// session is held in beside them in cues/in. The digest of a session in a language without a file has
// the task, the outcome, the commands and the files.
package digest
