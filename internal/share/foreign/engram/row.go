package engram

// Session is a row of sessions. Pointers are nil where the field is absent or null; a row writes what it read.
type Session struct {
	ID        string  `json:"id"`
	Project   string  `json:"project"`
	Directory string  `json:"directory"`
	StartedAt string  `json:"started_at"` // "2006-01-02 15:04:05", UTC
	EndedAt   *string `json:"ended_at,omitempty"`
	Summary   *string `json:"summary,omitempty"`

	extra string // members of later versions (ownership_mode)
}

// Observation is a row of observations: a memory.
type Observation struct {
	ID             int64   `json:"id"`                // id in the database that wrote the row; it means nothing elsewhere
	SyncID         *string `json:"sync_id,omitempty"` // not in 1.7.0
	SessionID      string  `json:"session_id"`
	Type           string  `json:"type"`
	Title          string  `json:"title"`
	Content        string  `json:"content"`
	ToolName       *string `json:"tool_name,omitempty"`
	Project        *string `json:"project,omitempty"`
	Scope          string  `json:"scope"` // project, personal, and later global
	TopicKey       *string `json:"topic_key,omitempty"`
	RevisionCount  int64   `json:"revision_count"`
	DuplicateCount int64   `json:"duplicate_count"`
	LastSeenAt     *string `json:"last_seen_at,omitempty"`
	ReviewAfter    *string `json:"review_after,omitempty"` // not in 1.7.0
	CreatedAt      string  `json:"created_at"`
	UpdatedAt      string  `json:"updated_at"`
	DeletedAt      *string `json:"deleted_at,omitempty"`

	extra string
}

// Prompt is a row of prompts.
type Prompt struct {
	ID        int64   `json:"id"`
	SyncID    *string `json:"sync_id,omitempty"` // not in 1.7.0
	SessionID string  `json:"session_id"`
	Content   string  `json:"content"`
	Project   string  `json:"project,omitempty"`
	CreatedAt string  `json:"created_at"`

	extra string
}

// Mutation is a change that later versions add to a chunk.
type Mutation struct {
	Seq        int64   `json:"seq"`
	TargetKey  string  `json:"target_key"`
	Entity     string  `json:"entity"`     // session, observation, prompt or relation
	EntityKey  string  `json:"entity_key"` // the id of a session, otherwise a sync_id
	Op         string  `json:"op"`         // upsert or delete
	Payload    string  `json:"payload"`    // the row as JSON
	Source     string  `json:"source"`
	Project    string  `json:"project"`
	OccurredAt string  `json:"occurred_at"`
	AckedAt    *string `json:"acked_at,omitempty"`

	extra string
}

func (s *Session) decode(raw []byte) (err error) {
	s.extra, _, err = decodeObject(raw, fieldsOf(s)...)
	return err
}

func (o *Observation) decode(raw []byte) (err error) {
	o.extra, _, err = decodeObject(raw, fieldsOf(o)...)
	return err
}

func (p *Prompt) decode(raw []byte) (err error) {
	p.extra, _, err = decodeObject(raw, fieldsOf(p)...)
	return err
}

func (m *Mutation) decode(raw []byte) (err error) {
	m.extra, _, err = decodeObject(raw, fieldsOf(m)...)
	return err
}

func (s Session) encode() []byte     { return withExtra(marshal(s), s.extra) }
func (o Observation) encode() []byte { return withExtra(marshal(o), o.extra) }
func (p Prompt) encode() []byte      { return withExtra(marshal(p), p.extra) }
func (m Mutation) encode() []byte    { return withExtra(marshal(m), m.extra) }
