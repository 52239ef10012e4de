# Made from the OpenAPI document of the server by tools/sdkgen. Changes here are lost.
"""What travels between Amber and its clients."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Dict, List, Literal, Optional, Union

from pydantic import Field

from ._model import Base64, Model

__all__ = [
    "Activity",
    "ActivityAsked",
    "ActivityPage",
    "AgentName",
    "AgentNamePage",
    "Approval",
    "ApprovalStatus",
    "Asker",
    "AskerAsked",
    "AuditEntry",
    "AuditReport",
    "Author",
    "AuthorAsked",
    "Backpressure",
    "Capabilities",
    "Change",
    "Check",
    "CheckReport",
    "Checkup",
    "Claim",
    "Clamp",
    "Compaction",
    "CompactionAsked",
    "ConceptCount",
    "ConceptCountPage",
    "Consolidation",
    "ContextBlock",
    "ContextItem",
    "ContextItemAsked",
    "Damage",
    "DeadEntry",
    "Decision",
    "DeletedTurns",
    "Document",
    "DocumentPage",
    "Envelope",
    "EraseReport",
    "ErrorKind",
    "Event",
    "EventRefAsked",
    "Evidence",
    "EvidenceAsked",
    "FilesDiff",
    "Finding",
    "ForeignImport",
    "GCReport",
    "Generation",
    "GenerationOrigin",
    "GitCommit",
    "GitDiff",
    "Health",
    "HeldEntry",
    "HeldEntryPage",
    "Hit",
    "HostProcess",
    "HostProcessAsked",
    "ImportConflict",
    "ImportCounts",
    "ImportKept",
    "ImportRecord",
    "ImportRecordPage",
    "ImportSkip",
    "ImportUndo",
    "IngestLinkAsked",
    "IngestResult",
    "IngestStepAsked",
    "JournalCursor",
    "JournalCursorPage",
    "JournalStatus",
    "JournalStatusPage",
    "Kept",
    "Lease",
    "LeaseAsked",
    "ListedTurn",
    "LogPosition",
    "Memory",
    "MemoryKind",
    "MemoryPage",
    "MemoryRestore",
    "Neighbour",
    "Neighbourhood",
    "NewToken",
    "Note",
    "NoteCommit",
    "NoteCommitPage",
    "NotePage",
    "Origin",
    "OriginAsked",
    "PendingLoop",
    "Provenance",
    "PruneReport",
    "QuarantinedChunk",
    "RecallResult",
    "Relation",
    "RelationPage",
    "ReplayReport",
    "ReplaySnapshot",
    "RestorePlan",
    "RestoreReport",
    "Result",
    "Role",
    "RowDiff",
    "Scope",
    "Session",
    "SessionEndAsked",
    "SessionStartAsked",
    "SessionState",
    "SetAside",
    "SignatureReport",
    "Skipped",
    "SnapshotDetail",
    "SnapshotDiff",
    "SnapshotMeta",
    "SnapshotPart",
    "SourceRef",
    "SourceRefAsked",
    "SourceReport",
    "Stats",
    "StoreDiff",
    "StringPage",
    "SyncConflict",
    "SyncDevice",
    "SyncReport",
    "SyncVersion",
    "TableDiff",
    "Task",
    "TaskEvent",
    "TaskState",
    "TermMatch",
    "Token",
    "TokenPage",
    "TokenScope",
    "Trust",
    "TrustedFolder",
    "Turn",
    "TurnAsked",
    "UnfinishedRestore",
    "VerifyReport",
    "WaitingFolder",
    "WaitingFolderPage",
    "Why",
    "WriteAck",
    "WriteAckPage",
    "WriteRequestAsked",
]


class Activity(Model):
    """Something an agent did in a session beside what was said. The same thing done again counts
    up.
    """

    count: int
    """How many times it was done."""

    failed: int
    """How many times it failed."""

    first_at: Optional[datetime] = None
    """When it was first done."""

    kind: str
    """What it is: tool, file, command, task, error, subagent, compaction, gap, context or other."""

    last_at: Optional[datetime] = None
    """When it was last done."""

    name: str
    """The tool, the path or the command line."""

    session_id: str
    """The id of the session it belongs to."""

    detail: Optional[str] = None
    """More about the last time it was done."""

    status: Optional[str] = None
    """How it ended the last time, as in modified, completed or failed."""


class ActivityAsked(Model):
    """Something an agent did in a session beside what was said. The same thing done again counts
    up.
    """

    kind: str
    """What it is: tool, file, command, task, error, subagent, compaction, gap, context or other."""

    name: str
    """The tool, the path or the command line."""

    session_id: str
    """The id of the session it belongs to."""

    count: Optional[int] = None
    """How many times it was done."""

    detail: Optional[str] = None
    """More about the last time it was done."""

    failed: Optional[int] = None
    """How many times it failed."""

    first_at: Optional[datetime] = None
    """When it was first done."""

    last_at: Optional[datetime] = None
    """When it was last done."""

    status: Optional[str] = None
    """How it ended the last time, as in modified, completed or failed."""


class ActivityPage(Model):
    """One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have
    fewer than `limit`: `next` alone says whether there are more.
    """

    items: List[Activity]
    """The items, in the order of the listing. The list may be empty and is never null."""

    next: Optional[str] = None
    """The cursor of the next page. It is left out of the last page, and of listings that have no
    pages.
    """

    set_aside: List[SetAside] = []
    """Rows that belong to the answer and cannot be read, at most 20."""


class AgentName(Model):
    """The name of an agent."""

    agent: str
    """The agent."""

    tenant: str
    """The tenant of the agent."""


class AgentNamePage(Model):
    """One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have
    fewer than `limit`: `next` alone says whether there are more.
    """

    items: List[AgentName]
    """The items, in the order of the listing. The list may be empty and is never null."""

    next: Optional[str] = None
    """The cursor of the next page. It is left out of the last page, and of listings that have no
    pages.
    """

    set_aside: List[SetAside] = []
    """Rows that belong to the answer and cannot be read, at most 20."""


class Approval(Model):
    """A question to a person, with the exact thing that will be done if the answer is yes."""

    created_at: datetime
    """When it was made."""

    digest: str
    """The SHA-256 of the payload in hexadecimal digits."""

    id: str
    """The id of the approval."""

    node_id: str
    """The id of the node of the task."""

    payload: Any
    """What will be done, any JSON, as it was when it was asked for."""

    status: Union[ApprovalStatus, str]
    """Where the approval stands."""

    summary: str
    """The question in words for people."""

    task_id: str
    """The id of the task."""

    claimed_by: Optional[str] = None
    """Who has decided as the request says, where a token did."""

    comment: Optional[str] = None
    """What the person said about the decision."""

    decided_at: Optional[datetime] = None
    """When it was decided. It is left out while it is pending."""

    decided_by: Optional[str] = None
    """Who decided. Through a server it is the name of the token."""

    requested_by: Optional[str] = None
    """The id of the token that asked. That token does not decide."""


ApprovalStatus = Literal["pending", "approved", "rejected", "cancelled"]
"""Where an approval stands. Every status but pending is final.

