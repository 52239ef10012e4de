-- memory.db, schema 7: what stands in a project is listed without reading everything.

-- The memories of a kind that somebody sees, newest first, and all that counting needs.
CREATE INDEX memories_listed ON memories (scope, identity, kind, created_at, id, trust, deleted_at);

-- The sessions of a project, newest first.
CREATE INDEX sessions_project ON sessions (project, updated_at, id) WHERE project <> '';
