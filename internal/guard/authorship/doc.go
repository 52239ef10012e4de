// Package authorship writes down who speaks, and keeps callers from writing with more trust than they have.
//
//	door ── who speaks: trust and author ──> authorship ── every write bears both ──> store
//
// Every door through which records come in writes through [Sign]: the desk of a server for HTTP, MCP and the page, and the command
// line. A caller may lower its trust and never raise it. The rule what may change what is in [amber.Trust.MayChange]: the
// store checks it inside of a change; Sign checks it for those changes that name a record by its id alone.
package authorship
