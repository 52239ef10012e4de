-- home.db, schema 1: tokens, the audit log, answers, the outbox.

CREATE TABLE tokens (
  ordinal      INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE,
  name         TEXT NOT NULL,
  tenant       TEXT NOT NULL, -- '' for every one
  agent        TEXT NOT NULL, -- '' for every one
  scopes       TEXT NOT NULL, -- joined by commas
  hash         BLOB NOT NULL, -- SHA-256 of the random part of the secret
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL, -- 0: never
  revoked_at   INTEGER NOT NULL, -- 0: it was not
  last_used_at INTEGER NOT NULL  -- 0: never
) STRICT;

CREATE TABLE audit (
  seq        INTEGER PRIMARY KEY,
  at         INTEGER NOT NULL,
  tenant     TEXT NOT NULL,
  agent      TEXT NOT NULL,
  actor      TEXT NOT NULL,
  action     TEXT NOT NULL,
  subject    TEXT NOT NULL,
  outcome    TEXT NOT NULL,
  request_id TEXT NOT NULL,
  prev       BLOB NOT NULL,
  hash       BLOB NOT NULL
) STRICT;
CREATE INDEX audit_tenant ON audit (tenant, seq);
CREATE INDEX audit_actor  ON audit (actor, seq);
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT raise(ABORT, 'the audit log is only appended to'); END;
CREATE TRIGGER audit_remains BEFORE DELETE ON audit BEGIN SELECT raise(ABORT, 'the audit log is only appended to'); END;

CREATE TABLE answers (
  ordinal   INTEGER PRIMARY KEY,
  tenant    TEXT NOT NULL,
  agent     TEXT NOT NULL,
  operation TEXT NOT NULL,
  key       TEXT NOT NULL,
  digest    TEXT NOT NULL, -- of the request
  holder    TEXT NOT NULL, -- the open database that answers it
  begun_at  INTEGER NOT NULL,
  done      INTEGER NOT NULL, -- 0 while it is being answered
  status    INTEGER NOT NULL,
  blank     INTEGER NOT NULL, -- 1: the body is not kept
  body      BLOB NOT NULL,    -- 4096 zeros and the body
  UNIQUE (tenant, agent, operation, key)
) STRICT;
CREATE INDEX answers_begun ON answers (begun_at);

CREATE TABLE outbox (
  seq   INTEGER PRIMARY KEY AUTOINCREMENT,
  event TEXT NOT NULL -- as JSON
) STRICT;
