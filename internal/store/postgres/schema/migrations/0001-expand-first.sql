-- Amber on PostgreSQL, schema 1: the tables of memory.db and control.db as they were at
-- memory-9 and control-2, with the generation of an agent in front of every key.
--
-- Nothing that asks names a generation. Each transaction says SET LOCAL amber.gen, which is
-- the default of the column and what the policy of every table compares with. Functions
-- and triggers name it themselves: they may run as the owner of the tables, whom
-- no policy binds where it is a superuser.

CREATE SCHEMA amber;         -- memory.db
CREATE SCHEMA amber_control; -- control.db
CREATE SCHEMA amber_meta;    -- what belongs to no agent alone

-- The role that every transaction takes. It owns nothing and bypasses nothing, so the
-- policies hold even where the program connects as a superuser.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'amber_app') THEN
    BEGIN
      CREATE ROLE amber_app NOLOGIN;
    EXCEPTION
      WHEN duplicate_object OR unique_violation THEN NULL; -- made for another database just now
      WHEN insufficient_privilege THEN
        RAISE EXCEPTION 'the role amber_app is missing and % may not make roles', current_user
          USING ERRCODE = 'insufficient_privilege',
                HINT = format('run as an administrator of the server: CREATE ROLE amber_app NOLOGIN; GRANT amber_app TO %I;', current_user);
    END;
  END IF;
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'amber_app' AND (rolsuper OR rolbypassrls)) THEN
    RAISE EXCEPTION 'the role amber_app must be neither a superuser nor above row level security'
      USING ERRCODE = 'insufficient_privilege',
            HINT = 'run as an administrator of the server: ALTER ROLE amber_app NOSUPERUSER NOBYPASSRLS;';
  END IF;
  -- From version 16 on a member may still not be allowed to take the role.
  IF NOT pg_catalog.pg_has_role(current_user, 'amber_app',
      CASE WHEN current_setting('server_version_num')::int8 >= 160000 THEN 'SET' ELSE 'MEMBER' END) THEN
    BEGIN
      EXECUTE format('GRANT amber_app TO %I', current_user);
    EXCEPTION WHEN insufficient_privilege THEN
      RAISE EXCEPTION '% may not take the role amber_app', current_user
        USING ERRCODE = 'insufficient_privilege',
              HINT = format('run as an administrator of the server: CREATE ROLE amber_app NOLOGIN; GRANT amber_app TO %I;', current_user);
    END;
  END IF;
END $$;

-- What SQLite calls json_each, for lists: the place of each value, and the value as text.
CREATE FUNCTION amber.elements(list text, OUT key int8, OUT value text) RETURNS SETOF record LANGUAGE sql IMMUTABLE ROWS 20 AS $$
  SELECT e.place - 1, e.value FROM pg_catalog.json_array_elements_text(list::json) WITH ORDINALITY AS e (value, place)
$$;

-- Row numbers are the largest one plus one, as in SQLite. Each function sees the rows that the same
-- statement has inserted so far. Writers hold the head of their log, so
-- no two of them count at once.
CREATE FUNCTION amber.next_incarnation() RETURNS int8 LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT coalesce(max(ordinal), 0) + 1 FROM amber.incarnations WHERE gen = current_setting('amber.gen')::int8);
END $$;
CREATE FUNCTION amber.next_change() RETURNS int8 LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT coalesce(max(seq), 0) + 1 FROM amber.changes WHERE gen = current_setting('amber.gen')::int8);
END $$;
CREATE FUNCTION amber.next_memory() RETURNS int8 LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT coalesce(max(rowid), 0) + 1 FROM amber.memories WHERE gen = current_setting('amber.gen')::int8);
END $$;
CREATE FUNCTION amber.next_turn() RETURNS int8 LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT coalesce(max(seq), 0) + 1 FROM amber.turns WHERE gen = current_setting('amber.gen')::int8);
END $$;
CREATE FUNCTION amber.next_compaction() RETURNS int8 LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT coalesce(max(seq), 0) + 1 FROM amber.compactions WHERE gen = current_setting('amber.gen')::int8);
END $$;
CREATE FUNCTION amber.next_activity() RETURNS int8 LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT coalesce(max(seq), 0) + 1 FROM amber.activity WHERE gen = current_setting('amber.gen')::int8);
END $$;

-- The histories these rows have lived through. Each generation of the agent
-- adds one; positions in the change log name theirs.
CREATE TABLE amber.incarnations (
  gen       int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  ordinal   int8 NOT NULL DEFAULT amber.next_incarnation(),
  id        text COLLATE "C" NOT NULL,
  first_seq int8 NOT NULL,
  PRIMARY KEY (gen, ordinal),
  UNIQUE (gen, id)
);

-- What changed, in commit order. Never deleted from, so seq only grows.
CREATE TABLE amber.changes (
  gen        int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  seq        int8 NOT NULL DEFAULT amber.next_change(),
  stamp      int8 NOT NULL,
  op         text COLLATE "C" NOT NULL,
  scope      text COLLATE "C" NOT NULL,
  key        text COLLATE "C" NOT NULL,
  old_digest text COLLATE "C" NOT NULL,
  new_digest text COLLATE "C" NOT NULL,
  PRIMARY KEY (gen, seq)
);

