-- What the Amber that made schema 9 of memory.db last wrote: something in every table.
INSERT INTO changes (seq, stamp, op, scope, key, old_digest, new_digest) VALUES
  (1, 116226824601600002, 'insert', 'memory', '019cebae-61c0-766f-8a75-e0bf4fffd871', '', 'e921a1ea2cba0ed79599bd54e7f41fb53e75b0727adf6860f4a465a54d7bedd9'),
  (2, 116226905510182913, 'insert', 'memory', 'bd0da7d5-31e5-8a65-909c-9ce21b63a507', '', 'a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e'),
  (3, 116226905510182915, 'update', 'memory', 'bd0da7d5-31e5-8a65-909c-9ce21b63a507', 'a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e', '16367aacb67a4a017c8da8ab95682ccb390863780f7114dda0a0e0c55644c7c4'),
  (4, 116226986418765825, 'update', 'memory', 'bd0da7d5-31e5-8a65-909c-9ce21b63a507', '16367aacb67a4a017c8da8ab95682ccb390863780f7114dda0a0e0c55644c7c4', 'b1e99324505bd32da0e1f85dcf5e19a09db0481e8a15f62c41eb320304a8e927'),
  (5, 116227067327348737, 'insert', 'memory', '019cebe6-e555-76a4-944d-c8837e5064b4', '', '1185f37d33b0f89e331f101a51bb8e51165c7efda15950b86a3ebcbb363f898e'),
  (6, 116227067327348739, 'delete', 'memory', '019cebe6-e555-76a4-944d-c8837e5064b4', '1185f37d33b0f89e331f101a51bb8e51165c7efda15950b86a3ebcbb363f898e', ''),
  (7, 116227067327348741, 'update', 'memory', '019cebae-61c0-766f-8a75-e0bf4fffd871', 'e921a1ea2cba0ed79599bd54e7f41fb53e75b0727adf6860f4a465a54d7bedd9', 'e921a1ea2cba0ed79599bd54e7f41fb53e75b0727adf6860f4a465a54d7bedd9'),
  (8, 116227067327348742, 'update', 'memory', '019cebae-61c0-766f-8a75-e0bf4fffd871', 'e921a1ea2cba0ed79599bd54e7f41fb53e75b0727adf6860f4a465a54d7bedd9', 'e921a1ea2cba0ed79599bd54e7f41fb53e75b0727adf6860f4a465a54d7bedd9'),
  (9, 116227067327348743, 'update', 'memory', '019cebae-61c0-766f-8a75-e0bf4fffd871', 'e921a1ea2cba0ed79599bd54e7f41fb53e75b0727adf6860f4a465a54d7bedd9', 'e921a1ea2cba0ed79599bd54e7f41fb53e75b0727adf6860f4a465a54d7bedd9'),
  (10, 116227148235931648, 'insert', 'session', 'open', '', ''),
  (11, 116227148235931649, 'insert', 'turn', 'turn of open', '', '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'),
  (12, 116227148235931650, 'insert', 'state', 'open', '', '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'),
  (13, 116227148235931651, 'insert', 'loop', 'open', '', '6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b'),
  (14, 116227148235931652, 'insert', 'compaction', '019cebf9-bbdc-7001-a04a-f06e69e27ba6', '', '4e93f1dc7bd9bfba55106d5f70d2e910ed9e1894abe4b0dc933399f874504aca'),
  (15, 116227229144514560, 'insert', 'session', 'ended', '', ''),
  (16, 116227229144514561, 'insert', 'turn', 'turn of ended', '', '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'),
  (17, 116227229144514562, 'insert', 'state', 'ended', '', '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'),
  (18, 116227229144514563, 'insert', 'loop', 'ended', '', '6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b'),
  (19, 116227229144514564, 'insert', 'compaction', '019cec0c-9263-705b-bfde-eb5843e4a85e', '', '4e93f1dc7bd9bfba55106d5f70d2e910ed9e1894abe4b0dc933399f874504aca'),
  (20, 116227229144514565, 'update', 'session', 'ended', '', ''),
  (21, 116227229144514566, 'insert', 'turn', '019cec0c-9263-7392-9c70-80608c8bb12d', '', '4cb4551bbb244be4e5fae3388c28f82d27c99ce8a6f7da5778f25e0b7f716f72'),
  (22, 116227229144514567, 'update', 'session', 'open', '', ''),
  (23, 116227310053097473, 'insert', 'memory', '019cec1f-68ea-781b-bf78-0b1e17709387', '', ''),
  (24, 116227310053097475, 'delete', 'memory', '019cec1f-68ea-781b-bf78-0b1e17709387', '', '');
