// Made from the OpenAPI document of the server by tools/sdkgen. Changes here are lost.

import type { CallOptions, Caller, FileAnswer, Listing, Operation, Stream, Upload } from "../call.js";
import type {
  ActivityPage,
  AgentNamePage,
  Approval,
  ApprovalStatus,
  AskerAsked,
  AuditEntry,
  AuditReport,
  AuthorAsked,
  Backpressure,
  Base64,
  Capabilities,
  Change,
  CheckReport,
  Checkup,
  Claim,
  Compaction,
  ConceptCountPage,
  Consolidation,
  ContextBlock,
  ContextItemAsked,
  DeadEntry,
  DeletedTurns,
  Document,
  DocumentPage,
  EraseReport,
  Event,
  EvidenceAsked,
  ForeignImport,
  GCReport,
  Generation,
  Health,
  HeldEntry,
  HeldEntryPage,
  HostProcessAsked,
  ImportRecordPage,
  ImportUndo,
  IngestResult,
  IngestStepAsked,
  JournalCursor,
  JournalCursorPage,
  JournalStatusPage,
  Lease,
  LeaseAsked,
  ListedTurn,
  LogPosition,
  Memory,
  MemoryKind,
  MemoryPage,
  MemoryRestore,
  Neighbourhood,
  NewToken,
  Note,
  NoteCommitPage,
  NotePage,
  OriginAsked,
  PendingLoop,
  PruneReport,
  RecallResult,
  Relation,
  RelationPage,
  ReplayReport,
  ReplaySnapshot,
  RestoreReport,
  Result,
  Role,
  Scope,
  Session,
  SessionState,
  SnapshotDetail,
  SnapshotDiff,
  SnapshotMeta,
  SourceRefAsked,
  Stats,
  StringPage,
  SyncReport,
  Task,
  TaskEvent,
  TaskState,
  Time,
  Token,
  TokenPage,
  TokenScope,
  Trust,
  TrustedFolder,
  Turn,
  VerifyReport,
  WaitingFolderPage,
  WriteAck,
  WriteAckPage,
  WriteRequestAsked,
} from "./models.js";

/** The id of an operation. */
export type OperationId =
  | "activity.list"
  | "activity.named"
  | "agent.capabilities"
  | "agent.doctor"
  | "agent.generation"
  | "agent.health"
  | "agent.list"
  | "agent.stats"
  | "agent.sync"
  | "approval.decide"
  | "approval.get"
  | "approval.list"
  | "approval.request"
  | "audit.list"
  | "audit.verify"
  | "change.head"
  | "change.list"
  | "compaction.add"
  | "compaction.list"
  | "concept.count"
  | "concept.list"
  | "concept.set"
  | "consolidation.begin"
  | "consolidation.end"
  | "consolidation.open"
  | "control_change.head"
  | "control_change.list"
  | "document.delete"
  | "document.get"
  | "document.list"
  | "document.put"
  | "event.stream"
  | "export.download"
  | "folder.list"
  | "folder.trust"
  | "import.list"
  | "import.undo"
  | "import.upload"
  | "journal.cursor"
  | "journal.ingest"
  | "journal.open"
  | "journal.status"
  | "loop.clear"
  | "loop.get"
  | "loop.save"
  | "memory.context"
  | "memory.edit"
  | "memory.erase"
  | "memory.forget"
  | "memory.get"
  | "memory.history"
  | "memory.list"
  | "memory.recall"
  | "memory.timeline"
  | "memory.write"
  | "memory.write_batch"
  | "note.at"
  | "note.delete"
  | "note.get"
  | "note.list"
  | "note.log"
  | "note.write"
  | "quarantine.list"
  | "quarantine.retry"
  | "quarantine.show"
  | "queue.ack"
  | "queue.claim"
  | "queue.dead"
  | "queue.nack"
  | "queue.publish"
  | "queue.renew"
  | "queue.show"
  | "relation.get"
  | "relation.list"
  | "relation.neighbours"
  | "relation.relate"
  | "relation.unrelate"
  | "result.get"
  | "result.list"
  | "result.save"
  | "session.active"
  | "session.delete"
  | "session.end"
  | "session.get"
  | "session.list"
  | "session.rename"
  | "session.select"
  | "session.start"
  | "snapshot.delete"
  | "snapshot.diff"
  | "snapshot.list"
  | "snapshot.memories"
  | "snapshot.memory"
  | "snapshot.pin"
  | "snapshot.prune"
  | "snapshot.recall"
  | "snapshot.restore"
  | "snapshot.restore_memory"
  | "snapshot.show"
  | "snapshot.take"
  | "snapshot.verify"
  | "state.delete"
  | "state.get"
  | "state.save"
  | "task.compact"
  | "task.event"
  | "task.events"
  | "task.get"
  | "task.list"
  | "task.replay"
  | "task.save"
  | "tenant.check"
  | "tenant.gc"
  | "token.create"
  | "token.list"
  | "token.revoke"
  | "turn.append"
  | "turn.delete"
  | "turn.get"
  | "turn.list"
  | "turn.page";

