-- memory.db, schema 2: what the crash journal was drained into.

-- How far each session of the journal has been drained. A cursor outlives its
-- session: entries that were taken are never taken again.
CREATE TABLE journal_cursors (
  journal       TEXT PRIMARY KEY,  -- names the folder a session had in the journal, 32 hex digits
  host          TEXT NOT NULL,
  session_id    TEXT NOT NULL,     -- need not be in sessions
  seq           INTEGER NOT NULL CHECK (seq >= 0),
  last_at       INTEGER NOT NULL,  -- when the host was last heard of; 0: not known
  pid           INTEGER NOT NULL,  -- of the host's process; 0: not known
  process_start INTEGER NOT NULL,
  boot          TEXT NOT NULL,
  namespace     TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX journal_cursors_session ON journal_cursors (session_id);

-- Sessions that have ended outnumber the others, and the search for those that
-- are still open comes every few minutes.
CREATE INDEX sessions_open ON sessions (id) WHERE ended_at IS NULL;

-- The events that were applied. There are many, so a row is two values and
-- nothing else.
CREATE TABLE journal_events (
  id BLOB NOT NULL CHECK (length(id) = 16),
  at INTEGER NOT NULL, -- when it was observed; 0: the host named it, and the id alone tells
  PRIMARY KEY (id, at)
) STRICT, WITHOUT ROWID;

-- What agents did, beside what was said.
CREATE TABLE activity (
  seq        INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  kind       TEXT NOT NULL,
  name       TEXT NOT NULL,
  detail     TEXT NOT NULL,
  status     TEXT NOT NULL,
  count      INTEGER NOT NULL CHECK (count > 0),
  failed     INTEGER NOT NULL CHECK (failed >= 0),
  first_at   INTEGER NOT NULL,
  last_at    INTEGER NOT NULL,
  UNIQUE (session_id, kind, name)
) STRICT;
CREATE INDEX activity_last ON activity (session_id, kind, last_at, seq);
