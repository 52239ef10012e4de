// Package httpapi serves the root contracts over HTTP.
//
// Every route is one row of a table: its method and path, the scope a token
// needs, whether it changes something, and the function that does it. Router,
// audit log, OpenAPI document and the tests of isolation all read that table, so
// none can be forgotten.
//
// Bodies are the JSON of the root types, errors that of [wire.Failure] with the
// status of the one table of kinds. Reads of one thing have an ETag; writes take
// If-Match where the contract has a revision, and an Idempotency-Key. Listings
// have cursors, or stream every item as a line when application/x-ndjson is
// asked for. Nothing is read beyond its bound.
package httpapi
