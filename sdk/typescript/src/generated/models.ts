// Made from the OpenAPI document of the server by tools/sdkgen. Changes here are lost.

/** A moment in the form of RFC 3339, as 2026-01-02T03:04:05.678Z. `new Date(time)` reads it. */
export type Time = string;

/** Bytes as base64. `Buffer.from(text, "base64")` reads them. */
export type Base64 = string;

/** Something an agent did in a session beside what was said. The same thing done again counts up. */
export interface Activity {
  /** How many times it was done. */
  count: number;
  /** How many times it failed. */
  failed: number;
  /** When it was first done. */
  first_at: Time | null;
  /** What it is: tool, file, command, task, error, subagent, compaction, gap, context or other. */
  kind: string;
  /** When it was last done. */
  last_at: Time | null;
  /** The tool, the path or the command line. */
  name: string;
  /** The id of the session it belongs to. */
  session_id: string;
  /** More about the last time it was done. */
  detail?: string;
  /** How it ended the last time, as in modified, completed or failed. */
  status?: string;
}

/** Something an agent did in a session beside what was said. The same thing done again counts up. */
export interface ActivityAsked {
  /** What it is: tool, file, command, task, error, subagent, compaction, gap, context or other. */
  kind: string;
  /** The tool, the path or the command line. */
  name: string;
  /** The id of the session it belongs to. */
  session_id: string;
  /** How many times it was done. */
  count?: number | undefined;
  /** More about the last time it was done. */
  detail?: string | undefined;
  /** How many times it failed. */
  failed?: number | undefined;
  /** When it was first done. */
  first_at?: Time | Date | null | undefined;
  /** When it was last done. */
  last_at?: Time | Date | null | undefined;
  /** How it ended the last time, as in modified, completed or failed. */
  status?: string | undefined;
}

/**
 * One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have fewer than `limit`: `next`
 * alone says whether there are more.
 */
export interface ActivityPage {
  /** The items, in the order of the listing. The list may be empty and is never null. */
  items: Activity[];
  /** The cursor of the next page. It is left out of the last page, and of listings that have no pages. */
  next?: string;
  /** Rows that belong to the answer and cannot be read, at most 20. */
  set_aside?: SetAside[];
}

/** The name of an agent. */
export interface AgentName {
  /** The agent. */
  agent: string;
  /** The tenant of the agent. */
  tenant: string;
}

/**
 * One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have fewer than `limit`: `next`
 * alone says whether there are more.
 */
export interface AgentNamePage {
  /** The items, in the order of the listing. The list may be empty and is never null. */
  items: AgentName[];
  /** The cursor of the next page. It is left out of the last page, and of listings that have no pages. */
  next?: string;
  /** Rows that belong to the answer and cannot be read, at most 20. */
  set_aside?: SetAside[];
}

/** A question to a person, with the exact thing that will be done if the answer is yes. */
export interface Approval {
  /** When it was made. */
  created_at: Time;
  /** The SHA-256 of the payload in hexadecimal digits. */
  digest: string;
  /** The id of the approval. */
  id: string;
  /** The id of the node of the task. */
  node_id: string;
  /** What will be done, any JSON, as it was when it was asked for. */
  payload: unknown;
  /** Where the approval stands. */
  status: ApprovalStatus | (string & {});
  /** The question in words for people. */
  summary: string;
  /** The id of the task. */
  task_id: string;
  /** Who has decided as the request says, where a token did. */
  claimed_by?: string;
  /** What the person said about the decision. */
  comment?: string;
  /** When it was decided. It is left out while it is pending. */
  decided_at?: Time;
  /** Who decided. Through a server it is the name of the token. */
  decided_by?: string;
  /** The id of the token that asked. That token does not decide. */
  requested_by?: string;
}

/**
 * Where an approval stands. Every status but pending is final.
 *
 * - `pending`: Nobody has decided yet.
 * - `approved`: The answer is yes.
 * - `rejected`: The answer is no.
 * - `cancelled`: The question was taken back.
 */
export type ApprovalStatus = "pending" | "approved" | "rejected" | "cancelled";

/** Who asked for something, and how far that caller is believed. */
export interface Asker {
  /** The name that the program gives the agent in it. */
  agent?: string;
  /** The program that spoke: cli, page, tui, api, an agent host as claude-code, or the name of an MCP client. */
  host?: string;
  /** The session in which it was said. */
  session?: string;
  /** The name of the token with which it came. */
  token?: string;
  /** The trust of the caller. */
  trust?: Trust | (string & {});
}

/** Who asked for something, and how far that caller is believed. */
export interface AskerAsked {
  /** The name that the program gives the agent in it. */
  agent?: string | undefined;
  /** The program that spoke: cli, page, tui, api, an agent host as claude-code, or the name of an MCP client. */
  host?: string | undefined;
  /** The session in which it was said. */
  session?: string | undefined;
  /** The name of the token with which it came. */
  token?: string | undefined;
  /** The trust of the caller. */
  trust?: Trust | undefined;
}

/** One entry of the audit log: who changed what and when, and how it ended. It never holds text. */
export interface AuditEntry {
  /** The operation, as in memory.write. */
  action: string;
  /** The id of a token, local where no token is needed, or cli for the command line. */
  actor: string;
  /** When it happened. */
  at: Time;
  /** How it ended: ok or the kind of the error. */
  outcome: string;
  /** The number of the entry, from 1. */
  seq: number;
  /** The agent that it was about. */
  agent?: string;
  /** The hash of this entry. Only a token for every tenant is told. */
  hash?: string;
  /** The hash of the entry before, 64 zeros for the first one. Only a token for every tenant is told. */
  prev?: string;
  /** The id of the request, as in the answer and in the log of the server. */
  request_id?: string;
  /** The id that it was about. */
  subject?: string;
  /** The tenant that it was about. */
  tenant?: string;
}

/** What verifying the audit log has shown. */
export interface AuditReport {
  /** What was checked, in words for people. */
  checked: string[];
  /** What does not fit, by number. An empty list means that nothing was found. */
  damaged: string[];
  /** How many entries there are. */
  entries: number;
  /** The hash of the last entry. */
  head: string;
  /** What was not checked, and why, in words for people. */
  not_checked: string[];
  /** When the first entry was made. */
  first?: Time;
  /** When the last entry was made. */
  last?: Time;
}

/**
 * Who wrote a record, as far as the server knows. It is absent from records that were written before authors were
 * noted.
 */
export interface Author {
  /** The name that the program gives the agent in it. */
  agent?: string;
  /** The program that spoke: cli, page, tui, api, an agent host as claude-code, or the name of an MCP client. */
  host?: string;
  /** The session in which it was said. */
  session?: string;
  /** The name of the token with which it came. */
  token?: string;
}

/**
 * Who wrote a record, as far as the server knows. It is absent from records that were written before authors were
 * noted.
 */
export interface AuthorAsked {
  /** The name that the program gives the agent in it. */
  agent?: string | undefined;
  /** The program that spoke: cli, page, tui, api, an agent host as claude-code, or the name of an MCP client. */
  host?: string | undefined;
  /** The session in which it was said. */
  session?: string | undefined;
  /** The name of the token with which it came. */
  token?: string | undefined;
}

/** How full the queue is. */
export interface Backpressure {
  /** How many leases may still be given out. */
  available: number;
  /** How many entries have used up their attempts. */
  dead: number;
  /** How many entries are leased. */
  leased: number;
  /** How many leases there may be at one time. */
  max_in_flight: number;
  /** How many entries wait. Those whose lease is over are among them. */
  queued: number;
}

/** What the store of the agent can do. What is false answers with an error of kind unsupported. */
export interface Capabilities {
  /** Write several memories at once. */
  batch: boolean;
  /** Tell what changed. */
  changes: boolean;
  /** Keep summaries of turns. */
  compactions: boolean;
  /** Keep concept tags of memories. */
  concepts: boolean;
  /** Keep tasks, approvals, results and the queue. */
  control: boolean;
  /** Keep documents of runtime state. */
  documents: boolean;
  /** Edit memories. */
  edit: boolean;
  /** Erase the text of memories for good. */
  erase: boolean;
  /** Take over the crash journal. */
  ingest: boolean;
  /** Keep suspended loops. */
  loops: boolean;
  /** Read memories without searching. */
  memories: boolean;
  /** Keep notes. */
  notes: boolean;
  /** Link memories. */
  relations: boolean;
  /** Find memories by meaning, and not by words alone. */
  semantic: boolean;
  /** Keep a document of state for each session. */
  session_state: boolean;
  /** Keep a catalogue of sessions. */
  sessions: boolean;
  /** Count its records. */
  stats: boolean;
  /** Sync with other places. */
  sync: boolean;
  /** Keep the turns of sessions. */
  turns: boolean;
}

/** One entry of a change log. It never holds text. */
export interface Change {
  /** When it happened. */
  at: Time;
  /** The id or name of what changed. */
  key: string;
  /** What happened: insert, update or delete. */
  op: string;
  /** The place of the entry in the log. Hand it back to go on from there; it means nothing else. */
  position: string;
  /** The layer that changed: memory, turn, session, loop, note, git, state, compaction or control. */
  scope: string;
  /** A digest of what is there now. */
  new_digest?: string;
  /** A digest of what was there before. */
  old_digest?: string;
}

/** A check that was made. */
export interface Check {
  /** When it was checked. */
  at: Time | null;
  /** What was checked: integrity, foreign_keys, full_text, schema, counters, rows, git, pages, source or journal. */
  name: string;
  /** Whether nothing was found wrong. */
  ok: boolean;
  /** The part that was checked. */
  part: string;
  /** More about it, in words for people. */
  detail?: string;
  /** The digest of what was checked. */
  digest?: string;
}

