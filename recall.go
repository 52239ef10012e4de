package amber

// RecallReason says why a recall is made.
type RecallReason string

// The reasons for a recall.
const (
	RecallManual  RecallReason = "manual" // the default
	RecallRequest RecallReason = "request_intake"
	RecallResume  RecallReason = "resume"
)

// Query asks for the memories that best answer a text.
type Query struct {
	// Text is a question in natural language: its content words are searched,
	// any of them may match. When they find fewer than Limit, related words
	// (chose for pick) fill up behind them. Blank text matches everything,
	// newest first; text of punctuation alone matches nothing.
	Text string `json:"text"`
	Filter
	Reason  RecallReason `json:"reason,omitempty"`  // default manual
	Limit   int          `json:"limit,omitempty"`   // 0: DefaultTopK; above MaxTopK it is clamped and said
	Explain bool         `json:"explain,omitempty"` // fill Hit.Why
	// Trusted limits the answer to own and signed memories, as automatic
	// injection must.
	Trusted bool `json:"trusted,omitempty"`
}

// RecallResult is the answer to a query, best hit first. Hits is never nil.
type RecallResult struct {
	Hits    []Hit   `json:"hits"`
	Clamped []Clamp `json:"clamped,omitempty"`
	// SetAside are memories that matched and cannot be read, at most MaxSetAside.
	SetAside []SetAside `json:"set_aside,omitempty"`
}

// Hit is one memory that matched.
type Hit struct {
	ID         MemoryID   `json:"id"`
	Score      float64    `json:"score"` // 0 to 1, comparable inside one result only
	Title      string     `json:"title"`
	Kind       MemoryKind `json:"kind"`
	Scope      Scope      `json:"scope"`
	Snippet    string     `json:"snippet"` // the part of the content that matched
	Content    string     `json:"content"`
	Trust      Trust      `json:"trust"`
	CreatedAt  Time       `json:"created_at"`
	UpdatedAt  Time       `json:"updated_at"`
	Provenance Provenance `json:"provenance"`
	Why        *Why       `json:"why,omitempty"`
}

// Provenance says which backend answered and where the record is.
type Provenance struct {
	Backend string `json:"backend"`
	Locator string `json:"locator,omitempty"`
}

// Why explains the rank of a hit.
type Why struct {
	Terms []TermMatch `json:"terms"` // each query term that matched
	// Words, Substring and CJK are the parts of the score before it is
	// normalised: from whole words, from parts of words, from characters of
	// scripts written without spaces.
	Words     float64 `json:"words"`
	Substring float64 `json:"substring,omitempty"`
	CJK       float64 `json:"cjk,omitempty"`
	// Related is set on a hit that only related words found; it ranks behind
	// every hit of the question's own words.
	Related bool `json:"related,omitempty"`
}

// TermMatch is one query term and the fields it was found in.
type TermMatch struct {
	Term   string   `json:"term"`
	Fields []string `json:"fields"`
}

// Clamp reports a value above its hard cap that was lowered to it.
type Clamp struct {
	Key       string `json:"key"`
	Requested int64  `json:"requested"`
	Effective int64  `json:"effective"`
}