- `pending`: Nobody has decided yet.
- `approved`: The answer is yes.
- `rejected`: The answer is no.
- `cancelled`: The question was taken back.
"""


class Asker(Model):
    """Who asked for something, and how far that caller is believed."""

    agent: Optional[str] = None
    """The name that the program gives the agent in it."""

    host: Optional[str] = None
    """The program that spoke: cli, page, tui, api, an agent host as claude-code, or the name of an
    MCP client.
    """

    session: Optional[str] = None
    """The session in which it was said."""

    token: Optional[str] = None
    """The name of the token with which it came."""

    trust: Optional[Union[Trust, str]] = None
    """The trust of the caller."""


class AskerAsked(Model):
    """Who asked for something, and how far that caller is believed."""

    agent: Optional[str] = None
    """The name that the program gives the agent in it."""

    host: Optional[str] = None
    """The program that spoke: cli, page, tui, api, an agent host as claude-code, or the name of an
    MCP client.
    """

    session: Optional[str] = None
    """The session in which it was said."""

    token: Optional[str] = None
    """The name of the token with which it came."""

    trust: Optional[Union[Trust, str]] = None
    """The trust of the caller."""


class AuditEntry(Model):
    """One entry of the audit log: who changed what and when, and how it ended. It never holds
    text.
    """

    action: str
    """The operation, as in memory.write."""

    actor: str
    """The id of a token, local where no token is needed, or cli for the command line."""

    at: datetime
    """When it happened."""

    outcome: str
    """How it ended: ok or the kind of the error."""

    seq: int
    """The number of the entry, from 1."""

    agent: Optional[str] = None
    """The agent that it was about."""

    hash: Optional[str] = None
    """The hash of this entry. Only a token for every tenant is told."""

    prev: Optional[str] = None
    """The hash of the entry before, 64 zeros for the first one. Only a token for every tenant is
    told.
    """

    request_id: Optional[str] = None
    """The id of the request, as in the answer and in the log of the server."""

    subject: Optional[str] = None
    """The id that it was about."""

    tenant: Optional[str] = None
    """The tenant that it was about."""


class AuditReport(Model):
    """What verifying the audit log has shown."""

    checked: List[str]
    """What was checked, in words for people."""

    damaged: List[str]
    """What does not fit, by number. An empty list means that nothing was found."""

    entries: int
    """How many entries there are."""

    head: str
    """The hash of the last entry."""

    not_checked: List[str]
    """What was not checked, and why, in words for people."""

    first: Optional[datetime] = None
    """When the first entry was made."""

    last: Optional[datetime] = None
    """When the last entry was made."""


class Author(Model):
    """Who wrote a record, as far as the server knows. It is absent from records that were written
    before authors were noted.
    """

    agent: Optional[str] = None
    """The name that the program gives the agent in it."""

    host: Optional[str] = None
    """The program that spoke: cli, page, tui, api, an agent host as claude-code, or the name of an
    MCP client.
    """

    session: Optional[str] = None
    """The session in which it was said."""

    token: Optional[str] = None
    """The name of the token with which it came."""


class AuthorAsked(Model):
    """Who wrote a record, as far as the server knows. It is absent from records that were written
    before authors were noted.
    """

    agent: Optional[str] = None
    """The name that the program gives the agent in it."""

    host: Optional[str] = None
    """The program that spoke: cli, page, tui, api, an agent host as claude-code, or the name of an
    MCP client.
    """

    session: Optional[str] = None
    """The session in which it was said."""

    token: Optional[str] = None
    """The name of the token with which it came."""


class Backpressure(Model):
    """How full the queue is."""

    available: int
    """How many leases may still be given out."""

    dead: int
    """How many entries have used up their attempts."""

    leased: int
    """How many entries are leased."""

    max_in_flight: int
    """How many leases there may be at one time."""

    queued: int
    """How many entries wait. Those whose lease is over are among them."""


class Capabilities(Model):
    """What the store of the agent can do. What is false answers with an error of kind unsupported."""

    batch: bool
    """Write several memories at once."""

    changes: bool
    """Tell what changed."""

    compactions: bool
    """Keep summaries of turns."""

    concepts: bool
    """Keep concept tags of memories."""

    control: bool
    """Keep tasks, approvals, results and the queue."""

    documents: bool
    """Keep documents of runtime state."""

    edit: bool
    """Edit memories."""

    erase: bool
    """Erase the text of memories for good."""

    ingest: bool
    """Take over the crash journal."""

    loops: bool
    """Keep suspended loops."""

    memories: bool
    """Read memories without searching."""

    notes: bool
    """Keep notes."""

    relations: bool
    """Link memories."""

    semantic: bool
    """Find memories by meaning, and not by words alone."""

    session_state: bool
    """Keep a document of state for each session."""

    sessions: bool
    """Keep a catalogue of sessions."""

    stats: bool
    """Count its records."""

    sync: bool
    """Sync with other places."""

    turns: bool
    """Keep the turns of sessions."""


class Change(Model):
    """One entry of a change log. It never holds text."""

    at: datetime
    """When it happened."""

    key: str
    """The id or name of what changed."""

    op: str
    """What happened: insert, update or delete."""

    position: str
    """The place of the entry in the log. Hand it back to go on from there; it means nothing else."""

    scope: str
    """The layer that changed: memory, turn, session, loop, note, git, state, compaction or
    control.
    """

    new_digest: Optional[str] = None
    """A digest of what is there now."""

    old_digest: Optional[str] = None
    """A digest of what was there before."""


class Check(Model):
    """A check that was made."""

    at: Optional[datetime] = None
    """When it was checked."""

    name: str
    """What was checked: integrity, foreign_keys, full_text, schema, counters, rows, git, pages,
    source or journal.
    """

    ok: bool
    """Whether nothing was found wrong."""

    part: str
    """The part that was checked."""

    detail: Optional[str] = None
    """More about it, in words for people."""

    digest: Optional[str] = None
    """The digest of what was checked."""


class CheckReport(Model):
    """What checking the snapshots of a tenant has found."""

    blobs: int
    """How many objects the packs hold."""

    bytes: int
    """How many bytes it has."""

    checked: List[str]
    """What was checked, in words for people."""

    damaged: List[Damage]
    """What is not as it was written. An empty list means that nothing was found."""

    data_read: bool
    """Whether every byte was read."""

    not_checked: List[str]
    """What was not checked, and why, in words for people."""

    packs: int
    """How many packs there are."""

    snapshots: int
    """How many snapshots there are."""

    unused_bytes: int
    """How many bytes no snapshot needs. Garbage collection frees them."""


class Checkup(Model):
    """Whether everything is well with an agent."""

    checks: List[Finding]
    """The checks that were made."""

    ok: bool
    """True when no check failed."""


class Claim(Model):
    """An entry of the queue with the lease on it."""

    envelope: Envelope
    """The entry of the queue."""

    lease: Lease
    """The right to work on the entry for a while."""


class Clamp(Model):
    """A value that was above its bound and was lowered."""

    effective: int
    """The value that was used."""

    key: str
    """The name of the value."""

    requested: int
    """The value that was asked for."""


class Compaction(Model):
    """The summary of turns that an agent host dropped from its context."""

    created_at: Optional[datetime] = None
    """When it was made."""

    id: str
    """The id of the summary."""

    session_id: str
    """The id of the session it belongs to."""

    summary: str
    """The summary."""

    turns: int
    """How many turns the summary stands for."""


class CompactionAsked(Model):
    """The summary of turns, to be stored."""

    summary: str
    """The summary."""

    created_at: Optional[datetime] = None
    """When the summary was made. The default is now."""

    id: Optional[str] = None
    """The id of the summary. One that is stored already is not stored again. The default is a new
    UUID.
    """

    session_id: Optional[str] = None
    """The id of the session. Where the path names it too it may be left out; in a journal it is
    needed.
    """

    turns: Optional[int] = None
    """How many turns the summary stands for."""


class ConceptCount(Model):
    """A concept, and how many memories have it."""

    concept: str
    """The concept."""

    memories: int
    """How many live memories have it."""


class ConceptCountPage(Model):
    """One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have
    fewer than `limit`: `next` alone says whether there are more.
    """

    items: List[ConceptCount]
    """The items, in the order of the listing. The list may be empty and is never null."""

    next: Optional[str] = None
    """The cursor of the next page. It is left out of the last page, and of listings that have no
    pages.
    """

    set_aside: List[SetAside] = []
    """Rows that belong to the answer and cannot be read, at most 20."""


class Consolidation(Model):
    """One run of a program that rewrites memory. While one is open no other begins."""

    began_at: datetime
    """When it began."""

    id: str
    """The id of the consolidation."""

    ended_at: Optional[datetime] = None
    """When it ended. It is left out while it is open."""

    outcome: Optional[str] = None
    """How it ended: done, failed or abandoned. It is left out while it is open."""

    run: Optional[str] = None
    """What the program calls the run."""

    snapshot: Optional[str] = None
    """The id of the snapshot that was taken before it began."""

    unfinished: Optional[Consolidation] = None
    """A consolidation that began before and never ended, which this one has taken the place of."""

    warning: Optional[str] = None
    """Why there is no snapshot though there should be one."""


class ContextBlock(Model):
    """Memory made ready for an agent."""

    decision: Decision
    """What the policy decided about recalling memory."""

    memories: List[Hit]
    """The memories and other passages in the text, in its order."""

    omitted: int
    """How many memories did not fit."""

    sessions: List[Session]
    """The sessions in the text, newest first."""

    text: str
    """The block, as Markdown between two lines with a random delimiter. What is inside is data and
    not instructions. It is empty when there is nothing to say.
    """

    cut: List[str] = []
    """The ids of memories of which the text holds only a part."""

    degraded: Optional[str] = None
    """What the answer could not take into account, in words. It is left out when the answer is
    whole.
    """

    items: List[ContextItem] = []
    """The passages in the text, and why each is there."""

    late: Optional[bool] = None
    """True when recall did not answer in time. The text is what is known without it."""


class ContextItem(Model):
    """A passage in a block of memory, without its text."""

    digest: str
    """A digest of what the passage said, 16 hexadecimal digits."""

    layer: str
    """What the passage was taken from: memory, exchange (what was said in a session), note,
    session (its digest, or the summary of a compaction) or activity (a command that failed).
    """

    owner: str
    """The id of a memory, a turn or a session, or the name of a note."""

    why: Optional[str] = None
    """Why the passage is in the block."""


class ContextItemAsked(Model):
    """A passage in a block of memory, without its text."""

    digest: Optional[str] = None
    """A digest of what the passage said, 16 hexadecimal digits."""

    layer: Optional[str] = None
    """What the passage was taken from: memory, exchange (what was said in a session), note,
    session (its digest, or the summary of a compaction) or activity (a command that failed).
    """

    owner: Optional[str] = None
    """The id of a memory, a turn or a session, or the name of a note."""

    why: Optional[str] = None
    """Why the passage is in the block."""


class Damage(Model):
    """One thing that is not as it was written."""

    object: str
    """The object of the repository, or the part of a snapshot."""

    reason: str
    """What is wrong with it."""

    snapshots: List[str]
    """The ids of the snapshots that need it."""


class DeadEntry(Model):
    """An entry that used up its attempts."""

    dead_at: datetime
    """When it used up its last attempt."""

    envelope: Envelope
    """The entry of the queue."""

    reasons: List[str]
    """Why each attempt failed, oldest first."""


class Decision(Model):
    """What a policy was asked and what it decided."""

    effective: bool
    """Whether it was done."""

    requested: bool
    """Whether it was asked for."""

    blocked_reason: Optional[str] = None
    """Why it was not done."""


class DeletedTurns(Model):
    """How many turns were removed."""

    deleted: int
    """How many turns there were."""


class Document(Model):
    """One small JSON document of runtime state, as where a reader stands."""

    bytes: int
    """How many bytes it has."""

    name: str
    """The name of the document."""

    damage: Optional[str] = None
    """Why the document cannot be read. Only listings have it."""

    document: Any = None
    """The document, any JSON. It is left out of listings."""

    revision: Optional[str] = None
    """The digest of the document without white space. Equal documents have equal revisions. It is
    the ETag without the quotes.
    """


class DocumentPage(Model):
    """One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have
    fewer than `limit`: `next` alone says whether there are more.
    """

    items: List[Document]
    """The items, in the order of the listing. The list may be empty and is never null."""

    next: Optional[str] = None
    """The cursor of the next page. It is left out of the last page, and of listings that have no
    pages.
    """

    set_aside: List[SetAside] = []
    """Rows that belong to the answer and cannot be read, at most 20."""


class Envelope(Model):
    """One entry of the queue."""

    attempt: int
    """How many times the entry was leased, this time included."""

    entry_id: str
    """The id of the entry."""

    node_id: str
    """The id of the node of the task."""

    payload: str
    """What is to be done, as text. Amber does not look inside."""

    priority: int
    """The priority. Entries with a higher one are leased first."""

    task_id: str
    """The id of the task."""

    not_before: Optional[datetime] = None
    """The entry is not leased before this time."""


class EraseReport(Model):
    """What erasing a memory removed, and what it could not reach."""

    id: str
    """The id of the memory."""

    remaining: List[str]
    """The copies that remain, by place, in words."""

    removed: List[str]
    """What was removed, in words, as in 3 revisions."""


ErrorKind = Literal["invalid", "not_found", "conflict", "busy", "damaged", "untrusted", "refused", "quota", "cross_tenant", "too_new", "unsupported", "unreachable", "internal"]
"""What an error means to the caller. Each kind has one HTTP status; a request without a token that
is valid is refused with the status 401.