INSERT INTO memories (rowid, id, kind, scope, identity, session_id, user_id, project_id, workspace_id, title, content, summary, topic, tags, metadata, source_refs, trust, device, counter, clock, revision, content_digest, duplicate_count, created_at, updated_at, deleted_at, foreign_fields) VALUES
  (1, '019cebae-61c0-766f-8a75-e0bf4fffd871', 'workspace_fact', 'global', '', '', '', '', '', '', 'older than the schema', '', '', '', '{}', '[]', 'own', 'the old device', 1, 116226824601600001, 1, 'e921a1ea2cba0ed79599bd54e7f41fb53e75b0727adf6860f4a465a54d7bedd9', 0, 1773480600000, 1773480600000, NULL, '{}'),
  (2, 'bd0da7d5-31e5-8a65-909c-9ce21b63a507', 'workspace_fact', 'global', '', '', '', '', '', '', 'third', '', 't', '', '{}', '[]', 'own', 'the old device', 3, 116226986418765824, 3, 'b1e99324505bd32da0e1f85dcf5e19a09db0481e8a15f62c41eb320304a8e927', 0, 1773481834567, 1773483069134, NULL, '{}'),
  (3, '019cebe6-e555-76a4-944d-c8837e5064b4', 'workspace_fact', 'global', '', '', '', '', '', '', 'deleted', '', '', '', '{}', '[]', 'own', 'the old device', 2, 116227067327348738, 2, '1185f37d33b0f89e331f101a51bb8e51165c7efda15950b86a3ebcbb363f898e', 0, 1773484303701, 1773484303701, 1773484303701, '{}');
INSERT INTO sessions (id, name, binding, project, directory, started_at, ended_at, end_reason, summary, parent, created_at, updated_at, device, counter, clock, trust) VALUES
  ('open', 'open', 'open', 'p', '', 1773485538268, NULL, '', '', '', 1773485538268, 1773486772835, '', 1, 0, 'own'),
  ('ended', 'ended', 'ended', '', '', 1773486772835, 1773486772835, 'ended', '', '', 1773486772835, 1773486772835, '', 1, 0, 'own');
INSERT INTO active_sessions (binding, session_id) VALUES
  ('open', 'open');
INSERT INTO activity (seq, session_id, kind, name, detail, status, count, failed, first_at, last_at) VALUES
  (1, 'open', 'tool', 'Bash', '', '', 1, 0, 1773486772835, 1773486772835);
INSERT INTO compactions (seq, id, session_id, summary, turns, created_at) VALUES
  (1, '019cebf9-bbdc-7001-a04a-f06e69e27ba6', 'open', 'so far', 0, 1773485538268),
  (2, '019cec0c-9263-705b-bfde-eb5843e4a85e', 'ended', 'so far', 0, 1773486772835);
INSERT INTO concepts (memory_id, concept) VALUES
  ('019cebae-61c0-766f-8a75-e0bf4fffd871', 'c');
INSERT INTO embeddings (memory_id, model, dimension, vector) VALUES
  ('019cebae-61c0-766f-8a75-e0bf4fffd871', 'm', 1, X'0000803F');
INSERT INTO erased (id, device, counter, clock) VALUES
  ('019cec1f-68ea-781b-bf78-0b1e17709387', 'the old device', 2, 116227310053097474);
INSERT INTO idempotency (operation, key, digest, memory_id, answer, expires_at) VALUES
  ('write', 'k', '2ee64953f3e0f5dad25a7579c6eeb8b77316b2112551e85b9e6e8c438a93ec47', '019cebae-61c0-766f-8a75-e0bf4fffd871', '{"id":"019cebae-61c0-766f-8a75-e0bf4fffd871","kind":"workspace_fact","scope":"global","title":"","content":"older than the schema","summary":"","tags":[],"metadata":{},"source_refs":[],"trust":"own","origin":{"device":"the old device","counter":1,"clock":"2026-03-14T09:30:00.000Z-0001"},"revision":1,"content_digest":"e921a1ea2cba0ed79599bd54e7f41fb53e75b0727adf6860f4a465a54d7bedd9","duplicate_count":0,"created_at":"2026-03-14T09:30:00.000Z","updated_at":"2026-03-14T09:30:00.000Z","deduplicated":false}', 1774085400000);
