package fsx

// ReadOnly tells whether this process cannot make or change files in a folder.
// Windows does not say without trying, so the answer is false.
func ReadOnly(string) bool { return false }
