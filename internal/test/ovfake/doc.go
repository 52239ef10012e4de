// Package ovfake is an OpenViking server in memory, for tests: the calls that
// Amber uses, with the answers of OpenViking 0.5.2, and moods that make it fail
// in the ways a real one does. Package ovtest holds its promises and asks the
// same of the fake and of a real server.
//
// Only memories are kept: URIs below viking://user/{user}/memories. Vectors are
// made by an [Embedder] at the time of the write, unless a mood says otherwise.
// [Stub] is the same embedder as a server, for a real OpenViking.
package ovfake
