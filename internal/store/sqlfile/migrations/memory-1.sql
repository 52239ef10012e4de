-- memory.db, schema 1: every memory layer.

-- The histories this file has lived through. Each generation of the agent
-- folder adds one; positions in the change log name theirs.
CREATE TABLE incarnations (
  ordinal   INTEGER PRIMARY KEY,
  id        TEXT NOT NULL UNIQUE,
  first_seq INTEGER NOT NULL
) STRICT;

-- What changed, in commit order. Never deleted from, so seq only grows.
CREATE TABLE changes (
  seq        INTEGER PRIMARY KEY,
  stamp      INTEGER NOT NULL,
  op         TEXT NOT NULL,
  scope      TEXT NOT NULL,
  key        TEXT NOT NULL,
  old_digest TEXT NOT NULL,
  new_digest TEXT NOT NULL
) STRICT;

CREATE TABLE memories (
  rowid           INTEGER PRIMARY KEY,
  id              TEXT NOT NULL UNIQUE,
  kind            TEXT NOT NULL,
  scope           TEXT NOT NULL,
  identity        TEXT NOT NULL, -- of the scope; '' for global
  session_id      TEXT NOT NULL,
  user_id         TEXT NOT NULL,
  project_id      TEXT NOT NULL,
  workspace_id    TEXT NOT NULL,
  title           TEXT NOT NULL,
  content         TEXT NOT NULL,
  summary         TEXT NOT NULL,
  topic           TEXT NOT NULL,
  tags            TEXT NOT NULL, -- sorted, one a line
  metadata        TEXT NOT NULL, -- JSON object
  source_refs     TEXT NOT NULL, -- JSON array
  trust           TEXT NOT NULL,
  device          TEXT NOT NULL,
  counter         INTEGER NOT NULL,
  clock           INTEGER NOT NULL,
  revision        INTEGER NOT NULL,
  content_digest  TEXT NOT NULL,
  duplicate_count INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  deleted_at      INTEGER,
  foreign_fields  TEXT NOT NULL, -- JSON object
  glued           TEXT NOT NULL, -- words that touch characters of scripts without spaces, for the index
  facets          TEXT NOT NULL  -- scope with identity, and kind, as index terms
) STRICT;