- `invalid`: The request is wrong. Status 400.
- `not_found`: It does not exist, or the token does not reach it. Status 404.
- `conflict`: Somebody else changed it, or the key was used for another request. Status 409.
- `busy`: Somebody else uses it, or too many do. Try again later. Status 409.
- `damaged`: Stored bytes are not those that were written. Status 422.
- `untrusted`: A signature is bad or was taken away. Status 422.
- `refused`: The scopes of the token, or a rule, do not allow it. Status 403.
- `quota`: A limit is reached. Status 403.
- `cross_tenant`: It belongs to another tenant or agent. Status 403.
- `too_new`: It was written by a newer Amber. Status 403.
- `unsupported`: This server or its store cannot do it. Status 403.
- `unreachable`: Something that the server needs does not answer, or it took too long. Status
503.
- `internal`: A bug in Amber, or the disk failed. Status 500.
"""


class Event(Model):
    """Something that has happened. An event that is sent again has the same id."""

    at: datetime
    """When it happened."""

    event: str
    """What happened: created, restored, deleted, verified, pruned, gc or mutated."""

    id: str
    """The id of the event."""

    payload: Any
    """What the event is about: a SnapshotMeta for created, a RestoreReport for restored, the
    tenant, agent and id of a snapshot for deleted, a VerifyReport for verified, a PruneReport
    for pruned, a GCReport for gc, and for mutated a change without its position.
    """

    subject: str
    """The subject that the event is published under."""

    tenant: str
    """The tenant that it happened to."""

    agent: Optional[str] = None
    """The agent that it happened to. It is left out of what concerns a whole tenant."""


class EventRefAsked(Model):
    """Which event of an agent host it is."""

    id: str
    """The id of the event, 32 hexadecimal digits."""

    at: Optional[datetime] = None
    """When the event was observed. The default is when it happened."""

    native: Optional[bool] = None
    """True when the host itself gave the id."""


class Evidence(Model):
    """Something that backs a result."""

    kind: str
    """What sort of evidence it is, as in file or url."""

    value: str
    """The evidence itself."""


class EvidenceAsked(Model):
    """Something that backs a result."""

    kind: str
    """What sort of evidence it is, as in file or url."""

    value: Optional[str] = None
    """The evidence itself."""


class FilesDiff(Model):
    """Which files differ."""

    added: int
    """How many were added."""

    changed: int
    """How many were changed."""

    removed: int
    """How many were removed."""

    files: List[RowDiff] = []
    """The files that differ, where they were asked for."""


class Finding(Model):
    """The outcome of one check."""

    code: str
    """A name of the check that does not change."""

    detail: str
    """More about it, in words for people."""

    status: str
    """One of ok, warning, failed and not checked."""

    hint: Optional[str] = None
    """What to do about it."""

    kind: Optional[Union[ErrorKind, str]] = None
    """The kind of error of a check that failed."""


class ForeignImport(Model):
    """What an import found and did, or would do."""

    bytes: int
    """How many bytes were read."""

    changed: int
    """How many were changed."""

    conflict_list: List[ImportConflict]
    """The records that were changed here and in the source, at most 1000."""

    conflicts: int
    """How many records were changed here and in the source."""

    dry_run: bool
    """True tells what would be done and changes nothing."""

    files: int
    """How many files were read."""

    format: str
    """The name of the format."""

    known: int
    """How many were known already."""

    memories: ImportCounts
    """What became of the memories."""

    new: int
    """How many were new."""

    notes: ImportCounts
    """What became of the notes."""

    path: str
    """The name of the file or folder."""

    read: int
    """How many were read."""

    relations: ImportCounts
    """What became of the relations."""

    samples: List[str]
    """A few of the items, in words."""

    sessions: ImportCounts
    """What became of the sessions."""

    skipped: int
    """How many items were not imported."""

    skips: List[ImportSkip]
    """What was not imported, and why, at most 1000 places."""

    title: str
    """The name of the format in words."""

    trust: str
    """The trust of what was imported: imported or own."""

    turns: ImportCounts
    """What became of the turns."""

    warnings: List[str]
    """What is there with something wrong, in words for people."""

    id: Optional[str] = None
    """The id of the import, by which it can be undone. It is left out where nothing was written."""

    older: Optional[int] = None
    """How many items were left out because they are older than since."""

    partial: Optional[bool] = None
    """True when only the beginning was looked at."""

    redacted: Dict[str, int] = {}
    """How many secrets were taken out, by the rule that found them. It is left out when there were
    none.
    """

    secrets_left: Dict[str, int] = {}
    """How many secrets stay in the text, by rule."""


class GCReport(Model):
    """What was freed."""

    condemned: int
    """How many packs will go when the grace time is over."""

    condemned_bytes: int
    """How many bytes these packs have."""

    deleted: int
    """How many packs were deleted."""

    dry_run: bool
    """True tells what would be done and changes nothing."""

    freed_bytes: int
    """How many bytes were freed."""

    in_use: bool
    """True when another program used the repository meanwhile. Packs were condemned then, and not
    deleted.
    """

    orphans_removed: List[str]
    """Leftovers of interrupted work that were removed."""

    repacked: int
    """How many packs were written anew, without what nobody needs."""


class Generation(Model):
    """Which generation of an agent is live, and what restores have made of it."""

    generation: int
    """The generation that is live."""

    restored: Optional[GenerationOrigin] = None
    """The restore that made this generation. It is left out where no restore did."""

    restoring: Optional[UnfinishedRestore] = None
    """A restore that is under way or was interrupted."""


class GenerationOrigin(Model):
    """The restore that made a generation."""

    from_: str = Field(alias="from")
    """The id of the snapshot that was restored."""

    replaces: int
    """The generation that was live before."""

    safety_snapshot: Optional[str] = None
    """The snapshot of the agent as it was before. It is empty where none was taken."""


class GitCommit(Model):
    """What a commit says of itself."""

    at: Optional[datetime] = None
    """When the commit was written."""

    author: str
    """Who wrote the commit, as "Name <email>"."""

    subject: str
    """What the commit is about: the first paragraph of its message, in one line."""


class GitDiff(Model):
    """What happened in the history of the notes."""

    commits_between: int
    """How many commits the second one has and the first one has not."""

    deletions: int
    """How many lines were removed."""

    files_changed: int
    """How many files differ."""

    from_: str = Field(alias="from")
    """The newest commit of the first snapshot."""

    insertions: int
    """How many lines were added."""

    to: str
    """The newest commit of the second snapshot."""


class Health(Model):
    """How a store is doing."""

    backend: str
    """The name of the store."""

    status: str
    """One of healthy, degraded and unavailable."""

    detail: Optional[str] = None
    """More about it, in words for people."""


class HeldEntry(Model):
    """A file that the crash journal has set aside, and the session it belongs to."""

    bytes: int
    """How many bytes it has."""

    host: str
    """The agent host, as in claude."""

    key: str
    """The name of the folder of the session."""

    name: str
    """The name of the file."""

    session_id: str
    """The id of the session it belongs to."""

    at: Optional[datetime] = None
    """When the entry was given up."""

    payload: Optional[Base64] = None
    """The bytes of the entry, where one file is shown."""

    reason: Optional[str] = None
    """Why the entry could not be stored."""

    seq: Optional[int] = None
    """The number of the entry in the journal."""


class HeldEntryPage(Model):
    """One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have
    fewer than `limit`: `next` alone says whether there are more.
    """

    items: List[HeldEntry]
    """The items, in the order of the listing. The list may be empty and is never null."""

    next: Optional[str] = None
    """The cursor of the next page. It is left out of the last page, and of listings that have no
    pages.
    """

    set_aside: List[SetAside] = []
    """Rows that belong to the answer and cannot be read, at most 20."""


class Hit(Model):
    """One passage that matched: a memory, something that was said, a part of a note."""

    content: str
    """The whole content."""

    created_at: Optional[datetime] = None
    """When it was made."""

    id: str
    """The id of the memory. It is empty where the passage is of no memory."""

    kind: Any
    """The kind of the memory. It is empty where the passage is of no memory."""

    layer: str
    """What the passage was taken from: memory, exchange (what was said in a session), note,
    session (its digest, or the summary of a compaction) or activity (a command that failed).
    """

    owner: str
    """What the passage was taken from: the id of a memory, a turn, a session or a compaction, or
    the name of a note.
    """

    provenance: Provenance
    """Which store answered, and where the record is."""

    scope: Union[Scope, str]
    """The scope of the memory; of what was said, project or session; of a note, global."""

    score: float
    """How likely the hit is relevant, from 0 to 1."""

    snippet: str
    """The part of the content that matched."""

    title: str
    """The title of what was found."""

    trust: Union[Trust, str]
    """How far it may be believed."""

    updated_at: Optional[datetime] = None
    """When it was last changed."""

    project_id: Optional[str] = None
    """The project it belongs to."""

    role: Optional[Union[Role, str]] = None
    """Who said it, where it was said in a session."""

    session_id: Optional[str] = None
    """The id of the session it belongs to."""

    why: Optional[Why] = None
    """The parts of the score, where they were asked for."""


class HostProcess(Model):
    """A process of an agent host, beyond its number, which other processes get later."""

    boot: Optional[str] = None
    """The id of the running system."""

    namespace: Optional[str] = None
    """The namespace in which the number counts."""

    pid: Optional[int] = None
    """The number of the process."""

    start: Optional[int] = None
    """When the process started, in units of its system."""


class HostProcessAsked(Model):
    """A process of an agent host, beyond its number, which other processes get later."""

    boot: Optional[str] = None
    """The id of the running system."""

    namespace: Optional[str] = None
    """The namespace in which the number counts."""

    pid: Optional[int] = None
    """The number of the process."""

    start: Optional[int] = None
    """When the process started, in units of its system."""


class ImportConflict(Model):
    """A record that was changed here and in the source. What is here stays."""

    id: str
    """The id or name of the record."""

    kind: str
    """What it is: memory or note."""

    place: str
    """Where it is in the source."""

    title: Optional[str] = None
    """The title of the record."""


class ImportCounts(Model):
    """What became of the items of one kind."""

    changed: int
    """How many were changed."""

    known: int
    """How many were known already."""

    new: int
    """How many were new."""

    read: int
    """How many were read."""


class ImportKept(Model):
    """A record that taking an import back left alone."""

    id: str
    """The id or name of the record."""

    kind: str
    """What it is: memory, session, note or relation."""

    reason: str
    """Why it stays."""


class ImportRecord(Model):
    """An import that was made."""

    at: datetime
    """When it was made."""

    format: str
    """The name of the format."""

    id: str
    """The id of the import."""

    path: str
    """The name of the file or folder."""

    trust: str
    """The trust of what was imported: imported or own."""

    undone: bool
    """Whether it was taken back."""


class ImportRecordPage(Model):
    """One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have
    fewer than `limit`: `next` alone says whether there are more.
    """

    items: List[ImportRecord]
    """The items, in the order of the listing. The list may be empty and is never null."""

    next: Optional[str] = None
    """The cursor of the next page. It is left out of the last page, and of listings that have no
    pages.
    """

    set_aside: List[SetAside] = []
    """Rows that belong to the answer and cannot be read, at most 20."""


class ImportSkip(Model):
    """Something that was not imported."""

    place: str
    """Where it is in the source, as in conversations.json: element 3."""

    reason: str
    """Why it was not imported."""


class ImportUndo(Model):
    """What taking an import back did."""

    already: bool
    """True when it was taken back before."""

    deleted: int
    """How many records were deleted that the import had made."""

    format: str
    """The name of the format."""

    gone: int
    """How many records somebody has deleted since."""

    id: str
    """The id of the import."""

    kept: List[ImportKept]
    """The records that stay, and why."""

    restored: int
    """How many records are as they were before the import."""


class IngestLinkAsked(Model):
    """A relation from a memory of a step to a stored memory."""

    to: str
    """The id of the stored memory."""

    type: str
    """The type of the relation, as in related."""

    memory: Optional[int] = None
    """Which memory of the step it is, from 0."""

    strength: Optional[float] = None
    """How strong the relation is, from 0 to 1."""


class IngestResult(Model):
    """What became of an ingestion."""

    applied: int
    """How many steps were applied."""

    duplicates: int
    """How many steps have an event that was known."""

    memories: int
    """How many memories are new, or a new revision of a topic."""


class IngestStepAsked(Model):
    """What one event of an agent host means."""

    start: SessionStartAsked
    """The session, which is made where there is none."""

    activity: List[ActivityAsked] = []
    """What was done."""

    at: Optional[datetime] = None
    """When it happened. The default is now."""

    compaction: Optional[CompactionAsked] = None
    """The summary of turns that the host dropped."""

    end: Optional[SessionEndAsked] = None
    """How the session ended."""

    event: Optional[EventRefAsked] = None
    """The event. One that was stored before is not stored again. Without it the step is always
    new.
    """

    links: List[IngestLinkAsked] = []
    """Relations from memories of the step to stored memories."""

    memories: List[WriteRequestAsked] = []
    """Memories to be stored."""

    reopen: Optional[bool] = None
    """True starts a session again that has ended."""

    turns: List[TurnAsked] = []
    """What was said."""


class JournalCursor(Model):
    """How far the journal of a session has been stored."""

    ended: bool
    """True when the session has ended, or is gone."""

    host: str
    """The agent host, as in claude."""

    journal: str
    """The name of the journal of one session."""

    last_at: Optional[datetime] = None
    """When the agent host was last heard of."""

    seq: int
    """The number of the last entry that was stored."""

    session_id: str
    """The id of the session."""

    process: Optional[HostProcess] = None
    """The process of the agent host."""


class JournalCursorPage(Model):
    """One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have
    fewer than `limit`: `next` alone says whether there are more.
    """

    items: List[JournalCursor]
    """The items, in the order of the listing. The list may be empty and is never null."""

    next: Optional[str] = None
    """The cursor of the next page. It is left out of the last page, and of listings that have no
    pages.
    """

    set_aside: List[SetAside] = []
    """Rows that belong to the answer and cannot be read, at most 20."""


class JournalStatus(Model):
    """What the crash journal holds of one session."""

    bytes: int
    """How many bytes the entries have on disk."""

    damaged: int
    """At how many places the bytes are not those that were written."""

    entries: int
    """How many entries are there, gaps not counted."""

    gaps: int
    """How many entries were dropped because there was no space."""

    host: str
    """The agent host, as in claude."""

    key: str
    """The name of the folder of the session."""

    quarantined: int
    """How many files are set aside."""

    session_id: str
    """The id of the session it belongs to."""

    started_at: Optional[datetime] = None
    """When the session started."""

    undrained: int
    """How many entries are not stored yet."""

    last_error: Optional[str] = None
    """What went wrong the last time, in words."""

    last_sync: Optional[datetime] = None
    """When the journal was last made safe on disk."""

    oldest: Optional[datetime] = None
    """When the oldest of the entries was written that are not stored yet."""


class JournalStatusPage(Model):
    """One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have
    fewer than `limit`: `next` alone says whether there are more.
    """

    items: List[JournalStatus]
    """The items, in the order of the listing. The list may be empty and is never null."""

    next: Optional[str] = None
    """The cursor of the next page. It is left out of the last page, and of listings that have no
    pages.
    """

    set_aside: List[SetAside] = []
    """Rows that belong to the answer and cannot be read, at most 20."""


class Kept(Model):
    """A snapshot that stays."""

    id: str
    """The id of the snapshot."""

    reason: str
    """Why it stays, as in last 3, daily 2026-01-02 or pinned."""


class Lease(Model):
    """The right to work on one entry for a while."""

    consumer_id: str
    """The program that works on the entry."""

    entry_id: str
    """The id of the entry."""

    expires_at: datetime
    """When the lease ends unless it is renewed."""

    fence: int
    """A number that grows with every lease of a node. A result under a smaller one is a conflict."""

    token: str
    """What proves the lease."""


class LeaseAsked(Model):
    """A lease as it was given out."""

    consumer_id: str
    """The program that works on the entry."""

    entry_id: str
    """The id of the entry."""

    token: str
    """What proves the lease."""

    expires_at: Optional[datetime] = None
    """When the lease ends unless it is renewed."""

    fence: Optional[int] = None
    """A number that grows with every lease of a node. A result under a smaller one is a conflict."""


class ListedTurn(Model):
    """A turn of a listing. Its content may be the beginning alone."""

    bytes: int
    """How many bytes the whole content has."""

    content: str
    """What was said."""

    created_at: Optional[datetime] = None
    """When it was made."""

    id: str
    """The id of the turn."""

    role: Union[Role, str]
    """Who spoke."""

    session_id: str
    """The id of the session it belongs to."""

    project_id: Optional[str] = None
    """The project it belongs to."""

    trust: Optional[Union[Trust, str]] = None
    """It is left out of what was said here, and is signed or imported for a prompt that came from
    elsewhere. A prompt that an agent or a program stored has agent.
    """


class LogPosition(Model):
    """A place in a change log."""

    position: str
    """The position of the newest entry. It is empty where the log has none."""


class Memory(Model):
    """One long-term memory, as it is stored now."""

    content: str
    """The text that is remembered."""

    content_digest: str
    """The SHA-256 of the content in hexadecimal digits."""

    created_at: Optional[datetime] = None
    """When it was made."""

    duplicate_count: int
    """How many times the same memory was written again."""

    id: str
    """The id of the memory, a UUID."""

    kind: Union[MemoryKind, str]
    """What the memory is about."""

    metadata: Dict[str, str]
    """Names and values that a program keeps with the memory. Amber does not look inside."""

    origin: Origin
    """Which device made this version, and its place in the order of versions."""

    revision: int
    """The number of the revision, from 1. It is the ETag of the memory without the quotes."""

    scope: Union[Scope, str]
    """Where the memory is visible. Every scope but global goes with the identity of the same name."""

    source_refs: List[SourceRef]
    """Where the memory came from."""

    summary: str
    """The content in short. It may be empty."""

    tags: List[str]
    """The tags, sorted."""

    title: str
    """A short title on one line. It may be empty."""

    trust: Union[Trust, str]
    """How far it may be believed."""

    updated_at: Optional[datetime] = None
    """When it was last changed."""

    author: Optional[Author] = None
    """Who wrote this revision."""

    deleted_at: Optional[datetime] = None
    """When it was deleted. It is left out of what is not deleted."""

    foreign: Dict[str, Any] = {}
    """Fields of the program the memory came from, by program, kept as they were."""

    project_id: Optional[str] = None
    """The project that memories of scope project are bound to."""

    session_id: Optional[str] = None
    """The session that memories of scope session are bound to."""

    topic: Optional[str] = None
    """The topic. There is one live memory for each project, scope, identity and topic, and writing
    another text to the topic makes a new revision of it.
    """

    user_id: Optional[str] = None
    """The user that memories of scope user are bound to."""

    workspace_id: Optional[str] = None
    """The workspace that memories of scope workspace are bound to."""


MemoryKind = Literal["user_preference", "user_fact", "project_fact", "workspace_fact", "historical_case", "constraint", "workflow_insight", "session_summary"]
"""What a memory is about.

