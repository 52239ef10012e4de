package shelf

// ParseFile reads a whole file as it lies on disk, and returns what its first line
// says and how it is written again.
func ParseFile(b []byte) (name, content, version string, again []byte, err error) {
	h, content, err := decode(b)
	if err != nil {
		return "", "", "", nil, err
	}
	again, err = encode(h, content)
	return h.Name, content, h.SHA256, again, err
}