CREATE TABLE amber.memories (
  gen             int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  rowid           int8 NOT NULL DEFAULT amber.next_memory(),
  id              text COLLATE "C" NOT NULL,
  kind            text COLLATE "C" NOT NULL,
  scope           text COLLATE "C" NOT NULL,
  identity        text COLLATE "C" NOT NULL, -- of the scope; '' for global
  session_id      text COLLATE "C" NOT NULL,
  user_id         text COLLATE "C" NOT NULL,
  project_id      text COLLATE "C" NOT NULL,
  workspace_id    text COLLATE "C" NOT NULL,
  title           text COLLATE "C" NOT NULL,
  content         text COLLATE "C" NOT NULL,
  summary         text COLLATE "C" NOT NULL,
  topic           text COLLATE "C" NOT NULL,
  tags            text COLLATE "C" NOT NULL, -- sorted, one a line
  metadata        text COLLATE "C" NOT NULL, -- JSON object
  source_refs     text COLLATE "C" NOT NULL, -- JSON array
  trust           text COLLATE "C" NOT NULL,
  device          text COLLATE "C" NOT NULL,
  counter         int8 NOT NULL,
  clock           int8 NOT NULL,
  revision        int8 NOT NULL,
  content_digest  text COLLATE "C" NOT NULL,
  duplicate_count int8 NOT NULL,
  created_at      int8 NOT NULL,
  updated_at      int8 NOT NULL,
  deleted_at      int8,
  foreign_fields  text COLLATE "C" NOT NULL, -- JSON object
  PRIMARY KEY (gen, rowid),
  UNIQUE (gen, id)
);
CREATE INDEX memories_dedupe ON amber.memories (gen, content_digest) WHERE deleted_at IS NULL;
CREATE INDEX memories_created ON amber.memories (gen, created_at, id);
CREATE INDEX memories_updated ON amber.memories (gen, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX memories_session ON amber.memories (gen, session_id, created_at, id) WHERE session_id <> '';
CREATE INDEX memories_listed ON amber.memories (gen, scope, identity, kind, created_at, id, trust, deleted_at);

-- Every earlier revision of a memory, whole.
CREATE TABLE amber.revisions (
  gen       int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  memory_id text COLLATE "C" NOT NULL,
  revision  int8 NOT NULL,
  body      text COLLATE "C" NOT NULL, -- the memory as JSON
  PRIMARY KEY (gen, memory_id, revision),
  FOREIGN KEY (gen, memory_id) REFERENCES amber.memories (gen, id) ON DELETE CASCADE
);

-- Memories that were erased. The id is never used again.
CREATE TABLE amber.erased (
  gen     int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  id      text COLLATE "C" NOT NULL,
  device  text COLLATE "C" NOT NULL,
  counter int8 NOT NULL,
  clock   int8 NOT NULL,
  PRIMARY KEY (gen, id)
);

-- Answers to writes that carried an idempotency key.
CREATE TABLE amber.idempotency (
  gen        int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  operation  text COLLATE "C" NOT NULL,
  key        text COLLATE "C" NOT NULL,
  digest     text COLLATE "C" NOT NULL, -- of the request
  memory_id  text COLLATE "C" NOT NULL,
  answer     text COLLATE "C" NOT NULL, -- JSON
  expires_at int8 NOT NULL,
  PRIMARY KEY (gen, operation, key)
);
CREATE INDEX idempotency_expiry ON amber.idempotency (gen, expires_at);
CREATE INDEX idempotency_memory ON amber.idempotency (gen, memory_id);

CREATE TABLE amber.relations (
  gen        int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  id         text COLLATE "C" NOT NULL,
  from_id    text COLLATE "C" NOT NULL,
  to_id      text COLLATE "C" NOT NULL,
  type       text COLLATE "C" NOT NULL,
  strength   float8 NOT NULL,
  device     text COLLATE "C" NOT NULL,
  counter    int8 NOT NULL,
  clock      int8 NOT NULL,
  created_at int8 NOT NULL,
  deleted_at int8,
  PRIMARY KEY (gen, id),
  FOREIGN KEY (gen, from_id) REFERENCES amber.memories (gen, id) ON DELETE CASCADE,
  FOREIGN KEY (gen, to_id) REFERENCES amber.memories (gen, id) ON DELETE CASCADE,
  UNIQUE (gen, from_id, to_id, type)
);
CREATE INDEX relations_to ON amber.relations (gen, to_id);

CREATE TABLE amber.embeddings (
  gen       int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  memory_id text COLLATE "C" NOT NULL,
  model     text COLLATE "C" NOT NULL,
  dimension int8 NOT NULL,
  vector    bytea NOT NULL, -- little-endian 32-bit floats
  PRIMARY KEY (gen, memory_id, model),
  FOREIGN KEY (gen, memory_id) REFERENCES amber.memories (gen, id) ON DELETE CASCADE
);

CREATE TABLE amber.concepts (
  gen       int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  memory_id text COLLATE "C" NOT NULL,
  concept   text COLLATE "C" NOT NULL,
  PRIMARY KEY (gen, memory_id, concept),
  FOREIGN KEY (gen, memory_id) REFERENCES amber.memories (gen, id) ON DELETE CASCADE
);

CREATE TABLE amber.turns (
  gen        int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  seq        int8 NOT NULL DEFAULT amber.next_turn(),
  id         text COLLATE "C" NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  role       text COLLATE "C" NOT NULL,
  content    text COLLATE "C" NOT NULL,
  project_id text COLLATE "C" NOT NULL,
  created_at int8 NOT NULL,
  trust      text COLLATE "C" NOT NULL DEFAULT 'own',
  PRIMARY KEY (gen, seq),
  UNIQUE (gen, id)
);
CREATE INDEX turns_session ON amber.turns (gen, session_id, seq);

CREATE TABLE amber.sessions (
  gen        int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  id         text COLLATE "C" NOT NULL,
  name       text COLLATE "C" NOT NULL,
  binding    text COLLATE "C" NOT NULL,
  project    text COLLATE "C" NOT NULL,
  directory  text COLLATE "C" NOT NULL,
  started_at int8 NOT NULL,
  ended_at   int8,
  end_reason text COLLATE "C" NOT NULL,
  summary    text COLLATE "C" NOT NULL,
  parent     text COLLATE "C" NOT NULL,
  created_at int8 NOT NULL,
  updated_at int8 NOT NULL,
  device     text COLLATE "C" NOT NULL DEFAULT '',
  counter    int8 NOT NULL DEFAULT 1,
  clock      int8 NOT NULL DEFAULT 0,
  trust      text COLLATE "C" NOT NULL DEFAULT 'own',
  PRIMARY KEY (gen, id)
);
CREATE INDEX sessions_updated ON amber.sessions (gen, updated_at, id);
CREATE INDEX sessions_binding ON amber.sessions (gen, binding, updated_at, id);
CREATE INDEX sessions_open ON amber.sessions (gen, id) WHERE ended_at IS NULL;
CREATE INDEX sessions_project ON amber.sessions (gen, project, updated_at, id) WHERE project <> '';

CREATE TABLE amber.active_sessions (
  gen        int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  binding    text COLLATE "C" NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (gen, binding),
  FOREIGN KEY (gen, session_id) REFERENCES amber.sessions (gen, id) ON DELETE CASCADE
);
CREATE INDEX active_sessions_session ON amber.active_sessions (gen, session_id);

CREATE TABLE amber.session_states (
  gen        int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  session_id text COLLATE "C" NOT NULL,
  document   text COLLATE "C" NOT NULL,
  version    int8 NOT NULL,
  updated_at int8 NOT NULL,
  PRIMARY KEY (gen, session_id)
);

CREATE TABLE amber.loops (
  gen        int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  session_id text COLLATE "C" NOT NULL,
  run_id     text COLLATE "C" NOT NULL,
  state      text COLLATE "C" NOT NULL,
  revision   int8 NOT NULL,
  digest     text COLLATE "C" NOT NULL,
  created_at int8 NOT NULL,
  parked     int8 NOT NULL,
  PRIMARY KEY (gen, session_id)
);

CREATE TABLE amber.compactions (
  gen        int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  seq        int8 NOT NULL DEFAULT amber.next_compaction(),
  id         text COLLATE "C" NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  summary    text COLLATE "C" NOT NULL,
  turns      int8 NOT NULL,
  created_at int8 NOT NULL,
  PRIMARY KEY (gen, seq),
  UNIQUE (gen, id)
);
CREATE INDEX compactions_session ON amber.compactions (gen, session_id, seq);

-- How far each session of the journal has been drained. A cursor outlives its
-- session: entries that were taken are never taken again.
CREATE TABLE amber.journal_cursors (
  gen           int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  journal       text COLLATE "C" NOT NULL, -- names the folder a session had in the journal, 32 hex digits
  host          text COLLATE "C" NOT NULL,
  session_id    text COLLATE "C" NOT NULL, -- need not be in sessions
  seq           int8 NOT NULL CHECK (seq >= 0),
  last_at       int8 NOT NULL, -- when the host was last heard of; 0: not known
  pid           int8 NOT NULL, -- of the host's process; 0: not known
  process_start int8 NOT NULL,
  boot          text COLLATE "C" NOT NULL,
  namespace     text COLLATE "C" NOT NULL,
  PRIMARY KEY (gen, journal)
);
CREATE INDEX journal_cursors_session ON amber.journal_cursors (gen, session_id);

-- The events that were applied. There are many, so a row is two values and
-- nothing else.
CREATE TABLE amber.journal_events (
  gen int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  id  bytea NOT NULL CHECK (length(id) = 16),
  at  int8 NOT NULL, -- when it was observed; 0: the host named it, and the id alone tells
  PRIMARY KEY (gen, id, at)
);

-- What agents did, beside what was said.
CREATE TABLE amber.activity (
  gen        int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  seq        int8 NOT NULL DEFAULT amber.next_activity(),
  session_id text COLLATE "C" NOT NULL,
  kind       text COLLATE "C" NOT NULL,
  name       text COLLATE "C" NOT NULL,
  detail     text COLLATE "C" NOT NULL,
  status     text COLLATE "C" NOT NULL,
  count      int8 NOT NULL CHECK (count > 0),
  failed     int8 NOT NULL CHECK (failed >= 0),
  first_at   int8 NOT NULL,
  last_at    int8 NOT NULL,
  PRIMARY KEY (gen, seq),
  FOREIGN KEY (gen, session_id) REFERENCES amber.sessions (gen, id) ON DELETE CASCADE,
  UNIQUE (gen, session_id, kind, name)
);
CREATE INDEX activity_last ON amber.activity (gen, session_id, kind, last_at, seq);

-- Sessions and prompts that were deleted, so that no import brings them back.
CREATE TABLE amber.departed (
  gen        int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  scope      text COLLATE "C" NOT NULL, -- session or turn
  id         text COLLATE "C" NOT NULL,
  session_id text COLLATE "C" NOT NULL, -- of a turn
  project    text COLLATE "C" NOT NULL,
  device     text COLLATE "C" NOT NULL,
  counter    int8 NOT NULL,
  clock      int8 NOT NULL,
  PRIMARY KEY (gen, scope, id)
);
CREATE INDEX departed_session ON amber.departed (gen, session_id) WHERE session_id <> '';

-- The versions of memories that have more than one, and which versions their
-- makers had before them. A version is "counter.clock.device". A head is one
-- that no other has seen; two heads are a conflict.
CREATE TABLE amber.versions (
  gen       int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  memory_id text COLLATE "C" NOT NULL,
  version   text COLLATE "C" NOT NULL,
  saw       text COLLATE "C" NOT NULL, -- versions, one a line
  head      int8 NOT NULL, -- 1: no other version has seen it
  stored    int8 NOT NULL, -- 0: another version has seen it, and it has not arrived
  PRIMARY KEY (gen, memory_id, version)
);
CREATE INDEX versions_heads ON amber.versions (gen, memory_id) WHERE head = 1;

-- How far each place was exported to.
CREATE TABLE amber.sync_places (
  gen      int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  place    text COLLATE "C" NOT NULL,
  project  text COLLATE "C" NOT NULL, -- '' for every project
  position text COLLATE "C" NOT NULL,
  chunk    text COLLATE "C" NOT NULL, -- the last one that was written
  PRIMARY KEY (gen, place, project)
);

-- The entries of the change log that an import from a place made: they do not
-- go back there.
CREATE TABLE amber.sync_imports (
  gen       int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  place     text COLLATE "C" NOT NULL,
  first_seq int8 NOT NULL,
  last_seq  int8 NOT NULL,
  PRIMARY KEY (gen, place, first_seq)
);

CREATE TABLE amber.sync_quarantine (
  gen    int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  place  text COLLATE "C" NOT NULL,
  chunk  text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  kind   text COLLATE "C" NOT NULL,
  PRIMARY KEY (gen, place, chunk)
);

-- Relations that arrived before a memory they are about.
CREATE TABLE amber.sync_waiting (
  gen     int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  from_id text COLLATE "C" NOT NULL,
  to_id   text COLLATE "C" NOT NULL,
  type    text COLLATE "C" NOT NULL,
  body    text COLLATE "C" NOT NULL, -- the relation as JSON
  place   text COLLATE "C" NOT NULL DEFAULT '',
  chunk   text COLLATE "C" NOT NULL DEFAULT '',
  PRIMARY KEY (gen, from_id, to_id, type)
);
CREATE INDEX sync_waiting_to ON amber.sync_waiting (gen, to_id);

-- Rows of other tools and the records they became.
CREATE TABLE amber.sync_links (
  gen         int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  tool        text COLLATE "C" NOT NULL,
  chunk       text COLLATE "C" NOT NULL,
  ordinal     int8 NOT NULL,
  scope       text COLLATE "C" NOT NULL, -- memory, session or turn
  record      text COLLATE "C" NOT NULL,
  version     text COLLATE "C" NOT NULL, -- of the record when it was linked
  local_id    int8 NOT NULL,
  fingerprint text COLLATE "C" NOT NULL,
  extra       text COLLATE "C" NOT NULL,
  PRIMARY KEY (gen, tool, chunk, ordinal)
);
CREATE INDEX sync_links_record ON amber.sync_links (gen, record, scope);
CREATE INDEX sync_links_fingerprint ON amber.sync_links (gen, tool, fingerprint);
CREATE INDEX sync_links_local ON amber.sync_links (gen, tool, scope, local_id);

-- The versions that are in a folder: they came from it, or were exported to it.
-- An own version is in a folder by export alone.
CREATE TABLE amber.sync_held (
  gen     int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  scope   text COLLATE "C" NOT NULL, -- memory, session, turn or relation
  record  text COLLATE "C" NOT NULL, -- of a relation: from, to and type
  version text COLLATE "C" NOT NULL, -- as in versions; '' of a turn
  place   text COLLATE "C" NOT NULL,
  PRIMARY KEY (gen, scope, record, version, place)
);

-- Records that were erased or deleted in a folder. An erasure or a departure
-- without any row here is this agent's own.
CREATE TABLE amber.sync_removed (
  gen     int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  scope   text COLLATE "C" NOT NULL, -- memory, session or turn
  record  text COLLATE "C" NOT NULL,
  place   text COLLATE "C" NOT NULL,
  device  text COLLATE "C" NOT NULL,
  counter int8 NOT NULL,
  clock   int8 NOT NULL,
  PRIMARY KEY (gen, scope, record, place)
);

-- Chunks that are to be applied once more when a record is in their folder.
CREATE TABLE amber.sync_spared (
  gen    int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  place  text COLLATE "C" NOT NULL,
  scope  text COLLATE "C" NOT NULL,
  record text COLLATE "C" NOT NULL,
  chunk  text COLLATE "C" NOT NULL,
  PRIMARY KEY (gen, place, scope, record, chunk)
);

-- The chunks that were applied or written, for each folder by itself.
CREATE TABLE amber.sync_chunks (
  gen        int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  chunk      text COLLATE "C" NOT NULL,
  place      text COLLATE "C" NOT NULL,
  device     text COLLATE "C" NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  created_at int8 NOT NULL, -- by the device's own clock
  applied_at int8 NOT NULL,
  drift      int8 NOT NULL, -- milliseconds that its stamps were ahead of the time of day, at most
  again      int8 NOT NULL, -- 1: it is to be read once more
  PRIMARY KEY (gen, chunk, place)
);
CREATE INDEX sync_chunks_place ON amber.sync_chunks (gen, place);

-- What was written and is not indexed yet. Triggers fill it, and every transaction
-- empties it before it commits; what a migration or a restore leaves here is indexed
-- later.
CREATE TABLE amber.index_dirty (
  gen    int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  source text COLLATE "C" NOT NULL, -- memory, turn, compaction, session, activity or note
  owner  text COLLATE "C" NOT NULL, -- its id
  PRIMARY KEY (gen, source, owner)
);

-- The passages: what is found.
CREATE TABLE amber.passages (
  gen        int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  row        int8 NOT NULL, -- never used again
  source     text COLLATE "C" NOT NULL,
  owner      text COLLATE "C" NOT NULL,
  part       int8 NOT NULL,
  digest     bytea NOT NULL, -- of its words and facets: an owner that says the same keeps its rows
  session_id text COLLATE "C" NOT NULL, -- the conversation it is part of, or ''
  place      int8 NOT NULL, -- in the conversation
  speaker    text COLLATE "C" NOT NULL,
  asks       int8 NOT NULL, -- 1: it is nothing but a short question
  at         int8 NOT NULL,
  PRIMARY KEY (gen, row)
);
CREATE UNIQUE INDEX passages_owner ON amber.passages (gen, source, owner, part);
CREATE INDEX passages_place ON amber.passages (gen, session_id, place) WHERE session_id <> '';

-- Documents that are in no segment yet.
CREATE TABLE amber.index_tail (
  gen      int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  row      int8 NOT NULL,
  document bytea NOT NULL,
  PRIMARY KEY (gen, row)
);

CREATE TABLE amber.index_segments (
  gen       int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  id        int8 NOT NULL, -- never used again
  edition   int8 NOT NULL,
  first_row int8 NOT NULL,
  last_row  int8 NOT NULL,
  docs      int8 NOT NULL,
  words     int8 NOT NULL,
  level     int8 NOT NULL,
  documents bytea NOT NULL,
  terms     bytea NOT NULL,
  PRIMARY KEY (gen, id)
);

CREATE TABLE amber.index_lists (
  gen     int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  segment int8 NOT NULL,
  term    text COLLATE "C" NOT NULL,
  list    bytea NOT NULL,
  PRIMARY KEY (gen, segment, term)
);

-- Documents of segments that are gone, until they are merged away. Whose they were
-- is known, so that they can be erased.
CREATE TABLE amber.index_dead (
  gen     int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  segment int8 NOT NULL,
  row     int8 NOT NULL,
  source  text COLLATE "C" NOT NULL,
  owner   text COLLATE "C" NOT NULL,
  PRIMARY KEY (gen, segment, row)
);
CREATE INDEX index_dead_owner ON amber.index_dead (gen, source, owner);
CREATE INDEX index_dead_row ON amber.index_dead (gen, row);

-- Vectors of passages, and their signs in chunks of 256 rows.
CREATE TABLE amber.index_vectors (
  gen    int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  model  text COLLATE "C" NOT NULL,
  row    int8 NOT NULL,
  vector bytea NOT NULL,
  PRIMARY KEY (gen, model, row)
);

CREATE TABLE amber.index_signs (
  gen     int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  model   text COLLATE "C" NOT NULL,
  chunk   int8 NOT NULL,
  edition int8 NOT NULL,
  signs   bytea NOT NULL,
  PRIMARY KEY (gen, model, chunk)
);

-- Counters, what merging has begun, how far each model has come.
CREATE TABLE amber.index_state (
  gen    int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  key    text COLLATE "C" NOT NULL,
  number int8 NOT NULL,
  data   bytea NOT NULL,
  PRIMARY KEY (gen, key)
);

-- The notes as their branch holds them, to be found. They live in their own repository:
-- this is a copy, and what follows it.
CREATE TABLE amber.notes (
  gen       int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  name      text COLLATE "C" NOT NULL,
  blob      text COLLATE "C" NOT NULL, -- the id that git gives its text
  commit_id text COLLATE "C" NOT NULL, -- that wrote it
  at        int8 NOT NULL, -- when
  content   text COLLATE "C" NOT NULL,
  PRIMARY KEY (gen, name)
);

-- How far the copy is: one row, or none before the first note.
CREATE TABLE amber.notes_head (
  gen       int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  id        int8 NOT NULL CHECK (id = 1),
  commit_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (gen, id)
);

-- The repository of the notes: git's objects as git hashes them, and its branches and tags.
-- amber.notes is a copy of what the branch main ends with, written with it.
CREATE TABLE amber.note_objects (
  gen  int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  oid  text COLLATE "C" NOT NULL, -- SHA-1 of raw, 40 hex digits
  type text COLLATE "C" NOT NULL, -- commit, tree, blob or tag
  raw  bytea NOT NULL,            -- type, length and content
  PRIMARY KEY (gen, oid)
);

CREATE TABLE amber.note_refs (
  gen  int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  name text COLLATE "C" NOT NULL, -- refs/heads/main is the one that is written
  oid  text COLLATE "C" NOT NULL,
  PRIMARY KEY (gen, name)
);

CREATE TABLE amber.index_cursors (
  gen      int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  place    text COLLATE "C" NOT NULL, -- of the index
  position text COLLATE "C" NOT NULL, -- of the change log: everything up to it was given to the index
  fence    int8 NOT NULL, -- counts up with every move
  notes    bytea NOT NULL, -- of the one that feeds it
  PRIMARY KEY (gen, place)
);

-- Bytes that do not get smaller are read in parts without being unpacked first.
ALTER TABLE amber.embeddings     ALTER COLUMN vector    SET STORAGE EXTERNAL;
ALTER TABLE amber.index_tail     ALTER COLUMN document  SET STORAGE EXTERNAL;
ALTER TABLE amber.index_segments ALTER COLUMN documents SET STORAGE EXTERNAL;
ALTER TABLE amber.index_segments ALTER COLUMN terms     SET STORAGE EXTERNAL;
ALTER TABLE amber.index_lists    ALTER COLUMN list      SET STORAGE EXTERNAL;
ALTER TABLE amber.index_vectors  ALTER COLUMN vector    SET STORAGE EXTERNAL;
ALTER TABLE amber.index_signs    ALTER COLUMN signs     SET STORAGE EXTERNAL;

-- The row of a generation and log that every writer locks.
CREATE TABLE amber.heads (
  gen         int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  log         text COLLATE "C" NOT NULL CHECK (log IN ('memory', 'control')),
  seq         int8 NOT NULL DEFAULT 0,  -- of the last entry in the change log
  stamp       int8 NOT NULL DEFAULT 0,  -- of the same
  live        bool NOT NULL DEFAULT false, -- false: nobody may write
  rev         int8 NOT NULL DEFAULT 0,  -- counts up when the agent becomes another generation
  incarnation text COLLATE "C" NOT NULL DEFAULT '',
  device      text COLLATE "C" NOT NULL DEFAULT '',
  clock       int8 NOT NULL DEFAULT 0,
  PRIMARY KEY (gen, log)
) WITH (fillfactor = 50);

-- The documents of runtime state, which are files where an agent has a folder.
CREATE TABLE amber.documents (
  gen      int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  name     text COLLATE "C" NOT NULL,
  revision text COLLATE "C" NOT NULL, -- digest of the document
  document text COLLATE "C" NOT NULL, -- JSON
  PRIMARY KEY (gen, name)
);

-- The files of the agent's vault, in pieces: each as it is where an agent has a folder, its first line and its content. A row
-- without a place says that the vault is in use.
CREATE TABLE amber.vault_files (
  gen    int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  place  text COLLATE "C" NOT NULL CHECK (place ~ '^([0-9a-f]{64})?$'), -- SHA-256 of the name
  number int8 NOT NULL CHECK (number BETWEEN 0 AND 256),
  piece  bytea NOT NULL CHECK (octet_length(piece) <= 262144),
  PRIMARY KEY (gen, place, number)
);
ALTER TABLE amber.vault_files ALTER COLUMN piece SET STORAGE EXTERNAL; -- lengths and beginnings are read without the rest

-- The write transactions that committed. Where the answer to a COMMIT got lost, its token is looked for here.
CREATE TABLE amber.commits (
  gen   int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  log   text COLLATE "C" NOT NULL CHECK (log IN ('memory', 'control')),
  token uuid NOT NULL,
  at    int8 NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::int8, -- milliseconds since 1970
  PRIMARY KEY (gen, token)
);
CREATE INDEX commits_at ON amber.commits (gen, at);

-- What was written is noted for the index. The names of the triggers are those of SQLite.

CREATE FUNCTION amber.note_memory() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO amber.index_dirty (gen, source, owner) VALUES (old.gen, 'memory', old.id) ON CONFLICT DO NOTHING;
  END IF;
  IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND new.id <> old.id THEN
    INSERT INTO amber.index_dirty (gen, source, owner) VALUES (new.gen, 'memory', new.id) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER index_memory_insert AFTER INSERT ON amber.memories FOR EACH ROW EXECUTE FUNCTION amber.note_memory();
CREATE TRIGGER index_memory_delete AFTER DELETE ON amber.memories FOR EACH ROW EXECUTE FUNCTION amber.note_memory();
CREATE TRIGGER index_memory_update AFTER UPDATE OF id, kind, scope, identity, project_id, title, content, summary, topic, tags, trust, updated_at, deleted_at
  ON amber.memories FOR EACH ROW EXECUTE FUNCTION amber.note_memory();

-- Of revisions and concepts. Words of earlier revisions may be in the index until it is merged.
CREATE FUNCTION amber.note_of_memory() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO amber.index_dirty (gen, source, owner) VALUES (old.gen, 'memory', old.memory_id) ON CONFLICT DO NOTHING;
  END IF;
  IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND new.memory_id <> old.memory_id THEN
    INSERT INTO amber.index_dirty (gen, source, owner) VALUES (new.gen, 'memory', new.memory_id) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER index_revision_delete AFTER DELETE ON amber.revisions FOR EACH ROW EXECUTE FUNCTION amber.note_of_memory();
CREATE TRIGGER index_revision_update AFTER UPDATE OF body ON amber.revisions FOR EACH ROW EXECUTE FUNCTION amber.note_of_memory();
CREATE TRIGGER index_concept_insert AFTER INSERT ON amber.concepts FOR EACH ROW EXECUTE FUNCTION amber.note_of_memory();
CREATE TRIGGER index_concept_delete AFTER DELETE ON amber.concepts FOR EACH ROW EXECUTE FUNCTION amber.note_of_memory();
CREATE TRIGGER index_concept_update AFTER UPDATE ON amber.concepts FOR EACH ROW EXECUTE FUNCTION amber.note_of_memory();

-- What a turn means depends on the one before it.
CREATE FUNCTION amber.note_turn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO amber.index_dirty (gen, source, owner) VALUES (new.gen, 'turn', new.id) ON CONFLICT DO NOTHING;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO amber.index_dirty (gen, source, owner) VALUES (old.gen, 'turn', old.id) ON CONFLICT DO NOTHING;
    INSERT INTO amber.index_dirty (gen, source, owner)
      SELECT old.gen, 'turn', t.id FROM amber.turns t
      WHERE t.gen = old.gen AND t.session_id = old.session_id AND t.seq > old.seq ORDER BY t.seq LIMIT 1
      ON CONFLICT DO NOTHING;
  ELSE
    INSERT INTO amber.index_dirty (gen, source, owner) VALUES (old.gen, 'turn', old.id), (new.gen, 'turn', new.id) ON CONFLICT DO NOTHING;
    -- Those behind it are many in a long session. They need not be read again for what is not in their words.
    IF (old.gen, old.seq, old.session_id, old.role, old.content) <> (new.gen, new.seq, new.session_id, new.role, new.content) THEN
      INSERT INTO amber.index_dirty (gen, source, owner)
        SELECT new.gen, 'turn', t.id FROM amber.turns t
        WHERE t.gen = new.gen AND t.session_id IN (old.session_id, new.session_id) AND t.seq > least(old.seq, new.seq)
        ON CONFLICT DO NOTHING;
    END IF;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER index_turn_insert AFTER INSERT ON amber.turns FOR EACH ROW EXECUTE FUNCTION amber.note_turn();
CREATE TRIGGER index_turn_delete AFTER DELETE ON amber.turns FOR EACH ROW EXECUTE FUNCTION amber.note_turn();
-- A column that a later migration adds and fills is not in the index until it says so.
CREATE TRIGGER index_turn_update AFTER UPDATE OF gen, seq, id, session_id, role, content, project_id, created_at, trust ON amber.turns FOR EACH ROW EXECUTE FUNCTION amber.note_turn();

CREATE FUNCTION amber.note_compaction() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO amber.index_dirty (gen, source, owner) VALUES (old.gen, 'compaction', old.id) ON CONFLICT DO NOTHING;
  END IF;
  IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND new.id <> old.id THEN
    INSERT INTO amber.index_dirty (gen, source, owner) VALUES (new.gen, 'compaction', new.id) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER index_compaction_insert AFTER INSERT ON amber.compactions FOR EACH ROW EXECUTE FUNCTION amber.note_compaction();
CREATE TRIGGER index_compaction_delete AFTER DELETE ON amber.compactions FOR EACH ROW EXECUTE FUNCTION amber.note_compaction();
CREATE TRIGGER index_compaction_update AFTER UPDATE ON amber.compactions FOR EACH ROW EXECUTE FUNCTION amber.note_compaction();

CREATE FUNCTION amber.note_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO amber.index_dirty (gen, source, owner) VALUES (old.gen, 'session', old.id) ON CONFLICT DO NOTHING;
  END IF;
  IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND new.id <> old.id THEN
    INSERT INTO amber.index_dirty (gen, source, owner) VALUES (new.gen, 'session', new.id) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
-- What was said in a session without a project of its own belongs to that of the session.
CREATE FUNCTION amber.note_session_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO amber.index_dirty (gen, source, owner)
    SELECT new.gen, 'turn', t.id FROM amber.turns t WHERE t.gen = new.gen AND t.session_id IN (old.id, new.id)
    ON CONFLICT DO NOTHING;
  INSERT INTO amber.index_dirty (gen, source, owner)
    SELECT new.gen, 'compaction', c.id FROM amber.compactions c WHERE c.gen = new.gen AND c.session_id IN (old.id, new.id)
    ON CONFLICT DO NOTHING;
  INSERT INTO amber.index_dirty (gen, source, owner)
    SELECT new.gen, 'activity', a.seq::text FROM amber.activity a WHERE a.gen = new.gen AND a.session_id IN (old.id, new.id) AND a.failed > 0
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER index_session_insert AFTER INSERT ON amber.sessions FOR EACH ROW EXECUTE FUNCTION amber.note_session();
CREATE TRIGGER index_session_delete AFTER DELETE ON amber.sessions FOR EACH ROW EXECUTE FUNCTION amber.note_session();
CREATE TRIGGER index_session_update AFTER UPDATE OF id, name, summary, project, trust ON amber.sessions FOR EACH ROW EXECUTE FUNCTION amber.note_session();
CREATE TRIGGER index_session_project AFTER UPDATE OF id, project ON amber.sessions FOR EACH ROW
  WHEN (old.project <> new.project OR old.id <> new.id) EXECUTE FUNCTION amber.note_session_project();

-- The same of what was stored before its session, or stays where a session goes.
CREATE FUNCTION amber.note_of_session() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE s amber.sessions;
BEGIN
  IF TG_OP = 'INSERT' THEN
    s := new;
  ELSE
    s := old;
  END IF;
  INSERT INTO amber.index_dirty (gen, source, owner)
    SELECT s.gen, 'turn', t.id FROM amber.turns t WHERE t.gen = s.gen AND t.session_id = s.id AND t.project_id = ''
    ON CONFLICT DO NOTHING;
  INSERT INTO amber.index_dirty (gen, source, owner)
    SELECT s.gen, 'compaction', c.id FROM amber.compactions c WHERE c.gen = s.gen AND c.session_id = s.id
    ON CONFLICT DO NOTHING;
  INSERT INTO amber.index_dirty (gen, source, owner)
    SELECT s.gen, 'activity', a.seq::text FROM amber.activity a WHERE a.gen = s.gen AND a.session_id = s.id AND a.failed > 0
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER index_session_started AFTER INSERT ON amber.sessions FOR EACH ROW WHEN (new.project <> '') EXECUTE FUNCTION amber.note_of_session();
CREATE TRIGGER index_session_gone AFTER DELETE ON amber.sessions FOR EACH ROW WHEN (old.project <> '') EXECUTE FUNCTION amber.note_of_session();

CREATE FUNCTION amber.note_activity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO amber.index_dirty (gen, source, owner) VALUES (old.gen, 'activity', old.seq::text) ON CONFLICT DO NOTHING;
  END IF;
  IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND new.seq <> old.seq THEN
    INSERT INTO amber.index_dirty (gen, source, owner) VALUES (new.gen, 'activity', new.seq::text) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER index_activity_insert AFTER INSERT ON amber.activity FOR EACH ROW WHEN (new.failed > 0) EXECUTE FUNCTION amber.note_activity();
CREATE TRIGGER index_activity_delete AFTER DELETE ON amber.activity FOR EACH ROW WHEN (old.failed > 0) EXECUTE FUNCTION amber.note_activity();
CREATE TRIGGER index_activity_update AFTER UPDATE ON amber.activity FOR EACH ROW WHEN (old.failed > 0 OR new.failed > 0) EXECUTE FUNCTION amber.note_activity();

CREATE FUNCTION amber.note_note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO amber.index_dirty (gen, source, owner) VALUES (old.gen, 'note', old.name) ON CONFLICT DO NOTHING;
  END IF;
  IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND new.name <> old.name THEN
    INSERT INTO amber.index_dirty (gen, source, owner) VALUES (new.gen, 'note', new.name) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER index_note_insert AFTER INSERT ON amber.notes FOR EACH ROW EXECUTE FUNCTION amber.note_note();
CREATE TRIGGER index_note_delete AFTER DELETE ON amber.notes FOR EACH ROW EXECUTE FUNCTION amber.note_note();
CREATE TRIGGER index_note_update AFTER UPDATE ON amber.notes FOR EACH ROW EXECUTE FUNCTION amber.note_note();

CREATE FUNCTION amber_control.next_incarnation() RETURNS int8 LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT coalesce(max(ordinal), 0) + 1 FROM amber_control.incarnations WHERE gen = current_setting('amber.gen')::int8);
END $$;
CREATE FUNCTION amber_control.next_change() RETURNS int8 LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT coalesce(max(seq), 0) + 1 FROM amber_control.changes WHERE gen = current_setting('amber.gen')::int8);
END $$;
CREATE FUNCTION amber_control.next_approval() RETURNS int8 LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT coalesce(max(seq), 0) + 1 FROM amber_control.approvals WHERE gen = current_setting('amber.gen')::int8);
END $$;
CREATE FUNCTION amber_control.next_entry() RETURNS int8 LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT coalesce(max(seq), 0) + 1 FROM amber_control.queue WHERE gen = current_setting('amber.gen')::int8);
END $$;

