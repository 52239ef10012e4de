-- control.db, schema 1: tasks, events, approvals, results, queue.

CREATE TABLE incarnations (
  ordinal   INTEGER PRIMARY KEY,
  id        TEXT NOT NULL UNIQUE,
  first_seq INTEGER NOT NULL
) STRICT;

CREATE TABLE changes (
  seq        INTEGER PRIMARY KEY,
  stamp      INTEGER NOT NULL,
  op         TEXT NOT NULL,
  scope      TEXT NOT NULL,
  key        TEXT NOT NULL,
  old_digest TEXT NOT NULL,
  new_digest TEXT NOT NULL
) STRICT;

CREATE TABLE tasks (
  id         TEXT PRIMARY KEY,
  state      TEXT NOT NULL,
  session_id TEXT NOT NULL,
  version    INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  body       TEXT NOT NULL, -- the task as JSON, without extra
  extra      TEXT NOT NULL  -- as it was given; '' for none
) STRICT;
CREATE INDEX tasks_created ON tasks (created_at, id);
CREATE INDEX tasks_state   ON tasks (state, created_at, id);
CREATE INDEX tasks_session ON tasks (session_id, created_at, id);

CREATE TABLE events (
  task_id TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  body    TEXT NOT NULL, -- the event as JSON
  PRIMARY KEY (task_id, seq)
) STRICT, WITHOUT ROWID;

-- What the compacted events of a task amount to.
CREATE TABLE replays (
  task_id   TEXT PRIMARY KEY,
  compacted INTEGER NOT NULL, -- sequence of the last event folded in
  body      TEXT NOT NULL -- the replay snapshot as JSON
) STRICT;

CREATE TABLE approvals (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  task_id    TEXT NOT NULL,
  node_id    TEXT NOT NULL,
  summary    TEXT NOT NULL,
  status     TEXT NOT NULL,
  payload    TEXT NOT NULL,
  digest     TEXT NOT NULL,
  decided_by TEXT NOT NULL,
  comment    TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  decided_at INTEGER
) STRICT;
CREATE INDEX approvals_task    ON approvals (task_id, seq);
CREATE INDEX approvals_pending ON approvals (seq) WHERE status = 'pending';

CREATE TABLE results (
  task_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  fence   INTEGER NOT NULL,
  body    TEXT NOT NULL, -- the result as JSON
  PRIMARY KEY (task_id, node_id)
) STRICT;

-- The highest fencing token ever issued for a node. Kept when entries go, so
-- the largest of them is the last one issued at all; the index finds it.
CREATE TABLE fences (
  task_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  fence   INTEGER NOT NULL,
  PRIMARY KEY (task_id, node_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX fences_issued ON fences (fence);

-- Entries, also acked and dead ones: an entry id is published once.
CREATE TABLE queue (
  seq        INTEGER PRIMARY KEY,
  entry_id   TEXT NOT NULL UNIQUE,
  task_id    TEXT NOT NULL,
  node_id    TEXT NOT NULL,
  digest     TEXT NOT NULL, -- of what was published
  payload    TEXT NOT NULL, -- '' once acked
  priority   INTEGER NOT NULL,
  published_not_before INTEGER NOT NULL, -- 0 for none
  not_before INTEGER NOT NULL, -- of the next claim
  due        INTEGER NOT NULL, -- 1 once a claim has seen not_before pass
  state      TEXT NOT NULL CHECK (state IN ('queued', 'leased', 'acked', 'dead')),
  attempt    INTEGER NOT NULL,
  consumer   TEXT NOT NULL, -- of the last lease, as the three below
  token      TEXT NOT NULL,
  fence      INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  reasons    TEXT NOT NULL, -- JSON array
  done_at    INTEGER -- when it was acked or died
) STRICT;
CREATE INDEX queue_queued  ON queue (priority DESC, seq) WHERE state = 'queued' AND due = 1;
CREATE INDEX queue_delayed ON queue (not_before) WHERE state = 'queued' AND due = 0;
CREATE INDEX queue_leased  ON queue (expires_at) WHERE state = 'leased';
CREATE INDEX queue_acked   ON queue (done_at) WHERE state = 'acked';
CREATE INDEX queue_dead    ON queue (done_at, seq) WHERE state = 'dead';

-- How many entries are in each state. The triggers keep it, so that no path
-- can forget to.
CREATE TABLE queue_counts (
  state   TEXT PRIMARY KEY,
  entries INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO queue_counts (state, entries) VALUES ('queued', 0), ('leased', 0), ('acked', 0), ('dead', 0);

CREATE TRIGGER queue_insert AFTER INSERT ON queue BEGIN
  UPDATE queue_counts SET entries = entries + 1 WHERE state = new.state;
END;

CREATE TRIGGER queue_update AFTER UPDATE OF state ON queue BEGIN
  UPDATE queue_counts SET entries = entries - 1 WHERE state = old.state;
  UPDATE queue_counts SET entries = entries + 1 WHERE state = new.state;
END;

CREATE TRIGGER queue_delete AFTER DELETE ON queue BEGIN
  UPDATE queue_counts SET entries = entries - 1 WHERE state = old.state;
END;
