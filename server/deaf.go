package server

import "context"

// Deaf reports whether the last entry could not be written to the audit log. No
// change is begun until one can be.
func (d *Desk) Deaf() bool { return d.deaf.Load() }

// Listening returns nil when the audit log can be written. Where the last entry
// could not be, it tries.
func (d *Desk) Listening(ctx context.Context) error { return d.listening(ctx, Caller{}, Job{}) }
