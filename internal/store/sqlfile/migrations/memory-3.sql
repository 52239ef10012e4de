-- memory.db, schema 3: what sync needs to know.

-- Sessions are ordered across devices as memories are.
ALTER TABLE sessions ADD COLUMN device  TEXT    NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN counter INTEGER NOT NULL DEFAULT 1;
ALTER TABLE sessions ADD COLUMN clock   INTEGER NOT NULL DEFAULT 0;

-- Who is to be believed: sessions and turns may come from elsewhere.
ALTER TABLE sessions ADD COLUMN trust TEXT NOT NULL DEFAULT 'own';
ALTER TABLE turns    ADD COLUMN trust TEXT NOT NULL DEFAULT 'own';

-- Sessions and prompts that were deleted, so that no import brings them back.
CREATE TABLE departed (
  scope      TEXT NOT NULL,    -- session or turn
  id         TEXT NOT NULL,
  session_id TEXT NOT NULL,    -- of a turn
  project    TEXT NOT NULL,
  device     TEXT NOT NULL,
  counter    INTEGER NOT NULL,
  clock      INTEGER NOT NULL,
  PRIMARY KEY (scope, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX departed_session ON departed (session_id) WHERE session_id <> '';

-- The versions of memories that have more than one, and which versions their
-- makers had before them. A version is "counter.clock.device". A head is one
-- that no other has seen; two heads are a conflict.
CREATE TABLE versions (
  memory_id TEXT NOT NULL,
  version   TEXT NOT NULL,
  saw       TEXT NOT NULL,     -- versions, one a line
  head      INTEGER NOT NULL,  -- 1: no other version has seen it
  stored    INTEGER NOT NULL,  -- 0: another version has seen it, and it has not arrived
  PRIMARY KEY (memory_id, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX versions_heads ON versions (memory_id) WHERE head = 1;

-- Until now everybody who made a version had the one before it. In a body the
-- clock is text: the time, a hyphen, and four hexadecimal digits.
INSERT OR IGNORE INTO versions (memory_id, version, saw, head, stored)
  WITH
    bodies AS (
      SELECT memory_id, revision, json_extract(body, '$.origin.counter') AS counter,
             json_extract(body, '$.origin.clock') AS clock, json_extract(body, '$.origin.device') AS device
      FROM revisions WHERE json_valid(body)
    ),
    named AS (
      SELECT memory_id, revision, counter || '.' || CASE clock WHEN '' THEN 0 ELSE
        ((unixepoch(substr(clock, 1, 19)) * 1000 + substr(clock, 21, 3)) << 16)
        + ((instr('0123456789abcdef', substr(clock, 26, 1)) - 1) << 12) + ((instr('0123456789abcdef', substr(clock, 27, 1)) - 1) << 8)
        + ((instr('0123456789abcdef', substr(clock, 28, 1)) - 1) << 4) + (instr('0123456789abcdef', substr(clock, 29, 1)) - 1)
        END || '.' || device AS version
      FROM bodies
      UNION ALL
      SELECT id, revision, counter || '.' || clock || '.' || device FROM memories
      WHERE EXISTS (SELECT 1 FROM revisions WHERE memory_id = id)
    )
  SELECT memory_id, version, coalesce(lag(version) OVER one, ''), lead(version) OVER one IS NULL, 1
  FROM named WINDOW one AS (PARTITION BY memory_id ORDER BY revision);

-- How far each place was exported to.
CREATE TABLE sync_places (
  place       TEXT NOT NULL,
  project     TEXT NOT NULL,   -- '' for every project
  position    TEXT NOT NULL,
  chunk       TEXT NOT NULL,   -- the last one that was written
  PRIMARY KEY (place, project)
) STRICT, WITHOUT ROWID;

-- The chunks that were applied or written.
CREATE TABLE sync_chunks (
  chunk      TEXT PRIMARY KEY,
  place      TEXT NOT NULL,
  device     TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL, -- by the device's own clock
  applied_at INTEGER NOT NULL,
  drift      INTEGER NOT NULL  -- milliseconds that its stamps were ahead of the time of day, at most
) STRICT, WITHOUT ROWID;
CREATE INDEX sync_chunks_place ON sync_chunks (place);

-- The entries of the change log that an import from a place made: they do not
-- go back there.
CREATE TABLE sync_imports (
  place     TEXT NOT NULL,
  first_seq INTEGER NOT NULL,
  last_seq  INTEGER NOT NULL,
  PRIMARY KEY (place, first_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE sync_quarantine (
  place  TEXT NOT NULL,
  chunk  TEXT NOT NULL,
  reason TEXT NOT NULL,
  kind   TEXT NOT NULL,
  PRIMARY KEY (place, chunk)
) STRICT, WITHOUT ROWID;

-- Relations that arrived before a memory they are about.
CREATE TABLE sync_waiting (
  from_id TEXT NOT NULL,
  to_id   TEXT NOT NULL,
  type    TEXT NOT NULL,
  body    TEXT NOT NULL,       -- the relation as JSON
  PRIMARY KEY (from_id, to_id, type)
) STRICT, WITHOUT ROWID;
CREATE INDEX sync_waiting_to ON sync_waiting (to_id);

-- Rows of other tools and the records they became.
CREATE TABLE sync_links (
  tool        TEXT NOT NULL,
  chunk       TEXT NOT NULL,
  ordinal     INTEGER NOT NULL,
  scope       TEXT NOT NULL,   -- memory, session or turn
  record      TEXT NOT NULL,
  version     TEXT NOT NULL,   -- of the record when it was linked
  local_id    INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  extra       TEXT NOT NULL,
  PRIMARY KEY (tool, chunk, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX sync_links_record      ON sync_links (record, scope);
CREATE INDEX sync_links_fingerprint ON sync_links (tool, fingerprint);
CREATE INDEX sync_links_local       ON sync_links (tool, scope, local_id);