/** What checking the snapshots of a tenant has found. */
export interface CheckReport {
  /** How many objects the packs hold. */
  blobs: number;
  /** How many bytes it has. */
  bytes: number;
  /** What was checked, in words for people. */
  checked: string[];
  /** What is not as it was written. An empty list means that nothing was found. */
  damaged: Damage[];
  /** Whether every byte was read. */
  data_read: boolean;
  /** What was not checked, and why, in words for people. */
  not_checked: string[];
  /** How many packs there are. */
  packs: number;
  /** How many snapshots there are. */
  snapshots: number;
  /** How many bytes no snapshot needs. Garbage collection frees them. */
  unused_bytes: number;
}

/** Whether everything is well with an agent. */
export interface Checkup {
  /** The checks that were made. */
  checks: Finding[];
  /** True when no check failed. */
  ok: boolean;
}

/** An entry of the queue with the lease on it. */
export interface Claim {
  /** The entry of the queue. */
  envelope: Envelope;
  /** The right to work on the entry for a while. */
  lease: Lease;
}

/** A value that was above its bound and was lowered. */
export interface Clamp {
  /** The value that was used. */
  effective: number;
  /** The name of the value. */
  key: string;
  /** The value that was asked for. */
  requested: number;
}

/** The summary of turns that an agent host dropped from its context. */
export interface Compaction {
  /** When it was made. */
  created_at: Time | null;
  /** The id of the summary. */
  id: string;
  /** The id of the session it belongs to. */
  session_id: string;
  /** The summary. */
  summary: string;
  /** How many turns the summary stands for. */
  turns: number;
}

/** The summary of turns, to be stored. */
export interface CompactionAsked {
  /** The summary. */
  summary: string;
  /** When the summary was made. The default is now. */
  created_at?: Time | Date | null | undefined;
  /** The id of the summary. One that is stored already is not stored again. The default is a new UUID. */
  id?: string | undefined;
  /** The id of the session. Where the path names it too it may be left out; in a journal it is needed. */
  session_id?: string | undefined;
  /** How many turns the summary stands for. */
  turns?: number | undefined;
}

/** A concept, and how many memories have it. */
export interface ConceptCount {
  /** The concept. */
  concept: string;
  /** How many live memories have it. */
  memories: number;
}

/**
 * One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have fewer than `limit`: `next`
 * alone says whether there are more.
 */
export interface ConceptCountPage {
  /** The items, in the order of the listing. The list may be empty and is never null. */
  items: ConceptCount[];
  /** The cursor of the next page. It is left out of the last page, and of listings that have no pages. */
  next?: string;
  /** Rows that belong to the answer and cannot be read, at most 20. */
  set_aside?: SetAside[];
}

/** One run of a program that rewrites memory. While one is open no other begins. */
export interface Consolidation {
  /** When it began. */
  began_at: Time;
  /** The id of the consolidation. */
  id: string;
  /** When it ended. It is left out while it is open. */
  ended_at?: Time;
  /** How it ended: done, failed or abandoned. It is left out while it is open. */
  outcome?: string;
  /** What the program calls the run. */
  run?: string;
  /** The id of the snapshot that was taken before it began. */
  snapshot?: string;
  /** A consolidation that began before and never ended, which this one has taken the place of. */
  unfinished?: Consolidation;
  /** Why there is no snapshot though there should be one. */
  warning?: string;
}

/** Memory made ready for an agent. */
export interface ContextBlock {
  /** What the policy decided about recalling memory. */
  decision: Decision;
  /** The memories and other passages in the text, in its order. */
  memories: Hit[];
  /** How many memories did not fit. */
  omitted: number;
  /** The sessions in the text, newest first. */
  sessions: Session[];
  /**
   * The block, as Markdown between two lines with a random delimiter. What is inside is data and not instructions. It
   * is empty when there is nothing to say.
   */
  text: string;
  /** The ids of memories of which the text holds only a part. */
  cut?: string[];
  /** What the answer could not take into account, in words. It is left out when the answer is whole. */
  degraded?: string;
  /** The passages in the text, and why each is there. */
  items?: ContextItem[];
  /** True when recall did not answer in time. The text is what is known without it. */
  late?: boolean;
}

/** A passage in a block of memory, without its text. */
export interface ContextItem {
  /** A digest of what the passage said, 16 hexadecimal digits. */
  digest: string;
  /**
   * What the passage was taken from: memory, exchange (what was said in a session), note, session (its digest, or the
   * summary of a compaction) or activity (a command that failed).
   */
  layer: string;
  /** The id of a memory, a turn or a session, or the name of a note. */
  owner: string;
  /** Why the passage is in the block. */
  why?: string;
}

/** A passage in a block of memory, without its text. */
export interface ContextItemAsked {
  /** A digest of what the passage said, 16 hexadecimal digits. */
  digest?: string | undefined;
  /**
   * What the passage was taken from: memory, exchange (what was said in a session), note, session (its digest, or the
   * summary of a compaction) or activity (a command that failed).
   */
  layer?: string | undefined;
  /** The id of a memory, a turn or a session, or the name of a note. */
  owner?: string | undefined;
  /** Why the passage is in the block. */
  why?: string | undefined;
}

/** One thing that is not as it was written. */
export interface Damage {
  /** The object of the repository, or the part of a snapshot. */
  object: string;
  /** What is wrong with it. */
  reason: string;
  /** The ids of the snapshots that need it. */
  snapshots: string[];
}

/** An entry that used up its attempts. */
export interface DeadEntry {
  /** When it used up its last attempt. */
  dead_at: Time;
  /** The entry of the queue. */
  envelope: Envelope;
  /** Why each attempt failed, oldest first. */
  reasons: string[];
}

/** What a policy was asked and what it decided. */
export interface Decision {
  /** Whether it was done. */
  effective: boolean;
  /** Whether it was asked for. */
  requested: boolean;
  /** Why it was not done. */
  blocked_reason?: string;
}

/** How many turns were removed. */
export interface DeletedTurns {
  /** How many turns there were. */
  deleted: number;
}

/** One small JSON document of runtime state, as where a reader stands. */
export interface Document {
  /** How many bytes it has. */
  bytes: number;
  /** The name of the document. */
  name: string;
  /** Why the document cannot be read. Only listings have it. */
  damage?: string;
  /** The document, any JSON. It is left out of listings. */
  document?: unknown;
  /**
   * The digest of the document without white space. Equal documents have equal revisions. It is the ETag without the
   * quotes.
   */
  revision?: string;
}

/**
 * One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have fewer than `limit`: `next`
 * alone says whether there are more.
 */
export interface DocumentPage {
  /** The items, in the order of the listing. The list may be empty and is never null. */
  items: Document[];
  /** The cursor of the next page. It is left out of the last page, and of listings that have no pages. */
  next?: string;
  /** Rows that belong to the answer and cannot be read, at most 20. */
  set_aside?: SetAside[];
}

/** One entry of the queue. */
export interface Envelope {
  /** How many times the entry was leased, this time included. */
  attempt: number;
  /** The id of the entry. */
  entry_id: string;
  /** The id of the node of the task. */
  node_id: string;
  /** What is to be done, as text. Amber does not look inside. */
  payload: string;
  /** The priority. Entries with a higher one are leased first. */
  priority: number;
  /** The id of the task. */
  task_id: string;
  /** The entry is not leased before this time. */
  not_before?: Time;
}

/** What erasing a memory removed, and what it could not reach. */
export interface EraseReport {
  /** The id of the memory. */
  id: string;
  /** The copies that remain, by place, in words. */
  remaining: string[];
  /** What was removed, in words, as in 3 revisions. */
  removed: string[];
}

/**
 * What an error means to the caller. Each kind has one HTTP status; a request without a token that is valid is refused
 * with the status 401.
 *
 * - `invalid`: The request is wrong. Status 400.
 * - `not_found`: It does not exist, or the token does not reach it. Status 404.
 * - `conflict`: Somebody else changed it, or the key was used for another request. Status 409.
 * - `busy`: Somebody else uses it, or too many do. Try again later. Status 409.
 * - `damaged`: Stored bytes are not those that were written. Status 422.
 * - `untrusted`: A signature is bad or was taken away. Status 422.
 * - `refused`: The scopes of the token, or a rule, do not allow it. Status 403.
 * - `quota`: A limit is reached. Status 403.
 * - `cross_tenant`: It belongs to another tenant or agent. Status 403.
 * - `too_new`: It was written by a newer Amber. Status 403.
 * - `unsupported`: This server or its store cannot do it. Status 403.
 * - `unreachable`: Something that the server needs does not answer, or it took too long. Status 503.
 * - `internal`: A bug in Amber, or the disk failed. Status 500.
 */
export type ErrorKind = "invalid" | "not_found" | "conflict" | "busy" | "damaged" | "untrusted" | "refused" | "quota" | "cross_tenant" | "too_new" | "unsupported" | "unreachable" | "internal";

/** Something that has happened. An event that is sent again has the same id. */
export interface Event {
  /** When it happened. */
  at: Time;
  /** What happened: created, restored, deleted, verified, pruned, gc or mutated. */
  event: string;
  /** The id of the event. */
  id: string;
  /**
   * What the event is about: a SnapshotMeta for created, a RestoreReport for restored, the tenant, agent and id of a
   * snapshot for deleted, a VerifyReport for verified, a PruneReport for pruned, a GCReport for gc, and for mutated a
   * change without its position.
   */
  payload: unknown;
  /** The subject that the event is published under. */
  subject: string;
  /** The tenant that it happened to. */
  tenant: string;
  /** The agent that it happened to. It is left out of what concerns a whole tenant. */
  agent?: string;
}

/** Which event of an agent host it is. */
export interface EventRefAsked {
  /** The id of the event, 32 hexadecimal digits. */
  id: string;
  /** When the event was observed. The default is when it happened. */
  at?: Time | Date | null | undefined;
  /** True when the host itself gave the id. */
  native?: boolean | undefined;
}

/** Something that backs a result. */
export interface Evidence {
  /** What sort of evidence it is, as in file or url. */
  kind: string;
  /** The evidence itself. */
  value: string;
}

/** Something that backs a result. */
export interface EvidenceAsked {
  /** What sort of evidence it is, as in file or url. */
  kind: string;
  /** The evidence itself. */
  value?: string | undefined;
}

