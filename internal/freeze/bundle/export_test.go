package bundle

// Cheap returns o with little work for a passphrase.
func (o WriteOptions) Cheap() WriteOptions {
	o.work = 4
	return o
}

// GNUHeader returns the header of an entry of the other format.
func GNUHeader(path string, size int64) []byte {
	return gnuHeader(header{path: path, mode: 0o600, size: size})
}
