package main

import (
	"io"
	"time"
)

// newPatient returns a reader of r that does not wait for ever.
func newPatient(r io.Reader, pause, limit time.Duration) *patient { return newPump(r, pause, limit) }