/** Which files differ. */
export interface FilesDiff {
  /** How many were added. */
  added: number;
  /** How many were changed. */
  changed: number;
  /** How many were removed. */
  removed: number;
  /** The files that differ, where they were asked for. */
  files?: RowDiff[];
}

/** The outcome of one check. */
export interface Finding {
  /** A name of the check that does not change. */
  code: string;
  /** More about it, in words for people. */
  detail: string;
  /** One of ok, warning, failed and not checked. */
  status: string;
  /** What to do about it. */
  hint?: string;
  /** The kind of error of a check that failed. */
  kind?: ErrorKind | (string & {});
}

/** What an import found and did, or would do. */
export interface ForeignImport {
  /** How many bytes were read. */
  bytes: number;
  /** How many were changed. */
  changed: number;
  /** The records that were changed here and in the source, at most 1000. */
  conflict_list: ImportConflict[];
  /** How many records were changed here and in the source. */
  conflicts: number;
  /** True tells what would be done and changes nothing. */
  dry_run: boolean;
  /** How many files were read. */
  files: number;
  /** The name of the format. */
  format: string;
  /** How many were known already. */
  known: number;
  /** What became of the memories. */
  memories: ImportCounts;
  /** How many were new. */
  new: number;
  /** What became of the notes. */
  notes: ImportCounts;
  /** The name of the file or folder. */
  path: string;
  /** How many were read. */
  read: number;
  /** What became of the relations. */
  relations: ImportCounts;
  /** A few of the items, in words. */
  samples: string[];
  /** What became of the sessions. */
  sessions: ImportCounts;
  /** How many items were not imported. */
  skipped: number;
  /** What was not imported, and why, at most 1000 places. */
  skips: ImportSkip[];
  /** The name of the format in words. */
  title: string;
  /** The trust of what was imported: imported or own. */
  trust: string;
  /** What became of the turns. */
  turns: ImportCounts;
  /** What is there with something wrong, in words for people. */
  warnings: string[];
  /** The id of the import, by which it can be undone. It is left out where nothing was written. */
  id?: string;
  /** How many items were left out because they are older than since. */
  older?: number;
  /** True when only the beginning was looked at. */
  partial?: boolean;
  /** How many secrets were taken out, by the rule that found them. It is left out when there were none. */
  redacted?: Record<string, number>;
  /** How many secrets stay in the text, by rule. */
  secrets_left?: Record<string, number>;
}

/** What was freed. */
export interface GCReport {
  /** How many packs will go when the grace time is over. */
  condemned: number;
  /** How many bytes these packs have. */
  condemned_bytes: number;
  /** How many packs were deleted. */
  deleted: number;
  /** True tells what would be done and changes nothing. */
  dry_run: boolean;
  /** How many bytes were freed. */
  freed_bytes: number;
  /** True when another program used the repository meanwhile. Packs were condemned then, and not deleted. */
  in_use: boolean;
  /** Leftovers of interrupted work that were removed. */
  orphans_removed: string[];
  /** How many packs were written anew, without what nobody needs. */
  repacked: number;
}

/** Which generation of an agent is live, and what restores have made of it. */
export interface Generation {
  /** The generation that is live. */
  generation: number;
  /** The restore that made this generation. It is left out where no restore did. */
  restored?: GenerationOrigin;
  /** A restore that is under way or was interrupted. */
  restoring?: UnfinishedRestore;
}

/** The restore that made a generation. */
export interface GenerationOrigin {
  /** The id of the snapshot that was restored. */
  from: string;
  /** The generation that was live before. */
  replaces: number;
  /** The snapshot of the agent as it was before. It is empty where none was taken. */
  safety_snapshot?: string;
}

/** What a commit says of itself. */
export interface GitCommit {
  /** When the commit was written. */
  at: Time | null;
  /** Who wrote the commit, as "Name <email>". */
  author: string;
  /** What the commit is about: the first paragraph of its message, in one line. */
  subject: string;
}

/** What happened in the history of the notes. */
export interface GitDiff {
  /** How many commits the second one has and the first one has not. */
  commits_between: number;
  /** How many lines were removed. */
  deletions: number;
  /** How many files differ. */
  files_changed: number;
  /** The newest commit of the first snapshot. */
  from: string;
  /** How many lines were added. */
  insertions: number;
  /** The newest commit of the second snapshot. */
  to: string;
}

/** How a store is doing. */
export interface Health {
  /** The name of the store. */
  backend: string;
  /** One of healthy, degraded and unavailable. */
  status: string;
  /** More about it, in words for people. */
  detail?: string;
}

/** A file that the crash journal has set aside, and the session it belongs to. */
export interface HeldEntry {
  /** How many bytes it has. */
  bytes: number;
  /** The agent host, as in claude. */
  host: string;
  /** The name of the folder of the session. */
  key: string;
  /** The name of the file. */
  name: string;
  /** The id of the session it belongs to. */
  session_id: string;
  /** When the entry was given up. */
  at?: Time;
  /** The bytes of the entry, where one file is shown. */
  payload?: Base64;
  /** Why the entry could not be stored. */
  reason?: string;
  /** The number of the entry in the journal. */
  seq?: number;
}

/**
 * One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have fewer than `limit`: `next`
 * alone says whether there are more.
 */
export interface HeldEntryPage {
  /** The items, in the order of the listing. The list may be empty and is never null. */
  items: HeldEntry[];
  /** The cursor of the next page. It is left out of the last page, and of listings that have no pages. */
  next?: string;
  /** Rows that belong to the answer and cannot be read, at most 20. */
  set_aside?: SetAside[];
}

/** One passage that matched: a memory, something that was said, a part of a note. */
export interface Hit {
  /** The whole content. */
  content: string;
  /** When it was made. */
  created_at: Time | null;
  /** The id of the memory. It is empty where the passage is of no memory. */
  id: string;
  /** The kind of the memory. It is empty where the passage is of no memory. */
  kind: unknown;
  /**
   * What the passage was taken from: memory, exchange (what was said in a session), note, session (its digest, or the
   * summary of a compaction) or activity (a command that failed).
   */
  layer: string;
  /** What the passage was taken from: the id of a memory, a turn, a session or a compaction, or the name of a note. */
  owner: string;
  /** Which store answered, and where the record is. */
  provenance: Provenance;
  /** The scope of the memory; of what was said, project or session; of a note, global. */
  scope: Scope | (string & {});
  /** How likely the hit is relevant, from 0 to 1. */
  score: number;
  /** The part of the content that matched. */
  snippet: string;
  /** The title of what was found. */
  title: string;
  /** How far it may be believed. */
  trust: Trust | (string & {});
  /** When it was last changed. */
  updated_at: Time | null;
  /** The project it belongs to. */
  project_id?: string;
  /** Who said it, where it was said in a session. */
  role?: Role | (string & {});
  /** The id of the session it belongs to. */
  session_id?: string;
  /** The parts of the score, where they were asked for. */
  why?: Why;
}

/** A process of an agent host, beyond its number, which other processes get later. */
export interface HostProcess {
  /** The id of the running system. */
  boot?: string;
  /** The namespace in which the number counts. */
  namespace?: string;
  /** The number of the process. */
  pid?: number;
  /** When the process started, in units of its system. */
  start?: number;
}

/** A process of an agent host, beyond its number, which other processes get later. */
export interface HostProcessAsked {
  /** The id of the running system. */
  boot?: string | undefined;
  /** The namespace in which the number counts. */
  namespace?: string | undefined;
  /** The number of the process. */
  pid?: number | undefined;
  /** When the process started, in units of its system. */
  start?: number | undefined;
}

/** A record that was changed here and in the source. What is here stays. */
export interface ImportConflict {
  /** The id or name of the record. */
  id: string;
  /** What it is: memory or note. */
  kind: string;
  /** Where it is in the source. */
  place: string;
  /** The title of the record. */
  title?: string;
}

/** What became of the items of one kind. */
export interface ImportCounts {
  /** How many were changed. */
  changed: number;
  /** How many were known already. */
  known: number;
  /** How many were new. */
  new: number;
  /** How many were read. */
  read: number;
}

/** A record that taking an import back left alone. */
export interface ImportKept {
  /** The id or name of the record. */
  id: string;
  /** What it is: memory, session, note or relation. */
  kind: string;
  /** Why it stays. */
  reason: string;
}

/** An import that was made. */
export interface ImportRecord {
  /** When it was made. */
  at: Time;
  /** The name of the format. */
  format: string;
  /** The id of the import. */
  id: string;
  /** The name of the file or folder. */
  path: string;
  /** The trust of what was imported: imported or own. */
  trust: string;
  /** Whether it was taken back. */
  undone: boolean;
}

/**
 * One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have fewer than `limit`: `next`
 * alone says whether there are more.
 */
export interface ImportRecordPage {
  /** The items, in the order of the listing. The list may be empty and is never null. */
  items: ImportRecord[];
  /** The cursor of the next page. It is left out of the last page, and of listings that have no pages. */
  next?: string;
  /** Rows that belong to the answer and cannot be read, at most 20. */
  set_aside?: SetAside[];
}

/** Something that was not imported. */
export interface ImportSkip {
  /** Where it is in the source, as in conversations.json: element 3. */
  place: string;
  /** Why it was not imported. */
  reason: string;
}

/** What taking an import back did. */
export interface ImportUndo {
  /** True when it was taken back before. */
  already: boolean;
  /** How many records were deleted that the import had made. */
  deleted: number;
  /** The name of the format. */
  format: string;
  /** How many records somebody has deleted since. */
  gone: number;
  /** The id of the import. */
  id: string;
  /** The records that stay, and why. */
  kept: ImportKept[];
  /** How many records are as they were before the import. */
  restored: number;
}

/** A relation from a memory of a step to a stored memory. */
export interface IngestLinkAsked {
  /** The id of the stored memory. */
  to: string;
  /** The type of the relation, as in related. */
  type: string;
  /** Which memory of the step it is, from 0. */
  memory?: number | undefined;
  /** How strong the relation is, from 0 to 1. */
  strength?: number | undefined;
}