CREATE INDEX memories_dedupe  ON memories (content_digest) WHERE deleted_at IS NULL;
CREATE INDEX memories_created ON memories (created_at, id);
CREATE INDEX memories_updated ON memories (updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX memories_session ON memories (session_id, created_at, id) WHERE session_id <> '';

-- Every earlier revision of a memory, whole.
CREATE TABLE revisions (
  memory_id TEXT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
  revision  INTEGER NOT NULL,
  body      TEXT NOT NULL, -- the memory as JSON
  PRIMARY KEY (memory_id, revision)
) STRICT, WITHOUT ROWID;

-- Memories that were erased. The id is never used again.
CREATE TABLE erased (
  id      TEXT PRIMARY KEY,
  device  TEXT NOT NULL,
  counter INTEGER NOT NULL,
  clock   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Full text: words, stemmed and folded. Only live memories are indexed. The
-- facets let the index itself apply the commonest filters; they add nothing to
-- a rank.
CREATE VIEW memory_words AS
  SELECT rowid AS id, title, topic, tags, summary, content, glued, facets
  FROM memories WHERE deleted_at IS NULL;

CREATE VIRTUAL TABLE memory_fts USING fts5 (
  title, topic, tags, summary, content, glued, facets,
  content = 'memory_words', content_rowid = 'id',
  tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO memory_fts (memory_fts, rank) VALUES ('secure-delete', 1);
-- Every write merges a little itself: left to FTS5, one write in many merges
-- a lot, and everybody waits for it.
INSERT INTO memory_fts (memory_fts, rank) VALUES ('automerge', 0);
INSERT INTO memory_fts (memory_fts, rank) VALUES ('crisismerge', 1000);
INSERT INTO memory_fts (memory_fts, rank) VALUES ('rank', 'bm25(6.0, 6.0, 3.0, 2.0, 1.0, 1.0, 0.0)');

-- Full text: every three characters, for parts of words and for scripts
-- written without spaces. The two line feeds at the end give the last
-- characters a gram of their own.
CREATE VIEW memory_characters AS
  SELECT rowid AS id,
         title || char(10) || topic || char(10) || tags || char(10) || summary || char(10) || content || char(10, 10) AS body
  FROM memories WHERE deleted_at IS NULL;

CREATE VIRTUAL TABLE memory_grams USING fts5 (
  body,
  content = 'memory_characters', content_rowid = 'id',
  tokenize = 'trigram remove_diacritics 1', detail = none
);
INSERT INTO memory_grams (memory_grams, rank) VALUES ('secure-delete', 1);
INSERT INTO memory_grams (memory_grams, rank) VALUES ('automerge', 0);
INSERT INTO memory_grams (memory_grams, rank) VALUES ('crisismerge', 1000);

CREATE VIRTUAL TABLE memory_gram_instances USING fts5vocab (memory_grams, instance);

CREATE TRIGGER memories_insert AFTER INSERT ON memories WHEN new.deleted_at IS NULL BEGIN
  INSERT INTO memory_fts (rowid, title, topic, tags, summary, content, glued, facets)
    VALUES (new.rowid, new.title, new.topic, new.tags, new.summary, new.content, new.glued, new.facets);
  INSERT INTO memory_grams (rowid, body)
    VALUES (new.rowid, new.title || char(10) || new.topic || char(10) || new.tags || char(10) || new.summary || char(10) || new.content || char(10, 10));
END;

CREATE TRIGGER memories_delete AFTER DELETE ON memories WHEN old.deleted_at IS NULL BEGIN
  INSERT INTO memory_fts (memory_fts, rowid, title, topic, tags, summary, content, glued, facets)
    VALUES ('delete', old.rowid, old.title, old.topic, old.tags, old.summary, old.content, old.glued, old.facets);
  INSERT INTO memory_grams (memory_grams, rowid, body)
    VALUES ('delete', old.rowid, old.title || char(10) || old.topic || char(10) || old.tags || char(10) || old.summary || char(10) || old.content || char(10, 10));
END;

-- An update that leaves the text alone leaves the index alone. One trigger,
-- because two would fire in an order nobody promises.
CREATE TRIGGER memories_update AFTER UPDATE OF title, topic, tags, summary, content, glued, facets, deleted_at ON memories BEGIN
  INSERT INTO memory_fts (memory_fts, rowid, title, topic, tags, summary, content, glued, facets)
    SELECT 'delete', old.rowid, old.title, old.topic, old.tags, old.summary, old.content, old.glued, old.facets
    WHERE old.deleted_at IS NULL;
  INSERT INTO memory_grams (memory_grams, rowid, body)
    SELECT 'delete', old.rowid, old.title || char(10) || old.topic || char(10) || old.tags || char(10) || old.summary || char(10) || old.content || char(10, 10)
    WHERE old.deleted_at IS NULL;
  INSERT INTO memory_fts (rowid, title, topic, tags, summary, content, glued, facets)
    SELECT new.rowid, new.title, new.topic, new.tags, new.summary, new.content, new.glued, new.facets
    WHERE new.deleted_at IS NULL;
  INSERT INTO memory_grams (rowid, body)
    SELECT new.rowid, new.title || char(10) || new.topic || char(10) || new.tags || char(10) || new.summary || char(10) || new.content || char(10, 10)
    WHERE new.deleted_at IS NULL;
END;

-- Answers to writes that carried an idempotency key.
CREATE TABLE idempotency (
  operation  TEXT NOT NULL,
  key        TEXT NOT NULL,
  digest     TEXT NOT NULL, -- of the request
  memory_id  TEXT NOT NULL,
  answer     TEXT NOT NULL, -- JSON
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (operation, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_expiry ON idempotency (expires_at);
CREATE INDEX idempotency_memory ON idempotency (memory_id);

CREATE TABLE relations (
  id         TEXT PRIMARY KEY,
  from_id    TEXT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
  to_id      TEXT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
  type       TEXT NOT NULL,
  strength   REAL NOT NULL,
  device     TEXT NOT NULL,
  counter    INTEGER NOT NULL,
  clock      INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  deleted_at INTEGER,
  UNIQUE (from_id, to_id, type)
) STRICT;
CREATE INDEX relations_to ON relations (to_id);

CREATE TABLE embeddings (
  memory_id TEXT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
  model     TEXT NOT NULL,
  dimension INTEGER NOT NULL,
  vector    BLOB NOT NULL, -- little-endian 32-bit floats
  PRIMARY KEY (memory_id, model)
) STRICT;

CREATE TABLE concepts (
  memory_id TEXT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
  concept   TEXT NOT NULL,
  PRIMARY KEY (memory_id, concept)
) STRICT, WITHOUT ROWID;

CREATE TABLE turns (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  session_id TEXT NOT NULL,
  role       TEXT NOT NULL,
  content    TEXT NOT NULL,
  project_id TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX turns_session ON turns (session_id, seq);

CREATE TABLE sessions (
  id         TEXT PRIMARY KEY,
  name       TEXT NOT NULL,
  binding    TEXT NOT NULL,
  project    TEXT NOT NULL,
  directory  TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at   INTEGER,
  end_reason TEXT NOT NULL,
  summary    TEXT NOT NULL,
  parent     TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_updated ON sessions (updated_at, id);
CREATE INDEX sessions_binding ON sessions (binding, updated_at, id);

CREATE TABLE active_sessions (
  binding    TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX active_sessions_session ON active_sessions (session_id);

CREATE TABLE session_states (
  session_id TEXT PRIMARY KEY,
  document   TEXT NOT NULL,
  version    INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE loops (
  session_id TEXT PRIMARY KEY,
  run_id     TEXT NOT NULL,
  state      TEXT NOT NULL,
  revision   INTEGER NOT NULL,
  digest     TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  parked     INTEGER NOT NULL
) STRICT;

CREATE TABLE compactions (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  session_id TEXT NOT NULL,
  summary    TEXT NOT NULL,
  turns      INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX compactions_session ON compactions (session_id, seq);
