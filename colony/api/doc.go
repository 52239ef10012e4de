// Package api is a vault behind HTTP: the client of the service that the real
// colony-memory client talks to, and of what amber serve offers in its place.
//
// A key is exchanged for a token that is good for a day; the token is kept in
// memory and is in no error. What went wrong on the way is tried again for half
// a minute, or for as long as it takes. An answer that makes no sense is as if
// nobody had answered: only the vault itself says that a file is not there.
package api
