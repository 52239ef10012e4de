-- Who wrote a record, and how far a relation may be believed, as of memory-10. Programs that do not know the columns leave
-- them as they are.

ALTER TABLE amber.memories ADD COLUMN author text COLLATE "C" NOT NULL DEFAULT ''; -- JSON; '' for nothing known

-- step
-- Earlier relations do not say who made them; agents made most.
ALTER TABLE amber.relations
  ADD COLUMN trust text COLLATE "C" NOT NULL DEFAULT 'agent',
  ADD COLUMN author text COLLATE "C" NOT NULL DEFAULT ''; -- JSON; '' for nothing known

-- Few memories wait for their owner, and a page asks for them with each screen.
CREATE INDEX memories_waiting ON amber.memories (gen, created_at, id) WHERE deleted_at IS NULL AND trust IN ('agent', 'imported') AND (scope = 'global' OR kind = 'constraint');