- `user_preference`: How the user likes things done.
- `user_fact`: A fact about the user.
- `project_fact`: A fact about a project.
- `workspace_fact`: A fact about the place where the work is done. This is the default.
- `historical_case`: What was done before, and what came of it.
- `constraint`: A rule that must be kept.
- `workflow_insight`: Something learnt about how to work.
- `session_summary`: What a session amounts to.
"""


class MemoryPage(Model):
    """One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have
    fewer than `limit`: `next` alone says whether there are more.
    """

    items: List[Memory]
    """The items, in the order of the listing. The list may be empty and is never null."""

    next: Optional[str] = None
    """The cursor of the next page. It is left out of the last page, and of listings that have no
    pages.
    """

    set_aside: List[SetAside] = []
    """Rows that belong to the answer and cannot be read, at most 20."""


class MemoryRestore(Model):
    """What became of a memory that was brought back."""

    changed: List[str]
    """The fields that were changed. It is empty when the memory is as it was."""

    dry_run: bool
    """True tells what would be done and changes nothing."""

    from_: str = Field(alias="from")
    """The id of the snapshot."""

    kept: List[str]
    """The fields that differ and stay as they are."""

    memory: Memory
    """The memory as it is now; with dry_run as it was in the snapshot."""


class Neighbour(Model):
    """A memory of a neighbourhood, in short."""

    distance: int
    """How many steps it is away. 0 is the memory that was asked for."""

    id: str
    """The id of the memory."""

    kind: Union[MemoryKind, str]
    """What the memory is about."""

    scope: Union[Scope, str]
    """Where the memory is visible."""

    snippet: str
    """The summary, or the beginning of the content."""

    title: str
    """The title of the memory."""

    trust: Union[Trust, str]
    """How far it may be believed."""

    updated_at: Optional[datetime] = None
    """When it was last changed."""


class Neighbourhood(Model):
    """A memory and what is near it by relations."""

    memories: List[Neighbour]
    """The memories, the one that was asked for first, then nearest first and by the strength of
    the relation that leads there.
    """

    more: bool
    """True when there are more memories or relations as near than are listed."""

    relations: List[Relation]
    """The relations between these memories."""


class NewToken(Model):
    """A token that was made just now, with its secret."""

    created_at: datetime
    """When it was made."""

    id: str
    """The id of the token. It is no secret."""

    name: str
    """The name of the token."""

    scopes: List[Union[TokenScope, str]]
    """What the token lets its holder do."""

    secret: str
    """The secret, which is shown in this answer and never again. It is empty when the same
    Idempotency-Key is answered once more.
    """

    agent: Optional[str] = None
    """The agent that the token is for. It is left out of a token for every agent."""

    expires_at: Optional[datetime] = None
    """When the token ends. It is left out of a token that does not end."""

    last_used_at: Optional[datetime] = None
    """When the token was last used, to the minute."""

    project_id: Optional[str] = None
    """The project that the token is bound to."""

    revoked_at: Optional[datetime] = None
    """When the token was revoked."""

    tenant: Optional[str] = None
    """The tenant that the token is for. It is left out of a token for every tenant."""

    user_id: Optional[str] = None
    """The user that the token is bound to."""

    workspace_id: Optional[str] = None
    """The workspace that the token is bound to."""


class Note(Model):
    """One Markdown document of the notes of an agent."""

    bytes: int
    """How many bytes it has."""

    content: str
    """The text of the note. It is empty in listings."""

    name: str
    """The name of the note, with slashes between folders and without .md."""

    updated_at: Optional[datetime] = None
    """When it was last changed."""

    author: Optional[Author] = None
    """Who made the last change. It is left out of notes of the owner, and of listings."""

    commit: Optional[str] = None
    """The commit that holds the note. It is the ETag of the note without the quotes."""

    trust: Optional[Union[Trust, str]] = None
    """How far the note may be believed: as far as the author of its last change. It is left out of
    notes of the owner, and of listings.
    """


class NoteCommit(Model):
    """One change of a note."""

    at: Optional[datetime] = None
    """When it happened."""

    commit: str
    """The commit of the change."""

    op: str
    """What was done: write, delete or recover."""

    author: Optional[Author] = None
    """Who made the change. It is left out of changes of the owner."""

    trust: Optional[Union[Trust, str]] = None
    """How far the author of the change is believed. It is left out of changes of the owner."""


class NoteCommitPage(Model):
    """One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have
    fewer than `limit`: `next` alone says whether there are more.
    """

    items: List[NoteCommit]
    """The items, in the order of the listing. The list may be empty and is never null."""

    next: Optional[str] = None
    """The cursor of the next page. It is left out of the last page, and of listings that have no
    pages.
    """

    set_aside: List[SetAside] = []
    """Rows that belong to the answer and cannot be read, at most 20."""


class NotePage(Model):
    """One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have
    fewer than `limit`: `next` alone says whether there are more.
    """

    items: List[Note]
    """The items, in the order of the listing. The list may be empty and is never null."""

    next: Optional[str] = None
    """The cursor of the next page. It is left out of the last page, and of listings that have no
    pages.
    """

    set_aside: List[SetAside] = []
    """Rows that belong to the answer and cannot be read, at most 20."""


class Origin(Model):
    """The place of one version in the order of all versions of a record, on all devices: by
    counter, then clock, then device.
    """

    clock: str
    """The clock of the device when it made the version: the time and a number, as in
    2026-01-02T03:04:05.678Z-0001.
    """

    counter: int
    """One more than the highest counter that the device knew of this record."""

    device: str
    """The device that made the version."""


class OriginAsked(Model):
    """The place of one version in the order of all versions of a record, on all devices: by
    counter, then clock, then device.
    """

    counter: int
    """One more than the highest counter that the device knew of this record."""

    device: str
    """The device that made the version."""

    clock: Optional[str] = None
    """The clock of the device when it made the version: the time and a number, as in
    2026-01-02T03:04:05.678Z-0001.
    """


class PendingLoop(Model):
    """An agent loop that was suspended and can be resumed."""

    created_at: datetime
    """When it was made."""

    digest: str
    """The SHA-256 of the state in hexadecimal digits."""

    parked: bool
    """True for a loop that came back with a restore. The caller decides whether it can still be
    resumed.
    """

    revision: int
    """The number of the revision, from 1. It is the ETag without the quotes."""

    run_id: str
    """The run that the loop belongs to."""

    session_id: str
    """The id of the session it belongs to."""

    state_json: Any
    """The state of the loop, any JSON. Amber does not look inside."""


class Provenance(Model):
    """Which store answered, and where the record is."""

    backend: str
    """The store that answered."""

    locator: Optional[str] = None
    """Where the record is in the store."""


class PruneReport(Model):
    """Which snapshots went and which stayed."""

    deleted: List[str]
    """The ids of the snapshots that were deleted."""

    dry_run: bool
    """True tells what would be done and changes nothing."""

    kept: List[Kept]
    """The snapshots that stay, and why."""


class QuarantinedChunk(Model):
    """A chunk that is not imported."""

    id: str
    """The id of the chunk."""

    kind: Union[ErrorKind, str]
    """The kind of the error."""

    reason: str
    """Why it is not imported."""


class RecallResult(Model):
    """The answer to a query."""

    hits: List[Hit]
    """What was found, best first."""

    clamped: List[Clamp] = []
    """Values of the query that were above their bounds and were lowered."""

    degraded: Optional[str] = None
    """What the answer could not take into account, in words. It is left out when the answer is
    whole.
    """

    set_aside: List[SetAside] = []
    """Rows that belong to the answer and cannot be read, at most 20."""


class Relation(Model):
    """A link from one memory to another."""

    created_at: Optional[datetime] = None
    """When it was made."""

    from_: str = Field(alias="from")
    """The id of the memory that the relation leads from."""

    id: str
    """The id of the relation. The server makes it."""

    origin: Origin
    """Which device made this version, and its place in the order of versions."""

    strength: float
    """How strong the relation is, from 0 to 1."""

    to: str
    """The id of the memory that the relation leads to."""

    type: str
    """The type of the relation, as in related, supersedes or conflicts_with."""

    author: Optional[Author] = None
    """Who made the relation."""

    deleted_at: Optional[datetime] = None
    """When it was deleted. It is left out of what is not deleted."""

    trust: Optional[Union[Trust, str]] = None
    """How far the relation may be believed: the trust of its author. A relation of lower trust
    does not hide a memory of higher trust.
    """


class RelationPage(Model):
    """One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have
    fewer than `limit`: `next` alone says whether there are more.
    """

    items: List[Relation]
    """The items, in the order of the listing. The list may be empty and is never null."""

    next: Optional[str] = None
    """The cursor of the next page. It is left out of the last page, and of listings that have no
    pages.
    """

    set_aside: List[SetAside] = []
    """Rows that belong to the answer and cannot be read, at most 20."""


class ReplayReport(Model):
    """A stored task compared with its history."""

    chain_consistent: bool
    """Whether every event begins in the state where the event before it ended."""

    consistency_status: str
    """The verdict: consistent, invalid_transitions, broken_transition_chain or snapshot_mismatch."""

    event_count: int
    """How many events the history has, folded ones too."""

    events: List[TaskEvent]
    """The events that were not folded, oldest first, up to the one with which their text reaches 1
    MiB.
    """

    persisted_state: Union[TaskState, str]
    """The state of the task as it is stored."""

    recoverable: bool
    """Whether a supervisor may go on with the task."""

    recovery_eligibility: str
    """What may be done after a crash: resume_ready, finalize_ready, pending_approval,
    requires_manual_resume, blocked or not_recoverable.
    """

    replay: ReplaySnapshot
    """What the history amounts to."""

    replayed_state: Union[TaskState, str]
    """The state of the task that its history leads to."""

    resume_candidates: List[str]
    """The ids of the nodes that were begun and not done."""

    snapshot_matches_replay: bool
    """Whether the stored task is as its history says."""

    task_id: str
    """The id of the task."""

    transitions_valid: bool
    """Whether every change of state in the history is one that the table of states has."""

    events_left: Optional[int] = None
    """How many events follow those that are listed. The history of the task has them."""


class ReplaySnapshot(Model):
    """What the part of the history of a task amounts to that was folded."""

    chain_consistent: bool
    """Whether every event begins in the state where the event before it ended."""

    compacted_event_count: int
    """How many events were folded. It is also the number of the last one."""

    completed_nodes: List[str]
    """The ids of the nodes that were done."""

    open_nodes: List[str]
    """The ids of the nodes that were begun and not done."""

    replayed_state: Union[TaskState, str]
    """The state of the task that its history leads to."""

    task_id: str
    """The id of the task."""

    transitions_valid: bool
    """Whether every change of state in the history is one that the table of states has."""

    last_result: Optional[str] = None
    """The last result of the task, as the program that runs it wrote it."""

    pending_approval_id: Optional[str] = None
    """The id of the approval that the task waits for."""


class RestorePlan(Model):
    """What changes for the agent, from what it is to what the snapshot holds."""

    notes: FilesDiff
    """Which notes change."""

    space_free: int
    """How many bytes of the disk are free."""

    space_needed: int
    """How many bytes of the disk the restore needs."""

    state: FilesDiff
    """Which documents of runtime state change."""

    store: StoreDiff
    """What changes in the databases."""


class RestoreReport(Model):
    """What a restore did, or would do."""

    agent: str
    """The agent that was restored."""

    checks: List[Check]
    """The checks that were made."""

    dry_run: bool
    """True tells what would be done and changes nothing."""

    from_: str = Field(alias="from")
    """The id of the snapshot that was restored."""

    generation: int
    """The generation that is live now."""

    parked_frames: int
    """How many entries of the crash journal belong to the old generation."""

    plan: RestorePlan
    """What changes for the agent."""

    restored: List[str]
    """The parts that were restored."""

    safety_snapshot: str
    """The snapshot of the agent as it was before. It is empty where none was taken."""

    signature: SignatureReport
    """What became of checking the signature."""

    old_generation: Optional[int] = None
    """The old generation, where it is kept because no verified snapshot holds it. It is left out
    when it was removed.
    """

    parked_generation: Optional[int] = None
    """The generation whose entries these are."""

    warnings: List[str] = []
    """What is there with something wrong, in words for people."""


class Result(Model):
    """What a node of a task produced."""

    confidence: float
    """How sure the producer is, from 0 to 1."""

    evidence: List[Evidence]
    """What backs the result."""

    fence: int
    """The fence of the lease that the work was done under, 0 for work that came from no queue. Any
    other fence than the newest one of the node is a conflict.
    """

    node_id: str
    """The id of the node of the task."""

    payload: str
    """What was produced, as text."""

    producer: str
    """Who produced it."""

    schema_version: str
    """The version of the form of the payload. The default is result.v1."""

    status: str
    """How it ended: ok or error."""

    task_id: str
    """The id of the task."""

    updated_at: datetime
    """When it was last changed."""


Role = Literal["user", "assistant", "system", "tool"]
"""Who spoke.