CREATE TABLE amber_control.incarnations (
  gen       int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  ordinal   int8 NOT NULL DEFAULT amber_control.next_incarnation(),
  id        text COLLATE "C" NOT NULL,
  first_seq int8 NOT NULL,
  PRIMARY KEY (gen, ordinal),
  UNIQUE (gen, id)
);

CREATE TABLE amber_control.changes (
  gen        int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  seq        int8 NOT NULL DEFAULT amber_control.next_change(),
  stamp      int8 NOT NULL,
  op         text COLLATE "C" NOT NULL,
  scope      text COLLATE "C" NOT NULL,
  key        text COLLATE "C" NOT NULL,
  old_digest text COLLATE "C" NOT NULL,
  new_digest text COLLATE "C" NOT NULL,
  PRIMARY KEY (gen, seq)
);

CREATE TABLE amber_control.tasks (
  gen        int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  id         text COLLATE "C" NOT NULL,
  state      text COLLATE "C" NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  version    int8 NOT NULL,
  created_at int8 NOT NULL,
  body       text COLLATE "C" NOT NULL, -- the task as JSON, without extra
  extra      text COLLATE "C" NOT NULL, -- as it was given; '' for none
  PRIMARY KEY (gen, id)
);
CREATE INDEX tasks_created ON amber_control.tasks (gen, created_at, id);
CREATE INDEX tasks_state ON amber_control.tasks (gen, state, created_at, id);
CREATE INDEX tasks_session ON amber_control.tasks (gen, session_id, created_at, id);

