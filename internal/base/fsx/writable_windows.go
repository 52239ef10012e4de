package fsx

// ReadOnly reports whether this process cannot make or change files in a
// folder. Windows does not say without trying, so the answer is false.
func ReadOnly(string) bool { return false }
