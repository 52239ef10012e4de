// Package setup connects agent hosts with Amber: it writes the hooks, and
// where asked the MCP server, into the host's own settings files, and takes them
// out again.
//
// [Install] and [Uninstall] only look and return a [Plan]; [Plan.Apply] writes.
// [Status] only looks.
//
// # What is Amber's
//
// An entry is Amber's when its command is, word for word, a program named amber
// with the words "hook HOST --event NAME", wherever that program lies. Nothing
// is recognised by a part of a word, no foreign entry is ever changed, and no key
// is added that a host does not know. A file that cannot be parsed, or that has
// something else where a list of hooks should be, is left alone.
//
// # How a file is given back
//
// Before a file is changed its text goes to the state folder, together with a
// record: digests of the text before and after, whether the file and which
// folders were made, and which containers were empty. As long as the file still
// is what setup left, uninstalling restores the text before it to the byte.
// When another program has changed it since, only Amber's entries are cut out, by the
// inverse of the edits that put them in, and everything else stays.
//
// Files are replaced in one step, keep their mode, and are edited where a
// symbolic link leads to. A file that changed between the plan and its
// application is not written.
package setup
