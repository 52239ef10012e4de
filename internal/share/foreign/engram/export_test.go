package engram

// Text is what [EncodeChunk] compresses; compressing takes most of its time.
func Text(c Chunk) []byte { return c.text() }
