-- memory.db, schema 10: who wrote a record, and how far a relation may be believed.

ALTER TABLE memories ADD COLUMN author TEXT NOT NULL DEFAULT '';  -- JSON; '' for nothing known
-- Earlier relations do not say who made them; agents made most.
ALTER TABLE relations ADD COLUMN trust TEXT NOT NULL DEFAULT 'agent';
ALTER TABLE relations ADD COLUMN author TEXT NOT NULL DEFAULT ''; -- JSON; '' for nothing known
-- The few memories that may wait for the owner, newest first.
CREATE INDEX memories_waiting ON memories (created_at, id) WHERE deleted_at IS NULL AND trust IN ('agent', 'imported') AND (scope = 'global' OR kind = 'constraint');
