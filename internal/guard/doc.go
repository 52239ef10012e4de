// Package guard names the wing that stands between a door and a store.
//
// Package redact finds secrets, and package intake takes them out of every text that a door writes. Package authorship writes down
// who speaks and how far that is trusted, package bounds keeps a caller to its own records, and package audited lets the entry of the
// audit log be written with the change it is about. Package shown cleans the text that agents and terminals get.
//
// The wing knows the contracts of the root and no store. It may use base. Every other wing may use it.
package guard
