package cli

import (
	"io"
	"time"
)

// NewPatient returns a reader of r that does not wait for ever.
func NewPatient(r io.Reader, pause, limit time.Duration) *Patient { return newPump(r, pause, limit) }