/** What became of an ingestion. */
export interface IngestResult {
  /** How many steps were applied. */
  applied: number;
  /** How many steps have an event that was known. */
  duplicates: number;
  /** How many memories are new, or a new revision of a topic. */
  memories: number;
}

/** What one event of an agent host means. */
export interface IngestStepAsked {
  /** The session, which is made where there is none. */
  start: SessionStartAsked;
  /** What was done. */
  activity?: readonly ActivityAsked[] | undefined;
  /** When it happened. The default is now. */
  at?: Time | Date | null | undefined;
  /** The summary of turns that the host dropped. */
  compaction?: CompactionAsked | undefined;
  /** How the session ended. */
  end?: SessionEndAsked | undefined;
  /** The event. One that was stored before is not stored again. Without it the step is always new. */
  event?: EventRefAsked | undefined;
  /** Relations from memories of the step to stored memories. */
  links?: readonly IngestLinkAsked[] | undefined;
  /** Memories to be stored. */
  memories?: readonly WriteRequestAsked[] | undefined;
  /** True starts a session again that has ended. */
  reopen?: boolean | undefined;
  /** What was said. */
  turns?: readonly TurnAsked[] | undefined;
}

/** How far the journal of a session has been stored. */
export interface JournalCursor {
  /** True when the session has ended, or is gone. */
  ended: boolean;
  /** The agent host, as in claude. */
  host: string;
  /** The name of the journal of one session. */
  journal: string;
  /** When the agent host was last heard of. */
  last_at: Time | null;
  /** The number of the last entry that was stored. */
  seq: number;
  /** The id of the session. */
  session_id: string;
  /** The process of the agent host. */
  process?: HostProcess;
}

/**
 * One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have fewer than `limit`: `next`
 * alone says whether there are more.
 */
export interface JournalCursorPage {
  /** The items, in the order of the listing. The list may be empty and is never null. */
  items: JournalCursor[];
  /** The cursor of the next page. It is left out of the last page, and of listings that have no pages. */
  next?: string;
  /** Rows that belong to the answer and cannot be read, at most 20. */
  set_aside?: SetAside[];
}

/** What the crash journal holds of one session. */
export interface JournalStatus {
  /** How many bytes the entries have on disk. */
  bytes: number;
  /** At how many places the bytes are not those that were written. */
  damaged: number;
  /** How many entries are there, gaps not counted. */
  entries: number;
  /** How many entries were dropped because there was no space. */
  gaps: number;
  /** The agent host, as in claude. */
  host: string;
  /** The name of the folder of the session. */
  key: string;
  /** How many files are set aside. */
  quarantined: number;
  /** The id of the session it belongs to. */
  session_id: string;
  /** When the session started. */
  started_at: Time | null;
  /** How many entries are not stored yet. */
  undrained: number;
  /** What went wrong the last time, in words. */
  last_error?: string;
  /** When the journal was last made safe on disk. */
  last_sync?: Time;
  /** When the oldest of the entries was written that are not stored yet. */
  oldest?: Time;
}

/**
 * One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have fewer than `limit`: `next`
 * alone says whether there are more.
 */
export interface JournalStatusPage {
  /** The items, in the order of the listing. The list may be empty and is never null. */
  items: JournalStatus[];
  /** The cursor of the next page. It is left out of the last page, and of listings that have no pages. */
  next?: string;
  /** Rows that belong to the answer and cannot be read, at most 20. */
  set_aside?: SetAside[];
}

/** A snapshot that stays. */
export interface Kept {
  /** The id of the snapshot. */
  id: string;
  /** Why it stays, as in last 3, daily 2026-01-02 or pinned. */
  reason: string;
}

/** The right to work on one entry for a while. */
export interface Lease {
  /** The program that works on the entry. */
  consumer_id: string;
  /** The id of the entry. */
  entry_id: string;
  /** When the lease ends unless it is renewed. */
  expires_at: Time;
  /** A number that grows with every lease of a node. A result under a smaller one is a conflict. */
  fence: number;
  /** What proves the lease. */
  token: string;
}

/** A lease as it was given out. */
export interface LeaseAsked {
  /** The program that works on the entry. */
  consumer_id: string;
  /** The id of the entry. */
  entry_id: string;
  /** What proves the lease. */
  token: string;
  /** When the lease ends unless it is renewed. */
  expires_at?: Time | Date | null | undefined;
  /** A number that grows with every lease of a node. A result under a smaller one is a conflict. */
  fence?: number | undefined;
}

/** A turn of a listing. Its content may be the beginning alone. */
export interface ListedTurn {
  /** How many bytes the whole content has. */
  bytes: number;
  /** What was said. */
  content: string;
  /** When it was made. */
  created_at: Time | null;
  /** The id of the turn. */
  id: string;
  /** Who spoke. */
  role: Role | (string & {});
  /** The id of the session it belongs to. */
  session_id: string;
  /** The project it belongs to. */
  project_id?: string;
  /**
   * It is left out of what was said here, and is signed or imported for a prompt that came from elsewhere. A prompt
   * that an agent or a program stored has agent.
   */
  trust?: Trust | (string & {});
}

/** A place in a change log. */
export interface LogPosition {
  /** The position of the newest entry. It is empty where the log has none. */
  position: string;
}

/** One long-term memory, as it is stored now. */
export interface Memory {
  /** The text that is remembered. */
  content: string;
  /** The SHA-256 of the content in hexadecimal digits. */
  content_digest: string;
  /** When it was made. */
  created_at: Time | null;
  /** How many times the same memory was written again. */
  duplicate_count: number;
  /** The id of the memory, a UUID. */
  id: string;
  /** What the memory is about. */
  kind: MemoryKind | (string & {});
  /** Names and values that a program keeps with the memory. Amber does not look inside. */
  metadata: Record<string, string>;
  /** Which device made this version, and its place in the order of versions. */
  origin: Origin;
  /** The number of the revision, from 1. It is the ETag of the memory without the quotes. */
  revision: number;
  /** Where the memory is visible. Every scope but global goes with the identity of the same name. */
  scope: Scope | (string & {});
  /** Where the memory came from. */
  source_refs: SourceRef[];
  /** The content in short. It may be empty. */
  summary: string;
  /** The tags, sorted. */
  tags: string[];
  /** A short title on one line. It may be empty. */
  title: string;
  /** How far it may be believed. */
  trust: Trust | (string & {});
  /** When it was last changed. */
  updated_at: Time | null;
  /** Who wrote this revision. */
  author?: Author;
  /** When it was deleted. It is left out of what is not deleted. */
  deleted_at?: Time;
  /** Fields of the program the memory came from, by program, kept as they were. */
  foreign?: Record<string, unknown>;
  /** The project that memories of scope project are bound to. */
  project_id?: string;
  /** The session that memories of scope session are bound to. */
  session_id?: string;
  /**
   * The topic. There is one live memory for each project, scope, identity and topic, and writing another text to the
   * topic makes a new revision of it.
   */
  topic?: string;
  /** The user that memories of scope user are bound to. */
  user_id?: string;
  /** The workspace that memories of scope workspace are bound to. */
  workspace_id?: string;
}

/**
 * What a memory is about.
 *
 * - `user_preference`: How the user likes things done.
 * - `user_fact`: A fact about the user.
 * - `project_fact`: A fact about a project.
 * - `workspace_fact`: A fact about the place where the work is done. This is the default.
 * - `historical_case`: What was done before, and what came of it.
 * - `constraint`: A rule that must be kept.
 * - `workflow_insight`: Something learnt about how to work.
 * - `session_summary`: What a session amounts to.
 */
export type MemoryKind = "user_preference" | "user_fact" | "project_fact" | "workspace_fact" | "historical_case" | "constraint" | "workflow_insight" | "session_summary";

/**
 * One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have fewer than `limit`: `next`
 * alone says whether there are more.
 */
export interface MemoryPage {
  /** The items, in the order of the listing. The list may be empty and is never null. */
  items: Memory[];
  /** The cursor of the next page. It is left out of the last page, and of listings that have no pages. */
  next?: string;
  /** Rows that belong to the answer and cannot be read, at most 20. */
  set_aside?: SetAside[];
}

/** What became of a memory that was brought back. */
export interface MemoryRestore {
  /** The fields that were changed. It is empty when the memory is as it was. */
  changed: string[];
  /** True tells what would be done and changes nothing. */
  dry_run: boolean;
  /** The id of the snapshot. */
  from: string;
  /** The fields that differ and stay as they are. */
  kept: string[];
  /** The memory as it is now; with dry_run as it was in the snapshot. */
  memory: Memory;
}

/** A memory of a neighbourhood, in short. */
export interface Neighbour {
  /** How many steps it is away. 0 is the memory that was asked for. */
  distance: number;
  /** The id of the memory. */
  id: string;
  /** What the memory is about. */
  kind: MemoryKind | (string & {});
  /** Where the memory is visible. */
  scope: Scope | (string & {});
  /** The summary, or the beginning of the content. */
  snippet: string;
  /** The title of the memory. */
  title: string;
  /** How far it may be believed. */
  trust: Trust | (string & {});
  /** When it was last changed. */
  updated_at: Time | null;
}

/** A memory and what is near it by relations. */
export interface Neighbourhood {
  /**
   * The memories, the one that was asked for first, then nearest first and by the strength of the relation that leads
   * there.
   */
  memories: Neighbour[];
  /** True when there are more memories or relations as near than are listed. */
  more: boolean;
  /** The relations between these memories. */
  relations: Relation[];
}