/** Every operation by its id: how it travels, and what it is given and answers. */
export const operations: Readonly<Record<OperationId, Operation>> = {
  "activity.list": {
    id: "activity.list",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/activity",
    variables: { session_id: "id" },
    query: { kind: "kind" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "activity.named": {
    id: "activity.named",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/activity",
    variables: {},
    query: { kind: "kind", name: "name" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "agent.capabilities": {
    id: "agent.capabilities",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/capabilities",
    variables: {},
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "agent.doctor": {
    id: "agent.doctor",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/doctor",
    variables: {},
    query: { deep: "deep" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: true,
    paged: false,
    answer: "json",
  },
  "agent.generation": {
    id: "agent.generation",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/generation",
    variables: {},
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "agent.health": {
    id: "agent.health",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/health",
    variables: {},
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "agent.list": {
    id: "agent.list",
    method: "GET",
    path: "/v1/agents",
    variables: {},
    query: { tenant: "tenant", agent: "agent" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "agent.stats": {
    id: "agent.stats",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/stats",
    variables: {},
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "agent.sync": {
    id: "agent.sync",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/sync",
    variables: {},
    query: { place: "place" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "approval.decide": {
    id: "approval.decide",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/approvals/{id}/decision",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: { outcome: "outcome", actor: "actor", claimed_by: "claimed_by", comment: "comment", digest: "digest" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "approval.get": {
    id: "approval.get",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/approvals/{id}",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "approval.list": {
    id: "approval.list",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/approvals",
    variables: {},
    query: { limit: "limit", cursor: "cursor", task_id: "task_id" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: true,
    answer: "list",
  },
  "approval.request": {
    id: "approval.request",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/approvals",
    variables: {},
    query: {},
    headers: {},
    body: { node_id: "node_id", payload: "payload", summary: "summary", task_id: "task_id", id: "id", requested_by: "requested_by" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "audit.list": {
    id: "audit.list",
    method: "GET",
    path: "/v1/audit",
    variables: {},
    query: { tenant: "tenant", agent: "agent", limit: "limit", cursor: "cursor", actor: "actor", action: "action", since: "since" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: true,
    answer: "list",
  },
  "audit.verify": {
    id: "audit.verify",
    method: "POST",
    path: "/v1/audit/verify",
    variables: {},
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: true,
    paged: false,
    answer: "json",
  },
  "change.head": {
    id: "change.head",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/changes/head",
    variables: {},
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "change.list": {
    id: "change.list",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/changes",
    variables: {},
    query: { after: "after", before: "before", order: "order", scope: "scope", cursor: "cursor", limit: "limit" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: true,
    answer: "list",
  },
  "compaction.add": {
    id: "compaction.add",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/compactions",
    variables: { session_id: "id" },
    query: {},
    headers: {},
    body: { summary: "summary", created_at: "created_at", id: "id", turns: "turns" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "compaction.list": {
    id: "compaction.list",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/compactions",
    variables: { session_id: "id" },
    query: { limit: "limit", cursor: "cursor" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: true,
    answer: "list",
  },
  "concept.count": {
    id: "concept.count",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/concepts",
    variables: {},
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "concept.list": {
    id: "concept.list",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/memories/{id}/concepts",
    variables: { memory_id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "concept.set": {
    id: "concept.set",
    method: "PUT",
    path: "/v1/tenants/{tenant}/agents/{agent}/memories/{id}/concepts",
    variables: { memory_id: "id" },
    query: {},
    headers: {},
    body: { items: "items" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "none",
  },
  "consolidation.begin": {
    id: "consolidation.begin",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/consolidations",
    variables: {},
    query: {},
    headers: {},
    body: { abandon: "abandon", run: "run" },
    raw: false,
    key: true,
    changes: true,
    long: true,
    paged: false,
    answer: "json",
  },
  "consolidation.end": {
    id: "consolidation.end",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/consolidations/{id}/end",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: { outcome: "outcome" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "consolidation.open": {
    id: "consolidation.open",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/consolidations/open",
    variables: {},
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "control_change.head": {
    id: "control_change.head",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/control-changes/head",
    variables: {},
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "control_change.list": {
    id: "control_change.list",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/control-changes",
    variables: {},
    query: { after: "after", before: "before", order: "order", scope: "scope", cursor: "cursor", limit: "limit" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: true,
    answer: "list",
  },
  "document.delete": {
    id: "document.delete",
    method: "DELETE",
    path: "/v1/tenants/{tenant}/agents/{agent}/state/{name}",
    variables: { name: "name" },
    query: { if_revision: "if_revision" },
    headers: { if_match: "If-Match" },
    body: null,
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "none",
  },
  "document.get": {
    id: "document.get",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/state/{name}",
    variables: { name: "name" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "document.list": {
    id: "document.list",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/state",
    variables: {},
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "document.put": {
    id: "document.put",
    method: "PUT",
    path: "/v1/tenants/{tenant}/agents/{agent}/state/{name}",
    variables: { name: "name" },
    query: {},
    headers: { if_match: "If-Match", if_none_match: "If-None-Match" },
    body: { document: "document", if_absent: "if_absent", if_revision: "if_revision" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "event.stream": {
    id: "event.stream",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/events",
    variables: {},
    query: { after: "after" },
    headers: { last_event_id: "Last-Event-ID" },
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "stream",
  },
  "export.download": {
    id: "export.download",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/export",
    variables: {},
    query: { to: "to", project: "project", user: "user", all_users: "all_users", private: "private" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: true,
    paged: false,
    answer: "file",
  },
  "folder.list": {
    id: "folder.list",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/folders",
    variables: {},
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "folder.trust": {
    id: "folder.trust",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/folders/trust",
    variables: {},
    query: {},
    headers: {},
    body: { asks: "asks", place: "place" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "import.list": {
    id: "import.list",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/imports",
    variables: {},
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "import.undo": {
    id: "import.undo",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/imports/{id}/undo",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: true,
    changes: true,
    long: true,
    paged: false,
    answer: "json",
  },
  "import.upload": {
    id: "import.upload",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/imports",
    variables: {},
    query: { from: "from", name: "name", modified: "modified", dry_run: "dry_run", project: "project", user: "user", as_own: "as_own", since: "since", only: "only", observations: "observations", sensitive: "sensitive" },
    headers: {},
    body: null,
    raw: true,
    key: true,
    changes: true,
    long: true,
    paged: false,
    answer: "json",
  },
  "journal.cursor": {
    id: "journal.cursor",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/journal/cursors/{journal}",
    variables: { journal: "journal" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "journal.ingest": {
    id: "journal.ingest",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/journal/ingest",
    variables: {},
    query: {},
    headers: {},
    body: { host: "host", journal: "journal", session_id: "session_id", after: "after", last_at: "last_at", past: "past", process: "process", steps: "steps", through: "through" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "journal.open": {
    id: "journal.open",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/journal/open",
    variables: {},
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "journal.status": {
    id: "journal.status",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/journal",
    variables: {},
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "loop.clear": {
    id: "loop.clear",
    method: "DELETE",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/loop",
    variables: { session_id: "id" },
    query: { run_id: "run_id" },
    headers: {},
    body: null,
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "none",
  },
  "loop.get": {
    id: "loop.get",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/loop",
    variables: { session_id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "loop.save": {
    id: "loop.save",
    method: "PUT",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/loop",
    variables: { session_id: "id" },
    query: {},
    headers: { if_match: "If-Match" },
    body: { run_id: "run_id", state_json: "state_json", if_revision: "if_revision", if_run_id: "if_run_id" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "memory.context": {
    id: "memory.context",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/context",
    variables: {},
    query: {},
    headers: {},
    body: { explain: "explain", goal: "goal", known: "known", max_bytes: "max_bytes", occasion: "occasion", pending_loop_active: "pending_loop_active", project_id: "project_id", session_id: "session_id", sessions: "sessions", user_id: "user_id", workspace_id: "workspace_id" },
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "memory.edit": {
    id: "memory.edit",
    method: "PATCH",
    path: "/v1/tenants/{tenant}/agents/{agent}/memories/{id}",
    variables: { id: "id" },
    query: {},
    headers: { if_match: "If-Match" },
    body: { author: "author", content: "content", if_revision: "if_revision", keep: "keep", kind: "kind", metadata: "metadata", summary: "summary", tags: "tags", title: "title", trust: "trust" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "memory.erase": {
    id: "memory.erase",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/memories/{id}/erase",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: true,
    changes: true,
    long: true,
    paged: false,
    answer: "json",
  },
  "memory.forget": {
    id: "memory.forget",
    method: "DELETE",
    path: "/v1/tenants/{tenant}/agents/{agent}/memories/{id}",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "none",
  },
  "memory.get": {
    id: "memory.get",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/memories/{id}",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "memory.history": {
    id: "memory.history",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/memories/{id}/history",
    variables: { id: "id" },
    query: { limit: "limit", cursor: "cursor" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: true,
    answer: "list",
  },
  "memory.list": {
    id: "memory.list",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/memories",
    variables: {},
    query: { limit: "limit", cursor: "cursor", scope: "scope", session_id: "session_id", user_id: "user_id", project_id: "project_id", workspace_id: "workspace_id", kind: "kind", tag: "tag", since: "since", until: "until", all: "all", deleted: "deleted", trusted: "trusted", trust: "trust", waiting: "waiting" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: true,
    answer: "list",
  },
  "memory.recall": {
    id: "memory.recall",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/recall",
    variables: {},
    query: {},
    headers: {},
    body: { explain: "explain", kinds: "kinds", layers: "layers", limit: "limit", local: "local", min_score: "min_score", project_id: "project_id", reason: "reason", scope: "scope", session_id: "session_id", since: "since", tags: "tags", text: "text", trusted: "trusted", until: "until", user_id: "user_id", workspace_id: "workspace_id" },
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "memory.timeline": {
    id: "memory.timeline",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/memories/{id}/timeline",
    variables: { id: "id" },
    query: { before: "before", after: "after" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "memory.write": {
    id: "memory.write",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/memories",
    variables: {},
    query: {},
    headers: {},
    body: { content: "content", author: "author", content_digest: "content_digest", created_at: "created_at", deleted_at: "deleted_at", duplicate_count: "duplicate_count", foreign: "foreign", id: "id", kind: "kind", metadata: "metadata", origin: "origin", project_id: "project_id", reason: "reason", revision: "revision", scope: "scope", session_id: "session_id", source_refs: "source_refs", summary: "summary", tags: "tags", title: "title", topic: "topic", trust: "trust", updated_at: "updated_at", user_id: "user_id", workspace_id: "workspace_id" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "memory.write_batch": {
    id: "memory.write_batch",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/memories/batch",
    variables: {},
    query: {},
    headers: {},
    body: { items: "items" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "note.at": {
    id: "note.at",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/notes/{name}/log/{commit}",
    variables: { name: "name", commit: "commit" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "note.delete": {
    id: "note.delete",
    method: "DELETE",
    path: "/v1/tenants/{tenant}/agents/{agent}/notes/{name}",
    variables: { name: "name" },
    query: { trust: "trust", author_host: "author_host", author_agent: "author_agent", author_session: "author_session", author_token: "author_token" },
    headers: { if_match: "If-Match" },
    body: null,
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "none",
  },
  "note.get": {
    id: "note.get",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/notes/{name}",
    variables: { name: "name" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "note.list": {
    id: "note.list",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/notes",
    variables: {},
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "note.log": {
    id: "note.log",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/notes/{name}/log",
    variables: { name: "name" },
    query: { limit: "limit" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "note.write": {
    id: "note.write",
    method: "PUT",
    path: "/v1/tenants/{tenant}/agents/{agent}/notes/{name}",
    variables: { name: "name" },
    query: {},
    headers: { if_match: "If-Match" },
    body: { content: "content", author: "author", trust: "trust" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "quarantine.list": {
    id: "quarantine.list",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/journal/quarantine",
    variables: {},
    query: { session: "session" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "quarantine.retry": {
    id: "quarantine.retry",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/journal/quarantine/retry",
    variables: {},
    query: {},
    headers: {},
    body: { name: "name", session: "session" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "quarantine.show": {
    id: "quarantine.show",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/journal/quarantine/{session}/{name}",
    variables: { session: "session", name: "name" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "queue.ack": {
    id: "queue.ack",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/queue/ack",
    variables: {},
    query: {},
    headers: {},
    body: { consumer_id: "consumer_id", entry_id: "entry_id", token: "token", expires_at: "expires_at", fence: "fence" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "none",
  },
  "queue.claim": {
    id: "queue.claim",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/queue/claim",
    variables: {},
    query: {},
    headers: {},
    body: { consumer_id: "consumer_id" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "queue.dead": {
    id: "queue.dead",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/queue/dead",
    variables: {},
    query: { limit: "limit", cursor: "cursor" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: true,
    answer: "list",
  },
  "queue.nack": {
    id: "queue.nack",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/queue/nack",
    variables: {},
    query: {},
    headers: {},
    body: { lease: "lease", not_before: "not_before", reason: "reason" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "none",
  },
  "queue.publish": {
    id: "queue.publish",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/queue",
    variables: {},
    query: {},
    headers: {},
    body: { entry_id: "entry_id", node_id: "node_id", task_id: "task_id", attempt: "attempt", not_before: "not_before", payload: "payload", priority: "priority" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "none",
  },
  "queue.renew": {
    id: "queue.renew",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/queue/renew",
    variables: {},
    query: {},
    headers: {},
    body: { consumer_id: "consumer_id", entry_id: "entry_id", token: "token", expires_at: "expires_at", fence: "fence" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "queue.show": {
    id: "queue.show",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/queue",
    variables: {},
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "relation.get": {
    id: "relation.get",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/relations/{id}",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "relation.list": {
    id: "relation.list",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/memories/{id}/relations",
    variables: { memory_id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "relation.neighbours": {
    id: "relation.neighbours",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/memories/{id}/neighbours",
    variables: { memory_id: "id" },
    query: { depth: "depth", type: "type", limit: "limit", session_id: "session_id", user_id: "user_id", project_id: "project_id", workspace_id: "workspace_id", all: "all" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "relation.relate": {
    id: "relation.relate",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/relations",
    variables: {},
    query: {},
    headers: {},
    body: { from: "from", to: "to", type: "type", author: "author", created_at: "created_at", deleted_at: "deleted_at", id: "id", origin: "origin", strength: "strength", trust: "trust" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "relation.unrelate": {
    id: "relation.unrelate",
    method: "DELETE",
    path: "/v1/tenants/{tenant}/agents/{agent}/relations/{id}",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "none",
  },
  "result.get": {
    id: "result.get",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/results/{task}/{node}",
    variables: { task: "task", node: "node" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "result.list": {
    id: "result.list",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/results",
    variables: {},
    query: { limit: "limit", cursor: "cursor", task_id: "task_id" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: true,
    answer: "list",
  },
  "result.save": {
    id: "result.save",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/results",
    variables: {},
    query: {},
    headers: {},
    body: { node_id: "node_id", producer: "producer", status: "status", task_id: "task_id", confidence: "confidence", evidence: "evidence", fence: "fence", payload: "payload", schema_version: "schema_version", updated_at: "updated_at" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "session.active": {
    id: "session.active",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/active-session",
    variables: {},
    query: { binding: "binding" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "session.delete": {
    id: "session.delete",
    method: "DELETE",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "none",
  },
  "session.end": {
    id: "session.end",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/end",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: { reason: "reason", summary: "summary" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "session.get": {
    id: "session.get",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "session.list": {
    id: "session.list",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions",
    variables: {},
    query: { limit: "limit", cursor: "cursor", binding: "binding", project: "project", trusted: "trusted" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: true,
    answer: "list",
  },
  "session.rename": {
    id: "session.rename",
    method: "PATCH",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: { name: "name" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "session.select": {
    id: "session.select",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/select",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "session.start": {
    id: "session.start",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions",
    variables: {},
    query: {},
    headers: {},
    body: { binding: "binding", directory: "directory", id: "id", name: "name", parent: "parent", project: "project" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "snapshot.delete": {
    id: "snapshot.delete",
    method: "DELETE",
    path: "/v1/tenants/{tenant}/agents/{agent}/snapshots/{id}",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "none",
  },
  "snapshot.diff": {
    id: "snapshot.diff",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/snapshots/diff",
    variables: {},
    query: {},
    headers: {},
    body: { a: "a", b: "b", rows: "rows" },
    raw: false,
    key: false,
    changes: false,
    long: true,
    paged: false,
    answer: "json",
  },
  "snapshot.list": {
    id: "snapshot.list",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/snapshots",
    variables: {},
    query: { limit: "limit", cursor: "cursor" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: true,
    answer: "list",
  },
  "snapshot.memories": {
    id: "snapshot.memories",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/snapshots/{id}/memories",
    variables: { id: "id" },
    query: { limit: "limit", cursor: "cursor", scope: "scope", session_id: "session_id", user_id: "user_id", project_id: "project_id", workspace_id: "workspace_id", kind: "kind", tag: "tag", since: "since", until: "until", all: "all", deleted: "deleted", trusted: "trusted", trust: "trust", waiting: "waiting" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: true,
    paged: true,
    answer: "list",
  },
  "snapshot.memory": {
    id: "snapshot.memory",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/snapshots/{id}/memories/{memory}",
    variables: { id: "id", memory: "memory" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: true,
    paged: false,
    answer: "json",
  },
  "snapshot.pin": {
    id: "snapshot.pin",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/snapshots/{id}/pin",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: { pinned: "pinned" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "none",
  },
  "snapshot.prune": {
    id: "snapshot.prune",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/snapshots/prune",
    variables: {},
    query: {},
    headers: {},
    body: { automatic_only: "automatic_only", dry_run: "dry_run", keep_daily: "keep_daily", keep_hourly: "keep_hourly", keep_last: "keep_last", keep_safety: "keep_safety", keep_weekly: "keep_weekly", max_age: "max_age", safety_age: "safety_age" },
    raw: false,
    key: true,
    changes: true,
    long: true,
    paged: false,
    answer: "json",
  },
  "snapshot.recall": {
    id: "snapshot.recall",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/snapshots/{id}/recall",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: { explain: "explain", kinds: "kinds", layers: "layers", limit: "limit", local: "local", min_score: "min_score", project_id: "project_id", reason: "reason", scope: "scope", session_id: "session_id", since: "since", tags: "tags", text: "text", trusted: "trusted", until: "until", user_id: "user_id", workspace_id: "workspace_id" },
    raw: false,
    key: false,
    changes: false,
    long: true,
    paged: false,
    answer: "json",
  },
  "snapshot.restore": {
    id: "snapshot.restore",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/snapshots/{id}/restore",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: { accept_redacted: "accept_redacted", accept_unsigned: "accept_unsigned", discard_old: "discard_old", dry_run: "dry_run", local_only: "local_only", no_safety_snapshot: "no_safety_snapshot", only: "only", to: "to", with_control: "with_control" },
    raw: false,
    key: true,
    changes: true,
    long: true,
    paged: false,
    answer: "json",
  },
  "snapshot.restore_memory": {
    id: "snapshot.restore_memory",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/snapshots/{id}/restore-memory",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: { memory: "memory", dry_run: "dry_run" },
    raw: false,
    key: true,
    changes: true,
    long: true,
    paged: false,
    answer: "json",
  },
  "snapshot.show": {
    id: "snapshot.show",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/snapshots/{id}",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "snapshot.take": {
    id: "snapshot.take",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/snapshots",
    variables: {},
    query: {},
    headers: {},
    body: { by: "by", encrypt: "encrypt", label: "label", no_sign: "no_sign", pin: "pin", sources: "sources" },
    raw: false,
    key: true,
    changes: true,
    long: true,
    paged: false,
    answer: "json",
  },
  "snapshot.verify": {
    id: "snapshot.verify",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/snapshots/{id}/verify",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: { read_data: "read_data" },
    raw: false,
    key: false,
    changes: false,
    long: true,
    paged: false,
    answer: "json",
  },
  "state.delete": {
    id: "state.delete",
    method: "DELETE",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/state",
    variables: { session_id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "none",
  },
  "state.get": {
    id: "state.get",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/state",
    variables: { session_id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "state.save": {
    id: "state.save",
    method: "PUT",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/state",
    variables: { session_id: "id" },
    query: {},
    headers: { if_match: "If-Match" },
    body: { document: "document", exact: "exact", if_version: "if_version" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "task.compact": {
    id: "task.compact",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/tasks/{id}/events/compact",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: { keep: "keep" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "task.event": {
    id: "task.event",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/tasks/{id}/events",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: { from: "from", approval_id: "approval_id", at: "at", attempt: "attempt", error_class: "error_class", kind: "kind", node_id: "node_id", node_kind: "node_kind", reason: "reason", result: "result", seq: "seq", task_id: "task_id", to: "to" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "task.events": {
    id: "task.events",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/tasks/{id}/events",
    variables: { id: "id" },
    query: { limit: "limit", cursor: "cursor" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: true,
    answer: "list",
  },
  "task.get": {
    id: "task.get",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/tasks/{id}",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "task.list": {
    id: "task.list",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/tasks",
    variables: {},
    query: { limit: "limit", cursor: "cursor", state: "state", session_id: "session_id" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: true,
    answer: "list",
  },
  "task.replay": {
    id: "task.replay",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/tasks/{id}/replay",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "task.save": {
    id: "task.save",
    method: "PUT",
    path: "/v1/tenants/{tenant}/agents/{agent}/tasks/{id}",
    variables: { id: "id" },
    query: {},
    headers: { if_match: "If-Match" },
    body: { goal: "goal", attempts: "attempts", completed_nodes: "completed_nodes", created_at: "created_at", extra: "extra", extra_exact: "extra_exact", last_result: "last_result", next_node_index: "next_node_index", pending_approval_id: "pending_approval_id", request_id: "request_id", session_id: "session_id", state: "state", updated_at: "updated_at", version: "version" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "tenant.check": {
    id: "tenant.check",
    method: "POST",
    path: "/v1/tenants/{tenant}/check",
    variables: {},
    query: {},
    headers: {},
    body: { read_data: "read_data" },
    raw: false,
    key: false,
    changes: false,
    long: true,
    paged: false,
    answer: "json",
  },
  "tenant.gc": {
    id: "tenant.gc",
    method: "POST",
    path: "/v1/tenants/{tenant}/gc",
    variables: {},
    query: {},
    headers: {},
    body: { dry_run: "dry_run", old_generations: "old_generations" },
    raw: false,
    key: true,
    changes: true,
    long: true,
    paged: false,
    answer: "json",
  },
  "token.create": {
    id: "token.create",
    method: "POST",
    path: "/v1/tokens",
    variables: {},
    query: {},
    headers: {},
    body: { name: "name", scopes: "scopes", expires_at: "expires_at", project_id: "project_id", user_id: "user_id", workspace_id: "workspace_id" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "token.list": {
    id: "token.list",
    method: "GET",
    path: "/v1/tokens",
    variables: {},
    query: { tenant: "tenant", agent: "agent" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "token.revoke": {
    id: "token.revoke",
    method: "DELETE",
    path: "/v1/tokens/{id}",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "turn.append": {
    id: "turn.append",
    method: "POST",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/turns",
    variables: { session_id: "id" },
    query: {},
    headers: {},
    body: { content: "content", role: "role", created_at: "created_at", id: "id", project_id: "project_id", trust: "trust" },
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "turn.delete": {
    id: "turn.delete",
    method: "DELETE",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/turns",
    variables: { session_id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: true,
    changes: true,
    long: false,
    paged: false,
    answer: "json",
  },
  "turn.get": {
    id: "turn.get",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/turns/{id}",
    variables: { id: "id" },
    query: {},
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "json",
  },
  "turn.list": {
    id: "turn.list",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/turns",
    variables: { session_id: "id" },
    query: { limit: "limit" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: false,
    answer: "list",
  },
  "turn.page": {
    id: "turn.page",
    method: "GET",
    path: "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/conversation",
    variables: { session_id: "id" },
    query: { limit: "limit", cursor: "cursor", order: "order", excerpt: "excerpt" },
    headers: {},
    body: null,
    raw: false,
    key: false,
    changes: false,
    long: false,
    paged: true,
    answer: "list",
  },
};

/** What activity.list is given. */
export interface ActivityListArgs {
  /** Only of this kind. */
  kind?: string | undefined;
}

/** What activity.named is given. */
export interface ActivityNamedArgs {
  /** Of this kind; context tells which passages stood before an agent. */
  kind: string;
  /** With this name; of a passage its layer and owner, as in memory 0198c0de-0000-7000-8000-000000000001. */
  name?: string | undefined;
}

/** What agents did in sessions. */
export class ActivityOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List the activity of a session, in the order of first occurrence.
   *
   * Lists what was done in a session beside what was said, in the order in which it was first done. An unknown session
   * has none. The answer is whole.
   *
   * @param session_id The id of the session.
   */
  list(session_id: string, args: ActivityListArgs = {}, options: CallOptions = {}): Promise<ActivityPage> {
    return this.#caller.ask(operations["activity.list"], [session_id], args, options);
  }

  /**
   * List what was done under one name in every session, done last first.
   *
   * Lists what was done under one kind and name in every session, done last first, at most 1000.
   */
  named(args: ActivityNamedArgs, options: CallOptions = {}): Promise<ActivityPage> {
    return this.#caller.ask(operations["activity.named"], [], args, options);
  }
}

/** What agent.doctor is given. */
export interface AgentDoctorArgs {
  /** Look at every row. */
  deep?: boolean | undefined;
}

/** What agent.list is given. */
export interface AgentListArgs {
  /** Only of this tenant; default all that the token is for. */
  tenant?: string | undefined;
  /** Only of this agent; default all that the token is for. */
  agent?: string | undefined;
}

/** What agent.sync is given. */
export interface AgentSyncArgs {
  /** The place, by the name that sync gave it; default what every place has in quarantine, and conflicts. */
  place?: string | undefined;
}

/** The agents of the server, and how each is doing. */
export class AgentOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Read the capabilities of the agent's store.
   *
   * Answers with what the store of the agent can do. What it cannot do answers with an error of kind unsupported.
   */
  capabilities(options: CallOptions = {}): Promise<Capabilities> {
    return this.#caller.ask(operations["agent.capabilities"], [], {}, options);
  }

  /**
   * Check the agent; only callers that may see every tenant get the details of findings.
   *
   * Checks the agent and its home and answers with a list of findings. It needs the scope admin, and only callers that
   * may see every tenant get the details. With deep every row is looked at, which may take long.
   */
  doctor(args: AgentDoctorArgs = {}, options: CallOptions = {}): Promise<Checkup> {
    return this.#caller.ask(operations["agent.doctor"], [], args, options);
  }

  /**
   * Read which generation of the agent is live, which restore made the generation, and whether a restore is
   * unfinished.
   *
   * Answers with the generation of the agent that is live, the restore that made it, and a restore that is not
   * finished. Every restore makes a new generation.
   */
  generation(options: CallOptions = {}): Promise<Generation> {
    return this.#caller.ask(operations["agent.generation"], [], {}, options);
  }

  /**
   * Read the health of long-term memory.
   *
   * Answers with how the long-term memory of the agent is doing. It fails only when it takes too long.
   */
  health(options: CallOptions = {}): Promise<Health> {
    return this.#caller.ask(operations["agent.health"], [], {}, options);
  }

  /**
   * List the agents that the token reaches, by tenant and agent.
   *
   * Lists the agents that the token reaches, by tenant and agent. An agent that is not there is not found, in the same
   * words as one that the token does not reach. The answer is whole.
   */
  list(args: AgentListArgs = {}, options: CallOptions = {}): Promise<AgentNamePage> {
    return this.#caller.ask(operations["agent.list"], [], args, options);
  }

  /**
   * Count the records of the agent's store.
   *
   * Counts the records of the store of the agent, all at one instant.
   */
  stats(options: CallOptions = {}): Promise<Stats> {
    return this.#caller.ask(operations["agent.stats"], [], {}, options);
  }

  /**
   * Read the state of the sync with a place.
   *
   * Answers with what is known about the sync with a place: the devices it came from, what is in quarantine, and
   * conflicts. Without a place it is what every place has in quarantine, and conflicts.
   */
  sync(args: AgentSyncArgs = {}, options: CallOptions = {}): Promise<SyncReport> {
    return this.#caller.ask(operations["agent.sync"], [], args, options);
  }
}

/** What approval.decide is given. */
export interface ApprovalDecideArgs {
  /** The decision: approved, rejected or cancelled. */
  outcome: ApprovalStatus;
  /**
   * Who decides. It is needed where no token is used. Otherwise the server puts the name of the token there, and keeps
   * this one in claimed_by.
   */
  actor?: string | undefined;
  /** Who has decided as the caller says, where a token is used. The default is actor. */
  claimed_by?: string | undefined;
  /** What the person says about the decision. */
  comment?: string | undefined;
  /**
   * The digest of the payload that the person saw. Another payload that is stored is a conflict. It is not checked
   * where it is left out.
   */
  digest?: string | undefined;
}

/** What approval.list is given. */
export interface ApprovalListArgs {
  /** The most items; default 50, at most 1000. */
  limit?: number | undefined;
  /** The field next of the previous page. */
  cursor?: string | undefined;
  /** The task. */
  task_id?: string | undefined;
}

/** What approval.request is given. */
export interface ApprovalRequestArgs {
  /** The id of the node of the task. */
  node_id: string;
  /** What will be done if the answer is yes, any JSON. */
  payload: unknown;
  /** The question in words for people. */
  summary: string;
  /** The id of the task. */
  task_id: string;
  /** The id of the approval. The same id with the same payload is the stored approval. The default is a new UUID. */
  id?: string | undefined;
  /** Who asks. Where a token is used the server puts its id there, whatever the request says. */
  requested_by?: string | undefined;
}

/** Questions to people, and their decisions. */
export class ApprovalOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Decide an approval once; the token that requested the approval may not, and the recorded actor is the name of the
   * token.
   *
   * Decides an approval, once, and answers with it. It needs the scope approve, and the token that requested the
   * approval may not decide it whatever its scopes. The decision is recorded under the name of the token. An approval
   * that is decided already, or whose payload has another digest, is a conflict.
   *
   * @param id The id of the approval.
   */
  decide(id: string, args: ApprovalDecideArgs, options: CallOptions = {}): Promise<Approval> {
    return this.#caller.ask(operations["approval.decide"], [id], args, options);
  }

  /**
   * Read one approval.
   *
   * Answers with one approval, its payload checked against its digest.
   *
   * @param id The id of the approval.
   */
  get(id: string, options: CallOptions = {}): Promise<Approval> {
    return this.#caller.ask(operations["approval.get"], [id], {}, options);
  }

  /**
   * List the approvals of a task, oldest first, or every pending one.
   *
   * Lists the approvals of a task, oldest first, or every pending one where no task is named, a page at a time.
   */
  list(args: ApprovalListArgs = {}, options: CallOptions = {}): Listing<Approval> {
    return this.#caller.listing(operations["approval.list"], [], args, options);
  }

  /**
   * Ask a person for an approval.
   *
   * Asks a person for an approval and answers with it. The payload is frozen: what is approved is what will be done.
   * The same id with the same payload is answered as it is stored, and with another one it is a conflict. The token
   * that asks does not decide.
   */
  request(args: ApprovalRequestArgs, options: CallOptions = {}): Promise<Approval> {
    return this.#caller.ask(operations["approval.request"], [], args, options);
  }
}

/** What audit.list is given. */
export interface AuditListArgs {
  /** Only of this tenant; default all that the token is for. */
  tenant?: string | undefined;
  /** Only of this agent; default all that the token is for. */
  agent?: string | undefined;
  /** The most items; default 50, at most 1000. */
  limit?: number | undefined;
  /** The field next of the previous page. */
  cursor?: string | undefined;
  /** Only what this actor did: the id of a token, local, or cli. */
  actor?: string | undefined;
  /** Only this operation, as in memory.write. */
  action?: string | undefined;
  /** Only what happened at this time or later. */
  since?: Time | Date | undefined;
}

/** The audit log of the home. */
export class AuditOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List entries of the audit log, newest first; a token for one tenant or agent is shown only entries about it,
   * without hashes.
   *
   * Lists entries of the audit log, newest first, a page at a time. A token for one tenant or agent is shown only
   * entries about it, without hashes.
   */
  list(args: AuditListArgs = {}, options: CallOptions = {}): Listing<AuditEntry> {
    return this.#caller.listing(operations["audit.list"], [], args, options);
  }

  /**
   * Recompute the audit log and find what was changed; needs a token for every tenant, because the entries of all
   * tenants are one chain.
   *
   * Reads the whole audit log, computes every hash again and answers with what does not fit. Damage is no error. The
   * entries of all tenants are one chain, so it needs a token for every tenant.
   */
  verify(options: CallOptions = {}): Promise<AuditReport> {
    return this.#caller.ask(operations["audit.verify"], [], {}, options);
  }
}

/** What change.list is given. */
export interface ChangeListArgs {
  /** Only changes after this position; default: from the beginning. */
  after?: string | undefined;
  /** With order=newest: only changes before this position; default: from the end. */
  before?: string | undefined;
  /** Oldest or newest first; default oldest. */
  order?: string | undefined;
  /** With order=newest: only changes of this layer, as memory or turn (repeat). */
  scope?: readonly string[] | undefined;
  /** The same as after, or before: the field next of the previous page. */
  cursor?: string | undefined;
  /** The most items; default 50, at most 1000. */
  limit?: number | undefined;
}

/** The change log of memory. */
export class ChangeOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Read the position of the newest entry.
   *
   * Answers with the position of the newest entry of the change log of memory, from which a reader can go on.
   */
  head(options: CallOptions = {}): Promise<LogPosition> {
    return this.#caller.ask(operations["change.head"], [], {}, options);
  }

  /**
   * Read what changed, oldest or newest first; next is the position to continue from.
   *
   * Reads the change log of memory, oldest or newest first. Entries tell what changed and never its text. The field
   * next is the position to go on from, and any position of an entry will do. After a restore an old position is a
   * conflict: begin again without one.
   */
  list(args: ChangeListArgs = {}, options: CallOptions = {}): Listing<Change> {
    return this.#caller.listing(operations["change.list"], [], args, options);
  }
}

/** What compaction.add is given. */
export interface CompactionAddArgs {
  /** The summary. */
  summary: string;
  /** When the summary was made. The default is now. */
  created_at?: Time | Date | null | undefined;
  /** The id of the summary. One that is stored already is not stored again. The default is a new UUID. */
  id?: string | undefined;
  /** How many turns the summary stands for. */
  turns?: number | undefined;
}

/** What compaction.list is given. */
export interface CompactionListArgs {
  /** The most items; default 50, at most 1000. */
  limit?: number | undefined;
  /** The field next of the previous page. */
  cursor?: string | undefined;
}

/** Summaries of turns that an agent host dropped. */
export class CompactionOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Store the summary of turns; a summary with an id is stored once.
   *
   * Stores the summary of turns that an agent host dropped and answers with it. A summary whose id is stored already
   * is answered as it was stored; the id of a summary of another session is a conflict.
   *
   * @param session_id The id of the session.
   */
  add(session_id: string, args: CompactionAddArgs, options: CallOptions = {}): Promise<Compaction> {
    return this.#caller.ask(operations["compaction.add"], [session_id], args, options);
  }

  /**
   * Read the summaries of a session, oldest first.
   *
   * Lists the summaries of a session, oldest first, a page at a time. An unknown session has none.
   *
   * @param session_id The id of the session.
   */
  list(session_id: string, args: CompactionListArgs = {}, options: CallOptions = {}): Listing<Compaction> {
    return this.#caller.listing(operations["compaction.list"], [session_id], args, options);
  }
}

/** What concept.set is given. */
export interface ConceptSetArgs {
  /** The concept tags, in place of all that are there. An empty list removes them. */
  items?: readonly string[] | undefined;
}

/** Concept tags of memories. */
export class ConceptOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List the concepts of all memories, most frequent first.
   *
   * Lists the concepts of all live memories with how many have each, most frequent first, at most 1000.
   */
  count(options: CallOptions = {}): Promise<ConceptCountPage> {
    return this.#caller.ask(operations["concept.count"], [], {}, options);
  }

  /**
   * List the concept tags of a memory.
   *
   * Lists the concept tags of a memory, sorted. The answer is whole.
   *
   * @param memory_id The id of the memory.
   */
  list(memory_id: string, options: CallOptions = {}): Promise<StringPage> {
    return this.#caller.ask(operations["concept.list"], [memory_id], {}, options);
  }

  /**
   * Replace the concept tags of a memory.
   *
   * Replaces the concept tags of a live memory with those of the body. Recall finds a memory by the words of its
   * concepts, too.
   *
   * @param memory_id The id of the memory.
   */
  set(memory_id: string, args: ConceptSetArgs = {}, options: CallOptions = {}): Promise<void> {
    return this.#caller.done(operations["concept.set"], [memory_id], args, options);
  }
}

/** What consolidation.begin is given. */
export interface ConsolidationBeginArgs {
  /** The id of the consolidation that is open and whose program is gone. It is given up, and this one takes its place. */
  abandon?: string | undefined;
  /** What the program calls the run, at most 64 bytes. */
  run?: string | undefined;
}

/** What consolidation.end is given. */
export interface ConsolidationEndArgs {
  /** How it ended: done (the default) or failed. */
  outcome?: string | undefined;
}

/** Marks around runs that rewrite memory. */
export class ConsolidationOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Take a snapshot as snapshot.auto.before_consolidation says, and begin a consolidation.
   *
   * Takes a snapshot as the configuration says, opens a consolidation and answers with it. While another one is open
   * it is a conflict, unless abandon names that one.
   */
  begin(args: ConsolidationBeginArgs = {}, options: CallOptions = {}): Promise<Consolidation> {
    return this.#caller.ask(operations["consolidation.begin"], [], args, options);
  }

  /**
   * End a consolidation.
   *
   * Closes the open consolidation and answers with it. One that is not open is not found.
   *
   * @param id The id of the consolidation.
   */
  end(id: string, args: ConsolidationEndArgs = {}, options: CallOptions = {}): Promise<Consolidation> {
    return this.#caller.ask(operations["consolidation.end"], [id], args, options);
  }

  /**
   * Read the open consolidation.
   *
   * Answers with the open consolidation. Where none is open it is not found.
   */
  open(options: CallOptions = {}): Promise<Consolidation> {
    return this.#caller.ask(operations["consolidation.open"], [], {}, options);
  }
}

/** What control_change.list is given. */
export interface ControlChangeListArgs {
  /** Only changes after this position; default: from the beginning. */
  after?: string | undefined;
  /** With order=newest: only changes before this position; default: from the end. */
  before?: string | undefined;
  /** Oldest or newest first; default oldest. */
  order?: string | undefined;
  /** With order=newest: only changes of this layer, as memory or turn (repeat). */
  scope?: readonly string[] | undefined;
  /** The same as after, or before: the field next of the previous page. */
  cursor?: string | undefined;
  /** The most items; default 50, at most 1000. */
  limit?: number | undefined;
}

/** The change log of the control plane: tasks, approvals, results and the queue. */
export class ControlChangeOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Read the position of the newest entry.
   *
   * Answers with the position of the newest entry of the change log of the control plane, from which a reader can go
   * on.
   */
  head(options: CallOptions = {}): Promise<LogPosition> {
    return this.#caller.ask(operations["control_change.head"], [], {}, options);
  }

  /**
   * Read what changed in the control plane, oldest or newest first; next is the position to continue from.
   *
   * Reads the change log of the control plane, oldest or newest first. Entries tell what changed and never its text.
   * The field next is the position to go on from, and any position of an entry will do. After a restore an old
   * position is a conflict: begin again without one.
   */
  list(args: ControlChangeListArgs = {}, options: CallOptions = {}): Listing<Change> {
    return this.#caller.listing(operations["control_change.list"], [], args, options);
  }
}

/** What document.delete is given. */
export interface DocumentDeleteArgs {
  /** The same as If-Match. */
  if_revision?: string | undefined;
  /** The ETag of the document that is removed. */
  if_match?: string | undefined;
}

/** What document.put is given. */
export interface DocumentPutArgs {
  /** The document, any JSON, at most 256 KiB. */
  document: unknown;
  /**
   * True stores the document only if there is none of that name, and is a conflict otherwise. It is the same as the
   * header If-None-Match with *.
   */
  if_absent?: boolean | undefined;
  /** The revision that is replaced. Another one that is stored is a conflict. It is the same as the header If-Match. */
  if_revision?: string | undefined;
  /** The ETag of the document that is replaced. */
  if_match?: string | undefined;
  /** * stores the document only if the name is not taken. */
  if_none_match?: string | undefined;
}

/** Documents of runtime state: small JSON documents by name. */
export class DocumentOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Remove a document of runtime state.
   *
   * Removes a document of runtime state, also a damaged one. With If-Match or if_revision another revision that is
   * stored is a conflict.
   *
   * @param name The name of the document.
   */
  delete(name: string, args: DocumentDeleteArgs = {}, options: CallOptions = {}): Promise<void> {
    return this.#caller.done(operations["document.delete"], [name], args, options);
  }

  /**
   * Read a document of runtime state.
   *
   * Answers with a document of runtime state and its revision as ETag.
   *
   * @param name The name of the document.
   */
  get(name: string, options: CallOptions = {}): Promise<Document> {
    return this.#caller.ask(operations["document.get"], [name], {}, options);
  }

  /**
   * List the documents of runtime state by name, without their text.
   *
   * Lists the documents of runtime state by name, without their text. One that is damaged is among them and says so.
   * The answer is whole.
   */
  list(options: CallOptions = {}): Promise<DocumentPage> {
    return this.#caller.ask(operations["document.list"], [], {}, options);
  }

  /**
   * Store a document of runtime state, over the expected revision or as a new document.
   *
   * Stores a document of runtime state, new or over the one of that name, and answers with its revision. With If-Match
   * or if_revision another revision that is stored is a conflict; with If-None-Match: * or if_absent a name that is
   * taken is one. An agent has at most 256 documents.
   *
   * @param name The name of the document.
   */
  put(name: string, args: DocumentPutArgs, options: CallOptions = {}): Promise<Document> {
    return this.#caller.ask(operations["document.put"], [name], args, options);
  }
}

/** What event.stream is given. */
export interface EventStreamArgs {
  /** Continue after this event; default: begin with the next event. */
  after?: string | undefined;
  /** The same as after, sent by browsers. */
  last_event_id?: string | undefined;
}

/** What happens to an agent, as it happens. */
export class EventOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Stream every change and every event of snapshots as server-sent events; a stream that continues after the last
   * event misses nothing.
   *
   * Streams every change and every event of snapshots as server-sent events, until the caller goes. A stream that goes
   * on after the id of the last event misses no change. An event restored without data says that a restore has
   * replaced the history. Changes never hold text. At most 256 streams run at one time, and one more is busy.
   */
  stream(args: EventStreamArgs = {}, options: CallOptions = {}): Stream<Event> {
    return this.#caller.stream(operations["event.stream"], [], args, options);
  }
}

/** What export.download is given. */
export interface ExportDownloadArgs {
  /** The format. */
  to: string;
  /** Only this project; notes stay then. */
  project?: string | undefined;
  /** Memories of this user, too; may be repeated. */
  user?: readonly string[] | undefined;
  /** Memories of every user, too. */
  all_users?: boolean | undefined;
  /** Passages that are marked private, too. */
  private?: boolean | undefined;
}

/** Exports for other programs. */
export class ExportOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Export memories, conversations and notes in a format that another program reads; a format that writes several
   * files comes as a zip file.
   *
   * Answers with a file of memories, conversations and notes in a format that another program reads. A format that
   * writes several files comes as a zip file. Memories of users leave only when the users are named, and secrets are
   * taken out. An export that fails on the way is cut off.
   */
  download(args: ExportDownloadArgs, options: CallOptions = {}): FileAnswer {
    return this.#caller.file(operations["export.download"], [], args, options);
  }
}

/** What folder.trust is given. */
export interface FolderTrustArgs {
  /** The project that the folder claims, as the list shows. */
  asks: string;
  /** The path that the home knows the folder by. */
  place: string;
}

/** Folders of the machine that claim a project. */
export class FolderOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List the folders of the machine that claim a project and wait for the owner.
   *
   * Lists the folders of the machine of the server that claim a project which the home already knows, and which
   * folders have the project. Only for callers of every tenant. The answer is whole.
   */
  list(options: CallOptions = {}): Promise<WaitingFolderPage> {
    return this.#caller.ask(operations["folder.list"], [], {}, options);
  }

  /**
   * Confirm that a folder belongs to the project that it claims.
   *
   * Gives a folder the project that it claims, with what was said in the folder until now, and answers with how much
   * that was. A folder that claims another project by now is a conflict. Only for callers of every tenant.
   */
  trust(args: FolderTrustArgs, options: CallOptions = {}): Promise<TrustedFolder> {
    return this.#caller.ask(operations["folder.trust"], [], args, options);
  }
}

/** What import.upload is given. */
export interface ImportUploadArgs {
  /** The format; default: found out from the file. */
  from?: string | undefined;
  /** The name of the file or folder, which helps to find out the format; reports show it. */
  name?: string | undefined;
  /** When the file was last changed: the time of what has none of its own. */
  modified?: Time | Date | undefined;
  /** Tell what would be imported, and write nothing. */
  dry_run?: boolean | undefined;
  /** The project of everything that is imported; default: what the file says. */
  project?: string | undefined;
  /** The user whom memories about the user belong to; without one they are skipped. */
  user?: string | undefined;
  /** The file is the caller's own: what it says has the trust own instead of imported. */
  as_own?: boolean | undefined;
  /** Only what was changed since. */
  since?: Time | Date | undefined;
  /** Only these of memories, sessions and notes, separated with commas. */
  only?: string | undefined;
  /** Take lines that look like observations out of any Markdown as memories. */
  observations?: boolean | undefined;
  /** Rows that their program marks as sensitive, too. */
  sensitive?: boolean | undefined;
}

/** Imports from other programs. */
export class ImportOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List the imports that were made, oldest first.
   *
   * Lists the imports that were made, oldest first. The answer is whole.
   */
  list(options: CallOptions = {}): Promise<ImportRecordPage> {
    return this.#caller.ask(operations["import.list"], [], {}, options);
  }

  /**
   * Take an import back; what was edited since stays and is named.
   *
   * Takes an import back and answers with what was deleted. What was edited since stays and is named. Taking it back
   * again does nothing.
   *
   * @param id The id of the import.
   */
  undo(id: string, options: CallOptions = {}): Promise<ImportUndo> {
    return this.#caller.ask(operations["import.undo"], [id], {}, options);
  }

  /**
   * Import a file of another program, or a zip or tar.gz of its folder, which is the body; importing again stores only
   * what is new.
   *
   * Imports a file of another program, or a zip or tar.gz of its folder, and answers with what is new, changed and
   * known, and what was skipped and why. Importing the same file again stores only what is new. One import into an
   * agent runs at a time, and another one is busy. With dry_run nothing is written.
   */
  upload(data: Upload, args: ImportUploadArgs = {}, options: CallOptions = {}): Promise<ForeignImport> {
    return this.#caller.ask(operations["import.upload"], [], args, options, data);
  }
}

/** What journal.ingest is given. */
export interface JournalIngestArgs {
  /** The agent host, as in claude. */
  host: string;
  /** The name of the journal of one session, 32 hexadecimal digits. */
  journal: string;
  /** The id of the session. */
  session_id: string;
  /**
   * The number of the last entry that was stored before. 0, the default, means that none was. Another one that is
   * stored is a conflict.
   */
  after?: number | undefined;
  /** When the agent host was last heard of. */
  last_at?: Time | Date | null | undefined;
  /**
   * True when all of it happened long ago and was read from a record of it. The session is stored already then and
   * stays as it is.
   */
  past?: boolean | undefined;
  /** The process of the agent host. */
  process?: HostProcessAsked | undefined;
  /** What the entries mean, in their order. */
  steps?: readonly IngestStepAsked[] | undefined;
  /** The number of the last entry of the range, at least after. */
  through?: number | undefined;
}

/** The crash journal of agent hosts. */
export class JournalOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Read how far the journal of a session has been stored.
   *
   * Answers with how far the journal of a session has been stored. A journal that nobody knows has a cursor at 0.
   *
   * @param journal The name of the journal of one session.
   */
  cursor(journal: string, options: CallOptions = {}): Promise<JournalCursor> {
    return this.#caller.ask(operations["journal.cursor"], [journal], {}, options);
  }

  /**
   * Store a range of entries of a crash journal, exactly once.
   *
   * Stores what a range of entries of a crash journal means, in one step and exactly once, and answers with how many
   * steps were applied. A range that does not begin where the last one ended is a conflict, and nothing is applied
   * then.
   */
  ingest(args: JournalIngestArgs, options: CallOptions = {}): Promise<IngestResult> {
    return this.#caller.ask(operations["journal.ingest"], [], args, options);
  }

  /**
   * List the journal cursors of sessions that have not ended, least recently updated first.
   *
   * Lists the cursors of sessions that have not ended, those heard of longest ago first, at most 1000.
   */
  open(options: CallOptions = {}): Promise<JournalCursorPage> {
    return this.#caller.ask(operations["journal.open"], [], {}, options);
  }

  /**
   * Read the state of the crash journal.
   *
   * Lists what the crash journal holds of each session. The answer is whole.
   */
  status(options: CallOptions = {}): Promise<JournalStatusPage> {
    return this.#caller.ask(operations["journal.status"], [], {}, options);
  }
}

/** What loop.clear is given. */
export interface LoopClearArgs {
  /** Only the loop of this run. */
  run_id?: string | undefined;
}

/** What loop.save is given. */
export interface LoopSaveArgs {
  /** The run that the loop belongs to. */
  run_id: string;
  /** The state of the loop, any JSON. Amber does not look inside. */
  state_json: unknown;
  /**
   * The revision that is stored now. 0, the default, means that the session has no loop yet. Another one is a
   * conflict. It is the same as the header If-Match.
   */
  if_revision?: number | undefined;
  /** The run whose loop is stored now. The default is run_id. */
  if_run_id?: string | undefined;
  /** The ETag of the stored value. */
  if_match?: string | undefined;
}

/** Suspended loops of agents: one for each session. */
export class LoopOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Remove the suspended loop of a session.
   *
   * Removes the suspended loop of a session. With run_id only the loop of that run is removed, and the loop of another
   * run is a conflict. A session without a loop is no error.
   *
   * @param session_id The id of the session.
   */
  clear(session_id: string, args: LoopClearArgs = {}, options: CallOptions = {}): Promise<void> {
    return this.#caller.done(operations["loop.clear"], [session_id], args, options);
  }

  /**
   * Read the suspended loop of a session.
   *
   * Answers with the suspended loop of a session and its revision as ETag. A session without a loop is not found, and
   * a loop whose bytes are not those that were written is damaged.
   *
   * @param session_id The id of the session.
   */
  get(session_id: string, options: CallOptions = {}): Promise<PendingLoop> {
    return this.#caller.ask(operations["loop.get"], [session_id], {}, options);
  }

  /**
   * Store the suspended loop of a session over the expected run and revision; 0 means that the session has no loop
   * yet.
   *
   * Stores the suspended loop of a session over the expected run and revision and answers with the new revision. The
   * revision is named by If-Match or if_revision, and without them the session must have no loop yet. Anything else
   * that is stored is a conflict. A session has one loop at most.
   *
   * @param session_id The id of the session.
   */
  save(session_id: string, args: LoopSaveArgs, options: CallOptions = {}): Promise<PendingLoop> {
    return this.#caller.ask(operations["loop.save"], [session_id], args, options);
  }
}

/** What memory.context is given. */
export interface MemoryContextArgs {
  /** True fills in the field why of each memory. */
  explain?: boolean | undefined;
  /** What the user asks for. It is empty at the start of a session. */
  goal?: string | undefined;
  /** What was put before the agent in this session already. It is left out unless it has changed. */
  known?: readonly ContextItemAsked[] | undefined;
  /** The most bytes of the text. The default is 8192, the bounds are 512 and 65536. */
  max_bytes?: number | undefined;
  /**
   * When the block is put before the agent: start (a session begins), prompt (the user has typed the goal) or
   * compaction (the host has summed up the session). Without one, a request with a goal is answered with what is
   * relevant to the goal, and one without a goal like the start of a session.
   */
  occasion?: string | undefined;
  /** True when a suspended loop of the session is resumed. It changes the reason of the recall. */
  pending_loop_active?: boolean | undefined;
  /** The project that memories of scope project are bound to. */
  project_id?: string | undefined;
  /** The session that memories of scope session are bound to. */
  session_id?: string | undefined;
  /** How many recent sessions to tell of. 0 means 3, a negative number none. */
  sessions?: number | undefined;
  /** The user that memories of scope user are bound to. */
  user_id?: string | undefined;
  /** The workspace that memories of scope workspace are bound to. */
  workspace_id?: string | undefined;
}

/** What memory.edit is given. */
export interface MemoryEditArgs {
  /** The server does not use it: it knows who asks. */
  author?: AuthorAsked | undefined;
  /** The new content. */
  content?: string | undefined;
  /**
   * The revision that the edit is based on. Another one that is stored is a conflict. 0, the default, takes any. It is
   * the same as the header If-Match.
   */
  if_revision?: number | undefined;
  /** The caller vouches for the memory, which gets the trust of the caller. */
  keep?: boolean | undefined;
  /** The new kind. */
  kind?: MemoryKind | undefined;
  /** The new metadata, in place of all that is there. */
  metadata?: Record<string, string> | undefined;
  /** The new summary. */
  summary?: string | undefined;
  /** The new tags, in place of all that are there. */
  tags?: readonly string[] | undefined;
  /** The new title. */
  title?: string | undefined;
  /** The trust of the caller, at most what the server gives it. A memory that is trusted more is not changed. */
  trust?: Trust | undefined;
  /** The ETag the edit is based on. */
  if_match?: string | undefined;
}

/** What memory.history is given. */
export interface MemoryHistoryArgs {
  /** The most items; default 50, at most 1000. */
  limit?: number | undefined;
  /** The field next of the previous page. */
  cursor?: string | undefined;
}

/** What memory.list is given. */
export interface MemoryListArgs {
  /** The most items; default 50, at most 1000. */
  limit?: number | undefined;
  /** The field next of the previous page. */
  cursor?: string | undefined;
  /** Only this scope. */
  scope?: Scope | undefined;
  /** See memories of this session. */
  session_id?: string | undefined;
  /** See memories of this user. */
  user_id?: string | undefined;
  /** See memories of this project. */
  project_id?: string | undefined;
  /** See memories of this workspace. */
  workspace_id?: string | undefined;
  /** Only this kind (repeat). */
  kind?: readonly MemoryKind[] | undefined;
  /** Only with this tag (repeat). */
  tag?: readonly string[] | undefined;
  /** Updated at or after. */
  since?: Time | Date | undefined;
  /** Updated before. */
  until?: Time | Date | undefined;
  /** Every scope and identity. */
  all?: boolean | undefined;
  /** Include tombstones. */
  deleted?: boolean | undefined;
  /** Own and signed memories alone. */
  trusted?: boolean | undefined;
  /** Of this trust or more. */
  trust?: Trust | undefined;
  /**
   * Those alone that wait for the owner by this rule: agents, imports or none; a server with a rule of its own goes by
   * that.
   */
  waiting?: string | undefined;
}

/** What memory.recall is given. */
export interface MemoryRecallArgs {
  /** True fills in the field why of each hit. */
  explain?: boolean | undefined;
  /** Only memories of these kinds. */
  kinds?: readonly MemoryKind[] | undefined;
  /**
   * The layers that are asked: memory, exchange, note, session, activity. The default is all of them, or memory alone
   * where the query has kinds or tags.
   */
  layers?: readonly string[] | undefined;
  /** The most hits. The default is 8. More than 64 is lowered to 64, and clamped says so. */
  limit?: number | undefined;
  /** True leaves out what was imported and not signed by a trusted key. */
  local?: boolean | undefined;
  /** Leave out hits with a lower score, from 0 to 1. Where no hit reaches 0.25, memory has rather no answer. */
  min_score?: number | undefined;
  /** The project that memories of scope project are bound to. */
  project_id?: string | undefined;
  /** Why it is asked: manual (the default), request_intake or resume. */
  reason?: string | undefined;
  /** Only this scope. The default is every scope whose identity is named, and global. */
  scope?: Scope | undefined;
  /** The session that memories of scope session are bound to. */
  session_id?: string | undefined;
  /** Only what was updated at this time or later. */
  since?: Time | Date | null | undefined;
  /** Only memories that have every one of these tags. */
  tags?: readonly string[] | undefined;
  /**
   * A question in natural language. Found is what is near it in meaning, and what has its words, parts of them or
   * words with a slip of the keyboard. Blank text matches every memory, newest first.
   */
  text?: string | undefined;
  /** True takes own and signed memories alone. */
  trusted?: boolean | undefined;
  /** Only what was updated before this time. */
  until?: Time | Date | null | undefined;
  /** The user that memories of scope user are bound to. */
  user_id?: string | undefined;
  /** The workspace that memories of scope workspace are bound to. */
  workspace_id?: string | undefined;
}

/** What memory.timeline is given. */
export interface MemoryTimelineArgs {
  /** How many older memories. */
  before?: number | undefined;
  /** How many newer memories. */
  after?: number | undefined;
}

/** What memory.write is given. */
export interface MemoryWriteArgs {
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

/** What memory.write_batch is given. */
export interface MemoryWriteBatchArgs {
  /** The memories, at most 256. */
  items?: readonly WriteRequestAsked[] | undefined;
}

/** Long-term memories: store, find, read, change, forget and erase them, and build the context of a prompt. */
export class MemoryOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Build the block of memory that is put before a prompt.
   *
   * Builds the block of memory that is put before the prompt of an agent, and answers with its text and what is in it.
   * The text is between two lines with a random delimiter, so that nothing in it can be taken for instructions. What
   * was imported and not signed by a trusted key is not in it. Nothing is changed.
   */
  context(args: MemoryContextArgs = {}, options: CallOptions = {}): Promise<ContextBlock> {
    return this.#caller.ask(operations["memory.context"], [], args, options);
  }

  /**
   * Change fields of a memory.
   *
   * Changes the fields that the body names and answers with the new revision. An edit that changes nothing answers
   * with the memory as it is. Earlier revisions stay in the history. With If-Match or if_revision it is a conflict
   * when another revision is stored; an edit that would make the memory equal to another one is a conflict, too.
   *
   * @param id The id of the memory.
   */
  edit(id: string, args: MemoryEditArgs = {}, options: CallOptions = {}): Promise<Memory> {
    return this.#caller.ask(operations["memory.edit"], [id], args, options);
  }

  /**
   * Remove the text of a memory for good.
   *
   * Removes every trace of the text of a memory from the files of the store, and answers with what was removed and
   * which copies remain elsewhere. A tombstone without text stays, and no import brings the memory back. Erasing it
   * again does nothing. It cannot be undone.
   *
   * @param id The id of the memory.
   */
  erase(id: string, options: CallOptions = {}): Promise<EraseReport> {
    return this.#caller.ask(operations["memory.erase"], [id], {}, options);
  }

  /**
   * Delete a memory; a tombstone stays.
   *
   * Deletes a memory. A tombstone stays, and the history still shows the memory. Deleting it again does nothing.
   *
   * @param id The id of the memory.
   */
  forget(id: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.done(operations["memory.forget"], [id], {}, options);
  }

  /**
   * Read one memory.
   *
   * Answers with one live memory and its revision as ETag. A memory that was deleted is not found.
   *
   * @param id The id of the memory.
   */
  get(id: string, options: CallOptions = {}): Promise<Memory> {
    return this.#caller.ask(operations["memory.get"], [id], {}, options);
  }

  /**
   * Read every revision of a memory.
   *
   * Lists every revision of a memory, oldest first, with the tombstone last if it is deleted, a page at a time.
   *
   * @param id The id of the memory.
   */
  history(id: string, args: MemoryHistoryArgs = {}, options: CallOptions = {}): Listing<Memory> {
    return this.#caller.listing(operations["memory.history"], [id], args, options);
  }

  /**
   * List memories, newest first.
   *
   * Lists memories without searching, last updated first, a page at a time. Seen are global memories and those of the
   * identities that the query names, or with all=true those of every scope and identity.
   */
  list(args: MemoryListArgs = {}, options: CallOptions = {}): Listing<Memory> {
    return this.#caller.listing(operations["memory.list"], [], args, options);
  }

  /**
   * Find the memories and passages of sessions that best answer a text.
   *
   * Answers with the memories, and the passages of sessions and notes, that best answer a text, best first, each with
   * a score from 0 to 1. Seen are global memories and those of the identities that the query names, and of no others.
   * No match is an empty list. Nothing is changed.
   */
  recall(args: MemoryRecallArgs = {}, options: CallOptions = {}): Promise<RecallResult> {
    return this.#caller.ask(operations["memory.recall"], [], args, options);
  }

  /**
   * List the memories that were stored just before and after a memory.
   *
   * Lists the memories that were stored just before and after a memory, with the memory between them, oldest first.
   * They are of the same session, or of the same scope and identity where the memory has no session.
   *
   * @param id The id of the memory.
   */
  timeline(id: string, args: MemoryTimelineArgs = {}, options: CallOptions = {}): Promise<MemoryPage> {
    return this.#caller.ask(operations["memory.timeline"], [id], args, options);
  }

  /**
   * Store one memory.
   *
   * Stores one memory durably and answers with it as it is stored. The same content, kind, scope, identity and title
   * again is the same memory: deduplicated is true, tags are joined, and a summary and keys of the metadata that it
   * lacks are added. A topic that exists becomes a new revision of its memory. Without a scope the memory is for the
   * narrowest identity that the request names, and global only where it names none. Secrets are taken out before it is
   * stored. The same Idempotency-Key gets the first answer; with another request, or once that memory was erased, it
   * is a conflict.
   */
  write(args: MemoryWriteArgs, options: CallOptions = {}): Promise<WriteAck> {
    return this.#caller.ask(operations["memory.write"], [], args, options);
  }

  /**
   * Store several memories, all or none.
   *
   * Stores up to 256 memories in one step, all of them or none, and answers with each in the order of the request. For
   * every memory the rules of memory.write hold.
   */
  write_batch(args: MemoryWriteBatchArgs = {}, options: CallOptions = {}): Promise<WriteAckPage> {
    return this.#caller.ask(operations["memory.write_batch"], [], args, options);
  }
}

/** What note.delete is given. */
export interface NoteDeleteArgs {
  /** The trust of the caller, to lower that of the token; the commit says it. */
  trust?: Trust | undefined;
  /** The program that speaks, where the caller is the owner's. */
  author_host?: string | undefined;
  /** The agent in it. */
  author_agent?: string | undefined;
  /** Its session. */
  author_session?: string | undefined;
  /** The name of its token. */
  author_token?: string | undefined;
  /** The ETag the change is based on. */
  if_match?: string | undefined;
}

/** What note.log is given. */
export interface NoteLogArgs {
  /** The most items; default 50, at most 1000. */
  limit?: number | undefined;
}

/** What note.write is given. */
export interface NoteWriteArgs {
  /** The text of the note, Markdown, at most 1 MiB. */
  content: string;
  /** Who writes, where a program of the owner speaks for an agent. Of other callers the server knows who asks. */
  author?: AuthorAsked | undefined;
  /** The trust of the caller, at most what the server gives it. */
  trust?: Trust | undefined;
  /** The ETag the change is based on. */
  if_match?: string | undefined;
}

/** Notes: Markdown documents with a history. */
export class NoteOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Read one note as a change left it.
   *
   * Answers with a note as one of its last 1000 changes left it. A change that deleted the note is not found.
   *
   * @param name The name of the note, its slashes as %2F.
   * @param commit The commit of the change.
   */
  at(name: string, commit: string, options: CallOptions = {}): Promise<Note> {
    return this.#caller.ask(operations["note.at"], [name, commit], {}, options);
  }

  /**
   * Remove a note and commit that; its history stays.
   *
   * Removes a note and commits that; its history stays and can be read. With If-Match it is a conflict when the note
   * was changed meanwhile.
   *
   * @param name The name of the note, its slashes as %2F.
   */
  delete(name: string, args: NoteDeleteArgs = {}, options: CallOptions = {}): Promise<void> {
    return this.#caller.done(operations["note.delete"], [name], args, options);
  }

  /**
   * Read one note.
   *
   * Answers with one note and its commit as ETag.
   *
   * @param name The name of the note, its slashes as %2F.
   */
  get(name: string, options: CallOptions = {}): Promise<Note> {
    return this.#caller.ask(operations["note.get"], [name], {}, options);
  }

  /**
   * List notes by name, without content.
   *
   * Lists the notes by name, without their content. The answer is whole.
   */
  list(options: CallOptions = {}): Promise<NotePage> {
    return this.#caller.ask(operations["note.list"], [], {}, options);
  }

  /**
   * List the last changes of a note, newest first; the history of a deleted note is listed too.
   *
   * Lists the last changes of a note, newest first, also of a note that was deleted. It has a limit and no pages.
   *
   * @param name The name of the note, its slashes as %2F.
   */
  log(name: string, args: NoteLogArgs = {}, options: CallOptions = {}): Promise<NoteCommitPage> {
    return this.#caller.ask(operations["note.log"], [name], args, options);
  }

  /**
   * Store a note and commit it.
   *
   * Stores a note, commits it to the history of the notes and answers with it. Equal content makes no commit. With
   * If-Match it is a conflict when the note was changed or deleted meanwhile.
   *
   * @param name The name of the note, its slashes as %2F.
   */
  write(name: string, args: NoteWriteArgs, options: CallOptions = {}): Promise<Note> {
    return this.#caller.ask(operations["note.write"], [name], args, options);
  }
}

/** What quarantine.list is given. */
export interface QuarantineListArgs {
  /** Only of this session: its id, or its key. */
  session?: string | undefined;
}

/** What quarantine.retry is given. */
export interface QuarantineRetryArgs {
  /** The name of one file, which needs a session. The default is all files. */
  name?: string | undefined;
  /** The id or the key of a session. The default is every session. */
  session?: string | undefined;
}

/** What the crash journal has set aside. */
export class QuarantineOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List what the crash journal has set aside, without the payloads.
   *
   * Lists the files that the crash journal has set aside and why, without what is in them. The answer is whole.
   */
  list(args: QuarantineListArgs = {}, options: CallOptions = {}): Promise<HeldEntryPage> {
    return this.#caller.ask(operations["quarantine.list"], [], args, options);
  }

  /**
   * Put entries that were set aside back into the crash journal, to be stored again: all of them, those of a session,
   * or one.
   *
   * Puts entries that were set aside back into the crash journal, to be stored again, and answers with a list of them:
   * all entries, those of a session, or one. Files that are no entries stay.
   */
  retry(args: QuarantineRetryArgs = {}, options: CallOptions = {}): Promise<HeldEntryPage> {
    return this.#caller.ask(operations["quarantine.retry"], [], args, options);
  }

  /**
   * Show one file that the crash journal has set aside, at most 8 MiB, without secrets.
   *
   * Answers with one file that the crash journal has set aside, with its bytes as base64 and without secrets. A file
   * of more than 8 MiB is refused with quota.
   *
   * @param session The session: its key, or its id where one host has it.
   * @param name The name of the file.
   */
  show(session: string, name: string, options: CallOptions = {}): Promise<HeldEntry> {
    return this.#caller.ask(operations["quarantine.show"], [session, name], {}, options);
  }
}

/** What queue.ack is given. */
export interface QueueAckArgs {
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

/** What queue.claim is given. */
export interface QueueClaimArgs {
  /** The program that will work on the entry. */
  consumer_id: string;
}

/** What queue.dead is given. */
export interface QueueDeadArgs {
  /** The most items; default 50, at most 1000. */
  limit?: number | undefined;
  /** The field next of the previous page. */
  cursor?: string | undefined;
}

/** What queue.nack is given. */
export interface QueueNackArgs {
  /** The right to work on the entry for a while. */
  lease: LeaseAsked;
  /** The entry is not leased again before this time. The default is a delay that doubles with each attempt. */
  not_before?: Time | Date | null | undefined;
  /** Why it is given back. */
  reason?: string | undefined;
}

/** What queue.publish is given. */
export interface QueuePublishArgs {
  /**
   * The id of the entry. One that was added before with the same bytes is not added again, also when it is done; with
   * other bytes it is a conflict.
   */
  entry_id: string;
  /** The id of the node of the task. */
  node_id: string;
  /** The id of the task. */
  task_id: string;
  /** The server counts attempts, so leave it out. */
  attempt?: number | undefined;
  /** The entry is not leased before this time. */
  not_before?: Time | Date | null | undefined;
  /** What is to be done, as text. Amber does not look inside. */
  payload?: string | undefined;
  /** The priority. Entries with a higher one are leased first. The default is 0. */
  priority?: number | undefined;
}

/** What queue.renew is given. */
export interface QueueRenewArgs {
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

/** The queue that hands work to programs. */
export class QueueOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Finish a leased entry.
   *
   * Finishes a leased entry. Doing it again under the same lease does nothing. A lease that is lost is a conflict.
   */
  ack(args: QueueAckArgs, options: CallOptions = {}): Promise<void> {
    return this.#caller.done(operations["queue.ack"], [], args, options);
  }

  /**
   * Lease the next due entry; the reason queue_empty or queue_full says why no entry is leased.
   *
   * Leases the due entry of the highest priority, oldest first, and answers with it and the lease. It is not found
   * with the reason queue_empty when no entry is due, and busy with the reason queue_full when every lease is taken.
   * It shows what is stored, so it needs the scope read, too.
   */
  claim(args: QueueClaimArgs, options: CallOptions = {}): Promise<Claim> {
    return this.#caller.ask(operations["queue.claim"], [], args, options);
  }

  /**
   * List entries that used up their attempts, newest first.
   *
   * Lists entries that used up their attempts, newest first, a page at a time.
   */
  dead(args: QueueDeadArgs = {}, options: CallOptions = {}): Listing<DeadEntry> {
    return this.#caller.listing(operations["queue.dead"], [], args, options);
  }

  /**
   * Return a leased entry to the queue.
   *
   * Gives a leased entry back to the queue, or buries it when its attempts are used up. A lease that is lost is a
   * conflict.
   */
  nack(args: QueueNackArgs, options: CallOptions = {}): Promise<void> {
    return this.#caller.done(operations["queue.nack"], [], args, options);
  }

  /**
   * Add an entry to the queue.
   *
   * Adds an entry to the queue. An entry id that was added before with the same bytes does nothing, also after it was
   * done, for at least 7 days; with other bytes it is a conflict. A full queue is refused with quota.
   */
  publish(args: QueuePublishArgs, options: CallOptions = {}): Promise<void> {
    return this.#caller.done(operations["queue.publish"], [], args, options);
  }

  /**
   * Extend a lease.
   *
   * Extends a lease that is not over and answers with it. It never makes it shorter. A lease that is lost is a
   * conflict.
   */
  renew(args: QueueRenewArgs, options: CallOptions = {}): Promise<Lease> {
    return this.#caller.ask(operations["queue.renew"], [], args, options);
  }

  /**
   * Count the entries of the queue.
   *
   * Answers with how many entries of the queue wait, are leased and are dead, and how many leases may still be given
   * out.
   */
  show(options: CallOptions = {}): Promise<Backpressure> {
    return this.#caller.ask(operations["queue.show"], [], {}, options);
  }
}

/** What relation.neighbours is given. */
export interface RelationNeighboursArgs {
  /** Steps: 1 or 2; default 2. */
  depth?: number | undefined;
  /** Only by relations of this type (repeat). */
  type?: readonly string[] | undefined;
  /** The most memories, with the one that is asked for; default and at most 200. */
  limit?: number | undefined;
  /** See memories of this session. */
  session_id?: string | undefined;
  /** See memories of this user. */
  user_id?: string | undefined;
  /** See memories of this project. */
  project_id?: string | undefined;
  /** See memories of this workspace. */
  workspace_id?: string | undefined;
  /**
   * Every scope and identity; default global ones, those of the identities that are named, and those of the scope and
   * identity of the memory.
   */
  all?: boolean | undefined;
}

/** What relation.relate is given. */
export interface RelationRelateArgs {
  /** The id of the memory that the relation leads from. */
  from: string;
  /** The id of the memory that the relation leads to. */
  to: string;
  /** The type of the relation, as in related, supersedes or conflicts_with. */
  type: string;
  /** The server does not use it: it knows who asks. */
  author?: AuthorAsked | undefined;
  /** The server knows the time, so this one is not used. */
  created_at?: Time | Date | null | undefined;
  /** The server does not use it: relations are deleted by their id. */
  deleted_at?: Time | Date | null | undefined;
  /** The server makes the id, so this one is not used. */
  id?: string | undefined;
  /** The server makes the origin, so this one is not used. */
  origin?: OriginAsked | undefined;
  /** How strong the relation is, from 0 (the default) to 1. */
  strength?: number | undefined;
  /**
   * How far the relation may be believed: the trust of its author. A relation of lower trust does not hide a memory of
   * higher trust.
   */
  trust?: Trust | undefined;
}

/** Links between memories. */
export class RelationOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Read one relation.
   *
   * Answers with one live relation, by its id.
   *
   * @param id The id of the relation.
   */
  get(id: string, options: CallOptions = {}): Promise<Relation> {
    return this.#caller.ask(operations["relation.get"], [id], {}, options);
  }

  /**
   * List the relations from and to a memory.
   *
   * Lists the live relations from and to a memory. The answer is whole.
   *
   * @param memory_id The id of the memory.
   */
  list(memory_id: string, options: CallOptions = {}): Promise<RelationPage> {
    return this.#caller.ask(operations["relation.list"], [memory_id], {}, options);
  }

  /**
   * Read what is near a memory by relations, up to 2 steps and 200 memories; more tells that there are others.
   *
   * Answers with a memory and what is one or two steps away by relations: the memories in short, nearest first, and
   * the relations between them. Seen are global memories, those of the scope and identity of the memory, and those of
   * the identities that the query names. At most 200 memories are listed, and more tells that there are others.
   *
   * @param memory_id The id of the memory.
   */
  neighbours(memory_id: string, args: RelationNeighboursArgs = {}, options: CallOptions = {}): Promise<Neighbourhood> {
    return this.#caller.ask(operations["relation.neighbours"], [memory_id], args, options);
  }

  /**
   * Link two memories; a relation of the same ends and type is replaced.
   *
   * Links two live memories and answers with the relation. A relation of the same ends and type is replaced, so doing
   * it again is the same as doing it once.
   */
  relate(args: RelationRelateArgs, options: CallOptions = {}): Promise<Relation> {
    return this.#caller.ask(operations["relation.relate"], [], args, options);
  }

  /**
   * Delete a relation; a tombstone stays.
   *
   * Deletes a relation by its id. A tombstone stays for the sync with other places.
   *
   * @param id The id of the relation.
   */
  unrelate(id: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.done(operations["relation.unrelate"], [id], {}, options);
  }
}

/** What result.list is given. */
export interface ResultListArgs {
  /** The most items; default 50, at most 1000. */
  limit?: number | undefined;
  /** The field next of the previous page. */
  cursor?: string | undefined;
  /** The task. */
  task_id?: string | undefined;
}

/** What result.save is given. */
export interface ResultSaveArgs {
  /** The id of the node of the task. */
  node_id: string;
  /** Who produced it. */
  producer: string;
  /** How it ended: ok or error. */
  status: string;
  /** The id of the task. */
  task_id: string;
  /** How sure the producer is, from 0 to 1. */
  confidence?: number | undefined;
  /** What backs the result. */
  evidence?: readonly EvidenceAsked[] | undefined;
  /**
   * The fence of the lease that the work was done under, 0 for work that came from no queue. Any other fence than the
   * newest one of the node is a conflict.
   */
  fence?: number | undefined;
  /** What was produced, as text. */
  payload?: string | undefined;
  /** The version of the form of the payload. The default is result.v1. */
  schema_version?: string | undefined;
  /** The server knows the time, so this one is not used. */
  updated_at?: Time | Date | null | undefined;
}

/** What nodes of tasks produced. */
export class ResultOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Read the result of a node.
   *
   * Answers with the result of one node of a task.
   *
   * @param task The id of the task.
   * @param node The id of the node.
   */
  get(task: string, node: string, options: CallOptions = {}): Promise<Result> {
    return this.#caller.ask(operations["result.get"], [task, node], {}, options);
  }

  /**
   * List the results of a task, by node.
   *
   * Lists the results of a task, by node, a page at a time.
   */
  list(args: ResultListArgs = {}, options: CallOptions = {}): Listing<Result> {
    return this.#caller.listing(operations["result.list"], [], args, options);
  }

  /**
   * Store what a node of a task produced.
   *
   * Stores what a node of a task produced, in place of what was there, and answers with it. The fence must be the
   * newest one that was leased for the node, or 0 where none ever was; any other is a conflict, since its lease is
   * lost.
   */
  save(args: ResultSaveArgs, options: CallOptions = {}): Promise<Result> {
    return this.#caller.ask(operations["result.save"], [], args, options);
  }
}

/** What session.active is given. */
export interface SessionActiveArgs {
  /** The chat or terminal; default cli. */
  binding?: string | undefined;
}

/** What session.end is given. */
export interface SessionEndArgs {
  /** How the session ends. The default is ended. */
  reason?: string | undefined;
  /** What the session amounts to. */
  summary?: string | undefined;
}

/** What session.list is given. */
export interface SessionListArgs {
  /** The most items; default 50, at most 1000. */
  limit?: number | undefined;
  /** The field next of the previous page. */
  cursor?: string | undefined;
  /** Only of this chat or terminal. */
  binding?: string | undefined;
  /** Only of this project. */
  project?: string | undefined;
  /** Leave out imported sessions. */
  trusted?: boolean | undefined;
}

/** What session.rename is given. */
export interface SessionRenameArgs {
  /** The new name. */
  name: string;
}

/** What session.start is given. */
export interface SessionStartArgs {
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

/** The catalogue of sessions, and the active session of each chat or terminal. */
export class SessionOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Read the active session of a binding.
   *
   * Answers with the active session of a binding, which is the one that was started or selected last. Where there is
   * none it is not found.
   */
  active(args: SessionActiveArgs = {}, options: CallOptions = {}): Promise<Session> {
    return this.#caller.ask(operations["session.active"], [], args, options);
  }

  /**
   * Remove a session with everything in it; long-term memories stay.
   *
   * Removes a session with its turns, activity, state, loop and summaries. Long-term memories stay.
   *
   * @param id The id of the session.
   */
  delete(id: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.done(operations["session.delete"], [id], {}, options);
  }

  /**
   * End a session.
   *
   * Marks a session as ended and answers with it. It is no longer the active one of its binding. A session that has
   * ended already is answered as it is, unless Amber itself had noticed that it was gone.
   *
   * @param id The id of the session.
   */
  end(id: string, args: SessionEndArgs = {}, options: CallOptions = {}): Promise<Session> {
    return this.#caller.ask(operations["session.end"], [id], args, options);
  }

  /**
   * Read one session.
   *
   * Answers with one session of the catalogue.
   *
   * @param id The id of the session.
   */
  get(id: string, options: CallOptions = {}): Promise<Session> {
    return this.#caller.ask(operations["session.get"], [id], {}, options);
  }

  /**
   * List sessions, last updated first.
   *
   * Lists the sessions of the catalogue, last updated first, a page at a time.
   */
  list(args: SessionListArgs = {}, options: CallOptions = {}): Listing<Session> {
    return this.#caller.listing(operations["session.list"], [], args, options);
  }

  /**
   * Rename a session.
   *
   * Gives a session a new name and answers with it.
   *
   * @param id The id of the session.
   */
  rename(id: string, args: SessionRenameArgs, options: CallOptions = {}): Promise<Session> {
    return this.#caller.ask(operations["session.rename"], [id], args, options);
  }

  /**
   * Make a session the active one of its binding.
   *
   * Makes a session the active one of its own binding and answers with it.
   *
   * @param id The id of the session.
   */
  select(id: string, options: CallOptions = {}): Promise<Session> {
    return this.#caller.ask(operations["session.select"], [id], {}, options);
  }

  /**
   * Start a session, or go on with one.
   *
   * Starts a session, makes it the active one of its binding, and answers with it. An id that exists is answered as it
   * is, and opened again if it had ended, so that a program can go on with it. Under another binding it is a conflict.
   * Without an id a new session is made every time.
   */
  start(args: SessionStartArgs = {}, options: CallOptions = {}): Promise<Session> {
    return this.#caller.ask(operations["session.start"], [], args, options);
  }
}

/** What snapshot.diff is given. */
export interface SnapshotDiffArgs {
  /** The id of the first snapshot. */
  a: string;
  /** The id of the second snapshot. */
  b: string;
  /** True names what changed, too, at most 1000 rows of each kind. */
  rows?: boolean | undefined;
}

/** What snapshot.list is given. */
export interface SnapshotListArgs {
  /** The most items; default 50, at most 1000. */
  limit?: number | undefined;
  /** The field next of the previous page. */
  cursor?: string | undefined;
}

/** What snapshot.memories is given. */
export interface SnapshotMemoriesArgs {
  /** The most items; default 50, at most 1000. */
  limit?: number | undefined;
  /** The field next of the previous page. */
  cursor?: string | undefined;
  /** Only this scope. */
  scope?: Scope | undefined;
  /** See memories of this session. */
  session_id?: string | undefined;
  /** See memories of this user. */
  user_id?: string | undefined;
  /** See memories of this project. */
  project_id?: string | undefined;
  /** See memories of this workspace. */
  workspace_id?: string | undefined;
  /** Only this kind (repeat). */
  kind?: readonly MemoryKind[] | undefined;
  /** Only with this tag (repeat). */
  tag?: readonly string[] | undefined;
  /** Updated at or after. */
  since?: Time | Date | undefined;
  /** Updated before. */
  until?: Time | Date | undefined;
  /** Every scope and identity. */
  all?: boolean | undefined;
  /** Include tombstones. */
  deleted?: boolean | undefined;
  /** Own and signed memories alone. */
  trusted?: boolean | undefined;
  /** Of this trust or more. */
  trust?: Trust | undefined;
  /**
   * Those alone that wait for the owner by this rule: agents, imports or none; a server with a rule of its own goes by
   * that.
   */
  waiting?: string | undefined;
}

/** What snapshot.pin is given. */
export interface SnapshotPinArgs {
  /** True keeps the snapshot from being deleted and pruned, false lets it be. */
  pinned: boolean;
}

/** What snapshot.prune is given. */
export interface SnapshotPruneArgs {
  /** True keeps every snapshot that Amber did not take by itself. */
  automatic_only?: boolean | undefined;
  /** True tells what would be done and changes nothing. */
  dry_run?: boolean | undefined;
  /** Keep the last snapshot of this many days. */
  keep_daily?: number | undefined;
  /** Keep the last snapshot of this many hours. */
  keep_hourly?: number | undefined;
  /** Keep this many of the last snapshots. */
  keep_last?: number | undefined;
  /** Keep this many of the snapshots that Amber took before a restore. */
  keep_safety?: number | undefined;
  /** Keep the last snapshot of this many weeks. */
  keep_weekly?: number | undefined;
  /** Delete older snapshots whatever the other rules say. 0 means that none is too old. In nanoseconds. */
  max_age?: number | undefined;
  /** Keep the snapshots that Amber took before a restore while they are younger than this. In nanoseconds. */
  safety_age?: number | undefined;
}

/** What snapshot.recall is given. */
export interface SnapshotRecallArgs {
  /** True fills in the field why of each hit. */
  explain?: boolean | undefined;
  /** Only memories of these kinds. */
  kinds?: readonly MemoryKind[] | undefined;
  /**
   * The layers that are asked: memory, exchange, note, session, activity. The default is all of them, or memory alone
   * where the query has kinds or tags.
   */
  layers?: readonly string[] | undefined;
  /** The most hits. The default is 8. More than 64 is lowered to 64, and clamped says so. */
  limit?: number | undefined;
  /** True leaves out what was imported and not signed by a trusted key. */
  local?: boolean | undefined;
  /** Leave out hits with a lower score, from 0 to 1. Where no hit reaches 0.25, memory has rather no answer. */
  min_score?: number | undefined;
  /** The project that memories of scope project are bound to. */
  project_id?: string | undefined;
  /** Why it is asked: manual (the default), request_intake or resume. */
  reason?: string | undefined;
  /** Only this scope. The default is every scope whose identity is named, and global. */
  scope?: Scope | undefined;
  /** The session that memories of scope session are bound to. */
  session_id?: string | undefined;
  /** Only what was updated at this time or later. */
  since?: Time | Date | null | undefined;
  /** Only memories that have every one of these tags. */
  tags?: readonly string[] | undefined;
  /**
   * A question in natural language. Found is what is near it in meaning, and what has its words, parts of them or
   * words with a slip of the keyboard. Blank text matches every memory, newest first.
   */
  text?: string | undefined;
  /** True takes own and signed memories alone. */
  trusted?: boolean | undefined;
  /** Only what was updated before this time. */
  until?: Time | Date | null | undefined;
  /** The user that memories of scope user are bound to. */
  user_id?: string | undefined;
  /** The workspace that memories of scope workspace are bound to. */
  workspace_id?: string | undefined;
}

/** What snapshot.restore is given. */
export interface SnapshotRestoreArgs {
  /** True lets a snapshot without secrets take the place of a live agent. */
  accept_redacted?: boolean | undefined;
  /** True restores a snapshot that is not signed though those before it in its chain are. */
  accept_unsigned?: boolean | undefined;
  /** True removes the old generation also without a safety snapshot. */
  discard_old?: boolean | undefined;
  /** True tells what would be done and changes nothing. */
  dry_run?: boolean | undefined;
  /**
   * True keeps the stamps of the snapshot, so that the next sync may undo the restore. Without it records that differ
   * become new revisions.
   */
  local_only?: boolean | undefined;
  /** True leaves out the snapshot of the agent as it is now. */
  no_safety_snapshot?: boolean | undefined;
  /** The parts that are restored: memory, notes, state. The default is these three. */
  only?: readonly string[] | undefined;
  /**
   * The agent that is made from the snapshot. It must not exist. The default is the agent that the snapshot was taken
   * of.
   */
  to?: string | undefined;
  /** True restores tasks, approvals, results and the queue too. */
  with_control?: boolean | undefined;
}

/** What snapshot.restore_memory is given. */
export interface SnapshotRestoreMemoryArgs {
  /** The id of the memory. */
  memory: string;
  /** True tells what would be done and changes nothing. */
  dry_run?: boolean | undefined;
}

/** What snapshot.take is given. */
export interface SnapshotTakeArgs {
  /** Who asks, as far as a caller of the scope own says it for another one. For others the server does. */
  by?: AskerAsked | undefined;
  /**
   * Age recipients that must be able to read the snapshot, beside those that are configured. They can read every
   * encrypted snapshot of the tenant then, so this needs the scope admin.
   */
  encrypt?: readonly string[] | undefined;
  /** A label on one line, at most 200 bytes. */
  label?: string | undefined;
  /** True leaves the signature out. */
  no_sign?: boolean | undefined;
  /** True keeps the snapshot from being deleted and pruned. */
  pin?: boolean | undefined;
  /**
   * The names of sources to freeze with the agent, which are set up for the whole machine. They need a token for all
   * tenants.
   */
  sources?: readonly string[] | undefined;
}

/** What snapshot.verify is given. */
export interface SnapshotVerifyArgs {
  /** True reads every byte, builds every database again and checks it. Without it every object is looked for. */
  read_data?: boolean | undefined;
}

/** Snapshots of agents: take, look into, keep and restore them. */
export class SnapshotOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Delete a snapshot.
   *
   * Deletes a snapshot. A stub stays in its place. The last snapshot of an agent and a pinned one are refused. What no
   * other snapshot needs is freed by garbage collection.
   *
   * @param id The id of the snapshot.
   */
  delete(id: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.done(operations["snapshot.delete"], [id], {}, options);
  }

  /**
   * Compare two snapshots.
   *
   * Compares two snapshots of the agent and answers with what changed from a to b. Nothing is changed.
   */
  diff(args: SnapshotDiffArgs, options: CallOptions = {}): Promise<SnapshotDiff> {
    return this.#caller.ask(operations["snapshot.diff"], [], args, options);
  }

  /**
   * List the snapshots of the agent, newest first.
   *
   * Lists the snapshots of the agent, newest first, a page at a time. One whose manifest cannot be read is listed with
   * its damage.
   */
  list(args: SnapshotListArgs = {}, options: CallOptions = {}): Listing<SnapshotMeta> {
    return this.#caller.listing(operations["snapshot.list"], [], args, options);
  }

  /**
   * List the memories of a snapshot, newest first.
   *
   * Lists the memories of a snapshot, last updated first, a page at a time.
   *
   * @param id The id of the snapshot.
   */
  memories(id: string, args: SnapshotMemoriesArgs = {}, options: CallOptions = {}): Listing<Memory> {
    return this.#caller.listing(operations["snapshot.memories"], [id], args, options);
  }

  /**
   * Read one memory of a snapshot.
   *
   * Answers with one memory as it was at the time of a snapshot, and its revision as ETag.
   *
   * @param id The id of the snapshot.
   * @param memory The id of the memory.
   */
  memory(id: string, memory: string, options: CallOptions = {}): Promise<Memory> {
    return this.#caller.ask(operations["snapshot.memory"], [id, memory], {}, options);
  }

  /**
   * Pin a snapshot so that prune keeps it, or unpin the snapshot.
   *
   * Keeps a snapshot from being deleted and pruned, or lets it be again.
   *
   * @param id The id of the snapshot.
   */
  pin(id: string, args: SnapshotPinArgs, options: CallOptions = {}): Promise<void> {
    return this.#caller.done(operations["snapshot.pin"], [id], args, options);
  }

  /**
   * Delete the snapshots that no rule keeps.
   *
   * Deletes the snapshots of the agent that no rule keeps and answers with those that went and those that stay. At
   * least one rule is needed. The last snapshot and pinned ones always stay. With dry_run nothing is deleted.
   */
  prune(args: SnapshotPruneArgs = {}, options: CallOptions = {}): Promise<PruneReport> {
    return this.#caller.ask(operations["snapshot.prune"], [], args, options);
  }

  /**
   * Find the memories and passages of sessions that best answered a text at the time of a snapshot.
   *
   * Answers with what memory.recall would have answered at the time of a snapshot. Nothing is changed.
   *
   * @param id The id of the snapshot.
   */
  recall(id: string, args: SnapshotRecallArgs = {}, options: CallOptions = {}): Promise<RecallResult> {
    return this.#caller.ask(operations["snapshot.recall"], [id], args, options);
  }

  /**
   * Restore the agent from a snapshot, or make another agent from the snapshot.
   *
   * Builds the agent of a snapshot beside the live one, checks it and puts it in its place in one step, and answers
   * with what changed. A snapshot of the agent as it was is taken before. With to another agent is made, and the live
   * one stays; that needs the scope restore for the new one. With dry_run nothing is changed.
   *
   * @param id The id of the snapshot.
   */
  restore(id: string, args: SnapshotRestoreArgs = {}, options: CallOptions = {}): Promise<RestoreReport> {
    return this.#caller.ask(operations["snapshot.restore"], [id], args, options);
  }

  /**
   * Restore one memory from a snapshot as a new revision.
   *
   * Brings one memory of a snapshot back as a new revision and answers with it and the fields that changed. With
   * dry_run nothing is changed.
   *
   * @param id The id of the snapshot.
   */
  restore_memory(id: string, args: SnapshotRestoreMemoryArgs, options: CallOptions = {}): Promise<MemoryRestore> {
    return this.#caller.ask(operations["snapshot.restore_memory"], [id], args, options);
  }

  /**
   * Show one snapshot.
   *
   * Answers with everything that one snapshot says about itself.
   *
   * @param id The id of the snapshot.
   */
  show(id: string, options: CallOptions = {}): Promise<SnapshotDetail> {
    return this.#caller.ask(operations["snapshot.show"], [id], {}, options);
  }

  /**
   * Take a snapshot of the agent; adding recipients needs the scope admin, because a recipient can read every snapshot
   * of the tenant, and sources need a token for all tenants, because sources belong to the machine.
   *
   * Freezes everything the agent is at one instant and answers once the snapshot is safe on disk and was read back. It
   * may take long. Adding recipients needs the scope admin, and sources need a token for all tenants.
   */
  take(args: SnapshotTakeArgs = {}, options: CallOptions = {}): Promise<SnapshotMeta> {
    return this.#caller.ask(operations["snapshot.take"], [], args, options);
  }

  /**
   * Verify a snapshot.
   *
   * Looks whether a snapshot is whole and answers with what was checked and what is damaged. Damage is no error: it is
   * what the report is for. With read_data every byte is read, which may take long.
   *
   * @param id The id of the snapshot.
   */
  verify(id: string, args: SnapshotVerifyArgs = {}, options: CallOptions = {}): Promise<VerifyReport> {
    return this.#caller.ask(operations["snapshot.verify"], [id], args, options);
  }
}

/** What state.save is given. */
export interface StateSaveArgs {
  /** The document, any JSON. Either this or exact is needed. */
  document?: unknown;
  /** The document to the byte, in place of document. */
  exact?: Uint8Array | Base64 | undefined;
  /**
   * The version that is replaced. 0, the default, means that the session has no state yet. Another version that is
   * stored is a conflict. It is the same as the header If-Match.
   */
  if_version?: number | undefined;
  /** The ETag of the stored value. */
  if_match?: string | undefined;
}

/** The state of sessions: one JSON document for each. */
export class StateOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Remove the state of a session.
   *
   * Removes the state of a session. A session without state is no error.
   *
   * @param session_id The id of the session.
   */
  delete(session_id: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.done(operations["state.delete"], [session_id], {}, options);
  }

  /**
   * Read the state of a session.
   *
   * Answers with the state of a session and its version as ETag. A session without state is not found.
   *
   * @param session_id The id of the session.
   */
  get(session_id: string, options: CallOptions = {}): Promise<SessionState> {
    return this.#caller.ask(operations["state.get"], [session_id], {}, options);
  }

  /**
   * Store the state of a session over the expected version; 0 means that the session has no state yet.
   *
   * Stores the state of a session over the expected version and answers with the new version. The version is named by
   * If-Match or if_version, and without them the session must have no state yet. Another version that is stored is a
   * conflict: read, change and save again. The session need not be in the catalogue.
   *
   * @param session_id The id of the session.
   */
  save(session_id: string, args: StateSaveArgs = {}, options: CallOptions = {}): Promise<SessionState> {
    return this.#caller.ask(operations["state.save"], [session_id], args, options);
  }
}

/** What task.compact is given. */
export interface TaskCompactArgs {
  /** How many of the last events stay. The default is 0. */
  keep?: number | undefined;
}

/** What task.event is given. */
export interface TaskEventArgs {
  /** The state of the task before. */
  from: TaskState;
  /** The id of the approval it is about. */
  approval_id?: string | undefined;
  /** The server knows the time, so this one is not used. */
  at?: Time | Date | null | undefined;
  /** Which attempt it was. */
  attempt?: number | undefined;
  /** The class of a failure: validation, dependency, timeout, security, budget_exhausted or non_retriable. */
  error_class?: string | undefined;
  /**
   * What it records: state_transition (the default), node_completed, approval_pending, approval_approved or
   * approval_rejected.
   */
  kind?: string | undefined;
  /** The id of the node it is about. */
  node_id?: string | undefined;
  /** What sort of node it is. */
  node_kind?: string | undefined;
  /** Why it happened. */
  reason?: string | undefined;
  /** The result it brought. */
  result?: string | undefined;
  /** The server counts events, so this one is not used. */
  seq?: number | undefined;
  /** The id of the task. The path names it too, so it may be left out. */
  task_id?: string | undefined;
  /** The state of the task after. */
  to?: TaskState | undefined;
}

/** What task.events is given. */
export interface TaskEventsArgs {
  /** The most items; default 50, at most 1000. */
  limit?: number | undefined;
  /** The field next of the previous page. */
  cursor?: string | undefined;
}

/** What task.list is given. */
export interface TaskListArgs {
  /** The most items; default 50, at most 1000. */
  limit?: number | undefined;
  /** The field next of the previous page. */
  cursor?: string | undefined;
  /** Only in this state. */
  state?: TaskState | undefined;
  /** Only of this session. */
  session_id?: string | undefined;
}

/** What task.save is given. */
export interface TaskSaveArgs {
  /** What is to be done. */
  goal: string;
  /** How many times it was tried. */
  attempts?: number | undefined;
  /** The ids of the nodes that are done. */
  completed_nodes?: readonly string[] | undefined;
  /** The server knows the time, so this one is not used. */
  created_at?: Time | Date | null | undefined;
  /** What else the program keeps with the task, any JSON. */
  extra?: unknown;
  /** The field extra to the byte, in place of extra. */
  extra_exact?: Uint8Array | Base64 | undefined;
  /** The last result of the task, as the program that runs it wrote it. */
  last_result?: string | undefined;
  /** The index of the node that comes next. */
  next_node_index?: number | undefined;
  /** The id of the approval that the task waits for. */
  pending_approval_id?: string | undefined;
  /** The id of the request that the task was made for. */
  request_id?: string | undefined;
  /** The id of the session it belongs to. */
  session_id?: string | undefined;
  /**
   * Where the task stands. The default is queued, and a new task must be queued. Only the changes of state of the
   * table of states are allowed.
   */
  state?: TaskState | undefined;
  /** The server knows the time, so this one is not used. */
  updated_at?: Time | Date | null | undefined;
  /** The server counts versions, so this one is not used. The header If-Match names the version that is replaced. */
  version?: number | undefined;
  /** The ETag of the version that is replaced; leave out for a new task. */
  if_match?: string | undefined;
}

/** Tasks and their history. */
export class TaskOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Fold all but the last events of a task into its replay.
   *
   * Folds all but the last events of a task into its replay, in one step, and answers with what they amount to. A task
   * without events is not found. It cannot be undone.
   *
   * @param id The id of the task.
   */
  compact(id: string, args: TaskCompactArgs = {}, options: CallOptions = {}): Promise<ReplaySnapshot> {
    return this.#caller.ask(operations["task.compact"], [id], args, options);
  }

  /**
   * Append an event to the history of a task.
   *
   * Appends an event to the history of a task and answers with it, with its number and time. The task need not be
   * stored.
   *
   * @param id The id of the task.
   */
  event(id: string, args: TaskEventArgs, options: CallOptions = {}): Promise<TaskEvent> {
    return this.#caller.ask(operations["task.event"], [id], args, options);
  }

  /**
   * Read the history of a task, oldest first.
   *
   * Lists the events of a task that were not folded, oldest first, a page at a time.
   *
   * @param id The id of the task.
   */
  events(id: string, args: TaskEventsArgs = {}, options: CallOptions = {}): Listing<TaskEvent> {
    return this.#caller.listing(operations["task.events"], [id], args, options);
  }

  /**
   * Read one task.
   *
   * Answers with one task and its version as ETag.
   *
   * @param id The id of the task.
   */
  get(id: string, options: CallOptions = {}): Promise<Task> {
    return this.#caller.ask(operations["task.get"], [id], {}, options);
  }

  /**
   * List tasks, newest first.
   *
   * Lists tasks, newest first, a page at a time.
   */
  list(args: TaskListArgs = {}, options: CallOptions = {}): Listing<Task> {
    return this.#caller.listing(operations["task.list"], [], args, options);
  }

  /**
   * Compare a task with its history.
   *
   * Compares a stored task with its history and answers with what may be done after a crash. Nothing is changed.
   *
   * @param id The id of the task.
   */
  replay(id: string, options: CallOptions = {}): Promise<ReplayReport> {
    return this.#caller.ask(operations["task.replay"], [id], {}, options);
  }

  /**
   * Store a task, a new one or the next version.
   *
   * Stores a task and answers with its new version as ETag. A new task has no If-Match and must be queued; the next
   * version names the stored one with If-Match, and another one that is stored is a conflict. Only changes of state of
   * the table of states are allowed.
   *
   * @param id The id of the task.
   */
  save(id: string, args: TaskSaveArgs, options: CallOptions = {}): Promise<Task> {
    return this.#caller.ask(operations["task.save"], [id], args, options);
  }
}

/** What tenant.check is given. */
export interface TenantCheckArgs {
  /** True reads every byte of every object. */
  read_data?: boolean | undefined;
}

/** What tenant.gc is given. */
export interface TenantGcArgs {
  /** True tells what would be done and changes nothing. */
  dry_run?: boolean | undefined;
  /** True also removes what restores have kept of agents because no snapshot holds it. */
  old_generations?: boolean | undefined;
}

/** What concerns all snapshots of a tenant. */
export class TenantOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Check every object of the tenant's snapshots.
   *
   * Checks every object of the snapshots of the tenant and answers with what was checked and what is damaged. Damage
   * is no error. With read_data every byte is read, which may take long.
   */
  check(args: TenantCheckArgs = {}, options: CallOptions = {}): Promise<CheckReport> {
    return this.#caller.ask(operations["tenant.check"], [], args, options);
  }

  /**
   * Delete the data that no snapshot of the tenant needs.
   *
   * Frees the data that no snapshot of the tenant needs and answers with what was freed. Packs are condemned first and
   * deleted when a grace time is over. With dry_run nothing is deleted.
   */
  gc(args: TenantGcArgs = {}, options: CallOptions = {}): Promise<GCReport> {
    return this.#caller.ask(operations["tenant.gc"], [], args, options);
  }
}

/** What token.create is given. */
export interface TokenCreateArgs {
  /** The name of the token, at most 100 bytes. */
  name: string;
  /** What the token lets its holder do, at least one scope. */
  scopes: readonly TokenScope[];
  /** When the token ends. The default is never. */
  expires_at?: Time | Date | null | undefined;
  /** Bind the token to this project. The default is not to bind it. */
  project_id?: string | undefined;
  /**
   * Bind the token to this user. It then reaches no other user, and nothing that is about the whole agent. The default
   * is not to bind it.
   */
  user_id?: string | undefined;
  /** Bind the token to this workspace. The default is not to bind it. */
  workspace_id?: string | undefined;
}

/** What token.list is given. */
export interface TokenListArgs {
  /** Only of this tenant; default all that the token is for. */
  tenant?: string | undefined;
  /** Only of this agent; default all that the token is for. */
  agent?: string | undefined;
}

/** The tokens of the home. */
export class TokenOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Make a token that may do no more than the one that asks, in no other place and not for longer; its secret is in
   * this answer and never again, so a repetition with the same Idempotency-Key has an empty one.
   *
   * Makes a token and answers with it and its secret. It may do no more than the token that asks, in no other place
   * and not for longer. With user_id, project_id or workspace_id the token is bound: it reaches what is of these and
   * what is global, and it may have the scopes read, write, approve and erase. The secret is in this answer and never
   * again: the same Idempotency-Key is answered with the same token and an empty secret. The first token that is made
   * closes a server that needed none.
   */
  create(args: TokenCreateArgs, options: CallOptions = {}): Promise<NewToken> {
    return this.#caller.ask(operations["token.create"], [], args, options);
  }

  /**
   * List the tokens that reach no farther than the one that asks, oldest first, revoked and expired ones too; never a
   * secret.
   *
   * Lists the tokens that reach no farther than the one that asks, oldest first, revoked and expired ones too. Secrets
   * are never shown. The answer is whole.
   */
  list(args: TokenListArgs = {}, options: CallOptions = {}): Promise<TokenPage> {
    return this.#caller.ask(operations["token.list"], [], args, options);
  }

  /**
   * Revoke a token, at once and for good; revoking it twice does nothing.
   *
   * Revokes a token, at once and for good, and answers with it. The whole id is needed. Revoking it again does
   * nothing.
   *
   * @param id The whole id of the token.
   */
  revoke(id: string, options: CallOptions = {}): Promise<Token> {
    return this.#caller.ask(operations["token.revoke"], [id], {}, options);
  }
}

/** What turn.append is given. */
export interface TurnAppendArgs {
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
  /**
   * It is left out of what was said here, and is signed or imported for a prompt that came from elsewhere. A prompt
   * that an agent or a program stored has agent.
   */
  trust?: Trust | undefined;
}

/** What turn.list is given. */
export interface TurnListArgs {
  /** The most items; default 50, at most 1000; as lines (application/x-ndjson) any number, default all. */
  limit?: number | undefined;
}

/** What turn.page is given. */
export interface TurnPageArgs {
  /** The most items; default 50, at most 1000. */
  limit?: number | undefined;
  /** The field next of the previous page. */
  cursor?: string | undefined;
  /** Newest or oldest first; default newest. */
  order?: string | undefined;
  /** Give at most this many characters of each turn; default all. */
  excerpt?: number | undefined;
}

/** What was said in sessions. */
export class TurnOperations {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Store a turn at the end of a session; a turn with an id is stored once.
   *
   * Stores a turn at the end of a session and answers with it, with id and time filled in. A turn whose id is stored
   * already is answered as it was stored; the id of a turn of another session is a conflict. The session need not be
   * in the catalogue. A block of context that Amber itself made is cut out of what a user said.
   *
   * @param session_id The id of the session.
   */
  append(session_id: string, args: TurnAppendArgs, options: CallOptions = {}): Promise<Turn> {
    return this.#caller.ask(operations["turn.append"], [session_id], args, options);
  }

  /**
   * Remove every turn of a session.
   *
   * Removes every turn of a session and answers with how many there were. An unknown session has none and is no error.
   *
   * @param session_id The id of the session.
   */
  delete(session_id: string, options: CallOptions = {}): Promise<DeletedTurns> {
    return this.#caller.ask(operations["turn.delete"], [session_id], {}, options);
  }

  /**
   * Read one turn.
   *
   * Answers with one turn by its id.
   *
   * @param id The id of the turn.
   */
  get(id: string, options: CallOptions = {}): Promise<Turn> {
    return this.#caller.ask(operations["turn.get"], [id], {}, options);
  }

  /**
   * Read the last turns of a session, oldest first.
   *
   * Lists the last turns of a session, oldest first. The answer ends where its text reaches 1 MiB; `next` is then the
   * cursor at which `turn.page` goes on with the turns before. An unknown session has none.
   *
   * @param session_id The id of the session.
   */
  list(session_id: string, args: TurnListArgs = {}, options: CallOptions = {}): Listing<Turn> {
    return this.#caller.listing(operations["turn.list"], [session_id], args, options);
  }

  /**
   * List the turns of a session, newest or oldest first, whole or their beginnings.
   *
   * Lists the turns of a session a page at a time, newest or oldest first. With excerpt only the beginning of each
   * turn is answered, and bytes tells how long it is.
   *
   * @param session_id The id of the session.
   */
  page(session_id: string, args: TurnPageArgs = {}, options: CallOptions = {}): Listing<ListedTurn> {
    return this.#caller.listing(operations["turn.page"], [session_id], args, options);
  }
}

/** Every operation, by the kind of thing it is about. */
export class Operations {
  /** What agents did in sessions. */
  readonly activity: ActivityOperations;
  /** The agents of the server, and how each is doing. */
  readonly agent: AgentOperations;
  /** Questions to people, and their decisions. */
  readonly approval: ApprovalOperations;
  /** The audit log of the home. */
  readonly audit: AuditOperations;
  /** The change log of memory. */
  readonly change: ChangeOperations;
  /** Summaries of turns that an agent host dropped. */
  readonly compaction: CompactionOperations;
  /** Concept tags of memories. */
  readonly concept: ConceptOperations;
  /** Marks around runs that rewrite memory. */
  readonly consolidation: ConsolidationOperations;
  /** The change log of the control plane: tasks, approvals, results and the queue. */
  readonly control_change: ControlChangeOperations;
  /** Documents of runtime state: small JSON documents by name. */
  readonly document: DocumentOperations;
  /** What happens to an agent, as it happens. */
  readonly event: EventOperations;
  /** Exports for other programs. */
  readonly export: ExportOperations;
  /** Folders of the machine that claim a project. */
  readonly folder: FolderOperations;
  /** Imports from other programs. */
  readonly import: ImportOperations;
  /** The crash journal of agent hosts. */
  readonly journal: JournalOperations;
  /** Suspended loops of agents: one for each session. */
  readonly loop: LoopOperations;
  /** Long-term memories: store, find, read, change, forget and erase them, and build the context of a prompt. */
  readonly memory: MemoryOperations;
  /** Notes: Markdown documents with a history. */
  readonly note: NoteOperations;
  /** What the crash journal has set aside. */
  readonly quarantine: QuarantineOperations;
  /** The queue that hands work to programs. */
  readonly queue: QueueOperations;
  /** Links between memories. */
  readonly relation: RelationOperations;
  /** What nodes of tasks produced. */
  readonly result: ResultOperations;
  /** The catalogue of sessions, and the active session of each chat or terminal. */
  readonly session: SessionOperations;
  /** Snapshots of agents: take, look into, keep and restore them. */
  readonly snapshot: SnapshotOperations;
  /** The state of sessions: one JSON document for each. */
  readonly state: StateOperations;
  /** Tasks and their history. */
  readonly task: TaskOperations;
  /** What concerns all snapshots of a tenant. */
  readonly tenant: TenantOperations;
  /** The tokens of the home. */
  readonly token: TokenOperations;
  /** What was said in sessions. */
  readonly turn: TurnOperations;

  constructor(caller: Caller) {
    this.activity = new ActivityOperations(caller);
    this.agent = new AgentOperations(caller);
    this.approval = new ApprovalOperations(caller);
    this.audit = new AuditOperations(caller);
    this.change = new ChangeOperations(caller);
    this.compaction = new CompactionOperations(caller);
    this.concept = new ConceptOperations(caller);
    this.consolidation = new ConsolidationOperations(caller);
    this.control_change = new ControlChangeOperations(caller);
    this.document = new DocumentOperations(caller);
    this.event = new EventOperations(caller);
    this.export = new ExportOperations(caller);
    this.folder = new FolderOperations(caller);
    this.import = new ImportOperations(caller);
    this.journal = new JournalOperations(caller);
    this.loop = new LoopOperations(caller);
    this.memory = new MemoryOperations(caller);
    this.note = new NoteOperations(caller);
    this.quarantine = new QuarantineOperations(caller);
    this.queue = new QueueOperations(caller);
    this.relation = new RelationOperations(caller);
    this.result = new ResultOperations(caller);
    this.session = new SessionOperations(caller);
    this.snapshot = new SnapshotOperations(caller);
    this.state = new StateOperations(caller);
    this.task = new TaskOperations(caller);
    this.tenant = new TenantOperations(caller);
    this.token = new TokenOperations(caller);
    this.turn = new TurnOperations(caller);
  }
}
