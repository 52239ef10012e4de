// Package api is a vault behind HTTP: the client of the service that the real
// colony-memory client talks to, and of what amber serve offers in its place.
//
// A key is exchanged for a token that is good for a day; the token is kept in
// memory and is in no error. Requests that fail on the way are tried again for
// half a minute, or until they succeed. A response that cannot be understood
// counts as no response: only the vault itself can say that a file does not
// exist.
package api
