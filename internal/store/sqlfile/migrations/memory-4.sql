-- memory.db, schema 4.

-- What a folder has a say over.

-- The versions that are in a folder: they came from it, or were exported to it.
-- An own version is in a folder by export alone.
CREATE TABLE sync_held (
  scope   TEXT NOT NULL,       -- memory, session, turn or relation
  record  TEXT NOT NULL,       -- of a relation: from, to and type
  version TEXT NOT NULL,       -- as in versions; '' of a turn
  place   TEXT NOT NULL,
  PRIMARY KEY (scope, record, version, place)
) STRICT, WITHOUT ROWID;

-- Records that were erased or deleted in a folder. An erasure or a departure
-- without any row here is this agent's own.
CREATE TABLE sync_removed (
  scope   TEXT NOT NULL,       -- memory, session or turn
  record  TEXT NOT NULL,
  place   TEXT NOT NULL,
  device  TEXT NOT NULL,
  counter INTEGER NOT NULL,
  clock   INTEGER NOT NULL,
  PRIMARY KEY (scope, record, place)
) STRICT, WITHOUT ROWID;

-- Chunks that are to be applied once more when a record is in their folder.
CREATE TABLE sync_spared (
  place  TEXT NOT NULL,
  scope  TEXT NOT NULL,
  record TEXT NOT NULL,
  chunk  TEXT NOT NULL,
  PRIMARY KEY (place, scope, record, chunk)
) STRICT, WITHOUT ROWID;

-- A chunk is applied for each folder by itself, and those that were applied
-- before versions were noted are read once more.
CREATE TABLE sync_chunks_of_places (
  chunk      TEXT NOT NULL,
  place      TEXT NOT NULL,
  device     TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL, -- by the device's own clock
  applied_at INTEGER NOT NULL,
  drift      INTEGER NOT NULL, -- milliseconds that its stamps were ahead of the time of day, at most
  again      INTEGER NOT NULL, -- 1: it is to be read once more
  PRIMARY KEY (chunk, place)
) STRICT, WITHOUT ROWID;
INSERT INTO sync_chunks_of_places SELECT chunk, place, device, created_by, created_at, applied_at, drift, 1 FROM sync_chunks;
DROP TABLE sync_chunks;
ALTER TABLE sync_chunks_of_places RENAME TO sync_chunks;
CREATE INDEX sync_chunks_place ON sync_chunks (place);

-- Where a relation that waits came from.
ALTER TABLE sync_waiting ADD COLUMN place TEXT NOT NULL DEFAULT '';
ALTER TABLE sync_waiting ADD COLUMN chunk TEXT NOT NULL DEFAULT '';

-- What was exported so far: everything up to the position of a folder, by the
-- stamp of that entry of the change log.
INSERT OR IGNORE INTO sync_held (scope, record, version, place)
  WITH
    given AS (
      SELECT p.place, p.project, c.stamp FROM sync_places p
      JOIN changes c ON c.seq = CAST(substr(p.position, instr(p.position, '/') + 1) AS INTEGER)
      WHERE EXISTS (SELECT 1 FROM incarnations WHERE id = substr(p.position, 1, instr(p.position, '/') - 1))
    ),
    named AS (
      SELECT id, counter || '.' || clock || '.' || device AS version, clock FROM memories
      UNION
      SELECT memory_id, version, CAST(substr(version, instr(version, '.') + 1) AS INTEGER) FROM versions WHERE stored = 1
    )
  SELECT 'memory', m.id, n.version, g.place FROM given g
  JOIN memories m ON m.scope <> 'user' AND (g.project = '' OR g.project = m.project_id)
  JOIN named n ON n.id = m.id AND n.clock <= g.stamp
  UNION
  SELECT 'relation', r.from_id || ' ' || r.to_id || ' ' || r.type, r.counter || '.' || r.clock || '.' || r.device, g.place FROM given g
  JOIN relations r ON r.clock <= g.stamp
  JOIN memories m ON m.id = r.from_id AND m.scope <> 'user' AND (g.project = '' OR g.project = m.project_id)
  UNION
  SELECT 'session', s.id, s.counter || '.' || s.clock || '.' || s.device, g.place FROM given g
  JOIN sessions s ON s.clock <= g.stamp AND (g.project = '' OR g.project = s.project)
  UNION
  SELECT 'turn', t.id, '', g.place FROM given g
  JOIN changes c ON c.scope = 'turn' AND c.stamp <= g.stamp
  JOIN turns t ON t.id = c.key AND t.role = 'user'
  LEFT JOIN sessions s ON s.id = t.session_id
  WHERE g.project = '' OR g.project = coalesce(nullif(t.project_id, ''), s.project, '');