- `user`: The user. A prompt is a turn of this role.
- `assistant`: The agent.
- `system`: The program that runs the agent.
- `tool`: A tool that the agent used.
"""


class RowDiff(Model):
    """One row or file that differs."""

    key: str
    """The id of the row, or the path of the file."""

    op: str
    """What happened to it from the first to the second: insert, update or delete."""

    table: str
    """The table of the row."""

    title: Optional[str] = None
    """What a memory is about, on one line."""


Scope = Literal["session", "user", "project", "workspace", "global"]
"""Where a memory is visible. A memory of any scope but global is shown only to a reader who names
the same identity.

- `session`: In one session, that of session_id.
- `user`: To one user, that of user_id.
- `project`: In one project, that of project_id.
- `workspace`: In one workspace, that of workspace_id.
- `global`: Everywhere in the agent.
"""


class Session(Model):
    """One conversation of an agent."""

    binding: str
    """The chat or terminal that the session belongs to."""

    created_at: Optional[datetime] = None
    """When it was made."""

    directory: str
    """The folder that the session works in."""

    id: str
    """The id of the session."""

    name: str
    """The name of the session. Without a name of its own it is the id."""

    project: str
    """The project that the session is about."""

    started_at: Optional[datetime] = None
    """When the session started."""

    summary: str
    """What the session amounts to."""

    updated_at: Optional[datetime] = None
    """When it was last changed."""

    end_reason: Optional[str] = None
    """How the session ended: ended, crash, idle, or a word of the agent host."""

    ended_at: Optional[datetime] = None
    """When the session ended. It is left out of one that has not ended."""

    parent: Optional[str] = None
    """The id of the session that started this one."""

    trust: Optional[Union[Trust, str]] = None
    """It is left out of a session of one's own, and is signed or imported for one that came from
    elsewhere.
    """


class SessionEndAsked(Model):
    """How a session ends."""

    id: Optional[str] = None
    """The id of the session. The path names it too, so it may be left out."""

    reason: Optional[str] = None
    """How the session ends. The default is ended."""

    summary: Optional[str] = None
    """What the session amounts to."""


class SessionStartAsked(Model):
    """A session to start, or to go on with."""

    binding: Optional[str] = None
    """The chat or terminal that the session belongs to. The default is cli."""

    directory: Optional[str] = None
    """The folder that the session works in."""

    id: Optional[str] = None
    """The id of the session. The default is a new UUID; in a journal it is needed."""

    name: Optional[str] = None
    """The name of the session. The default is the id."""

    parent: Optional[str] = None
    """The id of the session that starts this one."""

    project: Optional[str] = None
    """The project that the session is about."""


class SessionState(Model):
    """The state of a session: one JSON document with a version."""

    document: Any
    """The document. Amber does not look inside."""

    session_id: str
    """The id of the session it belongs to."""

    updated_at: datetime
    """When it was last changed."""

    version: int
    """The version of the document, from 1. It is the ETag without the quotes."""

    exact: Optional[Base64] = None
    """The document to the byte, where it has white space that JSON inside of JSON does not keep."""


class SetAside(Model):
    """A stored row that cannot be read. Listings leave it out and name it; asked for by its id it
    is an error of kind damaged.
    """

    id: str
    """The id of the row, or ? where that cannot be read."""

    reason: str
    """Why the row cannot be read."""

    table: str
    """The table of the row."""


class SignatureReport(Model):
    """What became of checking a signature."""

    status: str
    """One of valid, unsigned, stripped (there must have been one) and bad (it does not match)."""

    detail: Optional[str] = None
    """More about it, in words for people."""

    key_id: Optional[str] = None
    """The key that signed, as a did:key."""

    standing: Optional[str] = None
    """How the key is known here: own, trusted or stranger."""


class Skipped(Model):
    """Something that should have been frozen and was not."""

    part: str
    """The part it belongs to: notes, git, state, journal, memory, control or source: and a name."""

    path: str
    """Its path inside of the part."""

    reason: str
    """Why it was skipped: missing, unreadable, torn, too_large, not_regular, bad_name or
    unsupported.
    """

    detail: Optional[str] = None
    """More about it, in words for people."""


class SnapshotDetail(Model):
    """Everything a snapshot says about itself."""

    agent: str
    """The agent that was frozen."""

    bytes_new: int
    """How many bytes were stored for it."""

    bytes_total: int
    """How many bytes the snapshot holds."""

    checks: List[Check]
    """The checks that were made when it was taken."""

    counter: int
    """Its number in the chain of snapshots of the agent and the device."""

    created_at: Optional[datetime] = None
    """The instant that the snapshot holds."""

    device: str
    """The device that took the snapshot."""

    digest: str
    """The digest of its manifest."""

    encrypted: bool
    """Whether the snapshot is encrypted."""

    fence_ms: float
    """How long the writers stood still, in milliseconds."""

    git_oid: str
    """The newest commit of the notes. It is empty where there is none."""

    id: str
    """The id of the snapshot."""

    label: str
    """The label. One that begins with auto: was given by Amber."""

    parent: str
    """The digest of the manifest before it in the chain. It is empty for the first one."""

    parts: List[SnapshotPart]
    """What it holds."""

    pinned: bool
    """Whether the snapshot is kept from being deleted and pruned."""

    redacted: bool
    """True when it came from a bundle without secrets, so that they are missing."""

    signed_by: str
    """The key that signed the snapshot. It is empty where none did. The signature was made and not
    necessarily checked.
    """

    skipped: List[Skipped]
    """What should have been frozen and was not. Listings leave it to skipped_count."""

    sources: List[SourceReport]
    """How its sources were frozen."""

    tenant: str
    """The tenant of the agent."""

    amber: Optional[str] = None
    """The version of Amber that wrote it."""

    by: Optional[Asker] = None
    """Who asked for it. It is absent where Amber itself did, and where that is not known."""

    commit: Optional[GitCommit] = None
    """The last commit of the notes; absent without one, and in snapshots of earlier versions."""

    damage: Optional[str] = None
    """Why the manifest could not be read. All else may be missing then."""

    skipped_count: Optional[int] = None
    """How many things should have been frozen and were not."""

    warning_count: Optional[int] = None
    """How many things were frozen with something wrong."""

    warnings: List[str] = []
    """What was frozen with something wrong at its source. Listings leave it to warning_count."""


class SnapshotDiff(Model):
    """What changed from snapshot a to snapshot b."""

    a: str
    """The id of the first snapshot."""

    b: str
    """The id of the second snapshot."""

    git: GitDiff
    """What changed in the history of the notes."""

    notes: FilesDiff
    """Which notes changed."""

    state: FilesDiff
    """Which documents of runtime state changed."""

    store: StoreDiff
    """What changed in the databases."""

    missing: List[str] = []
    """The databases that one of the two does not hold, so that they were not compared."""


class SnapshotMeta(Model):
    """What everybody may know about a snapshot without any key."""

    agent: str
    """The agent that was frozen."""

    bytes_new: int
    """How many bytes were stored for it."""

    bytes_total: int
    """How many bytes the snapshot holds."""

    counter: int
    """Its number in the chain of snapshots of the agent and the device."""

    created_at: Optional[datetime] = None
    """The instant that the snapshot holds."""

    device: str
    """The device that took the snapshot."""

    digest: str
    """The digest of its manifest."""

    encrypted: bool
    """Whether the snapshot is encrypted."""

    fence_ms: float
    """How long the writers stood still, in milliseconds."""

    git_oid: str
    """The newest commit of the notes. It is empty where there is none."""

    id: str
    """The id of the snapshot."""

    label: str
    """The label. One that begins with auto: was given by Amber."""

    parent: str
    """The digest of the manifest before it in the chain. It is empty for the first one."""

    pinned: bool
    """Whether the snapshot is kept from being deleted and pruned."""

    redacted: bool
    """True when it came from a bundle without secrets, so that they are missing."""

    signed_by: str
    """The key that signed the snapshot. It is empty where none did. The signature was made and not
    necessarily checked.
    """

    skipped: List[Skipped]
    """What should have been frozen and was not. Listings leave it to skipped_count."""

    tenant: str
    """The tenant of the agent."""

    amber: Optional[str] = None
    """The version of Amber that wrote it."""

    by: Optional[Asker] = None
    """Who asked for it. It is absent where Amber itself did, and where that is not known."""

    damage: Optional[str] = None
    """Why the manifest could not be read. All else may be missing then."""

    skipped_count: Optional[int] = None
    """How many things should have been frozen and were not."""

    warning_count: Optional[int] = None
    """How many things were frozen with something wrong."""

    warnings: List[str] = []
    """What was frozen with something wrong at its source. Listings leave it to warning_count."""


class SnapshotPart(Model):
    """One thing that a snapshot holds."""

    bytes: int
    """How many bytes it has."""

    count: int
    """How many pages, files, objects or entries it has."""

    digest: str
    """The digest of its content."""

    name: str
    """What it is: memory, control, notes, git, state or journal."""

    schema_: Optional[int] = Field(default=None, alias="schema")
    """The schema of a database."""


class SourceRef(Model):
    """Where a memory came from: a request, a file, an address."""

    kind: str
    """What sort of source it is, as in file or url."""

    value: str
    """The source itself, as a path or an address."""


class SourceRefAsked(Model):
    """Where a memory came from: a request, a file, an address."""

    kind: str
    """What sort of source it is, as in file or url."""

    value: str
    """The source itself, as a path or an address."""


class SourceReport(Model):
    """How a source was frozen."""

    bytes: int
    """How many bytes it has."""

    fenced: bool
    """False when each of its parts was frozen at an instant of its own."""

    files: int
    """How many files it has."""

    name: str
    """The name of the source."""


class Stats(Model):
    """How many records of each kind the store holds."""

    by_kind: Dict[str, int]
    """How many live memories there are of each kind."""

    by_scope: Dict[str, int]
    """How many live memories there are of each scope."""

    by_trust: Dict[str, int]
    """How many live memories there are of each degree of trust."""

    bytes: int
    """How many bytes the store has on disk, 0 where it is not on a disk."""

    changes: int
    """How many entries the change log has."""

    compactions: int
    """How many summaries of turns there are."""

    deleted: int
    """How many deleted memories have left a tombstone."""

    embeddings: int
    """How many vectors of memories there are."""

    loops: int
    """How many suspended loops there are."""

    memories: int
    """How many live memories there are."""

    relations: int
    """How many relations there are."""

    revisions: int
    """How many revisions of memories there are."""

    sessions: int
    """How many sessions there are."""

    turns: int
    """How many turns there are."""


class StoreDiff(Model):
    """Which rows of the databases differ."""

    tables: List[TableDiff]
    """How many rows of each table differ, also of those without a difference."""

    more: Optional[int] = None
    """How many rows were left out."""

    rows: List[RowDiff] = []
    """The rows that differ, where they were asked for."""


class StringPage(Model):
    """One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have
    fewer than `limit`: `next` alone says whether there are more.
    """

    items: List[str]
    """The items, in the order of the listing. The list may be empty and is never null."""

    next: Optional[str] = None
    """The cursor of the next page. It is left out of the last page, and of listings that have no
    pages.
    """

    set_aside: List[SetAside] = []
    """Rows that belong to the answer and cannot be read, at most 20."""


class SyncConflict(Model):
    """A memory that was changed at two places without knowing of each other. Any edit, write or
    deletion of it settles the conflict.
    """

    id: str
    """The id of the memory."""

    kept: SyncVersion
    """The version that every place shows."""

    others: List[SyncVersion]
    """The other versions."""


class SyncDevice(Model):
    """What is known about a device whose chunks were applied."""

    chunks: int
    """How many of its chunks were applied."""

    created_by: str
    """Who exported its chunks."""

    device: str
    """The id of the device."""

    last_at: Optional[datetime] = None
    """When its newest chunk was made, by its own clock."""

    last_sync: Optional[datetime] = None
    """When that chunk was applied here."""

    drift_ms: Optional[int] = None
    """How far its clock was ahead at most, in milliseconds."""


class SyncReport(Model):
    """What is known about the sync with a place."""

    chunks: int
    """How many chunks were applied from there or exported to it."""

    conflict_count: int
    """How many memories were changed at two places."""

    conflicts: List[SyncConflict]
    """The memories that were changed at two places, at most 100."""

    devices: List[SyncDevice]
    """The devices whose chunks were applied."""

    quarantined: List[QuarantinedChunk]
    """The chunks that are not imported."""


class SyncVersion(Model):
    """One version of a memory in a conflict."""

    content: str
    """The content in this version."""

    origin: Origin
    """Which device made this version, and its place in the order of versions."""

    title: str
    """The title in this version."""

    updated_at: Optional[datetime] = None
    """When it was last changed."""

    deleted: Optional[bool] = None
    """True when this version is a deletion."""


class TableDiff(Model):
    """How many rows of one table differ."""

    added: int
    """How many were added."""

    changed: int
    """How many were changed."""

    name: str
    """The table, as in memories, turns or tasks."""

    removed: int
    """How many were removed."""


class Task(Model):
    """One unit of work of a program, as it stands."""

    attempts: int
    """How many times it was tried."""

    completed_nodes: List[str]
    """The ids of the nodes that are done."""

    created_at: datetime
    """When it was made."""

    goal: str
    """What is to be done."""

    id: str
    """The id of the task."""

    next_node_index: int
    """The index of the node that comes next."""

    request_id: str
    """The id of the request that the task was made for."""

    session_id: str
    """The id of the session it belongs to."""

    state: Union[TaskState, str]
    """Where the task stands."""

    updated_at: datetime
    """When it was last changed."""

    version: int
    """The version of the task, from 1. It is the ETag without the quotes."""

    extra: Any = None
    """What else the program keeps with the task, any JSON."""

    extra_exact: Optional[Base64] = None
    """The field extra to the byte, where it has white space that JSON inside of JSON does not
    keep.
    """

    last_result: Optional[str] = None
    """The last result of the task, as the program that runs it wrote it."""

    pending_approval_id: Optional[str] = None
    """The id of the approval that the task waits for."""


class TaskEvent(Model):
    """One entry of the history of a task."""

    at: datetime
    """When it happened."""

    from_: Union[TaskState, str] = Field(alias="from")
    """The state of the task before."""

    kind: str
    """What it records: state_transition, node_completed, approval_pending, approval_approved or
    approval_rejected.
    """

    reason: str
    """Why it happened."""

    seq: int
    """The number of the event, from 1."""

    task_id: str
    """The id of the task."""

    to: Union[TaskState, str]
    """The state of the task after."""

    approval_id: Optional[str] = None
    """The id of the approval it is about."""

    attempt: Optional[int] = None
    """Which attempt it was."""

    error_class: Optional[str] = None
    """The class of a failure: validation, dependency, timeout, security, budget_exhausted or
    non_retriable.
    """

    node_id: Optional[str] = None
    """The id of the node it is about."""

    node_kind: Optional[str] = None
    """What sort of node it is."""

    result: Optional[str] = None
    """The result it brought."""


TaskState = Literal["queued", "planning", "graph_building", "delegating", "executing", "validating", "waiting_approval", "aggregating", "cancel_requested", "compensating", "timeout_recovering", "succeeded", "failed", "dead_letter", "cancelled"]
"""Where a task stands. Succeeded, dead_letter and cancelled are final.