/** A token that was made just now, with its secret. */
export interface NewToken {
  /** When it was made. */
  created_at: Time;
  /** The id of the token. It is no secret. */
  id: string;
  /** The name of the token. */
  name: string;
  /** What the token lets its holder do. */
  scopes: (TokenScope | (string & {}))[];
  /**
   * The secret, which is shown in this answer and never again. It is empty when the same Idempotency-Key is answered
   * once more.
   */
  secret: string;
  /** The agent that the token is for. It is left out of a token for every agent. */
  agent?: string;
  /** When the token ends. It is left out of a token that does not end. */
  expires_at?: Time;
  /** When the token was last used, to the minute. */
  last_used_at?: Time;
  /** The project that the token is bound to. */
  project_id?: string;
  /** When the token was revoked. */
  revoked_at?: Time;
  /** The tenant that the token is for. It is left out of a token for every tenant. */
  tenant?: string;
  /** The user that the token is bound to. */
  user_id?: string;
  /** The workspace that the token is bound to. */
  workspace_id?: string;
}

/** One Markdown document of the notes of an agent. */
export interface Note {
  /** How many bytes it has. */
  bytes: number;
  /** The text of the note. It is empty in listings. */
  content: string;
  /** The name of the note, with slashes between folders and without .md. */
  name: string;
  /** When it was last changed. */
  updated_at: Time | null;
  /** Who made the last change. It is left out of notes of the owner, and of listings. */
  author?: Author;
  /** The commit that holds the note. It is the ETag of the note without the quotes. */
  commit?: string;
  /**
   * How far the note may be believed: as far as the author of its last change. It is left out of notes of the owner,
   * and of listings.
   */
  trust?: Trust | (string & {});
}

/** One change of a note. */
export interface NoteCommit {
  /** When it happened. */
  at: Time | null;
  /** The commit of the change. */
  commit: string;
  /** What was done: write, delete or recover. */
  op: string;
  /** Who made the change. It is left out of changes of the owner. */
  author?: Author;
  /** How far the author of the change is believed. It is left out of changes of the owner. */
  trust?: Trust | (string & {});
}

/**
 * One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have fewer than `limit`: `next`
 * alone says whether there are more.
 */
export interface NoteCommitPage {
  /** The items, in the order of the listing. The list may be empty and is never null. */
  items: NoteCommit[];
  /** The cursor of the next page. It is left out of the last page, and of listings that have no pages. */
  next?: string;
  /** Rows that belong to the answer and cannot be read, at most 20. */
  set_aside?: SetAside[];
}

/**
 * One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have fewer than `limit`: `next`
 * alone says whether there are more.
 */
export interface NotePage {
  /** The items, in the order of the listing. The list may be empty and is never null. */
  items: Note[];
  /** The cursor of the next page. It is left out of the last page, and of listings that have no pages. */
  next?: string;
  /** Rows that belong to the answer and cannot be read, at most 20. */
  set_aside?: SetAside[];
}

/**
 * The place of one version in the order of all versions of a record, on all devices: by counter, then clock, then
 * device.
 */
export interface Origin {
  /** The clock of the device when it made the version: the time and a number, as in 2026-01-02T03:04:05.678Z-0001. */
  clock: string;
  /** One more than the highest counter that the device knew of this record. */
  counter: number;
  /** The device that made the version. */
  device: string;
}

/**
 * The place of one version in the order of all versions of a record, on all devices: by counter, then clock, then
 * device.
 */
export interface OriginAsked {
  /** One more than the highest counter that the device knew of this record. */
  counter: number;
  /** The device that made the version. */
  device: string;
  /** The clock of the device when it made the version: the time and a number, as in 2026-01-02T03:04:05.678Z-0001. */
  clock?: string | undefined;
}

/** An agent loop that was suspended and can be resumed. */
export interface PendingLoop {
  /** When it was made. */
  created_at: Time;
  /** The SHA-256 of the state in hexadecimal digits. */
  digest: string;
  /** True for a loop that came back with a restore. The caller decides whether it can still be resumed. */
  parked: boolean;
  /** The number of the revision, from 1. It is the ETag without the quotes. */
  revision: number;
  /** The run that the loop belongs to. */
  run_id: string;
  /** The id of the session it belongs to. */
  session_id: string;
  /** The state of the loop, any JSON. Amber does not look inside. */
  state_json: unknown;
}

/** Which store answered, and where the record is. */
export interface Provenance {
  /** The store that answered. */
  backend: string;
  /** Where the record is in the store. */
  locator?: string;
}

/** Which snapshots went and which stayed. */
export interface PruneReport {
  /** The ids of the snapshots that were deleted. */
  deleted: string[];
  /** True tells what would be done and changes nothing. */
  dry_run: boolean;
  /** The snapshots that stay, and why. */
  kept: Kept[];
}

/** A chunk that is not imported. */
export interface QuarantinedChunk {
  /** The id of the chunk. */
  id: string;
  /** The kind of the error. */
  kind: ErrorKind | (string & {});
  /** Why it is not imported. */
  reason: string;
}

/** The answer to a query. */
export interface RecallResult {
  /** What was found, best first. */
  hits: Hit[];
  /** Values of the query that were above their bounds and were lowered. */
  clamped?: Clamp[];
  /** What the answer could not take into account, in words. It is left out when the answer is whole. */
  degraded?: string;
  /** Rows that belong to the answer and cannot be read, at most 20. */
  set_aside?: SetAside[];
}

/** A link from one memory to another. */
export interface Relation {
  /** When it was made. */
  created_at: Time | null;
  /** The id of the memory that the relation leads from. */
  from: string;
  /** The id of the relation. The server makes it. */
  id: string;
  /** Which device made this version, and its place in the order of versions. */
  origin: Origin;
  /** How strong the relation is, from 0 to 1. */
  strength: number;
  /** The id of the memory that the relation leads to. */
  to: string;
  /** The type of the relation, as in related, supersedes or conflicts_with. */
  type: string;
  /** Who made the relation. */
  author?: Author;
  /** When it was deleted. It is left out of what is not deleted. */
  deleted_at?: Time;
  /**
   * How far the relation may be believed: the trust of its author. A relation of lower trust does not hide a memory of
   * higher trust.
   */
  trust?: Trust | (string & {});
}

/**
 * One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have fewer than `limit`: `next`
 * alone says whether there are more.
 */
export interface RelationPage {
  /** The items, in the order of the listing. The list may be empty and is never null. */
  items: Relation[];
  /** The cursor of the next page. It is left out of the last page, and of listings that have no pages. */
  next?: string;
  /** Rows that belong to the answer and cannot be read, at most 20. */
  set_aside?: SetAside[];
}

/** A stored task compared with its history. */
export interface ReplayReport {
  /** Whether every event begins in the state where the event before it ended. */
  chain_consistent: boolean;
  /** The verdict: consistent, invalid_transitions, broken_transition_chain or snapshot_mismatch. */
  consistency_status: string;
  /** How many events the history has, folded ones too. */
  event_count: number;
  /** The events that were not folded, oldest first, up to the one with which their text reaches 1 MiB. */
  events: TaskEvent[];
  /** The state of the task as it is stored. */
  persisted_state: TaskState | (string & {});
  /** Whether a supervisor may go on with the task. */
  recoverable: boolean;
  /**
   * What may be done after a crash: resume_ready, finalize_ready, pending_approval, requires_manual_resume, blocked or
   * not_recoverable.
   */
  recovery_eligibility: string;
  /** What the history amounts to. */
  replay: ReplaySnapshot;
  /** The state of the task that its history leads to. */
  replayed_state: TaskState | (string & {});
  /** The ids of the nodes that were begun and not done. */
  resume_candidates: string[];
  /** Whether the stored task is as its history says. */
  snapshot_matches_replay: boolean;
  /** The id of the task. */
  task_id: string;
  /** Whether every change of state in the history is one that the table of states has. */
  transitions_valid: boolean;
  /** How many events follow those that are listed. The history of the task has them. */
  events_left?: number;
}

/** What the part of the history of a task amounts to that was folded. */
export interface ReplaySnapshot {
  /** Whether every event begins in the state where the event before it ended. */
  chain_consistent: boolean;
  /** How many events were folded. It is also the number of the last one. */
  compacted_event_count: number;
  /** The ids of the nodes that were done. */
  completed_nodes: string[];
  /** The ids of the nodes that were begun and not done. */
  open_nodes: string[];
  /** The state of the task that its history leads to. */
  replayed_state: TaskState | (string & {});
  /** The id of the task. */
  task_id: string;
  /** Whether every change of state in the history is one that the table of states has. */
  transitions_valid: boolean;
  /** The last result of the task, as the program that runs it wrote it. */
  last_result?: string;
  /** The id of the approval that the task waits for. */
  pending_approval_id?: string;
}

/** What changes for the agent, from what it is to what the snapshot holds. */
export interface RestorePlan {
  /** Which notes change. */
  notes: FilesDiff;
  /** How many bytes of the disk are free. */
  space_free: number;
  /** How many bytes of the disk the restore needs. */
  space_needed: number;
  /** Which documents of runtime state change. */
  state: FilesDiff;
  /** What changes in the databases. */
  store: StoreDiff;
}

/** What a restore did, or would do. */
export interface RestoreReport {
  /** The agent that was restored. */
  agent: string;
  /** The checks that were made. */
  checks: Check[];
  /** True tells what would be done and changes nothing. */
  dry_run: boolean;
  /** The id of the snapshot that was restored. */
  from: string;
  /** The generation that is live now. */
  generation: number;
  /** How many entries of the crash journal belong to the old generation. */
  parked_frames: number;
  /** What changes for the agent. */
  plan: RestorePlan;
  /** The parts that were restored. */
  restored: string[];
  /** The snapshot of the agent as it was before. It is empty where none was taken. */
  safety_snapshot: string;
  /** What became of checking the signature. */
  signature: SignatureReport;
  /** The old generation, where it is kept because no verified snapshot holds it. It is left out when it was removed. */
  old_generation?: number;
  /** The generation whose entries these are. */
  parked_generation?: number;
  /** What is there with something wrong, in words for people. */
  warnings?: string[];
}