CREATE TABLE amber_control.events (
  gen     int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  task_id text COLLATE "C" NOT NULL,
  seq     int8 NOT NULL,
  body    text COLLATE "C" NOT NULL, -- the event as JSON
  PRIMARY KEY (gen, task_id, seq)
);

-- What the compacted events of a task amount to.
CREATE TABLE amber_control.replays (
  gen       int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  task_id   text COLLATE "C" NOT NULL,
  compacted int8 NOT NULL, -- sequence of the last event folded in
  body      text COLLATE "C" NOT NULL, -- the replay snapshot as JSON
  PRIMARY KEY (gen, task_id)
);

CREATE TABLE amber_control.approvals (
  gen          int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  seq          int8 NOT NULL DEFAULT amber_control.next_approval(),
  id           text COLLATE "C" NOT NULL,
  task_id      text COLLATE "C" NOT NULL,
  node_id      text COLLATE "C" NOT NULL,
  summary      text COLLATE "C" NOT NULL,
  status       text COLLATE "C" NOT NULL,
  payload      text COLLATE "C" NOT NULL,
  digest       text COLLATE "C" NOT NULL,
  decided_by   text COLLATE "C" NOT NULL,
  comment      text COLLATE "C" NOT NULL,
  created_at   int8 NOT NULL,
  decided_at   int8,
  requested_by text COLLATE "C" NOT NULL DEFAULT '',
  claimed_by   text COLLATE "C" NOT NULL DEFAULT '',
  PRIMARY KEY (gen, seq),
  UNIQUE (gen, id)
);
CREATE INDEX approvals_task ON amber_control.approvals (gen, task_id, seq);
CREATE INDEX approvals_pending ON amber_control.approvals (gen, seq) WHERE status = 'pending';

