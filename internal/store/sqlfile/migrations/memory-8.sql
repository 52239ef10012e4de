-- memory.db, schema 8: how far indexes outside of the store are fed with its memories.

CREATE TABLE index_cursors (
  place    TEXT PRIMARY KEY,    -- of the index
  position TEXT NOT NULL,       -- of the change log: everything up to it was given to the index
  fence    INTEGER NOT NULL,    -- counts up with every move
  notes    BLOB NOT NULL        -- of the one that feeds it
) STRICT, WITHOUT ROWID;
