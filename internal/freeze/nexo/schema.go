package nexo

// The tables of nexo with its names and columns, and those of Amber beside
// them. docs/format/bundle.md says which values each holds.
const (
	memoriesSchema = `
CREATE TABLE memories (
  id           TEXT PRIMARY KEY,
  agent_id     TEXT NOT NULL,
  content      TEXT NOT NULL,
  tags         TEXT NOT NULL DEFAULT '[]',
  created_at   INTEGER NOT NULL,
  concept_tags TEXT NOT NULL DEFAULT '[]',
  memory_type  TEXT
);
CREATE INDEX idx_memories_agent ON memories (agent_id, created_at DESC);
`
	longTermSchema = memoriesSchema + `
CREATE VIRTUAL TABLE memories_fts USING fts5 (content, id UNINDEXED, agent_id UNINDEXED);
CREATE TABLE interactions (
  id         TEXT PRIMARY KEY,
  session_id TEXT NOT NULL,
  agent_id   TEXT NOT NULL,
  role       TEXT NOT NULL,
  content    TEXT NOT NULL,
  created_at INTEGER NOT NULL
);
CREATE INDEX idx_interactions_session ON interactions (session_id, created_at DESC);
CREATE TABLE reminders (
  id           TEXT PRIMARY KEY,
  agent_id     TEXT NOT NULL,
  session_id   TEXT NOT NULL,
  plugin       TEXT NOT NULL,
  recipient    TEXT NOT NULL,
  message      TEXT NOT NULL,
  due_at       INTEGER NOT NULL,
  claimed_at   INTEGER,
  delivered_at INTEGER,
  created_at   INTEGER NOT NULL
);
CREATE INDEX idx_reminders_due ON reminders (agent_id, delivered_at, due_at ASC);
CREATE TABLE email_followups (
  flow_id          TEXT PRIMARY KEY,
  agent_id         TEXT NOT NULL,
  session_id       TEXT NOT NULL,
  source_plugin    TEXT NOT NULL,
  source_instance  TEXT,
  recipient        TEXT NOT NULL,
  thread_root_id   TEXT NOT NULL,
  instruction      TEXT NOT NULL,
  check_every_secs INTEGER NOT NULL,
  max_attempts     INTEGER NOT NULL,
  attempts         INTEGER NOT NULL,
  next_check_at    INTEGER NOT NULL,
  claimed_at       INTEGER,
  status           TEXT NOT NULL,
  status_note      TEXT,
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL
);
CREATE TABLE recall_events (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_id  TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  query     TEXT NOT NULL,
  score     REAL NOT NULL,
  ts_ms     INTEGER NOT NULL
);
CREATE INDEX idx_recall_events_agent_memory ON recall_events (agent_id, memory_id, ts_ms DESC);
CREATE TABLE memory_promotions (
  memory_id   TEXT PRIMARY KEY,
  agent_id    TEXT NOT NULL,
  promoted_at INTEGER NOT NULL,
  score       REAL NOT NULL,
  phase       TEXT NOT NULL
);
CREATE INDEX idx_memory_promotions_agent ON memory_promotions (agent_id, promoted_at DESC);

-- Amber's: what the tables above have no columns for.
CREATE TABLE amber_fields (
  kind TEXT NOT NULL,
  id   TEXT NOT NULL,
  seq  INTEGER NOT NULL, -- orders rows of one kind
  json TEXT NOT NULL,
  PRIMARY KEY (kind, id)
) WITHOUT ROWID;
`
	// vectorSchema has a plain table where nexo has one of the module vec0
	// with the same columns.
	vectorSchema = `
CREATE TABLE vec_memories (memory_id TEXT PRIMARY KEY, embedding BLOB NOT NULL);

-- Amber's: the vectors of all models.
CREATE TABLE amber_embeddings (
  memory_id TEXT NOT NULL,
  model     TEXT NOT NULL,
  dimension INTEGER NOT NULL,
  vector    BLOB NOT NULL,
  PRIMARY KEY (memory_id, model)
);
`
	compactionsSchema = `
CREATE TABLE compactions_v1 (
  session_id       TEXT NOT NULL,
  compacted_at     INTEGER NOT NULL,
  head_turn_count  INTEGER NOT NULL,
  tail_start_index INTEGER NOT NULL,
  summary          TEXT NOT NULL,
  model_used       TEXT NOT NULL,
  input_tokens     INTEGER NOT NULL,
  output_tokens    INTEGER NOT NULL,
  PRIMARY KEY (session_id, compacted_at)
);
CREATE INDEX idx_compactions_v1_session ON compactions_v1 (session_id, compacted_at DESC);
CREATE TABLE compaction_locks_v1 (
  session_id TEXT PRIMARY KEY,
  locked_at  INTEGER NOT NULL,
  holder     TEXT NOT NULL
);
`
)