INSERT INTO journal_cursors (journal, host, session_id, seq, last_at, pid, process_start, boot, namespace) VALUES
  ('2348f998744212575d85959674f9607a', 'host', 'open', 1, 1, 0, 0, '', '');
INSERT INTO journal_events (id, at) VALUES
  (X'B8E1F80BD70AE0784C7855A451731B74', 0);
INSERT INTO loops (session_id, run_id, state, revision, digest, created_at, parked) VALUES
  ('open', 'r', '1', 1, '6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b', 1773485538268, 0),
  ('ended', 'r', '1', 1, '6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b', 1773486772835, 0);
INSERT INTO relations (id, from_id, to_id, type, strength, device, counter, clock, created_at, deleted_at) VALUES
  ('019cebe6-e555-7b1f-96f3-eec9928101f9', '019cebae-61c0-766f-8a75-e0bf4fffd871', 'bd0da7d5-31e5-8a65-909c-9ce21b63a507', 'related', 0.0, 'the old device', 1, 116227067327348740, 1773484303701, NULL);
INSERT INTO revisions (memory_id, revision, body) VALUES
  ('019cebe6-e555-76a4-944d-c8837e5064b4', 1, '{"id":"019cebe6-e555-76a4-944d-c8837e5064b4","kind":"workspace_fact","scope":"global","title":"","content":"deleted","summary":"","tags":[],"metadata":{},"source_refs":[],"trust":"own","origin":{"device":"the old device","counter":1,"clock":"2026-03-14T10:31:43.701Z-0000"},"revision":1,"content_digest":"1185f37d33b0f89e331f101a51bb8e51165c7efda15950b86a3ebcbb363f898e","duplicate_count":0,"created_at":"2026-03-14T10:31:43.701Z","updated_at":"2026-03-14T10:31:43.701Z"}'),
  ('bd0da7d5-31e5-8a65-909c-9ce21b63a507', 1, '{"id":"bd0da7d5-31e5-8a65-909c-9ce21b63a507","kind":"workspace_fact","scope":"global","title":"","content":"first","summary":"","topic":"t","tags":[],"metadata":{},"source_refs":[],"trust":"own","origin":{"device":"the old device","counter":1,"clock":"2026-03-14T09:50:34.567Z-0000"},"revision":1,"content_digest":"a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e","duplicate_count":0,"created_at":"2026-03-14T09:50:34.567Z","updated_at":"2026-03-14T09:50:34.567Z"}'),
  ('bd0da7d5-31e5-8a65-909c-9ce21b63a507', 2, '{"id":"bd0da7d5-31e5-8a65-909c-9ce21b63a507","kind":"workspace_fact","scope":"global","title":"","content":"second","summary":"","topic":"t","tags":[],"metadata":{},"source_refs":[],"trust":"own","origin":{"device":"the old device","counter":2,"clock":"2026-03-14T09:50:34.567Z-0002"},"revision":2,"content_digest":"16367aacb67a4a017c8da8ab95682ccb390863780f7114dda0a0e0c55644c7c4","duplicate_count":0,"created_at":"2026-03-14T09:50:34.567Z","updated_at":"2026-03-14T09:50:34.567Z"}');
INSERT INTO session_states (session_id, document, version, updated_at) VALUES
  ('open', '{}', 1, 1773485538268),
  ('ended', '{}', 1, 1773486772835);
INSERT INTO turns (seq, id, session_id, role, content, project_id, created_at, trust) VALUES
  (1, 'turn of open', 'open', 'user', 'hello', '', 1773485538268, 'own'),
  (2, 'turn of ended', 'ended', 'user', 'hello', '', 1773486772835, 'own'),
  (3, '019cec0c-9263-7392-9c70-80608c8bb12d', 'open', 'assistant', 'good day', '', 1773486772835, 'own');
INSERT INTO departed (scope, id, session_id, project, device, counter, clock) VALUES
  ('turn', 'gone', 'open', 'p', 'the old device', 2, 116227310053097476);