CREATE TABLE amber_control.results (
  gen     int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  task_id text COLLATE "C" NOT NULL,
  node_id text COLLATE "C" NOT NULL,
  fence   int8 NOT NULL,
  body    text COLLATE "C" NOT NULL, -- the result as JSON
  PRIMARY KEY (gen, task_id, node_id)
);

-- The highest fencing token ever issued for a node. Kept when entries go, so
-- the largest of them is the last one issued at all; the index finds it.
CREATE TABLE amber_control.fences (
  gen     int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  task_id text COLLATE "C" NOT NULL,
  node_id text COLLATE "C" NOT NULL,
  fence   int8 NOT NULL,
  PRIMARY KEY (gen, task_id, node_id)
);
CREATE UNIQUE INDEX fences_issued ON amber_control.fences (gen, fence);

-- Entries, also acked and dead ones: an entry id is published once.
CREATE TABLE amber_control.queue (
  gen                  int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  seq                  int8 NOT NULL DEFAULT amber_control.next_entry(),
  entry_id             text COLLATE "C" NOT NULL,
  task_id              text COLLATE "C" NOT NULL,
  node_id              text COLLATE "C" NOT NULL,
  digest               text COLLATE "C" NOT NULL, -- of what was published
  payload              text COLLATE "C" NOT NULL, -- '' once acked
  priority             int8 NOT NULL,
  published_not_before int8 NOT NULL, -- 0 for none
  not_before           int8 NOT NULL, -- of the next claim
  due                  int8 NOT NULL, -- 1 once a claim has seen not_before pass
  state                text COLLATE "C" NOT NULL CHECK (state IN ('queued', 'leased', 'acked', 'dead')),
  attempt              int8 NOT NULL,
  consumer             text COLLATE "C" NOT NULL, -- of the last lease, as the three below
  token                text COLLATE "C" NOT NULL,
  fence                int8 NOT NULL,
  expires_at           int8 NOT NULL,
  reasons              text COLLATE "C" NOT NULL, -- JSON array
  done_at              int8, -- when it was acked or died
  PRIMARY KEY (gen, seq),
  UNIQUE (gen, entry_id)
);
CREATE INDEX queue_queued ON amber_control.queue (gen, priority DESC, seq) WHERE state = 'queued' AND due = 1;
CREATE INDEX queue_delayed ON amber_control.queue (gen, not_before) WHERE state = 'queued' AND due = 0;
CREATE INDEX queue_leased ON amber_control.queue (gen, expires_at) WHERE state = 'leased';
CREATE INDEX queue_acked ON amber_control.queue (gen, done_at) WHERE state = 'acked';
CREATE INDEX queue_dead ON amber_control.queue (gen, done_at, seq) WHERE state = 'dead';

