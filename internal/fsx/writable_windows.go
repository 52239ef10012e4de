package fsx

// ReadOnly tells whether this process cannot make or change files in a folder.
// Nobody can tell without trying here, so it is false.
func ReadOnly(string) bool { return false }
