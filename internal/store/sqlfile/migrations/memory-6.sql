-- memory.db, schema 6: notes are found, too.

-- The notes as their branch holds them, to be found. They live in their own repository:
-- this is a copy, and what follows it.
CREATE TABLE notes (
  name      TEXT PRIMARY KEY,
  blob      TEXT NOT NULL,      -- the id that git gives its text
  commit_id TEXT NOT NULL,      -- that wrote it
  at        INTEGER NOT NULL,   -- when
  content   TEXT NOT NULL
) STRICT;

-- How far the copy is: one row, or none before the first note.
CREATE TABLE notes_head (
  id        INTEGER PRIMARY KEY CHECK (id = 1),
  commit_id TEXT NOT NULL
) STRICT;

CREATE TRIGGER index_note_insert AFTER INSERT ON notes BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('note', new.name);
END;
CREATE TRIGGER index_note_delete AFTER DELETE ON notes BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('note', old.name);
END;
CREATE TRIGGER index_note_update AFTER UPDATE ON notes BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) VALUES ('note', old.name), ('note', new.name);
END;
