package s3

import "time"

// SetPartSize makes the parts of large objects small, for tests that need many
// of them. It is called before the target is used.
func (t *Target) SetPartSize(n int64) { t.part = n }

// SetStall makes a target impatient after it was opened and used in peace.
func (t *Target) SetStall(d time.Duration) { t.stall = d }