INSERT INTO versions (memory_id, version, saw, head, stored) VALUES
  ('019cebe6-e555-76a4-944d-c8837e5064b4', '1.116227067327348736.the old device', '', 0, 1),
  ('019cebe6-e555-76a4-944d-c8837e5064b4', '2.116227067327348738.the old device', '1.116227067327348736.the old device', 1, 1),
  ('bd0da7d5-31e5-8a65-909c-9ce21b63a507', '1.116226905510182912.the old device', '', 0, 1),
  ('bd0da7d5-31e5-8a65-909c-9ce21b63a507', '2.116226905510182914.the old device', '1.116226905510182912.the old device', 0, 1),
  ('bd0da7d5-31e5-8a65-909c-9ce21b63a507', '3.116226986418765824.the old device', '2.116226905510182914.the old device', 1, 1);
INSERT INTO sync_places (place, project, position, chunk) VALUES
  ('/src/old/.amber', '', 'an incarnation that was replaced/24', 'c3'),
  ('/src/shop/.amber', '', '019cebae-61c0-7363-9fa5-ccb937017301/3', 'c1'),
  ('/src/tea/.amber', 'tea', '019cebae-61c0-7363-9fa5-ccb937017301/24', 'c2');
INSERT INTO sync_chunks (chunk, place, device, created_by, created_at, applied_at, drift, again) VALUES
  ('c1', '/src/shop/.amber', 'the old device', 'Ada', 1773486772835, 1773486772835, 0, 1);
INSERT INTO sync_imports (place, first_seq, last_seq) VALUES
  ('/src/shop/.amber', 5, 6);
INSERT INTO sync_quarantine (place, chunk, reason, kind) VALUES
  ('/src/shop/.amber', 'c9', 'bad hash', 'damaged');
INSERT INTO sync_waiting (from_id, to_id, type, body, place, chunk) VALUES
  ('019cebae-61c0-766f-8a75-e0bf4fffd871', '019cebae-61c0-766f-8a75-e0bf4fffd999', 'related', '{"id":"r9","from":"019cebae-61c0-766f-8a75-e0bf4fffd871","to":"019cebae-61c0-766f-8a75-e0bf4fffd999","type":"related","strength":1,"origin":{"device":"far","counter":1,"clock":"2026-03-14T09:30:00.000Z-0001"},"created_at":"2026-03-14T09:30:00.000Z"}', '', '');
INSERT INTO sync_links (tool, chunk, ordinal, scope, record, version, local_id, fingerprint, extra) VALUES
  ('engram', 'abcdef01', 0, 'memory', '019cebae-61c0-766f-8a75-e0bf4fffd871', '1.116226824601600001.the old device', 7, 'ab', '{}');
INSERT INTO sync_held (scope, record, version, place) VALUES
  ('memory', '019cebae-61c0-766f-8a75-e0bf4fffd871', '1.116226824601600001.the old device', '/src/shop/.amber'),
  ('memory', 'bd0da7d5-31e5-8a65-909c-9ce21b63a507', '1.116226905510182912.the old device', '/src/shop/.amber'),
  ('memory', 'bd0da7d5-31e5-8a65-909c-9ce21b63a507', '2.116226905510182914.the old device', '/src/shop/.amber'),
  ('session', 'ended', '1.0.', '/src/shop/.amber'),
  ('session', 'open', '1.0.', '/src/shop/.amber');
INSERT INTO sync_removed (scope, record, place, device, counter, clock) VALUES
  ('memory', 'a removed memory', '/src/shop/.amber', 'the old device', 3, 116227067327348745);
INSERT INTO sync_spared (place, scope, record, chunk) VALUES
  ('/src/shop/.amber', 'session', 'a spared session', 'c1');
INSERT INTO notes (name, blob, commit_id, at, content) VALUES
  ('deploy.md', 'b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0', '0f5a1c2d3e4b5a69788796a5b4c3d2e1f0a9b8c7', 1773459000000, 'hello');
INSERT INTO notes_head (id, commit_id) VALUES (1, '0f5a1c2d3e4b5a69788796a5b4c3d2e1f0a9b8c7');
INSERT INTO index_cursors (place, position, fence, notes) VALUES
  ('http://127.0.0.1:1933/amber', '019cebae-61c0-7363-9fa5-ccb937017301/3', 2, x'7b7d');