/** What a node of a task produced. */
export interface Result {
  /** How sure the producer is, from 0 to 1. */
  confidence: number;
  /** What backs the result. */
  evidence: Evidence[];
  /**
   * The fence of the lease that the work was done under, 0 for work that came from no queue. Any other fence than the
   * newest one of the node is a conflict.
   */
  fence: number;
  /** The id of the node of the task. */
  node_id: string;
  /** What was produced, as text. */
  payload: string;
  /** Who produced it. */
  producer: string;
  /** The version of the form of the payload. The default is result.v1. */
  schema_version: string;
  /** How it ended: ok or error. */
  status: string;
  /** The id of the task. */
  task_id: string;
  /** When it was last changed. */
  updated_at: Time;
}

/**
 * Who spoke.
 *
 * - `user`: The user. A prompt is a turn of this role.
 * - `assistant`: The agent.
 * - `system`: The program that runs the agent.
 * - `tool`: A tool that the agent used.
 */
export type Role = "user" | "assistant" | "system" | "tool";

/** One row or file that differs. */
export interface RowDiff {
  /** The id of the row, or the path of the file. */
  key: string;
  /** What happened to it from the first to the second: insert, update or delete. */
  op: string;
  /** The table of the row. */
  table: string;
  /** What a memory is about, on one line. */
  title?: string;
}

/**
 * Where a memory is visible. A memory of any scope but global is shown only to a reader who names the same identity.
 *
 * - `session`: In one session, that of session_id.
 * - `user`: To one user, that of user_id.
 * - `project`: In one project, that of project_id.
 * - `workspace`: In one workspace, that of workspace_id.
 * - `global`: Everywhere in the agent.
 */
export type Scope = "session" | "user" | "project" | "workspace" | "global";

/** One conversation of an agent. */
export interface Session {
  /** The chat or terminal that the session belongs to. */
  binding: string;
  /** When it was made. */
  created_at: Time | null;
  /** The folder that the session works in. */
  directory: string;
  /** The id of the session. */
  id: string;
  /** The name of the session. Without a name of its own it is the id. */
  name: string;
  /** The project that the session is about. */
  project: string;
  /** When the session started. */
  started_at: Time | null;
  /** What the session amounts to. */
  summary: string;
  /** When it was last changed. */
  updated_at: Time | null;
  /** How the session ended: ended, crash, idle, or a word of the agent host. */
  end_reason?: string;
  /** When the session ended. It is left out of one that has not ended. */
  ended_at?: Time;
  /** The id of the session that started this one. */
  parent?: string;
  /** It is left out of a session of one's own, and is signed or imported for one that came from elsewhere. */
  trust?: Trust | (string & {});
}

/** How a session ends. */
export interface SessionEndAsked {
  /** The id of the session. The path names it too, so it may be left out. */
  id?: string | undefined;
  /** How the session ends. The default is ended. */
  reason?: string | undefined;
  /** What the session amounts to. */
  summary?: string | undefined;
}

/** A session to start, or to go on with. */
export interface SessionStartAsked {
  /** The chat or terminal that the session belongs to. The default is cli. */
  binding?: string | undefined;
  /** The folder that the session works in. */
  directory?: string | undefined;
  /** The id of the session. The default is a new UUID; in a journal it is needed. */
  id?: string | undefined;
  /** The name of the session. The default is the id. */
  name?: string | undefined;
  /** The id of the session that starts this one. */
  parent?: string | undefined;
  /** The project that the session is about. */
  project?: string | undefined;
}

/** The state of a session: one JSON document with a version. */
export interface SessionState {
  /** The document. Amber does not look inside. */
  document: unknown;
  /** The id of the session it belongs to. */
  session_id: string;
  /** When it was last changed. */
  updated_at: Time;
  /** The version of the document, from 1. It is the ETag without the quotes. */
  version: number;
  /** The document to the byte, where it has white space that JSON inside of JSON does not keep. */
  exact?: Base64;
}

/**
 * A stored row that cannot be read. Listings leave it out and name it; asked for by its id it is an error of kind
 * damaged.
 */
export interface SetAside {
  /** The id of the row, or ? where that cannot be read. */
  id: string;
  /** Why the row cannot be read. */
  reason: string;
  /** The table of the row. */
  table: string;
}

/** What became of checking a signature. */
export interface SignatureReport {
  /** One of valid, unsigned, stripped (there must have been one) and bad (it does not match). */
  status: string;
  /** More about it, in words for people. */
  detail?: string;
  /** The key that signed, as a did:key. */
  key_id?: string;
  /** How the key is known here: own, trusted or stranger. */
  standing?: string;
}

/** Something that should have been frozen and was not. */
export interface Skipped {
  /** The part it belongs to: notes, git, state, journal, memory, control or source: and a name. */
  part: string;
  /** Its path inside of the part. */
  path: string;
  /** Why it was skipped: missing, unreadable, torn, too_large, not_regular, bad_name or unsupported. */
  reason: string;
  /** More about it, in words for people. */
  detail?: string;
}

/** Everything a snapshot says about itself. */
export interface SnapshotDetail {
  /** The agent that was frozen. */
  agent: string;
  /** How many bytes were stored for it. */
  bytes_new: number;
  /** How many bytes the snapshot holds. */
  bytes_total: number;
  /** The checks that were made when it was taken. */
  checks: Check[];
  /** Its number in the chain of snapshots of the agent and the device. */
  counter: number;
  /** The instant that the snapshot holds. */
  created_at: Time | null;
  /** The device that took the snapshot. */
  device: string;
  /** The digest of its manifest. */
  digest: string;
  /** Whether the snapshot is encrypted. */
  encrypted: boolean;
  /** How long the writers stood still, in milliseconds. */
  fence_ms: number;
  /** The newest commit of the notes. It is empty where there is none. */
  git_oid: string;
  /** The id of the snapshot. */
  id: string;
  /** The label. One that begins with auto: was given by Amber. */
  label: string;
  /** The digest of the manifest before it in the chain. It is empty for the first one. */
  parent: string;
  /** What it holds. */
  parts: SnapshotPart[];
  /** Whether the snapshot is kept from being deleted and pruned. */
  pinned: boolean;
  /** True when it came from a bundle without secrets, so that they are missing. */
  redacted: boolean;
  /** The key that signed the snapshot. It is empty where none did. The signature was made and not necessarily checked. */
  signed_by: string;
  /** What should have been frozen and was not. Listings leave it to skipped_count. */
  skipped: Skipped[];
  /** How its sources were frozen. */
  sources: SourceReport[];
  /** The tenant of the agent. */
  tenant: string;
  /** The version of Amber that wrote it. */
  amber?: string;
  /** Who asked for it. It is absent where Amber itself did, and where that is not known. */
  by?: Asker;
  /** The last commit of the notes; absent without one, and in snapshots of earlier versions. */
  commit?: GitCommit;
  /** Why the manifest could not be read. All else may be missing then. */
  damage?: string;
  /** How many things should have been frozen and were not. */
  skipped_count?: number;
  /** How many things were frozen with something wrong. */
  warning_count?: number;
  /** What was frozen with something wrong at its source. Listings leave it to warning_count. */
  warnings?: string[];
}

/** What changed from snapshot a to snapshot b. */
export interface SnapshotDiff {
  /** The id of the first snapshot. */
  a: string;
  /** The id of the second snapshot. */
  b: string;
  /** What changed in the history of the notes. */
  git: GitDiff;
  /** Which notes changed. */
  notes: FilesDiff;
  /** Which documents of runtime state changed. */
  state: FilesDiff;
  /** What changed in the databases. */
  store: StoreDiff;
  /** The databases that one of the two does not hold, so that they were not compared. */
  missing?: string[];
}

/** What everybody may know about a snapshot without any key. */
export interface SnapshotMeta {
  /** The agent that was frozen. */
  agent: string;
  /** How many bytes were stored for it. */
  bytes_new: number;
  /** How many bytes the snapshot holds. */
  bytes_total: number;
  /** Its number in the chain of snapshots of the agent and the device. */
  counter: number;
  /** The instant that the snapshot holds. */
  created_at: Time | null;
  /** The device that took the snapshot. */
  device: string;
  /** The digest of its manifest. */
  digest: string;
  /** Whether the snapshot is encrypted. */
  encrypted: boolean;
  /** How long the writers stood still, in milliseconds. */
  fence_ms: number;
  /** The newest commit of the notes. It is empty where there is none. */
  git_oid: string;
  /** The id of the snapshot. */
  id: string;
  /** The label. One that begins with auto: was given by Amber. */
  label: string;
  /** The digest of the manifest before it in the chain. It is empty for the first one. */
  parent: string;
  /** Whether the snapshot is kept from being deleted and pruned. */
  pinned: boolean;
  /** True when it came from a bundle without secrets, so that they are missing. */
  redacted: boolean;
  /** The key that signed the snapshot. It is empty where none did. The signature was made and not necessarily checked. */
  signed_by: string;
  /** What should have been frozen and was not. Listings leave it to skipped_count. */
  skipped: Skipped[];
  /** The tenant of the agent. */
  tenant: string;
  /** The version of Amber that wrote it. */
  amber?: string;
  /** Who asked for it. It is absent where Amber itself did, and where that is not known. */
  by?: Asker;
  /** Why the manifest could not be read. All else may be missing then. */
  damage?: string;
  /** How many things should have been frozen and were not. */
  skipped_count?: number;
  /** How many things were frozen with something wrong. */
  warning_count?: number;
  /** What was frozen with something wrong at its source. Listings leave it to warning_count. */
  warnings?: string[];
}

/** One thing that a snapshot holds. */
export interface SnapshotPart {
  /** How many bytes it has. */
  bytes: number;
  /** How many pages, files, objects or entries it has. */
  count: number;
  /** The digest of its content. */
  digest: string;
  /** What it is: memory, control, notes, git, state or journal. */
  name: string;
  /** The schema of a database. */
  schema?: number;
}

/** Where a memory came from: a request, a file, an address. */
export interface SourceRef {
  /** What sort of source it is, as in file or url. */
  kind: string;
  /** The source itself, as a path or an address. */
  value: string;
}