- `queued`: It waits to be begun. Every task begins so.
- `planning`: It is being planned.
- `graph_building`: The graph of its nodes is being made.
- `delegating`: Its nodes are being handed out.
- `executing`: Its nodes are being worked on.
- `validating`: What came of it is being checked.
- `waiting_approval`: It waits for the decision of a person.
- `aggregating`: The results of its nodes are being put together.
- `cancel_requested`: Somebody asked to cancel it.
- `compensating`: What it did is being taken back.
- `timeout_recovering`: It took too long, and is being recovered.
- `succeeded`: It is done.
- `failed`: It failed. It may be queued again.
- `dead_letter`: It failed and is given up.
- `cancelled`: It was cancelled.
"""


class TermMatch(Model):
    """One word of the query, and where it was found."""

    fields: List[str]
    """The fields it was found in."""

    term: str
    """The word."""


class Token(Model):
    """What is known about a token. Its secret is not."""

    created_at: datetime
    """When it was made."""

    id: str
    """The id of the token. It is no secret."""

    name: str
    """The name of the token."""

    scopes: List[Union[TokenScope, str]]
    """What the token lets its holder do."""

    agent: Optional[str] = None
    """The agent that the token is for. It is left out of a token for every agent."""

    expires_at: Optional[datetime] = None
    """When the token ends. It is left out of a token that does not end."""

    last_used_at: Optional[datetime] = None
    """When the token was last used, to the minute."""

    project_id: Optional[str] = None
    """The project that the token is bound to. It reaches no other. It is left out of a token that
    is bound to none.
    """

    revoked_at: Optional[datetime] = None
    """When the token was revoked."""

    tenant: Optional[str] = None
    """The tenant that the token is for. It is left out of a token for every tenant."""

    user_id: Optional[str] = None
    """The user that the token is bound to. It reaches no other. It is left out of a token that is
    bound to none.
    """

    workspace_id: Optional[str] = None
    """The workspace that the token is bound to. It reaches no other. It is left out of a token
    that is bound to none.
    """


class TokenPage(Model):
    """One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have
    fewer than `limit`: `next` alone says whether there are more.
    """

    items: List[Token]
    """The items, in the order of the listing. The list may be empty and is never null."""

    next: Optional[str] = None
    """The cursor of the next page. It is left out of the last page, and of listings that have no
    pages.
    """

    set_aside: List[SetAside] = []
    """Rows that belong to the answer and cannot be read, at most 20."""


TokenScope = Literal["read", "write", "approve", "snapshot", "restore", "erase", "own", "admin"]
"""Something that a token lets its holder do. None includes another one, but admin includes all.