-- How many entries are in each state. The triggers keep it, so that no path
-- can forget to.
CREATE TABLE amber_control.queue_counts (
  gen     int8 NOT NULL DEFAULT current_setting('amber.gen')::int8,
  state   text COLLATE "C" NOT NULL,
  entries int8 NOT NULL,
  PRIMARY KEY (gen, state)
);

-- The generation of an agent has a row for each of the four states from its beginning on; a
-- missing one is made.
CREATE FUNCTION amber_control.count_queue() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    UPDATE amber_control.queue_counts SET entries = entries - 1 WHERE gen = old.gen AND state = old.state;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO amber_control.queue_counts AS c (gen, state, entries) VALUES (new.gen, new.state, 1)
      ON CONFLICT (gen, state) DO UPDATE SET entries = c.entries + 1;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER queue_insert AFTER INSERT ON amber_control.queue FOR EACH ROW EXECUTE FUNCTION amber_control.count_queue();
CREATE TRIGGER queue_update AFTER UPDATE OF state ON amber_control.queue FOR EACH ROW EXECUTE FUNCTION amber_control.count_queue();
CREATE TRIGGER queue_delete AFTER DELETE ON amber_control.queue FOR EACH ROW EXECUTE FUNCTION amber_control.count_queue();

-- Rows that change all the time are swept often, however large the rest of the table is.
ALTER TABLE amber.heads                SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE amber.commits              SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
ALTER TABLE amber.index_dirty          SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE amber.index_tail           SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE amber.index_lists          SET (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE amber.index_state          SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
ALTER TABLE amber_control.queue        SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE amber_control.queue_counts SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

-- A generation of an agent. Its rows in amber and amber_control carry gen.
CREATE TABLE amber_meta.generations (
  gen           int8 GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  tenant        text COLLATE "C" NOT NULL,
  agent         text COLLATE "C" NOT NULL,
  number        int8 NOT NULL CHECK (number > 0), -- of this agent
  incarnation   text COLLATE "C" NOT NULL UNIQUE,
  state         text COLLATE "C" NOT NULL CHECK (state IN ('building', 'live', 'old', 'dropping')),
  replaces      int8,          -- gen of the one before it
  from_snapshot text COLLATE "C" NOT NULL DEFAULT '',
  safety        text COLLATE "C" NOT NULL DEFAULT '', -- snapshot that holds the one before it
  clock         int8 NOT NULL DEFAULT 0, -- no stamp that was given before it became live is later
  created_at    timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant, agent, number)
);
CREATE INDEX generations_state ON amber_meta.generations (state) WHERE state <> 'live';