/** Where a memory came from: a request, a file, an address. */
export interface SourceRefAsked {
  /** What sort of source it is, as in file or url. */
  kind: string;
  /** The source itself, as a path or an address. */
  value: string;
}

/** How a source was frozen. */
export interface SourceReport {
  /** How many bytes it has. */
  bytes: number;
  /** False when each of its parts was frozen at an instant of its own. */
  fenced: boolean;
  /** How many files it has. */
  files: number;
  /** The name of the source. */
  name: string;
}

/** How many records of each kind the store holds. */
export interface Stats {
  /** How many live memories there are of each kind. */
  by_kind: Record<string, number>;
  /** How many live memories there are of each scope. */
  by_scope: Record<string, number>;
  /** How many live memories there are of each degree of trust. */
  by_trust: Record<string, number>;
  /** How many bytes the store has on disk, 0 where it is not on a disk. */
  bytes: number;
  /** How many entries the change log has. */
  changes: number;
  /** How many summaries of turns there are. */
  compactions: number;
  /** How many deleted memories have left a tombstone. */
  deleted: number;
  /** How many vectors of memories there are. */
  embeddings: number;
  /** How many suspended loops there are. */
  loops: number;
  /** How many live memories there are. */
  memories: number;
  /** How many relations there are. */
  relations: number;
  /** How many revisions of memories there are. */
  revisions: number;
  /** How many sessions there are. */
  sessions: number;
  /** How many turns there are. */
  turns: number;
}

/** Which rows of the databases differ. */
export interface StoreDiff {
  /** How many rows of each table differ, also of those without a difference. */
  tables: TableDiff[];
  /** How many rows were left out. */
  more?: number;
  /** The rows that differ, where they were asked for. */
  rows?: RowDiff[];
}

/**
 * One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have fewer than `limit`: `next`
 * alone says whether there are more.
 */
export interface StringPage {
  /** The items, in the order of the listing. The list may be empty and is never null. */
  items: string[];
  /** The cursor of the next page. It is left out of the last page, and of listings that have no pages. */
  next?: string;
  /** Rows that belong to the answer and cannot be read, at most 20. */
  set_aside?: SetAside[];
}

/**
 * A memory that was changed at two places without knowing of each other. Any edit, write or deletion of it settles the
 * conflict.
 */
export interface SyncConflict {
  /** The id of the memory. */
  id: string;
  /** The version that every place shows. */
  kept: SyncVersion;
  /** The other versions. */
  others: SyncVersion[];
}

/** What is known about a device whose chunks were applied. */
export interface SyncDevice {
  /** How many of its chunks were applied. */
  chunks: number;
  /** Who exported its chunks. */
  created_by: string;
  /** The id of the device. */
  device: string;
  /** When its newest chunk was made, by its own clock. */
  last_at: Time | null;
  /** When that chunk was applied here. */
  last_sync: Time | null;
  /** How far its clock was ahead at most, in milliseconds. */
  drift_ms?: number;
}

/** What is known about the sync with a place. */
export interface SyncReport {
  /** How many chunks were applied from there or exported to it. */
  chunks: number;
  /** How many memories were changed at two places. */
  conflict_count: number;
  /** The memories that were changed at two places, at most 100. */
  conflicts: SyncConflict[];
  /** The devices whose chunks were applied. */
  devices: SyncDevice[];
  /** The chunks that are not imported. */
  quarantined: QuarantinedChunk[];
}

/** One version of a memory in a conflict. */
export interface SyncVersion {
  /** The content in this version. */
  content: string;
  /** Which device made this version, and its place in the order of versions. */
  origin: Origin;
  /** The title in this version. */
  title: string;
  /** When it was last changed. */
  updated_at: Time | null;
  /** True when this version is a deletion. */
  deleted?: boolean;
}

/** How many rows of one table differ. */
export interface TableDiff {
  /** How many were added. */
  added: number;
  /** How many were changed. */
  changed: number;
  /** The table, as in memories, turns or tasks. */
  name: string;
  /** How many were removed. */
  removed: number;
}

/** One unit of work of a program, as it stands. */
export interface Task {
  /** How many times it was tried. */
  attempts: number;
  /** The ids of the nodes that are done. */
  completed_nodes: string[];
  /** When it was made. */
  created_at: Time;
  /** What is to be done. */
  goal: string;
  /** The id of the task. */
  id: string;
  /** The index of the node that comes next. */
  next_node_index: number;
  /** The id of the request that the task was made for. */
  request_id: string;
  /** The id of the session it belongs to. */
  session_id: string;
  /** Where the task stands. */
  state: TaskState | (string & {});
  /** When it was last changed. */
  updated_at: Time;
  /** The version of the task, from 1. It is the ETag without the quotes. */
  version: number;
  /** What else the program keeps with the task, any JSON. */
  extra?: unknown;
  /** The field extra to the byte, where it has white space that JSON inside of JSON does not keep. */
  extra_exact?: Base64;
  /** The last result of the task, as the program that runs it wrote it. */
  last_result?: string;
  /** The id of the approval that the task waits for. */
  pending_approval_id?: string;
}

/** One entry of the history of a task. */
export interface TaskEvent {
  /** When it happened. */
  at: Time;
  /** The state of the task before. */
  from: TaskState | (string & {});
  /** What it records: state_transition, node_completed, approval_pending, approval_approved or approval_rejected. */
  kind: string;
  /** Why it happened. */
  reason: string;
  /** The number of the event, from 1. */
  seq: number;
  /** The id of the task. */
  task_id: string;
  /** The state of the task after. */
  to: TaskState | (string & {});
  /** The id of the approval it is about. */
  approval_id?: string;
  /** Which attempt it was. */
  attempt?: number;
  /** The class of a failure: validation, dependency, timeout, security, budget_exhausted or non_retriable. */
  error_class?: string;
  /** The id of the node it is about. */
  node_id?: string;
  /** What sort of node it is. */
  node_kind?: string;
  /** The result it brought. */
  result?: string;
}

/**
 * Where a task stands. Succeeded, dead_letter and cancelled are final.
 *
 * - `queued`: It waits to be begun. Every task begins so.
 * - `planning`: It is being planned.
 * - `graph_building`: The graph of its nodes is being made.
 * - `delegating`: Its nodes are being handed out.
 * - `executing`: Its nodes are being worked on.
 * - `validating`: What came of it is being checked.
 * - `waiting_approval`: It waits for the decision of a person.
 * - `aggregating`: The results of its nodes are being put together.
 * - `cancel_requested`: Somebody asked to cancel it.
 * - `compensating`: What it did is being taken back.
 * - `timeout_recovering`: It took too long, and is being recovered.
 * - `succeeded`: It is done.
 * - `failed`: It failed. It may be queued again.
 * - `dead_letter`: It failed and is given up.
 * - `cancelled`: It was cancelled.
 */
export type TaskState = "queued" | "planning" | "graph_building" | "delegating" | "executing" | "validating" | "waiting_approval" | "aggregating" | "cancel_requested" | "compensating" | "timeout_recovering" | "succeeded" | "failed" | "dead_letter" | "cancelled";

/** One word of the query, and where it was found. */
export interface TermMatch {
  /** The fields it was found in. */
  fields: string[];
  /** The word. */
  term: string;
}

/** What is known about a token. Its secret is not. */
export interface Token {
  /** When it was made. */
  created_at: Time;
  /** The id of the token. It is no secret. */
  id: string;
  /** The name of the token. */
  name: string;
  /** What the token lets its holder do. */
  scopes: (TokenScope | (string & {}))[];
  /** The agent that the token is for. It is left out of a token for every agent. */
  agent?: string;
  /** When the token ends. It is left out of a token that does not end. */
  expires_at?: Time;
  /** When the token was last used, to the minute. */
  last_used_at?: Time;
  /** The project that the token is bound to. It reaches no other. It is left out of a token that is bound to none. */
  project_id?: string;
  /** When the token was revoked. */
  revoked_at?: Time;
  /** The tenant that the token is for. It is left out of a token for every tenant. */
  tenant?: string;
  /** The user that the token is bound to. It reaches no other. It is left out of a token that is bound to none. */
  user_id?: string;
  /** The workspace that the token is bound to. It reaches no other. It is left out of a token that is bound to none. */
  workspace_id?: string;
}

/**
 * One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have fewer than `limit`: `next`
 * alone says whether there are more.
 */
export interface TokenPage {
  /** The items, in the order of the listing. The list may be empty and is never null. */
  items: Token[];
  /** The cursor of the next page. It is left out of the last page, and of listings that have no pages. */
  next?: string;
  /** Rows that belong to the answer and cannot be read, at most 20. */
  set_aside?: SetAside[];
}

/**
 * Something that a token lets its holder do. None includes another one, but admin includes all.
 *
 * - `read`: Look at memories, sessions, notes, runtime state, tasks and snapshots, and hear events.
 * - `write`: Change them, all but the following.
 * - `approve`: Decide approvals that another token has asked for.
 * - `snapshot`: Take, verify, pin, delete and prune snapshots.
 * - `restore`: Put a snapshot, or one memory of it, in the place of what is live.
 * - `erase`: Remove the text of memories for good.
 * - `own`: Speak as the owner. Without it, what is written is the word of an agent: it changes nothing that is trusted
 * more, and waits for review where it would hold for every project or always.
 * - `admin`: All of that, the doctor, the audit log, tokens, and what concerns a whole tenant.
 */
export type TokenScope = "read" | "write" | "approve" | "snapshot" | "restore" | "erase" | "own" | "admin";

/**
 * How far a record may be believed. Imported records are not put before an agent that did not ask for them.
 *
 * - `own`: The owner wrote it here.
 * - `signed`: It was signed by a trusted key.
 * - `agent`: An agent, or a program, wrote it here.
 * - `derived`: A rule found it in the text of an assistant.
 * - `imported`: It came from elsewhere.
 */
export type Trust = "own" | "signed" | "agent" | "derived" | "imported";

