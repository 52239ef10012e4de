-- memory.db, schema 5: one index over everything that was lived.

DROP TRIGGER memories_insert;
DROP TRIGGER memories_delete;
DROP TRIGGER memories_update;
DROP TABLE memory_gram_instances;
DROP TABLE memory_grams;
DROP TABLE memory_fts;
DROP VIEW memory_words;
DROP VIEW memory_characters;
ALTER TABLE memories DROP COLUMN glued;
ALTER TABLE memories DROP COLUMN facets;

-- What was written and is not indexed yet. Triggers fill it, and every transaction
-- empties it before it commits; what a migration or a restore leaves here is indexed
-- later.
CREATE TABLE index_dirty (
  source TEXT NOT NULL,        -- memory, turn, compaction, session, activity or note
  owner  TEXT NOT NULL,        -- its id
  PRIMARY KEY (source, owner)
) STRICT, WITHOUT ROWID;

-- The passages: what is found.
CREATE TABLE passages (
  row        INTEGER PRIMARY KEY, -- never used again
  source     TEXT NOT NULL,
  owner      TEXT NOT NULL,
  part       INTEGER NOT NULL,
  digest     BLOB NOT NULL,       -- of its words and facets: an owner that says the same keeps its rows
  session_id TEXT NOT NULL,       -- the conversation it is part of, or ''
  place      INTEGER NOT NULL,    -- in the conversation
  speaker    TEXT NOT NULL,
  asks       INTEGER NOT NULL,    -- 1: it is nothing but a short question
  at         INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX passages_owner ON passages (source, owner, part);
CREATE INDEX passages_place ON passages (session_id, place) WHERE session_id <> '';

-- Documents that are in no segment yet.
CREATE TABLE index_tail (
  row      INTEGER PRIMARY KEY,
  document BLOB NOT NULL
) STRICT;

CREATE TABLE index_segments (
  id        INTEGER PRIMARY KEY,  -- never used again
  edition   INTEGER NOT NULL,
  first_row INTEGER NOT NULL,
  last_row  INTEGER NOT NULL,
  docs      INTEGER NOT NULL,
  words     INTEGER NOT NULL,
  level     INTEGER NOT NULL,
  documents BLOB NOT NULL,
  terms     BLOB NOT NULL
) STRICT;

CREATE TABLE index_lists (
  segment INTEGER NOT NULL,
  term    TEXT NOT NULL,
  list    BLOB NOT NULL,
  PRIMARY KEY (segment, term)
) STRICT, WITHOUT ROWID;

-- Documents of segments that are gone, until they are merged away. Whose they were
-- is known, so that they can be erased.
CREATE TABLE index_dead (
  segment INTEGER NOT NULL,
  row     INTEGER NOT NULL,
  source  TEXT NOT NULL,
  owner   TEXT NOT NULL,
  PRIMARY KEY (segment, row)
) STRICT, WITHOUT ROWID;
CREATE INDEX index_dead_owner ON index_dead (source, owner);
CREATE INDEX index_dead_row ON index_dead (row);

-- Vectors of passages, and their signs in chunks of 256 rows.
CREATE TABLE index_vectors (
  model  TEXT NOT NULL,
  row    INTEGER NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (model, row)
) STRICT, WITHOUT ROWID;

CREATE TABLE index_signs (
  model   TEXT NOT NULL,
  chunk   INTEGER NOT NULL,
  edition INTEGER NOT NULL,
  signs   BLOB NOT NULL,
  PRIMARY KEY (model, chunk)
) STRICT, WITHOUT ROWID;

-- Counters, what merging has begun, how far each model has come.
CREATE TABLE index_state (
  key    TEXT PRIMARY KEY,
  number INTEGER NOT NULL,
  data   BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER index_memory_insert AFTER INSERT ON memories BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('memory', new.id);
END;
CREATE TRIGGER index_memory_delete AFTER DELETE ON memories BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('memory', old.id);
END;
CREATE TRIGGER index_memory_update AFTER UPDATE OF id, kind, scope, identity, project_id, title, content, summary, topic, tags, trust, updated_at, deleted_at ON memories BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('memory', old.id), ('memory', new.id);
END;
-- Words of earlier revisions may be in the index until it is merged.
CREATE TRIGGER index_revision_delete AFTER DELETE ON revisions BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('memory', old.memory_id);
END;
CREATE TRIGGER index_revision_update AFTER UPDATE OF body ON revisions BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('memory', new.memory_id);
END;
CREATE TRIGGER index_concept_insert AFTER INSERT ON concepts BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('memory', new.memory_id);
END;
CREATE TRIGGER index_concept_delete AFTER DELETE ON concepts BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('memory', old.memory_id);
END;
CREATE TRIGGER index_concept_update AFTER UPDATE ON concepts BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('memory', old.memory_id), ('memory', new.memory_id);
END;

CREATE TRIGGER index_turn_insert AFTER INSERT ON turns BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('turn', new.id);
END;
-- What a turn means depends on the one before it.
CREATE TRIGGER index_turn_delete AFTER DELETE ON turns BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('turn', old.id);
  INSERT OR IGNORE INTO index_dirty (source, owner)
    SELECT 'turn', id FROM turns WHERE session_id = old.session_id AND seq > old.seq ORDER BY seq LIMIT 1;
END;
CREATE TRIGGER index_turn_update AFTER UPDATE ON turns BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('turn', old.id), ('turn', new.id);
  INSERT OR IGNORE INTO index_dirty (source, owner)
    SELECT 'turn', id FROM turns WHERE session_id IN (old.session_id, new.session_id) AND seq > min(old.seq, new.seq);
END;

CREATE TRIGGER index_compaction_insert AFTER INSERT ON compactions BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('compaction', new.id);
END;
CREATE TRIGGER index_compaction_delete AFTER DELETE ON compactions BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('compaction', old.id);
END;
CREATE TRIGGER index_compaction_update AFTER UPDATE ON compactions BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('compaction', old.id), ('compaction', new.id);
END;

CREATE TRIGGER index_session_insert AFTER INSERT ON sessions BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('session', new.id);
END;
CREATE TRIGGER index_session_delete AFTER DELETE ON sessions BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('session', old.id);
END;
CREATE TRIGGER index_session_update AFTER UPDATE OF id, name, summary, project, trust ON sessions BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('session', old.id), ('session', new.id);
END;
-- What was said in a session without a project of its own belongs to that of the session.
CREATE TRIGGER index_session_project AFTER UPDATE OF id, project ON sessions WHEN old.project <> new.project OR old.id <> new.id BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) SELECT 'turn', id FROM turns WHERE session_id IN (old.id, new.id);
  INSERT OR IGNORE INTO index_dirty (source, owner) SELECT 'compaction', id FROM compactions WHERE session_id IN (old.id, new.id);
  INSERT OR IGNORE INTO index_dirty (source, owner) SELECT 'activity', CAST(seq AS TEXT) FROM activity WHERE session_id IN (old.id, new.id) AND failed > 0;
END;

CREATE TRIGGER index_activity_insert AFTER INSERT ON activity WHEN new.failed > 0 BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('activity', CAST(new.seq AS TEXT));
END;
CREATE TRIGGER index_activity_delete AFTER DELETE ON activity WHEN old.failed > 0 BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('activity', CAST(old.seq AS TEXT));
END;
CREATE TRIGGER index_activity_update AFTER UPDATE ON activity WHEN old.failed > 0 OR new.failed > 0 BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('activity', CAST(old.seq AS TEXT)), ('activity', CAST(new.seq AS TEXT));
END;

INSERT INTO index_dirty (source, owner)
  SELECT 'memory', id FROM memories WHERE deleted_at IS NULL
  UNION ALL SELECT 'turn', id FROM turns
  UNION ALL SELECT 'compaction', id FROM compactions
  UNION ALL SELECT 'session', id FROM sessions
  UNION ALL SELECT 'activity', CAST(seq AS TEXT) FROM activity WHERE failed > 0;
