package wire

// IndexStatus says how far the index is that questions are answered from.
type IndexStatus struct {
	Passages int64 `json:"passages"`
	Segments int64 `json:"segments"`
	Tail     int64 `json:"tail"`    // passages that are in no segment yet
	Waiting  int64 `json:"waiting"` // records and committed notes that are not in the index yet
	// Model is what makes vectors; "" where nothing does, and questions are answered by
	// words alone. Note says why that is not what the configuration asks for.
	Model   string `json:"model,omitempty"`
	Note    string `json:"note,omitempty"`
	Vectors int64  `json:"vectors"`
	Pending int64  `json:"pending"` // passages whose vector is not made yet
}

// IndexHealth says how far the indexes of a server are, those of all agents that it has
// looked at added up.
type IndexHealth struct {
	Passages int64  `json:"passages"`
	Waiting  int64  `json:"waiting"`
	Pending  int64  `json:"pending"`
	Model    string `json:"model,omitempty"`
}