/** A folder whose claim was confirmed. */
export interface TrustedFolder {
  /** How many memories joined the project. */
  memories: number;
  /** The path that the home knows the folder by. */
  place: string;
  /** The project that the folder has now. */
  project: string;
  /** How many sessions joined the project. */
  sessions: number;
}

/** Something that was said in a session. */
export interface Turn {
  /** What was said. */
  content: string;
  /** When it was made. */
  created_at: Time | null;
  /** The id of the turn. */
  id: string;
  /** Who spoke. */
  role: Role | (string & {});
  /** The id of the session it belongs to. */
  session_id: string;
  /** The project it belongs to. */
  project_id?: string;
  /**
   * It is left out of what was said here, and is signed or imported for a prompt that came from elsewhere. A prompt
   * that an agent or a program stored has agent.
   */
  trust?: Trust | (string & {});
}

/** Something that was said, to be stored at the end of a session. */
export interface TurnAsked {
  /** What was said, at most 1 MiB. */
  content: string;
  /** Who spoke. */
  role: Role;
  /** When it was said. The default is now. */
  created_at?: Time | Date | null | undefined;
  /** The id of the turn. A turn whose id is stored already is not stored again. The default is a new UUID. */
  id?: string | undefined;
  /** The project it belongs to. */
  project_id?: string | undefined;
  /** The id of the session. Where the path names it too it may be left out; in a journal it is needed. */
  session_id?: string | undefined;
  /**
   * It is left out of what was said here, and is signed or imported for a prompt that came from elsewhere. A prompt
   * that an agent or a program stored has agent.
   */
  trust?: Trust | undefined;
}

/** A restore that has not come to its end. */
export interface UnfinishedRestore {
  /** The id of the snapshot that is restored. */
  from: string;
  /** The generation that is being made. */
  generation: number;
  /** The generation that was live before. */
  replaces: number;
  /** True while an operation on the agent is under way. */
  running: boolean;
  /** True when the new generation is live. */
  switched: boolean;
}

/** What verifying a snapshot has shown. */
export interface VerifyReport {
  /** What was checked, in words for people. */
  checked: string[];
  /** The checks that were made. */
  checks: Check[];
  /** What is not as it was written. An empty list means that nothing was found. */
  damaged: Damage[];
  /** The id of the snapshot. */
  id: string;
  /** What was not checked, and why, in words for people. */
  not_checked: string[];
  /** What became of checking the signature. */
  signature: SignatureReport;
}

/** A folder that claims a project and waits for the owner. */
export interface WaitingFolder {
  /** The project that the folder claims. */
  asks: string;
  /** When the home first saw the folder. */
  at: Time | null;
  /** The folders that have that project. */
  folders: string[];
  /** The path that the home knows the folder by. */
  place: string;
  /** The project that the folder has until the owner confirms what the folder claims. */
  project: string;
}

/**
 * One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have fewer than `limit`: `next`
 * alone says whether there are more.
 */
export interface WaitingFolderPage {
  /** The items, in the order of the listing. The list may be empty and is never null. */
  items: WaitingFolder[];
  /** The cursor of the next page. It is left out of the last page, and of listings that have no pages. */
  next?: string;
  /** Rows that belong to the answer and cannot be read, at most 20. */
  set_aside?: SetAside[];
}

/** The parts of the score of a hit, before they are made a likelihood. */
export interface Why {
  /** The words of the query that matched. */
  terms: TermMatch[];
  /** How much of the question the words of the passage answer. */
  words: number;
  /** How near the passage is to the best hit. */
  feedback?: number;
  /** What it adds that the passage is of the kind the question asks for. */
  kind?: number;
  /** How near the passage is in meaning, as a cosine. */
  meaning?: number;
  /** What the passages beside it add. */
  neighbours?: number;
  /** True when the passage took the place of an older one about the same thing. */
  newer?: boolean;
  /** True when an index beside the store found it. */
  related?: boolean;
  /** What the rest of its session adds. */
  session?: number;
  /** What it adds that the question names who spoke. */
  speaker?: number;
  /** What it adds that the passage is of the time the question names. */
  time?: number;
  /** What the passage loses because it came from elsewhere and is not signed. */
  trust?: number;
  /** What the wording of the question adds to the odds of every hit, as a logarithm. */
  wording?: number;
}

/** The memory as it is stored now, and what the write did to it. */
export interface WriteAck {
  /** The text that is remembered. */
  content: string;
  /** The SHA-256 of the content in hexadecimal digits. */
  content_digest: string;
  /** When it was made. */
  created_at: Time | null;
  /**
   * True when an equal memory was there already: the same content, kind, scope, identity and title. No second one was
   * stored.
   */
  deduplicated: boolean;
  /** How many times the same memory was written again. */
  duplicate_count: number;
  /** The id of the memory, a UUID. */
  id: string;
  /** What the memory is about. */
  kind: MemoryKind | (string & {});
  /** Names and values that a program keeps with the memory. Amber does not look inside. */
  metadata: Record<string, string>;
  /** Which device made this version, and its place in the order of versions. */
  origin: Origin;
  /** The number of the revision, from 1. It is the ETag of the memory without the quotes. */
  revision: number;
  /** Where the memory is visible. Every scope but global goes with the identity of the same name. */
  scope: Scope | (string & {});
  /** Where the memory came from. */
  source_refs: SourceRef[];
  /** The content in short. It may be empty. */
  summary: string;
  /** The tags, sorted. */
  tags: string[];
  /** A short title on one line. It may be empty. */
  title: string;
  /** How far it may be believed. */
  trust: Trust | (string & {});
  /** When it was last changed. */
  updated_at: Time | null;
  /** The fields that the equal memory was given by this write, as a new revision. */
  added?: string[];
  /** Who wrote this revision. */
  author?: Author;
  /** When it was deleted. It is left out of what is not deleted. */
  deleted_at?: Time;
  /** Fields of the program the memory came from, by program, kept as they were. */
  foreign?: Record<string, unknown>;
  /** The fields of the write that the equal memory was not given, since it has other ones. */
  not_taken?: string[];
  /** The project that memories of scope project are bound to. */
  project_id?: string;
  /** How many secrets were taken out, by the rule that found them. It is left out when there were none. */
  redacted?: Record<string, number>;
  /** The session that memories of scope session are bound to. */
  session_id?: string;
  /**
   * The topic. There is one live memory for each project, scope, identity and topic, and writing another text to the
   * topic makes a new revision of it.
   */
  topic?: string;
  /** The user that memories of scope user are bound to. */
  user_id?: string;
  /** The workspace that memories of scope workspace are bound to. */
  workspace_id?: string;
}

/**
 * One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have fewer than `limit`: `next`
 * alone says whether there are more.
 */
export interface WriteAckPage {
  /** The items, in the order of the listing. The list may be empty and is never null. */
  items: WriteAck[];
  /** The cursor of the next page. It is left out of the last page, and of listings that have no pages. */
  next?: string;
  /** Rows that belong to the answer and cannot be read, at most 20. */
  set_aside?: SetAside[];
}

/** A memory to be stored. The content alone is enough. */
export interface WriteRequestAsked {
  /** The text that is remembered, at most 1 MiB. */
  content: string;
  /** The server does not use it: it knows who asks. */
  author?: AuthorAsked | undefined;
  /** The SHA-256 of the content of a memory that was stored before. It needs an id. */
  content_digest?: string | undefined;
  /** When the memory was first stored. A new memory gets this date in place of now. */
  created_at?: Time | Date | null | undefined;
  /** When a memory that was stored before was deleted. It needs an id. */
  deleted_at?: Time | Date | null | undefined;
  /** How many times a memory that was stored before was written again. It needs an id. */
  duplicate_count?: number | undefined;
  /** Fields of the program that the memory came from, by program. It needs an id. */
  foreign?: Record<string, unknown> | undefined;
  /**
   * The id of a memory that was stored before, here or elsewhere. With an id the memory is stored as it is; a stored
   * memory of this id that says something else is a conflict. Leave it out for a new memory.
   */
  id?: string | undefined;
  /**
   * The same key gets the answer of the first write, and with another request it is a conflict. It is the same as the
   * header Idempotency-Key.
   */
  idempotency_key?: string | undefined;
  /**
   * What the memory is about. The default is workspace_fact. A server also takes common names, such as decision, for
   * the kind that they mean.
   */
  kind?: MemoryKind | undefined;
  /** Names and values that a program keeps with the memory. Amber does not look inside. */
  metadata?: Record<string, string> | undefined;
  /** The origin of a memory that was stored before. It needs an id. */
  origin?: OriginAsked | undefined;
  /** The project that memories of scope project are bound to. */
  project_id?: string | undefined;
  /**
   * Why the memory is written: operator_requested (the default), task_succeeded, high_value_observation or
   * compact_summary.
   */
  reason?: string | undefined;
  /** The revision of a memory that was stored before. It needs an id. */
  revision?: number | undefined;
  /**
   * Where the memory is visible. The default is the narrowest identity that the request names (session_id, user_id,
   * project_id, workspace_id, in this order), and global only where it names none. Every scope but global needs its
   * identity.
   */
  scope?: Scope | undefined;
  /** The session that memories of scope session are bound to. */
  session_id?: string | undefined;
  /** Where the memory came from. */
  source_refs?: readonly SourceRefAsked[] | undefined;
  /** The content in short. */
  summary?: string | undefined;
  /** The tags, at most 64. They are sorted when they are stored. */
  tags?: readonly string[] | undefined;
  /** A short title on one line. */
  title?: string | undefined;
  /**
   * The topic. There is one live memory for each project, scope, identity and topic, so a write to a topic that exists
   * becomes a new revision of its memory.
   */
  topic?: string | undefined;
  /** How far the memory may be believed: at most what the server gives the caller, which is the default. */
  trust?: Trust | undefined;
  /** When the memory was last changed. A new memory gets this date in place of now. */
  updated_at?: Time | Date | null | undefined;
  /** The user that memories of scope user are bound to. */
  user_id?: string | undefined;
  /** The workspace that memories of scope workspace are bound to. */
  workspace_id?: string | undefined;
}
