-- memory.db, schema 9: what was stored before its session belongs to the project of the session.

-- A turn without a project of its own, a summary or what failed may be stored before its session starts, and may stay where a session
-- goes. index_session_project sees neither.
CREATE TRIGGER index_session_started AFTER INSERT ON sessions WHEN new.project <> '' BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) SELECT 'turn', id FROM turns WHERE session_id = new.id AND project_id = '';
  INSERT OR IGNORE INTO index_dirty (source, owner) SELECT 'compaction', id FROM compactions WHERE session_id = new.id;
  INSERT OR IGNORE INTO index_dirty (source, owner) SELECT 'activity', CAST(seq AS TEXT) FROM activity WHERE session_id = new.id AND failed > 0;
END;
CREATE TRIGGER index_session_gone AFTER DELETE ON sessions WHEN old.project <> '' BEGIN
  INSERT OR IGNORE INTO index_dirty (source, owner) SELECT 'turn', id FROM turns WHERE session_id = old.id AND project_id = '';
  INSERT OR IGNORE INTO index_dirty (source, owner) SELECT 'compaction', id FROM compactions WHERE session_id = old.id;
  INSERT OR IGNORE INTO index_dirty (source, owner) SELECT 'activity', CAST(seq AS TEXT) FROM activity WHERE session_id = old.id AND failed > 0;
END;

-- Those that may be in the index under the wrong project are looked at once more.
INSERT OR IGNORE INTO index_dirty (source, owner)
  SELECT 'turn', id FROM turns WHERE project_id = ''
  UNION ALL SELECT 'compaction', id FROM compactions
  UNION ALL SELECT 'activity', CAST(seq AS TEXT) FROM activity WHERE failed > 0;
