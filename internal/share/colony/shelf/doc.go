// Package shelf is the vault of one agent: the store behind the vault
// that a server offers. It lies on disk, or in the rows of a database that the agent lives in ([OpenRows]), where each file
// is the same bytes.
//
// Each file of the vault is one file of the live generation, named by the
// digest of its name, because names have slashes, 255 characters of any script
// and differ in case alone:
//
//	gen/<n>/state/vault/<aa>/<64 hexadecimal digits>
//
// It begins with a line of JSON that says what it is, and its content follows.
// Snapshots capture the folder with the rest of the state and a restore brings it
// back; neither knows what it is. The format is in docs/format/home.md.
//
// A change is made in its turn among the processes that use the agent, and while
// no snapshot or restore holds up the writers, so that a snapshot sees all of it
// or nothing. It is durable when the call returns nil. Readers take no lock: a
// file is only ever replaced as a whole. Nothing that is read is believed before
// its size and its digest were checked, and a listing shows every file or says
// what is in the way.
package shelf
