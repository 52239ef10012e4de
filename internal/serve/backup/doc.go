// Package backup keeps the notes of the agents of a home in a vault, as a worker
// of a server: on a schedule and after sessions, with a record of what is due that
// survives the process.
package backup
