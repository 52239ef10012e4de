package amber

// RecallReason says why a recall is made.
type RecallReason string

// The reasons for a recall.
const (
	RecallManual  RecallReason = "manual" // the default
	RecallRequest RecallReason = "request_intake"
	RecallResume  RecallReason = "resume"
)

// RecallLayer says what a passage was taken from. A passage is the unit of recall: a memory,
// what was said in a session, a part of a note.
type RecallLayer string

// The layers.
const (
	LayerMemory   RecallLayer = "memory"   // a memory
	LayerExchange RecallLayer = "exchange" // what was said in a session
	LayerNote     RecallLayer = "note"     // a section of a note
	LayerSession  RecallLayer = "session"  // the digest of a session, or the summary of a compaction
	LayerActivity RecallLayer = "activity" // a command that failed, and what came of it
)

// RecallLayers lists every layer in the order above.
func RecallLayers() []RecallLayer {
	return []RecallLayer{LayerMemory, LayerExchange, LayerNote, LayerSession, LayerActivity}
}

// Query asks for the passages that best answer a text.
type Query struct {
	// Text is a question in natural language: what is near it in meaning is found,
	// and what has its words, parts of them, or words that differ by a slip of the
	// keyboard. Blank text matches every memory, newest first; text of punctuation
	// alone matches nothing.
	Text string `json:"text"`
	Filter
	// Layers are asked; none means all of them. Kinds and tags are of memories alone:
	// a query that has some asks only these.
	Layers []RecallLayer `json:"layers,omitempty"`
	// MinScore leaves out hits that are less likely to be relevant.
	MinScore float64      `json:"min_score,omitempty"`
	Reason   RecallReason `json:"reason,omitempty"`  // default manual
	Limit    int          `json:"limit,omitempty"`   // 0: DefaultTopK; above MaxTopK it is clamped and said
	Explain  bool         `json:"explain,omitempty"` // fill Hit.Why
	// Trusted limits the answer to own and signed memories, as automatic
	// injection must.
	Trusted bool `json:"trusted,omitempty"`
	// Review says which memories wait for the owner: a policy sets it for those who put memory before an agent that did not
	// ask. Recall does not look at it.
	Review Review `json:"-"`
	// Local leaves out what was imported and not signed by a trusted key. Trusted leaves
	// out more.
	Local bool `json:"local,omitempty"`
}

// Believes reports whether the query asks for passages of a trust.
func (q Query) Believes(t Trust) bool {
	switch t {
	case TrustOwn, TrustSigned:
		return true
	case TrustAgent, TrustDerived:
		return !q.Trusted
	}
	return !q.Trusted && !q.Local
}

// Prompted reports whether the text of the query was said to an agent, so that no caller asked for memories.
func (q Query) Prompted() bool { return q.Reason == RecallRequest || q.Reason == RecallResume }

// AnswerScore is a threshold for questions: where no hit reaches it, memory has rather no answer.
const AnswerScore = 0.25

// RelevantScore is the score from which a hit is put before an agent that did not ask for
// it: it is rather relevant than not.
const RelevantScore = 0.5

// RecallResult is the answer to a query, best hit first. Hits is never nil. It ends
// where the text of the hits reaches [MaxPageBytes], and Clamped says so.
type RecallResult struct {
	Hits    []Hit   `json:"hits"`
	Clamped []Clamp `json:"clamped,omitempty"`
	// SetAside are memories that matched and cannot be read, at most MaxSetAside.
	SetAside []SetAside `json:"set_aside,omitempty"`
	// Degraded says what the answer could not take into account, as passages whose
	// meaning is not known yet; "" when it is whole.
	Degraded string `json:"degraded,omitempty"`
}

// Hit is one passage that matched.
type Hit struct {
	ID    MemoryID    `json:"id"` // "" where the owner is no memory
	Layer RecallLayer `json:"layer"`
	// Owner is what the passage was taken from: the id of a memory, a turn, a session
	// or a compaction, the name of a note; of what failed, the id of its session.
	Owner     string    `json:"owner"`
	SessionID SessionID `json:"session_id,omitempty"` // it belongs to
	ProjectID string    `json:"project_id,omitempty"`
	Role      Role      `json:"role,omitempty"` // who said it, of an exchange
	// Score is how likely the hit is relevant, 0 to 1, the same in every store.
	Score      float64    `json:"score"`
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

// Why explains the score of a hit: its parts before they are made a likelihood.
type Why struct {
	Terms      []TermMatch `json:"terms"`                // each query term that matched
	Words      float64     `json:"words"`                // how much of the question its words answer
	Meaning    float64     `json:"meaning,omitempty"`    // how near it is in meaning: a cosine
	Neighbours float64     `json:"neighbours,omitempty"` // what the passages beside it add
	Session    float64     `json:"session,omitempty"`    // what the rest of its session adds
	Speaker    float64     `json:"speaker,omitempty"`    // the question names who spoke, less what a mere question loses
	Time       float64     `json:"time,omitempty"`       // it is of the time the question names, or came after that
	Kind       float64     `json:"kind,omitempty"`       // it is of the kind the question asks for
	Trust      float64     `json:"trust,omitempty"`      // what it loses where it came from elsewhere unsigned
	Feedback   float64     `json:"feedback,omitempty"`   // how near it is to the best hit
	Wording    float64     `json:"wording,omitempty"`    // what the wording of the question adds to the odds of every hit, as a logarithm
	Newer      bool        `json:"newer,omitempty"`      // it took the place of an older one about the same
	Related    bool        `json:"related,omitempty"`    // an index beside the store found it, which scores by its own model
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