- `read`: Look at memories, sessions, notes, runtime state, tasks and snapshots, and hear
events.
- `write`: Change them, all but the following.
- `approve`: Decide approvals that another token has asked for.
- `snapshot`: Take, verify, pin, delete and prune snapshots.
- `restore`: Put a snapshot, or one memory of it, in the place of what is live.
- `erase`: Remove the text of memories for good.
- `own`: Speak as the owner. Without it, what is written is the word of an agent: it changes
nothing that is trusted more, and waits for review where it would hold for every project or
always.
- `admin`: All of that, the doctor, the audit log, tokens, and what concerns a whole tenant.
"""


Trust = Literal["own", "signed", "agent", "derived", "imported"]
"""How far a record may be believed. Imported records are not put before an agent that did not ask
for them.

- `own`: The owner wrote it here.
- `signed`: It was signed by a trusted key.
- `agent`: An agent, or a program, wrote it here.
- `derived`: A rule found it in the text of an assistant.
- `imported`: It came from elsewhere.
"""


class TrustedFolder(Model):
    """A folder whose claim was confirmed."""

    memories: int
    """How many memories joined the project."""

    place: str
    """The path that the home knows the folder by."""

    project: str
    """The project that the folder has now."""

    sessions: int
    """How many sessions joined the project."""


class Turn(Model):
    """Something that was said in a session."""

    content: str
    """What was said."""

    created_at: Optional[datetime] = None
    """When it was made."""

    id: str
    """The id of the turn."""

    role: Union[Role, str]
    """Who spoke."""

    session_id: str
    """The id of the session it belongs to."""

    project_id: Optional[str] = None
    """The project it belongs to."""

    trust: Optional[Union[Trust, str]] = None
    """It is left out of what was said here, and is signed or imported for a prompt that came from
    elsewhere. A prompt that an agent or a program stored has agent.
    """


class TurnAsked(Model):
    """Something that was said, to be stored at the end of a session."""

    content: str
    """What was said, at most 1 MiB."""

    role: Union[Role, str]
    """Who spoke."""

    created_at: Optional[datetime] = None
    """When it was said. The default is now."""

    id: Optional[str] = None
    """The id of the turn. A turn whose id is stored already is not stored again. The default is a
    new UUID.
    """

    project_id: Optional[str] = None
    """The project it belongs to."""

    session_id: Optional[str] = None
    """The id of the session. Where the path names it too it may be left out; in a journal it is
    needed.
    """

    trust: Optional[Union[Trust, str]] = None
    """It is left out of what was said here, and is signed or imported for a prompt that came from
    elsewhere. A prompt that an agent or a program stored has agent.
    """


class UnfinishedRestore(Model):
    """A restore that has not come to its end."""

    from_: str = Field(alias="from")
    """The id of the snapshot that is restored."""

    generation: int
    """The generation that is being made."""

    replaces: int
    """The generation that was live before."""

    running: bool
    """True while an operation on the agent is under way."""

    switched: bool
    """True when the new generation is live."""


class VerifyReport(Model):
    """What verifying a snapshot has shown."""

    checked: List[str]
    """What was checked, in words for people."""

    checks: List[Check]
    """The checks that were made."""

    damaged: List[Damage]
    """What is not as it was written. An empty list means that nothing was found."""

    id: str
    """The id of the snapshot."""

    not_checked: List[str]
    """What was not checked, and why, in words for people."""

    signature: SignatureReport
    """What became of checking the signature."""


class WaitingFolder(Model):
    """A folder that claims a project and waits for the owner."""

    asks: str
    """The project that the folder claims."""

    at: Optional[datetime] = None
    """When the home first saw the folder."""

    folders: List[str]
    """The folders that have that project."""

    place: str
    """The path that the home knows the folder by."""

    project: str
    """The project that the folder has until the owner confirms what the folder claims."""


class WaitingFolderPage(Model):
    """One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have
    fewer than `limit`: `next` alone says whether there are more.
    """

    items: List[WaitingFolder]
    """The items, in the order of the listing. The list may be empty and is never null."""

    next: Optional[str] = None
    """The cursor of the next page. It is left out of the last page, and of listings that have no
    pages.
    """

    set_aside: List[SetAside] = []
    """Rows that belong to the answer and cannot be read, at most 20."""


class Why(Model):
    """The parts of the score of a hit, before they are made a likelihood."""

    terms: List[TermMatch]
    """The words of the query that matched."""

    words: float
    """How much of the question the words of the passage answer."""

    feedback: Optional[float] = None
    """How near the passage is to the best hit."""

    kind: Optional[float] = None
    """What it adds that the passage is of the kind the question asks for."""

    meaning: Optional[float] = None
    """How near the passage is in meaning, as a cosine."""

    neighbours: Optional[float] = None
    """What the passages beside it add."""

    newer: Optional[bool] = None
    """True when the passage took the place of an older one about the same thing."""

    related: Optional[bool] = None
    """True when an index beside the store found it."""

    session: Optional[float] = None
    """What the rest of its session adds."""

    speaker: Optional[float] = None
    """What it adds that the question names who spoke."""

    time: Optional[float] = None
    """What it adds that the passage is of the time the question names."""

    trust: Optional[float] = None
    """What the passage loses because it came from elsewhere and is not signed."""

    wording: Optional[float] = None
    """What the wording of the question adds to the odds of every hit, as a logarithm."""


class WriteAck(Model):
    """The memory as it is stored now, and what the write did to it."""

    content: str
    """The text that is remembered."""

    content_digest: str
    """The SHA-256 of the content in hexadecimal digits."""

    created_at: Optional[datetime] = None
    """When it was made."""

    deduplicated: bool
    """True when an equal memory was there already: the same content, kind, scope, identity and
    title. No second one was stored.
    """

    duplicate_count: int
    """How many times the same memory was written again."""

    id: str
    """The id of the memory, a UUID."""

    kind: Union[MemoryKind, str]
    """What the memory is about."""

    metadata: Dict[str, str]
    """Names and values that a program keeps with the memory. Amber does not look inside."""

    origin: Origin
    """Which device made this version, and its place in the order of versions."""

    revision: int
    """The number of the revision, from 1. It is the ETag of the memory without the quotes."""

    scope: Union[Scope, str]
    """Where the memory is visible. Every scope but global goes with the identity of the same name."""

    source_refs: List[SourceRef]
    """Where the memory came from."""

    summary: str
    """The content in short. It may be empty."""

    tags: List[str]
    """The tags, sorted."""

    title: str
    """A short title on one line. It may be empty."""

    trust: Union[Trust, str]
    """How far it may be believed."""

    updated_at: Optional[datetime] = None
    """When it was last changed."""

    added: List[str] = []
    """The fields that the equal memory was given by this write, as a new revision."""

    author: Optional[Author] = None
    """Who wrote this revision."""

    deleted_at: Optional[datetime] = None
    """When it was deleted. It is left out of what is not deleted."""

    foreign: Dict[str, Any] = {}
    """Fields of the program the memory came from, by program, kept as they were."""

    not_taken: List[str] = []
    """The fields of the write that the equal memory was not given, since it has other ones."""

    project_id: Optional[str] = None
    """The project that memories of scope project are bound to."""

    redacted: Dict[str, int] = {}
    """How many secrets were taken out, by the rule that found them. It is left out when there were
    none.
    """

    session_id: Optional[str] = None
    """The session that memories of scope session are bound to."""

    topic: Optional[str] = None
    """The topic. There is one live memory for each project, scope, identity and topic, and writing
    another text to the topic makes a new revision of it.
    """

    user_id: Optional[str] = None
    """The user that memories of scope user are bound to."""

    workspace_id: Optional[str] = None
    """The workspace that memories of scope workspace are bound to."""


class WriteAckPage(Model):
    """One page of a listing. It ends where the text of its items reaches 1 MiB, so it may have
    fewer than `limit`: `next` alone says whether there are more.
    """

    items: List[WriteAck]
    """The items, in the order of the listing. The list may be empty and is never null."""

    next: Optional[str] = None
    """The cursor of the next page. It is left out of the last page, and of listings that have no
    pages.
    """

    set_aside: List[SetAside] = []
    """Rows that belong to the answer and cannot be read, at most 20."""


class WriteRequestAsked(Model):
    """A memory to be stored. The content alone is enough."""

    content: str
    """The text that is remembered, at most 1 MiB."""

    author: Optional[AuthorAsked] = None
    """The server does not use it: it knows who asks."""

    content_digest: Optional[str] = None
    """The SHA-256 of the content of a memory that was stored before. It needs an id."""

    created_at: Optional[datetime] = None
    """When the memory was first stored. A new memory gets this date in place of now."""

    deleted_at: Optional[datetime] = None
    """When a memory that was stored before was deleted. It needs an id."""

    duplicate_count: Optional[int] = None
    """How many times a memory that was stored before was written again. It needs an id."""

    foreign: Dict[str, Any] = {}
    """Fields of the program that the memory came from, by program. It needs an id."""

    id: Optional[str] = None
    """The id of a memory that was stored before, here or elsewhere. With an id the memory is
    stored as it is; a stored memory of this id that says something else is a conflict. Leave it
    out for a new memory.
    """

    idempotency_key: Optional[str] = None
    """The same key gets the answer of the first write, and with another request it is a conflict.
    It is the same as the header Idempotency-Key.
    """

    kind: Optional[Union[MemoryKind, str]] = None
    """What the memory is about. The default is workspace_fact. A server also takes common names,
    such as decision, for the kind that they mean.
    """

    metadata: Dict[str, str] = {}
    """Names and values that a program keeps with the memory. Amber does not look inside."""

    origin: Optional[OriginAsked] = None
    """The origin of a memory that was stored before. It needs an id."""

    project_id: Optional[str] = None
    """The project that memories of scope project are bound to."""

    reason: Optional[str] = None
    """Why the memory is written: operator_requested (the default), task_succeeded,
    high_value_observation or compact_summary.
    """

    revision: Optional[int] = None
    """The revision of a memory that was stored before. It needs an id."""

    scope: Optional[Union[Scope, str]] = None
    """Where the memory is visible. The default is the narrowest identity that the request names
    (session_id, user_id, project_id, workspace_id, in this order), and global only where it
    names none. Every scope but global needs its identity.
    """

    session_id: Optional[str] = None
    """The session that memories of scope session are bound to."""

    source_refs: List[SourceRefAsked] = []
    """Where the memory came from."""

    summary: Optional[str] = None
    """The content in short."""

    tags: List[str] = []
    """The tags, at most 64. They are sorted when they are stored."""

    title: Optional[str] = None
    """A short title on one line."""

    topic: Optional[str] = None
    """The topic. There is one live memory for each project, scope, identity and topic, so a write
    to a topic that exists becomes a new revision of its memory.
    """

    trust: Optional[Union[Trust, str]] = None
    """How far the memory may be believed: at most what the server gives the caller, which is the
    default.
    """

    updated_at: Optional[datetime] = None
    """When the memory was last changed. A new memory gets this date in place of now."""

    user_id: Optional[str] = None
    """The user that memories of scope user are bound to."""

    workspace_id: Optional[str] = None
    """The workspace that memories of scope workspace are bound to."""


for _model in (
    Activity,
    ActivityAsked,
    ActivityPage,
    AgentName,
    AgentNamePage,
    Approval,
    Asker,
    AskerAsked,
    AuditEntry,
    AuditReport,
    Author,
    AuthorAsked,
    Backpressure,
    Capabilities,
    Change,
    Check,
    CheckReport,
    Checkup,
    Claim,
    Clamp,
    Compaction,
    CompactionAsked,
    ConceptCount,
    ConceptCountPage,
    Consolidation,
    ContextBlock,
    ContextItem,
    ContextItemAsked,
    Damage,
    DeadEntry,
    Decision,
    DeletedTurns,
    Document,
    DocumentPage,
    Envelope,
    EraseReport,
    Event,
    EventRefAsked,
    Evidence,
    EvidenceAsked,
    FilesDiff,
    Finding,
    ForeignImport,
    GCReport,
    Generation,
    GenerationOrigin,
    GitCommit,
    GitDiff,
    Health,
    HeldEntry,
    HeldEntryPage,
    Hit,
    HostProcess,
    HostProcessAsked,
    ImportConflict,
    ImportCounts,
    ImportKept,
    ImportRecord,
    ImportRecordPage,
    ImportSkip,
    ImportUndo,
    IngestLinkAsked,
    IngestResult,
    IngestStepAsked,
    JournalCursor,
    JournalCursorPage,
    JournalStatus,
    JournalStatusPage,
    Kept,
    Lease,
    LeaseAsked,
    ListedTurn,
    LogPosition,
    Memory,
    MemoryPage,
    MemoryRestore,
    Neighbour,
    Neighbourhood,
    NewToken,
    Note,
    NoteCommit,
    NoteCommitPage,
    NotePage,
    Origin,
    OriginAsked,
    PendingLoop,
    Provenance,
    PruneReport,
    QuarantinedChunk,
    RecallResult,
    Relation,
    RelationPage,
    ReplayReport,
    ReplaySnapshot,
    RestorePlan,
    RestoreReport,
    Result,
    RowDiff,
    Session,
    SessionEndAsked,
    SessionStartAsked,
    SessionState,
    SetAside,
    SignatureReport,
    Skipped,
    SnapshotDetail,
    SnapshotDiff,
    SnapshotMeta,
    SnapshotPart,
    SourceRef,
    SourceRefAsked,
    SourceReport,
    Stats,
    StoreDiff,
    StringPage,
    SyncConflict,
    SyncDevice,
    SyncReport,
    SyncVersion,
    TableDiff,
    Task,
    TaskEvent,
    TermMatch,
    Token,
    TokenPage,
    TrustedFolder,
    Turn,
    TurnAsked,
    UnfinishedRestore,
    VerifyReport,
    WaitingFolder,
    WaitingFolderPage,
    Why,
    WriteAck,
    WriteAckPage,
    WriteRequestAsked,
):
    _model.model_rebuild()