CREATE TABLE amber_meta.agents (
  tenant     text COLLATE "C" NOT NULL,
  agent      text COLLATE "C" NOT NULL,
  live_gen   int8 REFERENCES amber_meta.generations (gen), -- none before the first
  device     text COLLATE "C" NOT NULL,
  state      text COLLATE "C" NOT NULL DEFAULT 'live', -- or arriving, leaving, moved: nobody may open it
  move       text COLLATE "C" NOT NULL DEFAULT '', -- id of the move that the state is about
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, agent)
);
CREATE INDEX agents_live ON amber_meta.agents (live_gen);

-- The moves of agents between this database and the folders of homes. A move is decided in the transaction that makes
-- the agent live here, or says that it is not any more.
CREATE TABLE amber_meta.moves (
  id         text COLLATE "C" PRIMARY KEY,
  tenant     text COLLATE "C" NOT NULL,
  agent      text COLLATE "C" NOT NULL,
  arrives    bool NOT NULL,               -- false: it leaves
  decided    bool NOT NULL DEFAULT false,
  done       bool NOT NULL DEFAULT false, -- the home knows that it was decided
  home       text COLLATE "C" NOT NULL,   -- the other end, for people
  gen        int8 NOT NULL DEFAULT 0,     -- that leaves, or that an arrival replaces; 0: none
  before     text COLLATE "C" NOT NULL DEFAULT '', -- the move that the state of the agent was about
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX moves_agent ON amber_meta.moves (tenant, agent);

-- One row: which database this is, wherever it is reached.
CREATE TABLE amber_meta.identity (
  one bool PRIMARY KEY DEFAULT true CHECK (one),
  id  uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO amber_meta.identity DEFAULT VALUES;

-- The programs that work on this database, and when each was last heard of.
CREATE TABLE amber_meta.servers (
  id           text COLLATE "C" PRIMARY KEY,
  name         text COLLATE "C" NOT NULL DEFAULT '',
  address      text COLLATE "C" NOT NULL DEFAULT '',
  version      text COLLATE "C" NOT NULL DEFAULT '',
  schema_known int8 NOT NULL, -- number of the newest migration it knows
  started_at   timestamptz NOT NULL DEFAULT now(),
  seen_at      timestamptz NOT NULL DEFAULT now(),
  lease        int8 NOT NULL DEFAULT 0 -- milliseconds after which it counts as gone, by its own settings
);

-- Work that one server does at a time.
CREATE TABLE amber_meta.work (
  kind   text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  agent  text COLLATE "C" NOT NULL,
  due_at timestamptz NOT NULL DEFAULT now(),
  holder text COLLATE "C" NOT NULL DEFAULT '', -- id of a server
  fence  int8 NOT NULL DEFAULT 0,              -- counts up with every holder
  until  timestamptz,                          -- the end of the lease
  PRIMARY KEY (kind, tenant, agent)
);
CREATE INDEX work_due ON amber_meta.work (due_at);

-- One row: how far this database is, and what a program has to know to work on it. Only a contract raises the second.
CREATE TABLE amber_meta.version (
  one    bool PRIMARY KEY DEFAULT true CHECK (one),
  number int8 NOT NULL, -- of the newest migration that was applied
  needs  int8 NOT NULL  -- number of the newest migration that a program must know
);

-- The migrations that were begun. A released file never changes, so its digest is that of the program.
CREATE TABLE amber_meta.migrations (
  number     int8 PRIMARY KEY,
  name       text COLLATE "C" NOT NULL,
  sha256     text COLLATE "C" NOT NULL,
  phase      text COLLATE "C" NOT NULL CHECK (phase IN ('expand', 'backfill', 'validate', 'contract')),
  state      text COLLATE "C" NOT NULL CHECK (state IN ('begun', 'applied')),
  steps      int8 NOT NULL, -- that are done
  applied_at timestamptz NOT NULL DEFAULT now(),
  by         text COLLATE "C" NOT NULL
);

-- How many rows a generation has is not looked at: an agent that the server has not seen yet would be taken for one without rows, and
-- plans are shared by all agents.
DO $$
DECLARE t regclass;
BEGIN
  FOR t IN SELECT c.oid FROM pg_catalog.pg_class c
           WHERE c.relkind = 'r' AND c.relnamespace IN ('amber'::regnamespace, 'amber_control'::regnamespace) LOOP
    EXECUTE format('ALTER TABLE %s ALTER COLUMN gen SET STATISTICS 0', t);
  END LOOP;
END $$;

-- Of a table that it has never looked at the server thinks that nearly no memory is not deleted, and plans that are made then read all of
-- an agent's where there are many, until it looks, minutes later. So it looks at some rows now, which do not stay.
INSERT INTO amber.memories (gen, rowid, id, kind, scope, identity, session_id, user_id, project_id, workspace_id, title, content, summary, topic, tags,
    metadata, source_refs, trust, device, counter, clock, revision, content_digest, duplicate_count, created_at, updated_at, foreign_fields)
  SELECT 0, n, md5('id' || n), 'fact', 'global', '', '', '', '', '', md5('title' || n), repeat(md5('content' || n), 8), '', '', '',
    '{}', '[]', 'own', 'device', 1, n, 1, md5('digest' || n), 0, n, n, '{}' FROM generate_series(1, 500) n;
INSERT INTO amber.passages (gen, row, source, owner, part, digest, session_id, place, speaker, asks, at)
  SELECT 0, n, 'memory', md5('id' || n), 0, '', '', 0, '', 0, n FROM generate_series(1, 500) n;
INSERT INTO amber.passages (gen, row, source, owner, part, digest, session_id, place, speaker, asks, at)
  SELECT 0, n, 'turn', md5('id' || n), 0, '', 'session ' || n % 10, n, '', 0, n FROM generate_series(501, 1000) n;
INSERT INTO amber.turns (gen, seq, id, session_id, role, content, project_id, created_at)
  SELECT 0, n, md5('id' || n), 'session ' || n % 10, 'user', md5('content' || n), '', n FROM generate_series(1, 500) n;
INSERT INTO amber.changes (gen, seq, stamp, op, scope, key, old_digest, new_digest)
  SELECT 0, n, n, 'insert', 'memory', md5('id' || n), '', md5('digest' || n) FROM generate_series(1, 500) n;
ANALYZE amber.memories, amber.passages, amber.turns, amber.changes, amber.index_dirty;
DELETE FROM amber.memories;
DELETE FROM amber.passages;
DELETE FROM amber.turns;
DELETE FROM amber.changes;
DELETE FROM amber.index_dirty;

-- Every table of an agent's rows shows and takes those of the generation that is set, and no other.
DO $$
DECLARE t regclass;
BEGIN
  FOR t IN SELECT c.oid FROM pg_catalog.pg_class c
           WHERE c.relkind = 'r' AND c.relnamespace IN ('amber'::regnamespace, 'amber_control'::regnamespace) LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY generation ON %s USING (gen = current_setting(''amber.gen'')::int8) WITH CHECK (gen = current_setting(''amber.gen'')::int8)', t);
  END LOOP;
END $$;

GRANT USAGE ON SCHEMA amber, amber_control, amber_meta TO amber_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA amber, amber_control TO amber_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON amber_meta.agents, amber_meta.generations, amber_meta.moves, amber_meta.servers, amber_meta.work TO amber_app;
GRANT SELECT ON amber_meta.identity, amber_meta.version, amber_meta.migrations TO amber_app;
