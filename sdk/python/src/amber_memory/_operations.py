# Made from the OpenAPI document of the server by tools/sdkgen. Changes here are lost.
"""The operations of the API: one class for each kind of thing, in two manners."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Mapping, Optional, Sequence, Union

from ._call import AsyncCaller, AsyncFile, AsyncListing, AsyncStream, Caller, File, Listing, Operation, Stream, Upload, AsyncUpload
from ._models import *  # noqa: F403

_ACTIVITY_LIST = Operation("activity.list", "GET", "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/activity", answer="json")
_ACTIVITY_NAMED = Operation("activity.named", "GET", "/v1/tenants/{tenant}/agents/{agent}/activity", answer="json")
_AGENT_CAPABILITIES = Operation("agent.capabilities", "GET", "/v1/tenants/{tenant}/agents/{agent}/capabilities", answer="json")
_AGENT_DOCTOR = Operation("agent.doctor", "GET", "/v1/tenants/{tenant}/agents/{agent}/doctor", answer="json", long=True)
_AGENT_GENERATION = Operation("agent.generation", "GET", "/v1/tenants/{tenant}/agents/{agent}/generation", answer="json")
_AGENT_HEALTH = Operation("agent.health", "GET", "/v1/tenants/{tenant}/agents/{agent}/health", answer="json")
_AGENT_LIST = Operation("agent.list", "GET", "/v1/agents", answer="json")
_AGENT_STATS = Operation("agent.stats", "GET", "/v1/tenants/{tenant}/agents/{agent}/stats", answer="json")
_AGENT_SYNC = Operation("agent.sync", "GET", "/v1/tenants/{tenant}/agents/{agent}/sync", answer="json")
_APPROVAL_DECIDE = Operation("approval.decide", "POST", "/v1/tenants/{tenant}/agents/{agent}/approvals/{id}/decision", answer="json", key=True)
_APPROVAL_GET = Operation("approval.get", "GET", "/v1/tenants/{tenant}/agents/{agent}/approvals/{id}", answer="json")
_APPROVAL_LIST = Operation("approval.list", "GET", "/v1/tenants/{tenant}/agents/{agent}/approvals", answer="list", paged=True)
_APPROVAL_REQUEST = Operation("approval.request", "POST", "/v1/tenants/{tenant}/agents/{agent}/approvals", answer="json", key=True)
_AUDIT_LIST = Operation("audit.list", "GET", "/v1/audit", answer="list", paged=True)
_AUDIT_VERIFY = Operation("audit.verify", "POST", "/v1/audit/verify", answer="json", long=True)
_CHANGE_HEAD = Operation("change.head", "GET", "/v1/tenants/{tenant}/agents/{agent}/changes/head", answer="json")
_CHANGE_LIST = Operation("change.list", "GET", "/v1/tenants/{tenant}/agents/{agent}/changes", answer="list", paged=True)
_COMPACTION_ADD = Operation("compaction.add", "POST", "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/compactions", answer="json", key=True)
_COMPACTION_LIST = Operation("compaction.list", "GET", "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/compactions", answer="list", paged=True)
_CONCEPT_COUNT = Operation("concept.count", "GET", "/v1/tenants/{tenant}/agents/{agent}/concepts", answer="json")
_CONCEPT_LIST = Operation("concept.list", "GET", "/v1/tenants/{tenant}/agents/{agent}/memories/{id}/concepts", answer="json")
_CONCEPT_SET = Operation("concept.set", "PUT", "/v1/tenants/{tenant}/agents/{agent}/memories/{id}/concepts", answer="none", key=True)
_CONSOLIDATION_BEGIN = Operation("consolidation.begin", "POST", "/v1/tenants/{tenant}/agents/{agent}/consolidations", answer="json", key=True, long=True)
_CONSOLIDATION_END = Operation("consolidation.end", "POST", "/v1/tenants/{tenant}/agents/{agent}/consolidations/{id}/end", answer="json", key=True)
_CONSOLIDATION_OPEN = Operation("consolidation.open", "GET", "/v1/tenants/{tenant}/agents/{agent}/consolidations/open", answer="json")
_CONTROL_CHANGE_HEAD = Operation("control_change.head", "GET", "/v1/tenants/{tenant}/agents/{agent}/control-changes/head", answer="json")
_CONTROL_CHANGE_LIST = Operation("control_change.list", "GET", "/v1/tenants/{tenant}/agents/{agent}/control-changes", answer="list", paged=True)
_DOCUMENT_DELETE = Operation("document.delete", "DELETE", "/v1/tenants/{tenant}/agents/{agent}/state/{name}", answer="none", key=True)
_DOCUMENT_GET = Operation("document.get", "GET", "/v1/tenants/{tenant}/agents/{agent}/state/{name}", answer="json")
_DOCUMENT_LIST = Operation("document.list", "GET", "/v1/tenants/{tenant}/agents/{agent}/state", answer="json")
_DOCUMENT_PUT = Operation("document.put", "PUT", "/v1/tenants/{tenant}/agents/{agent}/state/{name}", answer="json", key=True)
_EVENT_STREAM = Operation("event.stream", "GET", "/v1/tenants/{tenant}/agents/{agent}/events", answer="stream")
_EXPORT_DOWNLOAD = Operation("export.download", "GET", "/v1/tenants/{tenant}/agents/{agent}/export", answer="file", long=True)
_FOLDER_LIST = Operation("folder.list", "GET", "/v1/tenants/{tenant}/agents/{agent}/folders", answer="json")
_FOLDER_TRUST = Operation("folder.trust", "POST", "/v1/tenants/{tenant}/agents/{agent}/folders/trust", answer="json", key=True)
_IMPORT_LIST = Operation("import.list", "GET", "/v1/tenants/{tenant}/agents/{agent}/imports", answer="json")
_IMPORT_UNDO = Operation("import.undo", "POST", "/v1/tenants/{tenant}/agents/{agent}/imports/{id}/undo", answer="json", key=True, long=True)
_IMPORT_UPLOAD = Operation("import.upload", "POST", "/v1/tenants/{tenant}/agents/{agent}/imports", answer="json", key=True, long=True)
_JOURNAL_CURSOR = Operation("journal.cursor", "GET", "/v1/tenants/{tenant}/agents/{agent}/journal/cursors/{journal}", answer="json")
_JOURNAL_INGEST = Operation("journal.ingest", "POST", "/v1/tenants/{tenant}/agents/{agent}/journal/ingest", answer="json", key=True)
_JOURNAL_OPEN = Operation("journal.open", "GET", "/v1/tenants/{tenant}/agents/{agent}/journal/open", answer="json")
_JOURNAL_STATUS = Operation("journal.status", "GET", "/v1/tenants/{tenant}/agents/{agent}/journal", answer="json")
_LOOP_CLEAR = Operation("loop.clear", "DELETE", "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/loop", answer="none", key=True)
_LOOP_GET = Operation("loop.get", "GET", "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/loop", answer="json")
_LOOP_SAVE = Operation("loop.save", "PUT", "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/loop", answer="json", key=True)
_MEMORY_CONTEXT = Operation("memory.context", "POST", "/v1/tenants/{tenant}/agents/{agent}/context", answer="json")
_MEMORY_EDIT = Operation("memory.edit", "PATCH", "/v1/tenants/{tenant}/agents/{agent}/memories/{id}", answer="json", key=True)
_MEMORY_ERASE = Operation("memory.erase", "POST", "/v1/tenants/{tenant}/agents/{agent}/memories/{id}/erase", answer="json", key=True, long=True)
_MEMORY_FORGET = Operation("memory.forget", "DELETE", "/v1/tenants/{tenant}/agents/{agent}/memories/{id}", answer="none", key=True)
_MEMORY_GET = Operation("memory.get", "GET", "/v1/tenants/{tenant}/agents/{agent}/memories/{id}", answer="json")
_MEMORY_HISTORY = Operation("memory.history", "GET", "/v1/tenants/{tenant}/agents/{agent}/memories/{id}/history", answer="list", paged=True)
_MEMORY_LIST = Operation("memory.list", "GET", "/v1/tenants/{tenant}/agents/{agent}/memories", answer="list", paged=True)
_MEMORY_RECALL = Operation("memory.recall", "POST", "/v1/tenants/{tenant}/agents/{agent}/recall", answer="json")
_MEMORY_TIMELINE = Operation("memory.timeline", "GET", "/v1/tenants/{tenant}/agents/{agent}/memories/{id}/timeline", answer="json")
_MEMORY_WRITE = Operation("memory.write", "POST", "/v1/tenants/{tenant}/agents/{agent}/memories", answer="json", key=True)
_MEMORY_WRITE_BATCH = Operation("memory.write_batch", "POST", "/v1/tenants/{tenant}/agents/{agent}/memories/batch", answer="json", key=True)
_NOTE_AT = Operation("note.at", "GET", "/v1/tenants/{tenant}/agents/{agent}/notes/{name}/log/{commit}", answer="json")
_NOTE_DELETE = Operation("note.delete", "DELETE", "/v1/tenants/{tenant}/agents/{agent}/notes/{name}", answer="none", key=True)
_NOTE_GET = Operation("note.get", "GET", "/v1/tenants/{tenant}/agents/{agent}/notes/{name}", answer="json")
_NOTE_LIST = Operation("note.list", "GET", "/v1/tenants/{tenant}/agents/{agent}/notes", answer="json")
_NOTE_LOG = Operation("note.log", "GET", "/v1/tenants/{tenant}/agents/{agent}/notes/{name}/log", answer="json")
_NOTE_WRITE = Operation("note.write", "PUT", "/v1/tenants/{tenant}/agents/{agent}/notes/{name}", answer="json", key=True)
_QUARANTINE_LIST = Operation("quarantine.list", "GET", "/v1/tenants/{tenant}/agents/{agent}/journal/quarantine", answer="json")
_QUARANTINE_RETRY = Operation("quarantine.retry", "POST", "/v1/tenants/{tenant}/agents/{agent}/journal/quarantine/retry", answer="json", key=True)
_QUARANTINE_SHOW = Operation("quarantine.show", "GET", "/v1/tenants/{tenant}/agents/{agent}/journal/quarantine/{session}/{name}", answer="json")
_QUEUE_ACK = Operation("queue.ack", "POST", "/v1/tenants/{tenant}/agents/{agent}/queue/ack", answer="none", key=True)
_QUEUE_CLAIM = Operation("queue.claim", "POST", "/v1/tenants/{tenant}/agents/{agent}/queue/claim", answer="json", key=True)
_QUEUE_DEAD = Operation("queue.dead", "GET", "/v1/tenants/{tenant}/agents/{agent}/queue/dead", answer="list", paged=True)
_QUEUE_NACK = Operation("queue.nack", "POST", "/v1/tenants/{tenant}/agents/{agent}/queue/nack", answer="none", key=True)
_QUEUE_PUBLISH = Operation("queue.publish", "POST", "/v1/tenants/{tenant}/agents/{agent}/queue", answer="none", key=True)
_QUEUE_RENEW = Operation("queue.renew", "POST", "/v1/tenants/{tenant}/agents/{agent}/queue/renew", answer="json", key=True)
_QUEUE_SHOW = Operation("queue.show", "GET", "/v1/tenants/{tenant}/agents/{agent}/queue", answer="json")
_RELATION_GET = Operation("relation.get", "GET", "/v1/tenants/{tenant}/agents/{agent}/relations/{id}", answer="json")
_RELATION_LIST = Operation("relation.list", "GET", "/v1/tenants/{tenant}/agents/{agent}/memories/{id}/relations", answer="json")
_RELATION_NEIGHBOURS = Operation("relation.neighbours", "GET", "/v1/tenants/{tenant}/agents/{agent}/memories/{id}/neighbours", answer="json")
_RELATION_RELATE = Operation("relation.relate", "POST", "/v1/tenants/{tenant}/agents/{agent}/relations", answer="json", key=True)
_RELATION_UNRELATE = Operation("relation.unrelate", "DELETE", "/v1/tenants/{tenant}/agents/{agent}/relations/{id}", answer="none", key=True)
_RESULT_GET = Operation("result.get", "GET", "/v1/tenants/{tenant}/agents/{agent}/results/{task}/{node}", answer="json")
_RESULT_LIST = Operation("result.list", "GET", "/v1/tenants/{tenant}/agents/{agent}/results", answer="list", paged=True)
_RESULT_SAVE = Operation("result.save", "POST", "/v1/tenants/{tenant}/agents/{agent}/results", answer="json", key=True)
_SESSION_ACTIVE = Operation("session.active", "GET", "/v1/tenants/{tenant}/agents/{agent}/active-session", answer="json")
_SESSION_DELETE = Operation("session.delete", "DELETE", "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}", answer="none", key=True)
_SESSION_END = Operation("session.end", "POST", "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/end", answer="json", key=True)
_SESSION_GET = Operation("session.get", "GET", "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}", answer="json")
_SESSION_LIST = Operation("session.list", "GET", "/v1/tenants/{tenant}/agents/{agent}/sessions", answer="list", paged=True)
_SESSION_RENAME = Operation("session.rename", "PATCH", "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}", answer="json", key=True)
_SESSION_SELECT = Operation("session.select", "POST", "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/select", answer="json", key=True)
_SESSION_START = Operation("session.start", "POST", "/v1/tenants/{tenant}/agents/{agent}/sessions", answer="json", key=True)
_SNAPSHOT_DELETE = Operation("snapshot.delete", "DELETE", "/v1/tenants/{tenant}/agents/{agent}/snapshots/{id}", answer="none", key=True)
_SNAPSHOT_DIFF = Operation("snapshot.diff", "POST", "/v1/tenants/{tenant}/agents/{agent}/snapshots/diff", answer="json", long=True)
_SNAPSHOT_LIST = Operation("snapshot.list", "GET", "/v1/tenants/{tenant}/agents/{agent}/snapshots", answer="list", paged=True)
_SNAPSHOT_MEMORIES = Operation("snapshot.memories", "GET", "/v1/tenants/{tenant}/agents/{agent}/snapshots/{id}/memories", answer="list", paged=True, long=True)
_SNAPSHOT_MEMORY = Operation("snapshot.memory", "GET", "/v1/tenants/{tenant}/agents/{agent}/snapshots/{id}/memories/{memory}", answer="json", long=True)
_SNAPSHOT_PIN = Operation("snapshot.pin", "POST", "/v1/tenants/{tenant}/agents/{agent}/snapshots/{id}/pin", answer="none", key=True)
_SNAPSHOT_PRUNE = Operation("snapshot.prune", "POST", "/v1/tenants/{tenant}/agents/{agent}/snapshots/prune", answer="json", key=True, long=True)
_SNAPSHOT_RECALL = Operation("snapshot.recall", "POST", "/v1/tenants/{tenant}/agents/{agent}/snapshots/{id}/recall", answer="json", long=True)
_SNAPSHOT_RESTORE = Operation("snapshot.restore", "POST", "/v1/tenants/{tenant}/agents/{agent}/snapshots/{id}/restore", answer="json", key=True, long=True)
_SNAPSHOT_RESTORE_MEMORY = Operation("snapshot.restore_memory", "POST", "/v1/tenants/{tenant}/agents/{agent}/snapshots/{id}/restore-memory", answer="json", key=True, long=True)
_SNAPSHOT_SHOW = Operation("snapshot.show", "GET", "/v1/tenants/{tenant}/agents/{agent}/snapshots/{id}", answer="json")
_SNAPSHOT_TAKE = Operation("snapshot.take", "POST", "/v1/tenants/{tenant}/agents/{agent}/snapshots", answer="json", key=True, long=True)
_SNAPSHOT_VERIFY = Operation("snapshot.verify", "POST", "/v1/tenants/{tenant}/agents/{agent}/snapshots/{id}/verify", answer="json", long=True)
_STATE_DELETE = Operation("state.delete", "DELETE", "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/state", answer="none", key=True)
_STATE_GET = Operation("state.get", "GET", "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/state", answer="json")
_STATE_SAVE = Operation("state.save", "PUT", "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/state", answer="json", key=True)
_TASK_COMPACT = Operation("task.compact", "POST", "/v1/tenants/{tenant}/agents/{agent}/tasks/{id}/events/compact", answer="json", key=True)
_TASK_EVENT = Operation("task.event", "POST", "/v1/tenants/{tenant}/agents/{agent}/tasks/{id}/events", answer="json", key=True)
_TASK_EVENTS = Operation("task.events", "GET", "/v1/tenants/{tenant}/agents/{agent}/tasks/{id}/events", answer="list", paged=True)
_TASK_GET = Operation("task.get", "GET", "/v1/tenants/{tenant}/agents/{agent}/tasks/{id}", answer="json")
_TASK_LIST = Operation("task.list", "GET", "/v1/tenants/{tenant}/agents/{agent}/tasks", answer="list", paged=True)
_TASK_REPLAY = Operation("task.replay", "GET", "/v1/tenants/{tenant}/agents/{agent}/tasks/{id}/replay", answer="json")
_TASK_SAVE = Operation("task.save", "PUT", "/v1/tenants/{tenant}/agents/{agent}/tasks/{id}", answer="json", key=True)
_TENANT_CHECK = Operation("tenant.check", "POST", "/v1/tenants/{tenant}/check", answer="json", long=True)
_TENANT_GC = Operation("tenant.gc", "POST", "/v1/tenants/{tenant}/gc", answer="json", key=True, long=True)
_TOKEN_CREATE = Operation("token.create", "POST", "/v1/tokens", answer="json", key=True)
_TOKEN_LIST = Operation("token.list", "GET", "/v1/tokens", answer="json")
_TOKEN_REVOKE = Operation("token.revoke", "DELETE", "/v1/tokens/{id}", answer="json", key=True)
_TURN_APPEND = Operation("turn.append", "POST", "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/turns", answer="json", key=True)
_TURN_DELETE = Operation("turn.delete", "DELETE", "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/turns", answer="json", key=True)
_TURN_GET = Operation("turn.get", "GET", "/v1/tenants/{tenant}/agents/{agent}/turns/{id}", answer="json")
_TURN_LIST = Operation("turn.list", "GET", "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/turns", answer="list")
_TURN_PAGE = Operation("turn.page", "GET", "/v1/tenants/{tenant}/agents/{agent}/sessions/{id}/conversation", answer="list", paged=True)


class ActivityOperations:
    """What agents did in sessions."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        session_id: str,
        *,
        kind: Optional[str] = None,
    ) -> ActivityPage:
        """List the activity of a session, in the order of first occurrence.

        Lists what was done in a session beside what was said, in the order in which it was
        first done. An unknown session has none. The answer is whole.

        Arguments:
            session_id: The id of the session.
            kind: Only of this kind.
        """
        return self._caller.ask(
            ActivityPage,
            _ACTIVITY_LIST,
            path={"id": session_id},
            query={"kind": kind},
        )

    def named(
        self,
        *,
        kind: str,
        name: Optional[str] = None,
    ) -> ActivityPage:
        """List what was done under one name in every session, done last first.

        Lists what was done under one kind and name in every session, done last first, at most
        1000.

        Arguments:
            kind: Of this kind; context tells which passages stood before an agent.
            name: With this name; of a passage its layer and owner, as in memory
                0198c0de-0000-7000-8000-000000000001.
        """
        return self._caller.ask(
            ActivityPage,
            _ACTIVITY_NAMED,
            query={"kind": kind, "name": name},
        )


class AgentOperations:
    """The agents of the server, and how each is doing."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def capabilities(
        self,
    ) -> Capabilities:
        """Read the capabilities of the agent's store.

        Answers with what the store of the agent can do. What it cannot do answers with an error
        of kind unsupported.
        """
        return self._caller.ask(
            Capabilities,
            _AGENT_CAPABILITIES,
        )

    def doctor(
        self,
        *,
        deep: Optional[bool] = None,
    ) -> Checkup:
        """Check the agent; only callers that may see every tenant get the details of findings.

        Checks the agent and its home and answers with a list of findings. It needs the scope
        admin, and only callers that may see every tenant get the details. With deep every row
        is looked at, which may take long.

        Arguments:
            deep: Look at every row.
        """
        return self._caller.ask(
            Checkup,
            _AGENT_DOCTOR,
            query={"deep": deep},
        )

    def generation(
        self,
    ) -> Generation:
        """Read which generation of the agent is live, which restore made the generation, and
        whether a restore is unfinished.

        Answers with the generation of the agent that is live, the restore that made it, and a
        restore that is not finished. Every restore makes a new generation.
        """
        return self._caller.ask(
            Generation,
            _AGENT_GENERATION,
        )

    def health(
        self,
    ) -> Health:
        """Read the health of long-term memory.

        Answers with how the long-term memory of the agent is doing. It fails only when it takes
        too long.
        """
        return self._caller.ask(
            Health,
            _AGENT_HEALTH,
        )

    def list(
        self,
        *,
        tenant: Optional[str] = None,
        agent: Optional[str] = None,
    ) -> AgentNamePage:
        """List the agents that the token reaches, by tenant and agent.

        Lists the agents that the token reaches, by tenant and agent. An agent that is not there
        is not found, in the same words as one that the token does not reach. The answer is
        whole.

        Arguments:
            tenant: Only of this tenant; default all that the token is for.
            agent: Only of this agent; default all that the token is for.
        """
        return self._caller.ask(
            AgentNamePage,
            _AGENT_LIST,
            query={"tenant": tenant, "agent": agent},
        )

    def stats(
        self,
    ) -> Stats:
        """Count the records of the agent's store.

        Counts the records of the store of the agent, all at one instant.
        """
        return self._caller.ask(
            Stats,
            _AGENT_STATS,
        )

    def sync(
        self,
        *,
        place: Optional[str] = None,
    ) -> SyncReport:
        """Read the state of the sync with a place.

        Answers with what is known about the sync with a place: the devices it came from, what
        is in quarantine, and conflicts. Without a place it is what every place has in
        quarantine, and conflicts.

        Arguments:
            place: The place, by the name that sync gave it; default what every place has in
                quarantine, and conflicts.
        """
        return self._caller.ask(
            SyncReport,
            _AGENT_SYNC,
            query={"place": place},
        )


class ApprovalOperations:
    """Questions to people, and their decisions."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def decide(
        self,
        id: str,
        outcome: ApprovalStatus,
        *,
        actor: Optional[str] = None,
        claimed_by: Optional[str] = None,
        comment: Optional[str] = None,
        digest: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Approval:
        """Decide an approval once; the token that requested the approval may not, and the recorded
        actor is the name of the token.

        Decides an approval, once, and answers with it. It needs the scope approve, and the
        token that requested the approval may not decide it whatever its scopes. The decision is
        recorded under the name of the token. An approval that is decided already, or whose
        payload has another digest, is a conflict.

        Arguments:
            id: The id of the approval.
            outcome: The decision: approved, rejected or cancelled.
            actor: Who decides. It is needed where no token is used. Otherwise the server
                puts the name of the token there, and keeps this one in claimed_by.
            claimed_by: Who has decided as the caller says, where a token is used. The
                default is actor.
            comment: What the person says about the decision.
            digest: The digest of the payload that the person saw. Another payload that is
                stored is a conflict. It is not checked where it is left out.
        """
        return self._caller.ask(
            Approval,
            _APPROVAL_DECIDE,
            path={"id": id},
            body={"outcome": outcome, "actor": actor, "claimed_by": claimed_by, "comment": comment, "digest": digest},
            key=idempotency_key,
        )

    def get(
        self,
        id: str,
    ) -> Approval:
        """Read one approval.

        Answers with one approval, its payload checked against its digest.

        Arguments:
            id: The id of the approval.
        """
        return self._caller.ask(
            Approval,
            _APPROVAL_GET,
            path={"id": id},
        )

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        task_id: Optional[str] = None,
    ) -> Listing[Approval]:
        """List the approvals of a task, oldest first, or every pending one.

        Lists the approvals of a task, oldest first, or every pending one where no task is
        named, a page at a time.

        Arguments:
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
            task_id: The task.
        """
        return self._caller.listing(
            Approval,
            _APPROVAL_LIST,
            query={"limit": limit, "cursor": cursor, "task_id": task_id},
        )

    def request(
        self,
        node_id: str,
        payload: Any,
        summary: str,
        task_id: str,
        *,
        id: Optional[str] = None,
        requested_by: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Approval:
        """Ask a person for an approval.

        Asks a person for an approval and answers with it. The payload is frozen: what is
        approved is what will be done. The same id with the same payload is answered as it is
        stored, and with another one it is a conflict. The token that asks does not decide.

        Arguments:
            node_id: The id of the node of the task.
            payload: What will be done if the answer is yes, any JSON.
            summary: The question in words for people.
            task_id: The id of the task.
            id: The id of the approval. The same id with the same payload is the stored
                approval. The default is a new UUID.
            requested_by: Who asks. Where a token is used the server puts its id there,
                whatever the request says.
        """
        return self._caller.ask(
            Approval,
            _APPROVAL_REQUEST,
            body={"node_id": node_id, "payload": payload, "summary": summary, "task_id": task_id, "id": id, "requested_by": requested_by},
            key=idempotency_key,
        )


class AuditOperations:
    """The audit log of the home."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        tenant: Optional[str] = None,
        agent: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        actor: Optional[str] = None,
        action: Optional[str] = None,
        since: Optional[Union[datetime, str]] = None,
    ) -> Listing[AuditEntry]:
        """List entries of the audit log, newest first; a token for one tenant or agent is shown
        only entries about it, without hashes.

        Lists entries of the audit log, newest first, a page at a time. A token for one tenant
        or agent is shown only entries about it, without hashes.

        Arguments:
            tenant: Only of this tenant; default all that the token is for.
            agent: Only of this agent; default all that the token is for.
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
            actor: Only what this actor did: the id of a token, local, or cli.
            action: Only this operation, as in memory.write.
            since: Only what happened at this time or later.
        """
        return self._caller.listing(
            AuditEntry,
            _AUDIT_LIST,
            query={"tenant": tenant, "agent": agent, "limit": limit, "cursor": cursor, "actor": actor, "action": action, "since": since},
        )

    def verify(
        self,
    ) -> AuditReport:
        """Recompute the audit log and find what was changed; needs a token for every tenant,
        because the entries of all tenants are one chain.

        Reads the whole audit log, computes every hash again and answers with what does not fit.
        Damage is no error. The entries of all tenants are one chain, so it needs a token for
        every tenant.
        """
        return self._caller.ask(
            AuditReport,
            _AUDIT_VERIFY,
        )


class ChangeOperations:
    """The change log of memory."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def head(
        self,
    ) -> LogPosition:
        """Read the position of the newest entry.

        Answers with the position of the newest entry of the change log of memory, from which a
        reader can go on.
        """
        return self._caller.ask(
            LogPosition,
            _CHANGE_HEAD,
        )

    def list(
        self,
        *,
        after: Optional[str] = None,
        before: Optional[str] = None,
        order: Optional[str] = None,
        scope: Optional[Sequence[str]] = None,
        cursor: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Listing[Change]:
        """Read what changed, oldest or newest first; next is the position to continue from.

        Reads the change log of memory, oldest or newest first. Entries tell what changed and
        never its text. The field next is the position to go on from, and any position of an
        entry will do. After a restore an old position is a conflict: begin again without one.

        Arguments:
            after: Only changes after this position; default: from the beginning.
            before: With order=newest: only changes before this position; default: from the
                end.
            order: Oldest or newest first; default oldest.
            scope: With order=newest: only changes of this layer, as memory or turn
                (repeat).
            cursor: The same as after, or before: the field next of the previous page.
            limit: The most items; default 50, at most 1000.
        """
        return self._caller.listing(
            Change,
            _CHANGE_LIST,
            query={"after": after, "before": before, "order": order, "scope": scope, "cursor": cursor, "limit": limit},
        )


class CompactionOperations:
    """Summaries of turns that an agent host dropped."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def add(
        self,
        session_id: str,
        summary: str,
        *,
        created_at: Optional[Union[datetime, str]] = None,
        id: Optional[str] = None,
        turns: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> Compaction:
        """Store the summary of turns; a summary with an id is stored once.

        Stores the summary of turns that an agent host dropped and answers with it. A summary
        whose id is stored already is answered as it was stored; the id of a summary of another
        session is a conflict.

        Arguments:
            session_id: The id of the session.
            summary: The summary.
            created_at: When the summary was made. The default is now.
            id: The id of the summary. One that is stored already is not stored again. The
                default is a new UUID.
            turns: How many turns the summary stands for.
        """
        return self._caller.ask(
            Compaction,
            _COMPACTION_ADD,
            path={"id": session_id},
            body={"summary": summary, "created_at": created_at, "id": id, "turns": turns},
            key=idempotency_key,
        )

    def list(
        self,
        session_id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Listing[Compaction]:
        """Read the summaries of a session, oldest first.

        Lists the summaries of a session, oldest first, a page at a time. An unknown session has
        none.

        Arguments:
            session_id: The id of the session.
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
        """
        return self._caller.listing(
            Compaction,
            _COMPACTION_LIST,
            path={"id": session_id},
            query={"limit": limit, "cursor": cursor},
        )


class ConceptOperations:
    """Concept tags of memories."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def count(
        self,
    ) -> ConceptCountPage:
        """List the concepts of all memories, most frequent first.

        Lists the concepts of all live memories with how many have each, most frequent first, at
        most 1000.
        """
        return self._caller.ask(
            ConceptCountPage,
            _CONCEPT_COUNT,
        )

    def list(
        self,
        memory_id: str,
    ) -> StringPage:
        """List the concept tags of a memory.

        Lists the concept tags of a memory, sorted. The answer is whole.

        Arguments:
            memory_id: The id of the memory.
        """
        return self._caller.ask(
            StringPage,
            _CONCEPT_LIST,
            path={"id": memory_id},
        )

    def set(
        self,
        memory_id: str,
        *,
        items: Optional[Sequence[str]] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Replace the concept tags of a memory.

        Replaces the concept tags of a live memory with those of the body. Recall finds a memory
        by the words of its concepts, too.

        Arguments:
            memory_id: The id of the memory.
            items: The concept tags, in place of all that are there. An empty list removes
                them.
        """
        self._caller.done(
            _CONCEPT_SET,
            path={"id": memory_id},
            body={"items": items},
            key=idempotency_key,
        )


class ConsolidationOperations:
    """Marks around runs that rewrite memory."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def begin(
        self,
        *,
        abandon: Optional[str] = None,
        run: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Consolidation:
        """Take a snapshot as snapshot.auto.before_consolidation says, and begin a consolidation.

        Takes a snapshot as the configuration says, opens a consolidation and answers with it.
        While another one is open it is a conflict, unless abandon names that one.

        Arguments:
            abandon: The id of the consolidation that is open and whose program is gone. It
                is given up, and this one takes its place.
            run: What the program calls the run, at most 64 bytes.
        """
        return self._caller.ask(
            Consolidation,
            _CONSOLIDATION_BEGIN,
            body={"abandon": abandon, "run": run},
            key=idempotency_key,
        )

    def end(
        self,
        id: str,
        *,
        outcome: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Consolidation:
        """End a consolidation.

        Closes the open consolidation and answers with it. One that is not open is not found.

        Arguments:
            id: The id of the consolidation.
            outcome: How it ended: done (the default) or failed.
        """
        return self._caller.ask(
            Consolidation,
            _CONSOLIDATION_END,
            path={"id": id},
            body={"outcome": outcome},
            key=idempotency_key,
        )

    def open(
        self,
    ) -> Consolidation:
        """Read the open consolidation.

        Answers with the open consolidation. Where none is open it is not found.
        """
        return self._caller.ask(
            Consolidation,
            _CONSOLIDATION_OPEN,
        )


class ControlChangeOperations:
    """The change log of the control plane: tasks, approvals, results and the queue."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def head(
        self,
    ) -> LogPosition:
        """Read the position of the newest entry.

        Answers with the position of the newest entry of the change log of the control plane,
        from which a reader can go on.
        """
        return self._caller.ask(
            LogPosition,
            _CONTROL_CHANGE_HEAD,
        )

    def list(
        self,
        *,
        after: Optional[str] = None,
        before: Optional[str] = None,
        order: Optional[str] = None,
        scope: Optional[Sequence[str]] = None,
        cursor: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Listing[Change]:
        """Read what changed in the control plane, oldest or newest first; next is the position to
        continue from.

        Reads the change log of the control plane, oldest or newest first. Entries tell what
        changed and never its text. The field next is the position to go on from, and any
        position of an entry will do. After a restore an old position is a conflict: begin again
        without one.

        Arguments:
            after: Only changes after this position; default: from the beginning.
            before: With order=newest: only changes before this position; default: from the
                end.
            order: Oldest or newest first; default oldest.
            scope: With order=newest: only changes of this layer, as memory or turn
                (repeat).
            cursor: The same as after, or before: the field next of the previous page.
            limit: The most items; default 50, at most 1000.
        """
        return self._caller.listing(
            Change,
            _CONTROL_CHANGE_LIST,
            query={"after": after, "before": before, "order": order, "scope": scope, "cursor": cursor, "limit": limit},
        )


class DocumentOperations:
    """Documents of runtime state: small JSON documents by name."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def delete(
        self,
        name: str,
        *,
        if_revision: Optional[str] = None,
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Remove a document of runtime state.

        Removes a document of runtime state, also a damaged one. With If-Match or if_revision
        another revision that is stored is a conflict.

        Arguments:
            name: The name of the document.
            if_revision: The same as If-Match.
            if_match: The ETag of the document that is removed.
        """
        self._caller.done(
            _DOCUMENT_DELETE,
            path={"name": name},
            query={"if_revision": if_revision},
            headers={"If-Match": if_match},
            key=idempotency_key,
        )

    def get(
        self,
        name: str,
    ) -> Document:
        """Read a document of runtime state.

        Answers with a document of runtime state and its revision as ETag.

        Arguments:
            name: The name of the document.
        """
        return self._caller.ask(
            Document,
            _DOCUMENT_GET,
            path={"name": name},
        )

    def list(
        self,
    ) -> DocumentPage:
        """List the documents of runtime state by name, without their text.

        Lists the documents of runtime state by name, without their text. One that is damaged is
        among them and says so. The answer is whole.
        """
        return self._caller.ask(
            DocumentPage,
            _DOCUMENT_LIST,
        )

    def put(
        self,
        name: str,
        document: Any,
        *,
        if_absent: Optional[bool] = None,
        if_revision: Optional[str] = None,
        if_match: Optional[str] = None,
        if_none_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Document:
        """Store a document of runtime state, over the expected revision or as a new document.

        Stores a document of runtime state, new or over the one of that name, and answers with
        its revision. With If-Match or if_revision another revision that is stored is a
        conflict; with If-None-Match: * or if_absent a name that is taken is one. An agent has
        at most 256 documents.

        Arguments:
            name: The name of the document.
            document: The document, any JSON, at most 256 KiB.
            if_absent: True stores the document only if there is none of that name, and is a
                conflict otherwise. It is the same as the header If-None-Match with *.
            if_revision: The revision that is replaced. Another one that is stored is a
                conflict. It is the same as the header If-Match.
            if_match: The ETag of the document that is replaced.
            if_none_match: * stores the document only if the name is not taken.
        """
        return self._caller.ask(
            Document,
            _DOCUMENT_PUT,
            path={"name": name},
            headers={"If-Match": if_match, "If-None-Match": if_none_match},
            body={"document": document, "if_absent": if_absent, "if_revision": if_revision},
            key=idempotency_key,
        )


class EventOperations:
    """What happens to an agent, as it happens."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def stream(
        self,
        *,
        after: Optional[str] = None,
        last_event_id: Optional[str] = None,
    ) -> Stream[Event]:
        """Stream every change and every event of snapshots as server-sent events; a stream that
        continues after the last event misses nothing.

        Streams every change and every event of snapshots as server-sent events, until the
        caller goes. A stream that goes on after the id of the last event misses no change. An
        event restored without data says that a restore has replaced the history. Changes never
        hold text. At most 256 streams run at one time, and one more is busy.

        Arguments:
            after: Continue after this event; default: begin with the next event.
            last_event_id: The same as after, sent by browsers.
        """
        return self._caller.stream(
            Event,
            _EVENT_STREAM,
            query={"after": after},
            headers={"Last-Event-ID": last_event_id},
        )


class ExportOperations:
    """Exports for other programs."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def download(
        self,
        *,
        to: str,
        project: Optional[str] = None,
        user: Optional[Sequence[str]] = None,
        all_users: Optional[bool] = None,
        private: Optional[bool] = None,
    ) -> File:
        """Export memories, conversations and notes in a format that another program reads; a
        format that writes several files comes as a zip file.

        Answers with a file of memories, conversations and notes in a format that another
        program reads. A format that writes several files comes as a zip file. Memories of users
        leave only when the users are named, and secrets are taken out. An export that fails on
        the way is cut off.

        Arguments:
            to: The format.
            project: Only this project; notes stay then.
            user: Memories of this user, too; may be repeated.
            all_users: Memories of every user, too.
            private: Passages that are marked private, too.
        """
        return self._caller.file(
            _EXPORT_DOWNLOAD,
            query={"to": to, "project": project, "user": user, "all_users": all_users, "private": private},
        )


class FolderOperations:
    """Folders of the machine that claim a project."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
    ) -> WaitingFolderPage:
        """List the folders of the machine that claim a project and wait for the owner.

        Lists the folders of the machine of the server that claim a project which the home
        already knows, and which folders have the project. Only for callers of every tenant. The
        answer is whole.
        """
        return self._caller.ask(
            WaitingFolderPage,
            _FOLDER_LIST,
        )

    def trust(
        self,
        asks: str,
        place: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> TrustedFolder:
        """Confirm that a folder belongs to the project that it claims.

        Gives a folder the project that it claims, with what was said in the folder until now,
        and answers with how much that was. A folder that claims another project by now is a
        conflict. Only for callers of every tenant.

        Arguments:
            asks: The project that the folder claims, as the list shows.
            place: The path that the home knows the folder by.
        """
        return self._caller.ask(
            TrustedFolder,
            _FOLDER_TRUST,
            body={"asks": asks, "place": place},
            key=idempotency_key,
        )


class ImportOperations:
    """Imports from other programs."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
    ) -> ImportRecordPage:
        """List the imports that were made, oldest first.

        Lists the imports that were made, oldest first. The answer is whole.
        """
        return self._caller.ask(
            ImportRecordPage,
            _IMPORT_LIST,
        )

    def undo(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> ImportUndo:
        """Take an import back; what was edited since stays and is named.

        Takes an import back and answers with what was deleted. What was edited since stays and
        is named. Taking it back again does nothing.

        Arguments:
            id: The id of the import.
        """
        return self._caller.ask(
            ImportUndo,
            _IMPORT_UNDO,
            path={"id": id},
            key=idempotency_key,
        )

    def upload(
        self,
        data: Upload,
        *,
        from_: Optional[str] = None,
        name: Optional[str] = None,
        modified: Optional[Union[datetime, str]] = None,
        dry_run: Optional[bool] = None,
        project: Optional[str] = None,
        user: Optional[str] = None,
        as_own: Optional[bool] = None,
        since: Optional[Union[datetime, str]] = None,
        only: Optional[str] = None,
        observations: Optional[bool] = None,
        sensitive: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> ForeignImport:
        """Import a file of another program, or a zip or tar.gz of its folder, which is the body;
        importing again stores only what is new.

        Imports a file of another program, or a zip or tar.gz of its folder, and answers with
        what is new, changed and known, and what was skipped and why. Importing the same file
        again stores only what is new. One import into an agent runs at a time, and another one
        is busy. With dry_run nothing is written.

        Arguments:
            from_: The format; default: found out from the file.
            name: The name of the file or folder, which helps to find out the format;
                reports show it.
            modified: When the file was last changed: the time of what has none of its own.
            dry_run: Tell what would be imported, and write nothing.
            project: The project of everything that is imported; default: what the file
                says.
            user: The user whom memories about the user belong to; without one they are
                skipped.
            as_own: The file is the caller's own: what it says has the trust own instead of
                imported.
            since: Only what was changed since.
            only: Only these of memories, sessions and notes, separated with commas.
            observations: Take lines that look like observations out of any Markdown as
                memories.
            sensitive: Rows that their program marks as sensitive, too.
        """
        return self._caller.ask(
            ForeignImport,
            _IMPORT_UPLOAD,
            query={"from": from_, "name": name, "modified": modified, "dry_run": dry_run, "project": project, "user": user, "as_own": as_own, "since": since, "only": only, "observations": observations, "sensitive": sensitive},
            data=data,
            key=idempotency_key,
        )


class JournalOperations:
    """The crash journal of agent hosts."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def cursor(
        self,
        journal: str,
    ) -> JournalCursor:
        """Read how far the journal of a session has been stored.

        Answers with how far the journal of a session has been stored. A journal that nobody
        knows has a cursor at 0.

        Arguments:
            journal: The name of the journal of one session.
        """
        return self._caller.ask(
            JournalCursor,
            _JOURNAL_CURSOR,
            path={"journal": journal},
        )

    def ingest(
        self,
        host: str,
        journal: str,
        session_id: str,
        *,
        after: Optional[int] = None,
        last_at: Optional[Union[datetime, str]] = None,
        past: Optional[bool] = None,
        process: Optional[Union[HostProcessAsked, Mapping[str, Any]]] = None,
        steps: Optional[Sequence[Union[IngestStepAsked, Mapping[str, Any]]]] = None,
        through: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> IngestResult:
        """Store a range of entries of a crash journal, exactly once.

        Stores what a range of entries of a crash journal means, in one step and exactly once,
        and answers with how many steps were applied. A range that does not begin where the last
        one ended is a conflict, and nothing is applied then.

        Arguments:
            host: The agent host, as in claude.
            journal: The name of the journal of one session, 32 hexadecimal digits.
            session_id: The id of the session.
            after: The number of the last entry that was stored before. 0, the default,
                means that none was. Another one that is stored is a conflict.
            last_at: When the agent host was last heard of.
            past: True when all of it happened long ago and was read from a record of it.
                The session is stored already then and stays as it is.
            process: The process of the agent host.
            steps: What the entries mean, in their order.
            through: The number of the last entry of the range, at least after.
        """
        return self._caller.ask(
            IngestResult,
            _JOURNAL_INGEST,
            body={"host": host, "journal": journal, "session_id": session_id, "after": after, "last_at": last_at, "past": past, "process": process, "steps": steps, "through": through},
            key=idempotency_key,
        )

    def open(
        self,
    ) -> JournalCursorPage:
        """List the journal cursors of sessions that have not ended, least recently updated first.

        Lists the cursors of sessions that have not ended, those heard of longest ago first, at
        most 1000.
        """
        return self._caller.ask(
            JournalCursorPage,
            _JOURNAL_OPEN,
        )

    def status(
        self,
    ) -> JournalStatusPage:
        """Read the state of the crash journal.

        Lists what the crash journal holds of each session. The answer is whole.
        """
        return self._caller.ask(
            JournalStatusPage,
            _JOURNAL_STATUS,
        )


class LoopOperations:
    """Suspended loops of agents: one for each session."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def clear(
        self,
        session_id: str,
        *,
        run_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Remove the suspended loop of a session.

        Removes the suspended loop of a session. With run_id only the loop of that run is
        removed, and the loop of another run is a conflict. A session without a loop is no
        error.

        Arguments:
            session_id: The id of the session.
            run_id: Only the loop of this run.
        """
        self._caller.done(
            _LOOP_CLEAR,
            path={"id": session_id},
            query={"run_id": run_id},
            key=idempotency_key,
        )

    def get(
        self,
        session_id: str,
    ) -> PendingLoop:
        """Read the suspended loop of a session.

        Answers with the suspended loop of a session and its revision as ETag. A session without
        a loop is not found, and a loop whose bytes are not those that were written is damaged.

        Arguments:
            session_id: The id of the session.
        """
        return self._caller.ask(
            PendingLoop,
            _LOOP_GET,
            path={"id": session_id},
        )

    def save(
        self,
        session_id: str,
        run_id: str,
        state_json: Any,
        *,
        if_revision: Optional[int] = None,
        if_run_id: Optional[str] = None,
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> PendingLoop:
        """Store the suspended loop of a session over the expected run and revision; 0 means that
        the session has no loop yet.

        Stores the suspended loop of a session over the expected run and revision and answers
        with the new revision. The revision is named by If-Match or if_revision, and without
        them the session must have no loop yet. Anything else that is stored is a conflict. A
        session has one loop at most.

        Arguments:
            session_id: The id of the session.
            run_id: The run that the loop belongs to.
            state_json: The state of the loop, any JSON. Amber does not look inside.
            if_revision: The revision that is stored now. 0, the default, means that the
                session has no loop yet. Another one is a conflict. It is the same as the header
                If-Match.
            if_run_id: The run whose loop is stored now. The default is run_id.
            if_match: The ETag of the stored value.
        """
        return self._caller.ask(
            PendingLoop,
            _LOOP_SAVE,
            path={"id": session_id},
            headers={"If-Match": if_match},
            body={"run_id": run_id, "state_json": state_json, "if_revision": if_revision, "if_run_id": if_run_id},
            key=idempotency_key,
        )


class MemoryOperations:
    """Long-term memories: store, find, read, change, forget and erase them, and build the context
    of a prompt.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def context(
        self,
        *,
        explain: Optional[bool] = None,
        goal: Optional[str] = None,
        known: Optional[Sequence[Union[ContextItemAsked, Mapping[str, Any]]]] = None,
        max_bytes: Optional[int] = None,
        occasion: Optional[str] = None,
        pending_loop_active: Optional[bool] = None,
        project_id: Optional[str] = None,
        session_id: Optional[str] = None,
        sessions: Optional[int] = None,
        user_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
    ) -> ContextBlock:
        """Build the block of memory that is put before a prompt.

        Builds the block of memory that is put before the prompt of an agent, and answers with
        its text and what is in it. The text is between two lines with a random delimiter, so
        that nothing in it can be taken for instructions. What was imported and not signed by a
        trusted key is not in it. Nothing is changed.

        Arguments:
            explain: True fills in the field why of each memory.
            goal: What the user asks for. It is empty at the start of a session.
            known: What was put before the agent in this session already. It is left out
                unless it has changed.
            max_bytes: The most bytes of the text. The default is 8192, the bounds are 512
                and 65536.
            occasion: When the block is put before the agent: start (a session begins),
                prompt (the user has typed the goal) or compaction (the host has summed up the
                session). Without one, a request with a goal is answered with what is relevant
                to the goal, and one without a goal like the start of a session.
            pending_loop_active: True when a suspended loop of the session is resumed. It
                changes the reason of the recall.
            project_id: The project that memories of scope project are bound to.
            session_id: The session that memories of scope session are bound to.
            sessions: How many recent sessions to tell of. 0 means 3, a negative number
                none.
            user_id: The user that memories of scope user are bound to.
            workspace_id: The workspace that memories of scope workspace are bound to.
        """
        return self._caller.ask(
            ContextBlock,
            _MEMORY_CONTEXT,
            body={"explain": explain, "goal": goal, "known": known, "max_bytes": max_bytes, "occasion": occasion, "pending_loop_active": pending_loop_active, "project_id": project_id, "session_id": session_id, "sessions": sessions, "user_id": user_id, "workspace_id": workspace_id},
        )

    def edit(
        self,
        id: str,
        *,
        author: Optional[Union[AuthorAsked, Mapping[str, Any]]] = None,
        content: Optional[str] = None,
        if_revision: Optional[int] = None,
        keep: Optional[bool] = None,
        kind: Optional[MemoryKind] = None,
        metadata: Optional[Mapping[str, str]] = None,
        summary: Optional[str] = None,
        tags: Optional[Sequence[str]] = None,
        title: Optional[str] = None,
        trust: Optional[Trust] = None,
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Memory:
        """Change fields of a memory.

        Changes the fields that the body names and answers with the new revision. An edit that
        changes nothing answers with the memory as it is. Earlier revisions stay in the history.
        With If-Match or if_revision it is a conflict when another revision is stored; an edit
        that would make the memory equal to another one is a conflict, too.

        Arguments:
            id: The id of the memory.
            author: The server does not use it: it knows who asks.
            content: The new content.
            if_revision: The revision that the edit is based on. Another one that is stored
                is a conflict. 0, the default, takes any. It is the same as the header If-Match.
            keep: The caller vouches for the memory, which gets the trust of the caller.
            kind: The new kind.
            metadata: The new metadata, in place of all that is there.
            summary: The new summary.
            tags: The new tags, in place of all that are there.
            title: The new title.
            trust: The trust of the caller, at most what the server gives it. A memory that
                is trusted more is not changed.
            if_match: The ETag the edit is based on.
        """
        return self._caller.ask(
            Memory,
            _MEMORY_EDIT,
            path={"id": id},
            headers={"If-Match": if_match},
            body={"author": author, "content": content, "if_revision": if_revision, "keep": keep, "kind": kind, "metadata": metadata, "summary": summary, "tags": tags, "title": title, "trust": trust},
            key=idempotency_key,
        )

    def erase(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> EraseReport:
        """Remove the text of a memory for good.

        Removes every trace of the text of a memory from the files of the store, and answers
        with what was removed and which copies remain elsewhere. A tombstone without text stays,
        and no import brings the memory back. Erasing it again does nothing. It cannot be
        undone.

        Arguments:
            id: The id of the memory.
        """
        return self._caller.ask(
            EraseReport,
            _MEMORY_ERASE,
            path={"id": id},
            key=idempotency_key,
        )

    def forget(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Delete a memory; a tombstone stays.

        Deletes a memory. A tombstone stays, and the history still shows the memory. Deleting it
        again does nothing.

        Arguments:
            id: The id of the memory.
        """
        self._caller.done(
            _MEMORY_FORGET,
            path={"id": id},
            key=idempotency_key,
        )

    def get(
        self,
        id: str,
    ) -> Memory:
        """Read one memory.

        Answers with one live memory and its revision as ETag. A memory that was deleted is not
        found.

        Arguments:
            id: The id of the memory.
        """
        return self._caller.ask(
            Memory,
            _MEMORY_GET,
            path={"id": id},
        )

    def history(
        self,
        id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Listing[Memory]:
        """Read every revision of a memory.

        Lists every revision of a memory, oldest first, with the tombstone last if it is
        deleted, a page at a time.

        Arguments:
            id: The id of the memory.
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
        """
        return self._caller.listing(
            Memory,
            _MEMORY_HISTORY,
            path={"id": id},
            query={"limit": limit, "cursor": cursor},
        )

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        scope: Optional[Scope] = None,
        session_id: Optional[str] = None,
        user_id: Optional[str] = None,
        project_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
        kind: Optional[Sequence[MemoryKind]] = None,
        tag: Optional[Sequence[str]] = None,
        since: Optional[Union[datetime, str]] = None,
        until: Optional[Union[datetime, str]] = None,
        all: Optional[bool] = None,
        deleted: Optional[bool] = None,
        trusted: Optional[bool] = None,
        trust: Optional[Trust] = None,
        waiting: Optional[str] = None,
    ) -> Listing[Memory]:
        """List memories, newest first.

        Lists memories without searching, last updated first, a page at a time. Seen are global
        memories and those of the identities that the query names, or with all=true those of
        every scope and identity.

        Arguments:
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
            scope: Only this scope.
            session_id: See memories of this session.
            user_id: See memories of this user.
            project_id: See memories of this project.
            workspace_id: See memories of this workspace.
            kind: Only this kind (repeat).
            tag: Only with this tag (repeat).
            since: Updated at or after.
            until: Updated before.
            all: Every scope and identity.
            deleted: Include tombstones.
            trusted: Own and signed memories alone.
            trust: Of this trust or more.
            waiting: Those alone that wait for the owner by this rule: agents, imports or
                none; a server with a rule of its own goes by that.
        """
        return self._caller.listing(
            Memory,
            _MEMORY_LIST,
            query={"limit": limit, "cursor": cursor, "scope": scope, "session_id": session_id, "user_id": user_id, "project_id": project_id, "workspace_id": workspace_id, "kind": kind, "tag": tag, "since": since, "until": until, "all": all, "deleted": deleted, "trusted": trusted, "trust": trust, "waiting": waiting},
        )

    def recall(
        self,
        *,
        explain: Optional[bool] = None,
        kinds: Optional[Sequence[MemoryKind]] = None,
        layers: Optional[Sequence[str]] = None,
        limit: Optional[int] = None,
        local: Optional[bool] = None,
        min_score: Optional[float] = None,
        project_id: Optional[str] = None,
        reason: Optional[str] = None,
        scope: Optional[Scope] = None,
        session_id: Optional[str] = None,
        since: Optional[Union[datetime, str]] = None,
        tags: Optional[Sequence[str]] = None,
        text: Optional[str] = None,
        trusted: Optional[bool] = None,
        until: Optional[Union[datetime, str]] = None,
        user_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
    ) -> RecallResult:
        """Find the memories and passages of sessions that best answer a text.

        Answers with the memories, and the passages of sessions and notes, that best answer a
        text, best first, each with a score from 0 to 1. Seen are global memories and those of
        the identities that the query names, and of no others. No match is an empty list.
        Nothing is changed.

        Arguments:
            explain: True fills in the field why of each hit.
            kinds: Only memories of these kinds.
            layers: The layers that are asked: memory, exchange, note, session, activity.
                The default is all of them, or memory alone where the query has kinds or tags.
            limit: The most hits. The default is 8. More than 64 is lowered to 64, and
                clamped says so.
            local: True leaves out what was imported and not signed by a trusted key.
            min_score: Leave out hits with a lower score, from 0 to 1. Where no hit reaches
                0.25, memory has rather no answer.
            project_id: The project that memories of scope project are bound to.
            reason: Why it is asked: manual (the default), request_intake or resume.
            scope: Only this scope. The default is every scope whose identity is named, and
                global.
            session_id: The session that memories of scope session are bound to.
            since: Only what was updated at this time or later.
            tags: Only memories that have every one of these tags.
            text: A question in natural language. Found is what is near it in meaning, and
                what has its words, parts of them or words with a slip of the keyboard. Blank
                text matches every memory, newest first.
            trusted: True takes own and signed memories alone.
            until: Only what was updated before this time.
            user_id: The user that memories of scope user are bound to.
            workspace_id: The workspace that memories of scope workspace are bound to.
        """
        return self._caller.ask(
            RecallResult,
            _MEMORY_RECALL,
            body={"explain": explain, "kinds": kinds, "layers": layers, "limit": limit, "local": local, "min_score": min_score, "project_id": project_id, "reason": reason, "scope": scope, "session_id": session_id, "since": since, "tags": tags, "text": text, "trusted": trusted, "until": until, "user_id": user_id, "workspace_id": workspace_id},
        )

    def timeline(
        self,
        id: str,
        *,
        before: Optional[int] = None,
        after: Optional[int] = None,
    ) -> MemoryPage:
        """List the memories that were stored just before and after a memory.

        Lists the memories that were stored just before and after a memory, with the memory
        between them, oldest first. They are of the same session, or of the same scope and
        identity where the memory has no session.

        Arguments:
            id: The id of the memory.
            before: How many older memories.
            after: How many newer memories.
        """
        return self._caller.ask(
            MemoryPage,
            _MEMORY_TIMELINE,
            path={"id": id},
            query={"before": before, "after": after},
        )

    def write(
        self,
        content: str,
        *,
        author: Optional[Union[AuthorAsked, Mapping[str, Any]]] = None,
        content_digest: Optional[str] = None,
        created_at: Optional[Union[datetime, str]] = None,
        deleted_at: Optional[Union[datetime, str]] = None,
        duplicate_count: Optional[int] = None,
        foreign: Optional[Mapping[str, Any]] = None,
        id: Optional[str] = None,
        kind: Optional[MemoryKind] = None,
        metadata: Optional[Mapping[str, str]] = None,
        origin: Optional[Union[OriginAsked, Mapping[str, Any]]] = None,
        project_id: Optional[str] = None,
        reason: Optional[str] = None,
        revision: Optional[int] = None,
        scope: Optional[Scope] = None,
        session_id: Optional[str] = None,
        source_refs: Optional[Sequence[Union[SourceRefAsked, Mapping[str, Any]]]] = None,
        summary: Optional[str] = None,
        tags: Optional[Sequence[str]] = None,
        title: Optional[str] = None,
        topic: Optional[str] = None,
        trust: Optional[Trust] = None,
        updated_at: Optional[Union[datetime, str]] = None,
        user_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> WriteAck:
        """Store one memory.

        Stores one memory durably and answers with it as it is stored. The same content, kind,
        scope, identity and title again is the same memory: deduplicated is true, tags are
        joined, and a summary and keys of the metadata that it lacks are added. A topic that
        exists becomes a new revision of its memory. Without a scope the memory is for the
        narrowest identity that the request names, and global only where it names none. Secrets
        are taken out before it is stored. The same Idempotency-Key gets the first answer; with
        another request, or once that memory was erased, it is a conflict.

        Arguments:
            content: The text that is remembered, at most 1 MiB.
            author: The server does not use it: it knows who asks.
            content_digest: The SHA-256 of the content of a memory that was stored before.
                It needs an id.
            created_at: When the memory was first stored. A new memory gets this date in
                place of now.
            deleted_at: When a memory that was stored before was deleted. It needs an id.
            duplicate_count: How many times a memory that was stored before was written
                again. It needs an id.
            foreign: Fields of the program that the memory came from, by program. It needs
                an id.
            id: The id of a memory that was stored before, here or elsewhere. With an id the
                memory is stored as it is; a stored memory of this id that says something else
                is a conflict. Leave it out for a new memory.
            kind: What the memory is about. The default is workspace_fact. A server also
                takes common names, such as decision, for the kind that they mean.
            metadata: Names and values that a program keeps with the memory. Amber does not
                look inside.
            origin: The origin of a memory that was stored before. It needs an id.
            project_id: The project that memories of scope project are bound to.
            reason: Why the memory is written: operator_requested (the default),
                task_succeeded, high_value_observation or compact_summary.
            revision: The revision of a memory that was stored before. It needs an id.
            scope: Where the memory is visible. The default is the narrowest identity that
                the request names (session_id, user_id, project_id, workspace_id, in this
                order), and global only where it names none. Every scope but global needs its
                identity.
            session_id: The session that memories of scope session are bound to.
            source_refs: Where the memory came from.
            summary: The content in short.
            tags: The tags, at most 64. They are sorted when they are stored.
            title: A short title on one line.
            topic: The topic. There is one live memory for each project, scope, identity and
                topic, so a write to a topic that exists becomes a new revision of its memory.
            trust: How far the memory may be believed: at most what the server gives the
                caller, which is the default.
            updated_at: When the memory was last changed. A new memory gets this date in
                place of now.
            user_id: The user that memories of scope user are bound to.
            workspace_id: The workspace that memories of scope workspace are bound to.
        """
        return self._caller.ask(
            WriteAck,
            _MEMORY_WRITE,
            body={"content": content, "author": author, "content_digest": content_digest, "created_at": created_at, "deleted_at": deleted_at, "duplicate_count": duplicate_count, "foreign": foreign, "id": id, "kind": kind, "metadata": metadata, "origin": origin, "project_id": project_id, "reason": reason, "revision": revision, "scope": scope, "session_id": session_id, "source_refs": source_refs, "summary": summary, "tags": tags, "title": title, "topic": topic, "trust": trust, "updated_at": updated_at, "user_id": user_id, "workspace_id": workspace_id},
            key=idempotency_key,
        )

    def write_batch(
        self,
        *,
        items: Optional[Sequence[Union[WriteRequestAsked, Mapping[str, Any]]]] = None,
        idempotency_key: Optional[str] = None,
    ) -> WriteAckPage:
        """Store several memories, all or none.

        Stores up to 256 memories in one step, all of them or none, and answers with each in the
        order of the request. For every memory the rules of memory.write hold.

        Arguments:
            items: The memories, at most 256.
        """
        return self._caller.ask(
            WriteAckPage,
            _MEMORY_WRITE_BATCH,
            body={"items": items},
            key=idempotency_key,
        )


class NoteOperations:
    """Notes: Markdown documents with a history."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def at(
        self,
        name: str,
        commit: str,
    ) -> Note:
        """Read one note as a change left it.

        Answers with a note as one of its last 1000 changes left it. A change that deleted the
        note is not found.

        Arguments:
            name: The name of the note, its slashes as %2F.
            commit: The commit of the change.
        """
        return self._caller.ask(
            Note,
            _NOTE_AT,
            path={"name": name, "commit": commit},
        )

    def delete(
        self,
        name: str,
        *,
        trust: Optional[Trust] = None,
        author_host: Optional[str] = None,
        author_agent: Optional[str] = None,
        author_session: Optional[str] = None,
        author_token: Optional[str] = None,
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Remove a note and commit that; its history stays.

        Removes a note and commits that; its history stays and can be read. With If-Match it is
        a conflict when the note was changed meanwhile.

        Arguments:
            name: The name of the note, its slashes as %2F.
            trust: The trust of the caller, to lower that of the token; the commit says it.
            author_host: The program that speaks, where the caller is the owner's.
            author_agent: The agent in it.
            author_session: Its session.
            author_token: The name of its token.
            if_match: The ETag the change is based on.
        """
        self._caller.done(
            _NOTE_DELETE,
            path={"name": name},
            query={"trust": trust, "author_host": author_host, "author_agent": author_agent, "author_session": author_session, "author_token": author_token},
            headers={"If-Match": if_match},
            key=idempotency_key,
        )

    def get(
        self,
        name: str,
    ) -> Note:
        """Read one note.

        Answers with one note and its commit as ETag.

        Arguments:
            name: The name of the note, its slashes as %2F.
        """
        return self._caller.ask(
            Note,
            _NOTE_GET,
            path={"name": name},
        )

    def list(
        self,
    ) -> NotePage:
        """List notes by name, without content.

        Lists the notes by name, without their content. The answer is whole.
        """
        return self._caller.ask(
            NotePage,
            _NOTE_LIST,
        )

    def log(
        self,
        name: str,
        *,
        limit: Optional[int] = None,
    ) -> NoteCommitPage:
        """List the last changes of a note, newest first; the history of a deleted note is listed
        too.

        Lists the last changes of a note, newest first, also of a note that was deleted. It has
        a limit and no pages.

        Arguments:
            name: The name of the note, its slashes as %2F.
            limit: The most items; default 50, at most 1000.
        """
        return self._caller.ask(
            NoteCommitPage,
            _NOTE_LOG,
            path={"name": name},
            query={"limit": limit},
        )

    def write(
        self,
        name: str,
        content: str,
        *,
        author: Optional[Union[AuthorAsked, Mapping[str, Any]]] = None,
        trust: Optional[Trust] = None,
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Note:
        """Store a note and commit it.

        Stores a note, commits it to the history of the notes and answers with it. Equal content
        makes no commit. With If-Match it is a conflict when the note was changed or deleted
        meanwhile.

        Arguments:
            name: The name of the note, its slashes as %2F.
            content: The text of the note, Markdown, at most 1 MiB.
            author: Who writes, where a program of the owner speaks for an agent. Of other
                callers the server knows who asks.
            trust: The trust of the caller, at most what the server gives it.
            if_match: The ETag the change is based on.
        """
        return self._caller.ask(
            Note,
            _NOTE_WRITE,
            path={"name": name},
            headers={"If-Match": if_match},
            body={"content": content, "author": author, "trust": trust},
            key=idempotency_key,
        )


class QuarantineOperations:
    """What the crash journal has set aside."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        session: Optional[str] = None,
    ) -> HeldEntryPage:
        """List what the crash journal has set aside, without the payloads.

        Lists the files that the crash journal has set aside and why, without what is in them.
        The answer is whole.

        Arguments:
            session: Only of this session: its id, or its key.
        """
        return self._caller.ask(
            HeldEntryPage,
            _QUARANTINE_LIST,
            query={"session": session},
        )

    def retry(
        self,
        *,
        name: Optional[str] = None,
        session: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> HeldEntryPage:
        """Put entries that were set aside back into the crash journal, to be stored again: all of
        them, those of a session, or one.

        Puts entries that were set aside back into the crash journal, to be stored again, and
        answers with a list of them: all entries, those of a session, or one. Files that are no
        entries stay.

        Arguments:
            name: The name of one file, which needs a session. The default is all files.
            session: The id or the key of a session. The default is every session.
        """
        return self._caller.ask(
            HeldEntryPage,
            _QUARANTINE_RETRY,
            body={"name": name, "session": session},
            key=idempotency_key,
        )

    def show(
        self,
        session: str,
        name: str,
    ) -> HeldEntry:
        """Show one file that the crash journal has set aside, at most 8 MiB, without secrets.

        Answers with one file that the crash journal has set aside, with its bytes as base64 and
        without secrets. A file of more than 8 MiB is refused with quota.

        Arguments:
            session: The session: its key, or its id where one host has it.
            name: The name of the file.
        """
        return self._caller.ask(
            HeldEntry,
            _QUARANTINE_SHOW,
            path={"session": session, "name": name},
        )


class QueueOperations:
    """The queue that hands work to programs."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def ack(
        self,
        consumer_id: str,
        entry_id: str,
        token: str,
        *,
        expires_at: Optional[Union[datetime, str]] = None,
        fence: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Finish a leased entry.

        Finishes a leased entry. Doing it again under the same lease does nothing. A lease that
        is lost is a conflict.

        Arguments:
            consumer_id: The program that works on the entry.
            entry_id: The id of the entry.
            token: What proves the lease.
            expires_at: When the lease ends unless it is renewed.
            fence: A number that grows with every lease of a node. A result under a smaller
                one is a conflict.
        """
        self._caller.done(
            _QUEUE_ACK,
            body={"consumer_id": consumer_id, "entry_id": entry_id, "token": token, "expires_at": expires_at, "fence": fence},
            key=idempotency_key,
        )

    def claim(
        self,
        consumer_id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> Claim:
        """Lease the next due entry; the reason queue_empty or queue_full says why no entry is
        leased.

        Leases the due entry of the highest priority, oldest first, and answers with it and the
        lease. It is not found with the reason queue_empty when no entry is due, and busy with
        the reason queue_full when every lease is taken. It shows what is stored, so it needs
        the scope read, too.

        Arguments:
            consumer_id: The program that will work on the entry.
        """
        return self._caller.ask(
            Claim,
            _QUEUE_CLAIM,
            body={"consumer_id": consumer_id},
            key=idempotency_key,
        )

    def dead(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Listing[DeadEntry]:
        """List entries that used up their attempts, newest first.

        Lists entries that used up their attempts, newest first, a page at a time.

        Arguments:
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
        """
        return self._caller.listing(
            DeadEntry,
            _QUEUE_DEAD,
            query={"limit": limit, "cursor": cursor},
        )

    def nack(
        self,
        lease: Union[LeaseAsked, Mapping[str, Any]],
        *,
        not_before: Optional[Union[datetime, str]] = None,
        reason: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Return a leased entry to the queue.

        Gives a leased entry back to the queue, or buries it when its attempts are used up. A
        lease that is lost is a conflict.

        Arguments:
            lease: The right to work on the entry for a while.
            not_before: The entry is not leased again before this time. The default is a
                delay that doubles with each attempt.
            reason: Why it is given back.
        """
        self._caller.done(
            _QUEUE_NACK,
            body={"lease": lease, "not_before": not_before, "reason": reason},
            key=idempotency_key,
        )

    def publish(
        self,
        entry_id: str,
        node_id: str,
        task_id: str,
        *,
        attempt: Optional[int] = None,
        not_before: Optional[Union[datetime, str]] = None,
        payload: Optional[str] = None,
        priority: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Add an entry to the queue.

        Adds an entry to the queue. An entry id that was added before with the same bytes does
        nothing, also after it was done, for at least 7 days; with other bytes it is a conflict.
        A full queue is refused with quota.

        Arguments:
            entry_id: The id of the entry. One that was added before with the same bytes is
                not added again, also when it is done; with other bytes it is a conflict.
            node_id: The id of the node of the task.
            task_id: The id of the task.
            attempt: The server counts attempts, so leave it out.
            not_before: The entry is not leased before this time.
            payload: What is to be done, as text. Amber does not look inside.
            priority: The priority. Entries with a higher one are leased first. The default
                is 0.
        """
        self._caller.done(
            _QUEUE_PUBLISH,
            body={"entry_id": entry_id, "node_id": node_id, "task_id": task_id, "attempt": attempt, "not_before": not_before, "payload": payload, "priority": priority},
            key=idempotency_key,
        )

    def renew(
        self,
        consumer_id: str,
        entry_id: str,
        token: str,
        *,
        expires_at: Optional[Union[datetime, str]] = None,
        fence: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> Lease:
        """Extend a lease.

        Extends a lease that is not over and answers with it. It never makes it shorter. A lease
        that is lost is a conflict.

        Arguments:
            consumer_id: The program that works on the entry.
            entry_id: The id of the entry.
            token: What proves the lease.
            expires_at: When the lease ends unless it is renewed.
            fence: A number that grows with every lease of a node. A result under a smaller
                one is a conflict.
        """
        return self._caller.ask(
            Lease,
            _QUEUE_RENEW,
            body={"consumer_id": consumer_id, "entry_id": entry_id, "token": token, "expires_at": expires_at, "fence": fence},
            key=idempotency_key,
        )

    def show(
        self,
    ) -> Backpressure:
        """Count the entries of the queue.

        Answers with how many entries of the queue wait, are leased and are dead, and how many
        leases may still be given out.
        """
        return self._caller.ask(
            Backpressure,
            _QUEUE_SHOW,
        )


class RelationOperations:
    """Links between memories."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get(
        self,
        id: str,
    ) -> Relation:
        """Read one relation.

        Answers with one live relation, by its id.

        Arguments:
            id: The id of the relation.
        """
        return self._caller.ask(
            Relation,
            _RELATION_GET,
            path={"id": id},
        )

    def list(
        self,
        memory_id: str,
    ) -> RelationPage:
        """List the relations from and to a memory.

        Lists the live relations from and to a memory. The answer is whole.

        Arguments:
            memory_id: The id of the memory.
        """
        return self._caller.ask(
            RelationPage,
            _RELATION_LIST,
            path={"id": memory_id},
        )

    def neighbours(
        self,
        memory_id: str,
        *,
        depth: Optional[int] = None,
        type: Optional[Sequence[str]] = None,
        limit: Optional[int] = None,
        session_id: Optional[str] = None,
        user_id: Optional[str] = None,
        project_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
        all: Optional[bool] = None,
    ) -> Neighbourhood:
        """Read what is near a memory by relations, up to 2 steps and 200 memories; more tells that
        there are others.

        Answers with a memory and what is one or two steps away by relations: the memories in
        short, nearest first, and the relations between them. Seen are global memories, those of
        the scope and identity of the memory, and those of the identities that the query names.
        At most 200 memories are listed, and more tells that there are others.

        Arguments:
            memory_id: The id of the memory.
            depth: Steps: 1 or 2; default 2.
            type: Only by relations of this type (repeat).
            limit: The most memories, with the one that is asked for; default and at most
                200.
            session_id: See memories of this session.
            user_id: See memories of this user.
            project_id: See memories of this project.
            workspace_id: See memories of this workspace.
            all: Every scope and identity; default global ones, those of the identities that
                are named, and those of the scope and identity of the memory.
        """
        return self._caller.ask(
            Neighbourhood,
            _RELATION_NEIGHBOURS,
            path={"id": memory_id},
            query={"depth": depth, "type": type, "limit": limit, "session_id": session_id, "user_id": user_id, "project_id": project_id, "workspace_id": workspace_id, "all": all},
        )

    def relate(
        self,
        from_: str,
        to: str,
        type: str,
        *,
        author: Optional[Union[AuthorAsked, Mapping[str, Any]]] = None,
        created_at: Optional[Union[datetime, str]] = None,
        deleted_at: Optional[Union[datetime, str]] = None,
        id: Optional[str] = None,
        origin: Optional[Union[OriginAsked, Mapping[str, Any]]] = None,
        strength: Optional[float] = None,
        trust: Optional[Trust] = None,
        idempotency_key: Optional[str] = None,
    ) -> Relation:
        """Link two memories; a relation of the same ends and type is replaced.

        Links two live memories and answers with the relation. A relation of the same ends and
        type is replaced, so doing it again is the same as doing it once.

        Arguments:
            from_: The id of the memory that the relation leads from.
            to: The id of the memory that the relation leads to.
            type: The type of the relation, as in related, supersedes or conflicts_with.
            author: The server does not use it: it knows who asks.
            created_at: The server knows the time, so this one is not used.
            deleted_at: The server does not use it: relations are deleted by their id.
            id: The server makes the id, so this one is not used.
            origin: The server makes the origin, so this one is not used.
            strength: How strong the relation is, from 0 (the default) to 1.
            trust: How far the relation may be believed: the trust of its author. A relation
                of lower trust does not hide a memory of higher trust.
        """
        return self._caller.ask(
            Relation,
            _RELATION_RELATE,
            body={"from": from_, "to": to, "type": type, "author": author, "created_at": created_at, "deleted_at": deleted_at, "id": id, "origin": origin, "strength": strength, "trust": trust},
            key=idempotency_key,
        )

    def unrelate(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Delete a relation; a tombstone stays.

        Deletes a relation by its id. A tombstone stays for the sync with other places.

        Arguments:
            id: The id of the relation.
        """
        self._caller.done(
            _RELATION_UNRELATE,
            path={"id": id},
            key=idempotency_key,
        )


class ResultOperations:
    """What nodes of tasks produced."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get(
        self,
        task: str,
        node: str,
    ) -> Result:
        """Read the result of a node.

        Answers with the result of one node of a task.

        Arguments:
            task: The id of the task.
            node: The id of the node.
        """
        return self._caller.ask(
            Result,
            _RESULT_GET,
            path={"task": task, "node": node},
        )

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        task_id: Optional[str] = None,
    ) -> Listing[Result]:
        """List the results of a task, by node.

        Lists the results of a task, by node, a page at a time.

        Arguments:
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
            task_id: The task.
        """
        return self._caller.listing(
            Result,
            _RESULT_LIST,
            query={"limit": limit, "cursor": cursor, "task_id": task_id},
        )

    def save(
        self,
        node_id: str,
        producer: str,
        status: str,
        task_id: str,
        *,
        confidence: Optional[float] = None,
        evidence: Optional[Sequence[Union[EvidenceAsked, Mapping[str, Any]]]] = None,
        fence: Optional[int] = None,
        payload: Optional[str] = None,
        schema_version: Optional[str] = None,
        updated_at: Optional[Union[datetime, str]] = None,
        idempotency_key: Optional[str] = None,
    ) -> Result:
        """Store what a node of a task produced.

        Stores what a node of a task produced, in place of what was there, and answers with it.
        The fence must be the newest one that was leased for the node, or 0 where none ever was;
        any other is a conflict, since its lease is lost.

        Arguments:
            node_id: The id of the node of the task.
            producer: Who produced it.
            status: How it ended: ok or error.
            task_id: The id of the task.
            confidence: How sure the producer is, from 0 to 1.
            evidence: What backs the result.
            fence: The fence of the lease that the work was done under, 0 for work that came
                from no queue. Any other fence than the newest one of the node is a conflict.
            payload: What was produced, as text.
            schema_version: The version of the form of the payload. The default is
                result.v1.
            updated_at: The server knows the time, so this one is not used.
        """
        return self._caller.ask(
            Result,
            _RESULT_SAVE,
            body={"node_id": node_id, "producer": producer, "status": status, "task_id": task_id, "confidence": confidence, "evidence": evidence, "fence": fence, "payload": payload, "schema_version": schema_version, "updated_at": updated_at},
            key=idempotency_key,
        )


class SessionOperations:
    """The catalogue of sessions, and the active session of each chat or terminal."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def active(
        self,
        *,
        binding: Optional[str] = None,
    ) -> Session:
        """Read the active session of a binding.

        Answers with the active session of a binding, which is the one that was started or
        selected last. Where there is none it is not found.

        Arguments:
            binding: The chat or terminal; default cli.
        """
        return self._caller.ask(
            Session,
            _SESSION_ACTIVE,
            query={"binding": binding},
        )

    def delete(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Remove a session with everything in it; long-term memories stay.

        Removes a session with its turns, activity, state, loop and summaries. Long-term
        memories stay.

        Arguments:
            id: The id of the session.
        """
        self._caller.done(
            _SESSION_DELETE,
            path={"id": id},
            key=idempotency_key,
        )

    def end(
        self,
        id: str,
        *,
        reason: Optional[str] = None,
        summary: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Session:
        """End a session.

        Marks a session as ended and answers with it. It is no longer the active one of its
        binding. A session that has ended already is answered as it is, unless Amber itself had
        noticed that it was gone.

        Arguments:
            id: The id of the session.
            reason: How the session ends. The default is ended.
            summary: What the session amounts to.
        """
        return self._caller.ask(
            Session,
            _SESSION_END,
            path={"id": id},
            body={"reason": reason, "summary": summary},
            key=idempotency_key,
        )

    def get(
        self,
        id: str,
    ) -> Session:
        """Read one session.

        Answers with one session of the catalogue.

        Arguments:
            id: The id of the session.
        """
        return self._caller.ask(
            Session,
            _SESSION_GET,
            path={"id": id},
        )

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        binding: Optional[str] = None,
        project: Optional[str] = None,
        trusted: Optional[bool] = None,
    ) -> Listing[Session]:
        """List sessions, last updated first.

        Lists the sessions of the catalogue, last updated first, a page at a time.

        Arguments:
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
            binding: Only of this chat or terminal.
            project: Only of this project.
            trusted: Leave out imported sessions.
        """
        return self._caller.listing(
            Session,
            _SESSION_LIST,
            query={"limit": limit, "cursor": cursor, "binding": binding, "project": project, "trusted": trusted},
        )

    def rename(
        self,
        id: str,
        name: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> Session:
        """Rename a session.

        Gives a session a new name and answers with it.

        Arguments:
            id: The id of the session.
            name: The new name.
        """
        return self._caller.ask(
            Session,
            _SESSION_RENAME,
            path={"id": id},
            body={"name": name},
            key=idempotency_key,
        )

    def select(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> Session:
        """Make a session the active one of its binding.

        Makes a session the active one of its own binding and answers with it.

        Arguments:
            id: The id of the session.
        """
        return self._caller.ask(
            Session,
            _SESSION_SELECT,
            path={"id": id},
            key=idempotency_key,
        )

    def start(
        self,
        *,
        binding: Optional[str] = None,
        directory: Optional[str] = None,
        id: Optional[str] = None,
        name: Optional[str] = None,
        parent: Optional[str] = None,
        project: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Session:
        """Start a session, or go on with one.

        Starts a session, makes it the active one of its binding, and answers with it. An id
        that exists is answered as it is, and opened again if it had ended, so that a program
        can go on with it. Under another binding it is a conflict. Without an id a new session
        is made every time.

        Arguments:
            binding: The chat or terminal that the session belongs to. The default is cli.
            directory: The folder that the session works in.
            id: The id of the session. The default is a new UUID; in a journal it is needed.
            name: The name of the session. The default is the id.
            parent: The id of the session that starts this one.
            project: The project that the session is about.
        """
        return self._caller.ask(
            Session,
            _SESSION_START,
            body={"binding": binding, "directory": directory, "id": id, "name": name, "parent": parent, "project": project},
            key=idempotency_key,
        )


class SnapshotOperations:
    """Snapshots of agents: take, look into, keep and restore them."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def delete(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Delete a snapshot.

        Deletes a snapshot. A stub stays in its place. The last snapshot of an agent and a
        pinned one are refused. What no other snapshot needs is freed by garbage collection.

        Arguments:
            id: The id of the snapshot.
        """
        self._caller.done(
            _SNAPSHOT_DELETE,
            path={"id": id},
            key=idempotency_key,
        )

    def diff(
        self,
        a: str,
        b: str,
        *,
        rows: Optional[bool] = None,
    ) -> SnapshotDiff:
        """Compare two snapshots.

        Compares two snapshots of the agent and answers with what changed from a to b. Nothing
        is changed.

        Arguments:
            a: The id of the first snapshot.
            b: The id of the second snapshot.
            rows: True names what changed, too, at most 1000 rows of each kind.
        """
        return self._caller.ask(
            SnapshotDiff,
            _SNAPSHOT_DIFF,
            body={"a": a, "b": b, "rows": rows},
        )

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Listing[SnapshotMeta]:
        """List the snapshots of the agent, newest first.

        Lists the snapshots of the agent, newest first, a page at a time. One whose manifest
        cannot be read is listed with its damage.

        Arguments:
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
        """
        return self._caller.listing(
            SnapshotMeta,
            _SNAPSHOT_LIST,
            query={"limit": limit, "cursor": cursor},
        )

    def memories(
        self,
        id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        scope: Optional[Scope] = None,
        session_id: Optional[str] = None,
        user_id: Optional[str] = None,
        project_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
        kind: Optional[Sequence[MemoryKind]] = None,
        tag: Optional[Sequence[str]] = None,
        since: Optional[Union[datetime, str]] = None,
        until: Optional[Union[datetime, str]] = None,
        all: Optional[bool] = None,
        deleted: Optional[bool] = None,
        trusted: Optional[bool] = None,
        trust: Optional[Trust] = None,
        waiting: Optional[str] = None,
    ) -> Listing[Memory]:
        """List the memories of a snapshot, newest first.

        Lists the memories of a snapshot, last updated first, a page at a time.

        Arguments:
            id: The id of the snapshot.
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
            scope: Only this scope.
            session_id: See memories of this session.
            user_id: See memories of this user.
            project_id: See memories of this project.
            workspace_id: See memories of this workspace.
            kind: Only this kind (repeat).
            tag: Only with this tag (repeat).
            since: Updated at or after.
            until: Updated before.
            all: Every scope and identity.
            deleted: Include tombstones.
            trusted: Own and signed memories alone.
            trust: Of this trust or more.
            waiting: Those alone that wait for the owner by this rule: agents, imports or
                none; a server with a rule of its own goes by that.
        """
        return self._caller.listing(
            Memory,
            _SNAPSHOT_MEMORIES,
            path={"id": id},
            query={"limit": limit, "cursor": cursor, "scope": scope, "session_id": session_id, "user_id": user_id, "project_id": project_id, "workspace_id": workspace_id, "kind": kind, "tag": tag, "since": since, "until": until, "all": all, "deleted": deleted, "trusted": trusted, "trust": trust, "waiting": waiting},
        )

    def memory(
        self,
        id: str,
        memory: str,
    ) -> Memory:
        """Read one memory of a snapshot.

        Answers with one memory as it was at the time of a snapshot, and its revision as ETag.

        Arguments:
            id: The id of the snapshot.
            memory: The id of the memory.
        """
        return self._caller.ask(
            Memory,
            _SNAPSHOT_MEMORY,
            path={"id": id, "memory": memory},
        )

    def pin(
        self,
        id: str,
        pinned: bool,
        *,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Pin a snapshot so that prune keeps it, or unpin the snapshot.

        Keeps a snapshot from being deleted and pruned, or lets it be again.

        Arguments:
            id: The id of the snapshot.
            pinned: True keeps the snapshot from being deleted and pruned, false lets it be.
        """
        self._caller.done(
            _SNAPSHOT_PIN,
            path={"id": id},
            body={"pinned": pinned},
            key=idempotency_key,
        )

    def prune(
        self,
        *,
        automatic_only: Optional[bool] = None,
        dry_run: Optional[bool] = None,
        keep_daily: Optional[int] = None,
        keep_hourly: Optional[int] = None,
        keep_last: Optional[int] = None,
        keep_safety: Optional[int] = None,
        keep_weekly: Optional[int] = None,
        max_age: Optional[int] = None,
        safety_age: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> PruneReport:
        """Delete the snapshots that no rule keeps.

        Deletes the snapshots of the agent that no rule keeps and answers with those that went
        and those that stay. At least one rule is needed. The last snapshot and pinned ones
        always stay. With dry_run nothing is deleted.

        Arguments:
            automatic_only: True keeps every snapshot that Amber did not take by itself.
            dry_run: True tells what would be done and changes nothing.
            keep_daily: Keep the last snapshot of this many days.
            keep_hourly: Keep the last snapshot of this many hours.
            keep_last: Keep this many of the last snapshots.
            keep_safety: Keep this many of the snapshots that Amber took before a restore.
            keep_weekly: Keep the last snapshot of this many weeks.
            max_age: Delete older snapshots whatever the other rules say. 0 means that none
                is too old. In nanoseconds.
            safety_age: Keep the snapshots that Amber took before a restore while they are
                younger than this. In nanoseconds.
        """
        return self._caller.ask(
            PruneReport,
            _SNAPSHOT_PRUNE,
            body={"automatic_only": automatic_only, "dry_run": dry_run, "keep_daily": keep_daily, "keep_hourly": keep_hourly, "keep_last": keep_last, "keep_safety": keep_safety, "keep_weekly": keep_weekly, "max_age": max_age, "safety_age": safety_age},
            key=idempotency_key,
        )

    def recall(
        self,
        id: str,
        *,
        explain: Optional[bool] = None,
        kinds: Optional[Sequence[MemoryKind]] = None,
        layers: Optional[Sequence[str]] = None,
        limit: Optional[int] = None,
        local: Optional[bool] = None,
        min_score: Optional[float] = None,
        project_id: Optional[str] = None,
        reason: Optional[str] = None,
        scope: Optional[Scope] = None,
        session_id: Optional[str] = None,
        since: Optional[Union[datetime, str]] = None,
        tags: Optional[Sequence[str]] = None,
        text: Optional[str] = None,
        trusted: Optional[bool] = None,
        until: Optional[Union[datetime, str]] = None,
        user_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
    ) -> RecallResult:
        """Find the memories and passages of sessions that best answered a text at the time of a
        snapshot.

        Answers with what memory.recall would have answered at the time of a snapshot. Nothing
        is changed.

        Arguments:
            id: The id of the snapshot.
            explain: True fills in the field why of each hit.
            kinds: Only memories of these kinds.
            layers: The layers that are asked: memory, exchange, note, session, activity.
                The default is all of them, or memory alone where the query has kinds or tags.
            limit: The most hits. The default is 8. More than 64 is lowered to 64, and
                clamped says so.
            local: True leaves out what was imported and not signed by a trusted key.
            min_score: Leave out hits with a lower score, from 0 to 1. Where no hit reaches
                0.25, memory has rather no answer.
            project_id: The project that memories of scope project are bound to.
            reason: Why it is asked: manual (the default), request_intake or resume.
            scope: Only this scope. The default is every scope whose identity is named, and
                global.
            session_id: The session that memories of scope session are bound to.
            since: Only what was updated at this time or later.
            tags: Only memories that have every one of these tags.
            text: A question in natural language. Found is what is near it in meaning, and
                what has its words, parts of them or words with a slip of the keyboard. Blank
                text matches every memory, newest first.
            trusted: True takes own and signed memories alone.
            until: Only what was updated before this time.
            user_id: The user that memories of scope user are bound to.
            workspace_id: The workspace that memories of scope workspace are bound to.
        """
        return self._caller.ask(
            RecallResult,
            _SNAPSHOT_RECALL,
            path={"id": id},
            body={"explain": explain, "kinds": kinds, "layers": layers, "limit": limit, "local": local, "min_score": min_score, "project_id": project_id, "reason": reason, "scope": scope, "session_id": session_id, "since": since, "tags": tags, "text": text, "trusted": trusted, "until": until, "user_id": user_id, "workspace_id": workspace_id},
        )

    def restore(
        self,
        id: str,
        *,
        accept_redacted: Optional[bool] = None,
        accept_unsigned: Optional[bool] = None,
        discard_old: Optional[bool] = None,
        dry_run: Optional[bool] = None,
        local_only: Optional[bool] = None,
        no_safety_snapshot: Optional[bool] = None,
        only: Optional[Sequence[str]] = None,
        to: Optional[str] = None,
        with_control: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> RestoreReport:
        """Restore the agent from a snapshot, or make another agent from the snapshot.

        Builds the agent of a snapshot beside the live one, checks it and puts it in its place
        in one step, and answers with what changed. A snapshot of the agent as it was is taken
        before. With to another agent is made, and the live one stays; that needs the scope
        restore for the new one. With dry_run nothing is changed.

        Arguments:
            id: The id of the snapshot.
            accept_redacted: True lets a snapshot without secrets take the place of a live
                agent.
            accept_unsigned: True restores a snapshot that is not signed though those before
                it in its chain are.
            discard_old: True removes the old generation also without a safety snapshot.
            dry_run: True tells what would be done and changes nothing.
            local_only: True keeps the stamps of the snapshot, so that the next sync may
                undo the restore. Without it records that differ become new revisions.
            no_safety_snapshot: True leaves out the snapshot of the agent as it is now.
            only: The parts that are restored: memory, notes, state. The default is these
                three.
            to: The agent that is made from the snapshot. It must not exist. The default is
                the agent that the snapshot was taken of.
            with_control: True restores tasks, approvals, results and the queue too.
        """
        return self._caller.ask(
            RestoreReport,
            _SNAPSHOT_RESTORE,
            path={"id": id},
            body={"accept_redacted": accept_redacted, "accept_unsigned": accept_unsigned, "discard_old": discard_old, "dry_run": dry_run, "local_only": local_only, "no_safety_snapshot": no_safety_snapshot, "only": only, "to": to, "with_control": with_control},
            key=idempotency_key,
        )

    def restore_memory(
        self,
        id: str,
        memory: str,
        *,
        dry_run: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> MemoryRestore:
        """Restore one memory from a snapshot as a new revision.

        Brings one memory of a snapshot back as a new revision and answers with it and the
        fields that changed. With dry_run nothing is changed.

        Arguments:
            id: The id of the snapshot.
            memory: The id of the memory.
            dry_run: True tells what would be done and changes nothing.
        """
        return self._caller.ask(
            MemoryRestore,
            _SNAPSHOT_RESTORE_MEMORY,
            path={"id": id},
            body={"memory": memory, "dry_run": dry_run},
            key=idempotency_key,
        )

    def show(
        self,
        id: str,
    ) -> SnapshotDetail:
        """Show one snapshot.

        Answers with everything that one snapshot says about itself.

        Arguments:
            id: The id of the snapshot.
        """
        return self._caller.ask(
            SnapshotDetail,
            _SNAPSHOT_SHOW,
            path={"id": id},
        )

    def take(
        self,
        *,
        by: Optional[Union[AskerAsked, Mapping[str, Any]]] = None,
        encrypt: Optional[Sequence[str]] = None,
        label: Optional[str] = None,
        no_sign: Optional[bool] = None,
        pin: Optional[bool] = None,
        sources: Optional[Sequence[str]] = None,
        idempotency_key: Optional[str] = None,
    ) -> SnapshotMeta:
        """Take a snapshot of the agent; adding recipients needs the scope admin, because a
        recipient can read every snapshot of the tenant, and sources need a token for all
        tenants, because sources belong to the machine.

        Freezes everything the agent is at one instant and answers once the snapshot is safe on
        disk and was read back. It may take long. Adding recipients needs the scope admin, and
        sources need a token for all tenants.

        Arguments:
            by: Who asks, as far as a caller of the scope own says it for another one. For
                others the server does.
            encrypt: Age recipients that must be able to read the snapshot, beside those
                that are configured. They can read every encrypted snapshot of the tenant then,
                so this needs the scope admin.
            label: A label on one line, at most 200 bytes.
            no_sign: True leaves the signature out.
            pin: True keeps the snapshot from being deleted and pruned.
            sources: The names of sources to freeze with the agent, which are set up for the
                whole machine. They need a token for all tenants.
        """
        return self._caller.ask(
            SnapshotMeta,
            _SNAPSHOT_TAKE,
            body={"by": by, "encrypt": encrypt, "label": label, "no_sign": no_sign, "pin": pin, "sources": sources},
            key=idempotency_key,
        )

    def verify(
        self,
        id: str,
        *,
        read_data: Optional[bool] = None,
    ) -> VerifyReport:
        """Verify a snapshot.

        Looks whether a snapshot is whole and answers with what was checked and what is damaged.
        Damage is no error: it is what the report is for. With read_data every byte is read,
        which may take long.

        Arguments:
            id: The id of the snapshot.
            read_data: True reads every byte, builds every database again and checks it.
                Without it every object is looked for.
        """
        return self._caller.ask(
            VerifyReport,
            _SNAPSHOT_VERIFY,
            path={"id": id},
            body={"read_data": read_data},
        )


class StateOperations:
    """The state of sessions: one JSON document for each."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def delete(
        self,
        session_id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Remove the state of a session.

        Removes the state of a session. A session without state is no error.

        Arguments:
            session_id: The id of the session.
        """
        self._caller.done(
            _STATE_DELETE,
            path={"id": session_id},
            key=idempotency_key,
        )

    def get(
        self,
        session_id: str,
    ) -> SessionState:
        """Read the state of a session.

        Answers with the state of a session and its version as ETag. A session without state is
        not found.

        Arguments:
            session_id: The id of the session.
        """
        return self._caller.ask(
            SessionState,
            _STATE_GET,
            path={"id": session_id},
        )

    def save(
        self,
        session_id: str,
        *,
        document: Optional[Any] = None,
        exact: Optional[bytes] = None,
        if_version: Optional[int] = None,
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> SessionState:
        """Store the state of a session over the expected version; 0 means that the session has no
        state yet.

        Stores the state of a session over the expected version and answers with the new
        version. The version is named by If-Match or if_version, and without them the session
        must have no state yet. Another version that is stored is a conflict: read, change and
        save again. The session need not be in the catalogue.

        Arguments:
            session_id: The id of the session.
            document: The document, any JSON. Either this or exact is needed.
            exact: The document to the byte, in place of document.
            if_version: The version that is replaced. 0, the default, means that the session
                has no state yet. Another version that is stored is a conflict. It is the same
                as the header If-Match.
            if_match: The ETag of the stored value.
        """
        return self._caller.ask(
            SessionState,
            _STATE_SAVE,
            path={"id": session_id},
            headers={"If-Match": if_match},
            body={"document": document, "exact": exact, "if_version": if_version},
            key=idempotency_key,
        )


class TaskOperations:
    """Tasks and their history."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def compact(
        self,
        id: str,
        *,
        keep: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> ReplaySnapshot:
        """Fold all but the last events of a task into its replay.

        Folds all but the last events of a task into its replay, in one step, and answers with
        what they amount to. A task without events is not found. It cannot be undone.

        Arguments:
            id: The id of the task.
            keep: How many of the last events stay. The default is 0.
        """
        return self._caller.ask(
            ReplaySnapshot,
            _TASK_COMPACT,
            path={"id": id},
            body={"keep": keep},
            key=idempotency_key,
        )

    def event(
        self,
        id: str,
        from_: TaskState,
        *,
        approval_id: Optional[str] = None,
        at: Optional[Union[datetime, str]] = None,
        attempt: Optional[int] = None,
        error_class: Optional[str] = None,
        kind: Optional[str] = None,
        node_id: Optional[str] = None,
        node_kind: Optional[str] = None,
        reason: Optional[str] = None,
        result: Optional[str] = None,
        seq: Optional[int] = None,
        task_id: Optional[str] = None,
        to: Optional[TaskState] = None,
        idempotency_key: Optional[str] = None,
    ) -> TaskEvent:
        """Append an event to the history of a task.

        Appends an event to the history of a task and answers with it, with its number and time.
        The task need not be stored.

        Arguments:
            id: The id of the task.
            from_: The state of the task before.
            approval_id: The id of the approval it is about.
            at: The server knows the time, so this one is not used.
            attempt: Which attempt it was.
            error_class: The class of a failure: validation, dependency, timeout, security,
                budget_exhausted or non_retriable.
            kind: What it records: state_transition (the default), node_completed,
                approval_pending, approval_approved or approval_rejected.
            node_id: The id of the node it is about.
            node_kind: What sort of node it is.
            reason: Why it happened.
            result: The result it brought.
            seq: The server counts events, so this one is not used.
            task_id: The id of the task. The path names it too, so it may be left out.
            to: The state of the task after.
        """
        return self._caller.ask(
            TaskEvent,
            _TASK_EVENT,
            path={"id": id},
            body={"from": from_, "approval_id": approval_id, "at": at, "attempt": attempt, "error_class": error_class, "kind": kind, "node_id": node_id, "node_kind": node_kind, "reason": reason, "result": result, "seq": seq, "task_id": task_id, "to": to},
            key=idempotency_key,
        )

    def events(
        self,
        id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Listing[TaskEvent]:
        """Read the history of a task, oldest first.

        Lists the events of a task that were not folded, oldest first, a page at a time.

        Arguments:
            id: The id of the task.
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
        """
        return self._caller.listing(
            TaskEvent,
            _TASK_EVENTS,
            path={"id": id},
            query={"limit": limit, "cursor": cursor},
        )

    def get(
        self,
        id: str,
    ) -> Task:
        """Read one task.

        Answers with one task and its version as ETag.

        Arguments:
            id: The id of the task.
        """
        return self._caller.ask(
            Task,
            _TASK_GET,
            path={"id": id},
        )

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        state: Optional[TaskState] = None,
        session_id: Optional[str] = None,
    ) -> Listing[Task]:
        """List tasks, newest first.

        Lists tasks, newest first, a page at a time.

        Arguments:
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
            state: Only in this state.
            session_id: Only of this session.
        """
        return self._caller.listing(
            Task,
            _TASK_LIST,
            query={"limit": limit, "cursor": cursor, "state": state, "session_id": session_id},
        )

    def replay(
        self,
        id: str,
    ) -> ReplayReport:
        """Compare a task with its history.

        Compares a stored task with its history and answers with what may be done after a crash.
        Nothing is changed.

        Arguments:
            id: The id of the task.
        """
        return self._caller.ask(
            ReplayReport,
            _TASK_REPLAY,
            path={"id": id},
        )

    def save(
        self,
        id: str,
        goal: str,
        *,
        attempts: Optional[int] = None,
        completed_nodes: Optional[Sequence[str]] = None,
        created_at: Optional[Union[datetime, str]] = None,
        extra: Optional[Any] = None,
        extra_exact: Optional[bytes] = None,
        last_result: Optional[str] = None,
        next_node_index: Optional[int] = None,
        pending_approval_id: Optional[str] = None,
        request_id: Optional[str] = None,
        session_id: Optional[str] = None,
        state: Optional[TaskState] = None,
        updated_at: Optional[Union[datetime, str]] = None,
        version: Optional[int] = None,
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Task:
        """Store a task, a new one or the next version.

        Stores a task and answers with its new version as ETag. A new task has no If-Match and
        must be queued; the next version names the stored one with If-Match, and another one
        that is stored is a conflict. Only changes of state of the table of states are allowed.

        Arguments:
            id: The id of the task.
            goal: What is to be done.
            attempts: How many times it was tried.
            completed_nodes: The ids of the nodes that are done.
            created_at: The server knows the time, so this one is not used.
            extra: What else the program keeps with the task, any JSON.
            extra_exact: The field extra to the byte, in place of extra.
            last_result: The last result of the task, as the program that runs it wrote it.
            next_node_index: The index of the node that comes next.
            pending_approval_id: The id of the approval that the task waits for.
            request_id: The id of the request that the task was made for.
            session_id: The id of the session it belongs to.
            state: Where the task stands. The default is queued, and a new task must be
                queued. Only the changes of state of the table of states are allowed.
            updated_at: The server knows the time, so this one is not used.
            version: The server counts versions, so this one is not used. The header
                If-Match names the version that is replaced.
            if_match: The ETag of the version that is replaced; leave out for a new task.
        """
        return self._caller.ask(
            Task,
            _TASK_SAVE,
            path={"id": id},
            headers={"If-Match": if_match},
            body={"goal": goal, "attempts": attempts, "completed_nodes": completed_nodes, "created_at": created_at, "extra": extra, "extra_exact": extra_exact, "last_result": last_result, "next_node_index": next_node_index, "pending_approval_id": pending_approval_id, "request_id": request_id, "session_id": session_id, "state": state, "updated_at": updated_at, "version": version},
            key=idempotency_key,
        )


class TenantOperations:
    """What concerns all snapshots of a tenant."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def check(
        self,
        *,
        read_data: Optional[bool] = None,
    ) -> CheckReport:
        """Check every object of the tenant's snapshots.

        Checks every object of the snapshots of the tenant and answers with what was checked and
        what is damaged. Damage is no error. With read_data every byte is read, which may take
        long.

        Arguments:
            read_data: True reads every byte of every object.
        """
        return self._caller.ask(
            CheckReport,
            _TENANT_CHECK,
            body={"read_data": read_data},
        )

    def gc(
        self,
        *,
        dry_run: Optional[bool] = None,
        old_generations: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> GCReport:
        """Delete the data that no snapshot of the tenant needs.

        Frees the data that no snapshot of the tenant needs and answers with what was freed.
        Packs are condemned first and deleted when a grace time is over. With dry_run nothing is
        deleted.

        Arguments:
            dry_run: True tells what would be done and changes nothing.
            old_generations: True also removes what restores have kept of agents because no
                snapshot holds it.
        """
        return self._caller.ask(
            GCReport,
            _TENANT_GC,
            body={"dry_run": dry_run, "old_generations": old_generations},
            key=idempotency_key,
        )


class TokenOperations:
    """The tokens of the home."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def create(
        self,
        name: str,
        scopes: Sequence[TokenScope],
        *,
        expires_at: Optional[Union[datetime, str]] = None,
        project_id: Optional[str] = None,
        user_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> NewToken:
        """Make a token that may do no more than the one that asks, in no other place and not for
        longer; its secret is in this answer and never again, so a repetition with the same
        Idempotency-Key has an empty one.

        Makes a token and answers with it and its secret. It may do no more than the token that
        asks, in no other place and not for longer. With user_id, project_id or workspace_id the
        token is bound: it reaches what is of these and what is global, and it may have the
        scopes read, write, approve and erase. The secret is in this answer and never again: the
        same Idempotency-Key is answered with the same token and an empty secret. The first
        token that is made closes a server that needed none.

        Arguments:
            name: The name of the token, at most 100 bytes.
            scopes: What the token lets its holder do, at least one scope.
            expires_at: When the token ends. The default is never.
            project_id: Bind the token to this project. The default is not to bind it.
            user_id: Bind the token to this user. It then reaches no other user, and nothing
                that is about the whole agent. The default is not to bind it.
            workspace_id: Bind the token to this workspace. The default is not to bind it.
        """
        return self._caller.ask(
            NewToken,
            _TOKEN_CREATE,
            body={"name": name, "scopes": scopes, "expires_at": expires_at, "project_id": project_id, "user_id": user_id, "workspace_id": workspace_id},
            key=idempotency_key,
        )

    def list(
        self,
        *,
        tenant: Optional[str] = None,
        agent: Optional[str] = None,
    ) -> TokenPage:
        """List the tokens that reach no farther than the one that asks, oldest first, revoked and
        expired ones too; never a secret.

        Lists the tokens that reach no farther than the one that asks, oldest first, revoked and
        expired ones too. Secrets are never shown. The answer is whole.

        Arguments:
            tenant: Only of this tenant; default all that the token is for.
            agent: Only of this agent; default all that the token is for.
        """
        return self._caller.ask(
            TokenPage,
            _TOKEN_LIST,
            query={"tenant": tenant, "agent": agent},
        )

    def revoke(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> Token:
        """Revoke a token, at once and for good; revoking it twice does nothing.

        Revokes a token, at once and for good, and answers with it. The whole id is needed.
        Revoking it again does nothing.

        Arguments:
            id: The whole id of the token.
        """
        return self._caller.ask(
            Token,
            _TOKEN_REVOKE,
            path={"id": id},
            key=idempotency_key,
        )


class TurnOperations:
    """What was said in sessions."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def append(
        self,
        session_id: str,
        content: str,
        role: Role,
        *,
        created_at: Optional[Union[datetime, str]] = None,
        id: Optional[str] = None,
        project_id: Optional[str] = None,
        trust: Optional[Trust] = None,
        idempotency_key: Optional[str] = None,
    ) -> Turn:
        """Store a turn at the end of a session; a turn with an id is stored once.

        Stores a turn at the end of a session and answers with it, with id and time filled in. A
        turn whose id is stored already is answered as it was stored; the id of a turn of
        another session is a conflict. The session need not be in the catalogue. A block of
        context that Amber itself made is cut out of what a user said.

        Arguments:
            session_id: The id of the session.
            content: What was said, at most 1 MiB.
            role: Who spoke.
            created_at: When it was said. The default is now.
            id: The id of the turn. A turn whose id is stored already is not stored again.
                The default is a new UUID.
            project_id: The project it belongs to.
            trust: It is left out of what was said here, and is signed or imported for a
                prompt that came from elsewhere. A prompt that an agent or a program stored has
                agent.
        """
        return self._caller.ask(
            Turn,
            _TURN_APPEND,
            path={"id": session_id},
            body={"content": content, "role": role, "created_at": created_at, "id": id, "project_id": project_id, "trust": trust},
            key=idempotency_key,
        )

    def delete(
        self,
        session_id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> DeletedTurns:
        """Remove every turn of a session.

        Removes every turn of a session and answers with how many there were. An unknown session
        has none and is no error.

        Arguments:
            session_id: The id of the session.
        """
        return self._caller.ask(
            DeletedTurns,
            _TURN_DELETE,
            path={"id": session_id},
            key=idempotency_key,
        )

    def get(
        self,
        id: str,
    ) -> Turn:
        """Read one turn.

        Answers with one turn by its id.

        Arguments:
            id: The id of the turn.
        """
        return self._caller.ask(
            Turn,
            _TURN_GET,
            path={"id": id},
        )

    def list(
        self,
        session_id: str,
        *,
        limit: Optional[int] = None,
    ) -> Listing[Turn]:
        """Read the last turns of a session, oldest first.

        Lists the last turns of a session, oldest first. The answer ends where its text reaches
        1 MiB; `next` is then the cursor at which `turn.page` goes on with the turns before. An
        unknown session has none.

        Arguments:
            session_id: The id of the session.
            limit: The most items; default 50, at most 1000; as lines (application/x-ndjson)
                any number, default all.
        """
        return self._caller.listing(
            Turn,
            _TURN_LIST,
            path={"id": session_id},
            query={"limit": limit},
        )

    def page(
        self,
        session_id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[str] = None,
        excerpt: Optional[int] = None,
    ) -> Listing[ListedTurn]:
        """List the turns of a session, newest or oldest first, whole or their beginnings.

        Lists the turns of a session a page at a time, newest or oldest first. With excerpt only
        the beginning of each turn is answered, and bytes tells how long it is.

        Arguments:
            session_id: The id of the session.
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
            order: Newest or oldest first; default newest.
            excerpt: Give at most this many characters of each turn; default all.
        """
        return self._caller.listing(
            ListedTurn,
            _TURN_PAGE,
            path={"id": session_id},
            query={"limit": limit, "cursor": cursor, "order": order, "excerpt": excerpt},
        )


class Operations:
    """Every operation, by the kind of thing it is about."""

    def __init__(self, caller: Caller) -> None:
        self.activity = ActivityOperations(caller)
        self.agent = AgentOperations(caller)
        self.approval = ApprovalOperations(caller)
        self.audit = AuditOperations(caller)
        self.change = ChangeOperations(caller)
        self.compaction = CompactionOperations(caller)
        self.concept = ConceptOperations(caller)
        self.consolidation = ConsolidationOperations(caller)
        self.control_change = ControlChangeOperations(caller)
        self.document = DocumentOperations(caller)
        self.event = EventOperations(caller)
        self.export = ExportOperations(caller)
        self.folder = FolderOperations(caller)
        self.import_ = ImportOperations(caller)
        self.journal = JournalOperations(caller)
        self.loop = LoopOperations(caller)
        self.memory = MemoryOperations(caller)
        self.note = NoteOperations(caller)
        self.quarantine = QuarantineOperations(caller)
        self.queue = QueueOperations(caller)
        self.relation = RelationOperations(caller)
        self.result = ResultOperations(caller)
        self.session = SessionOperations(caller)
        self.snapshot = SnapshotOperations(caller)
        self.state = StateOperations(caller)
        self.task = TaskOperations(caller)
        self.tenant = TenantOperations(caller)
        self.token = TokenOperations(caller)
        self.turn = TurnOperations(caller)


class AsyncActivityOperations:
    """What agents did in sessions."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def list(
        self,
        session_id: str,
        *,
        kind: Optional[str] = None,
    ) -> ActivityPage:
        """List the activity of a session, in the order of first occurrence.

        Lists what was done in a session beside what was said, in the order in which it was
        first done. An unknown session has none. The answer is whole.

        Arguments:
            session_id: The id of the session.
            kind: Only of this kind.
        """
        return await self._caller.ask(
            ActivityPage,
            _ACTIVITY_LIST,
            path={"id": session_id},
            query={"kind": kind},
        )

    async def named(
        self,
        *,
        kind: str,
        name: Optional[str] = None,
    ) -> ActivityPage:
        """List what was done under one name in every session, done last first.

        Lists what was done under one kind and name in every session, done last first, at most
        1000.

        Arguments:
            kind: Of this kind; context tells which passages stood before an agent.
            name: With this name; of a passage its layer and owner, as in memory
                0198c0de-0000-7000-8000-000000000001.
        """
        return await self._caller.ask(
            ActivityPage,
            _ACTIVITY_NAMED,
            query={"kind": kind, "name": name},
        )


class AsyncAgentOperations:
    """The agents of the server, and how each is doing."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def capabilities(
        self,
    ) -> Capabilities:
        """Read the capabilities of the agent's store.

        Answers with what the store of the agent can do. What it cannot do answers with an error
        of kind unsupported.
        """
        return await self._caller.ask(
            Capabilities,
            _AGENT_CAPABILITIES,
        )

    async def doctor(
        self,
        *,
        deep: Optional[bool] = None,
    ) -> Checkup:
        """Check the agent; only callers that may see every tenant get the details of findings.

        Checks the agent and its home and answers with a list of findings. It needs the scope
        admin, and only callers that may see every tenant get the details. With deep every row
        is looked at, which may take long.

        Arguments:
            deep: Look at every row.
        """
        return await self._caller.ask(
            Checkup,
            _AGENT_DOCTOR,
            query={"deep": deep},
        )

    async def generation(
        self,
    ) -> Generation:
        """Read which generation of the agent is live, which restore made the generation, and
        whether a restore is unfinished.

        Answers with the generation of the agent that is live, the restore that made it, and a
        restore that is not finished. Every restore makes a new generation.
        """
        return await self._caller.ask(
            Generation,
            _AGENT_GENERATION,
        )

    async def health(
        self,
    ) -> Health:
        """Read the health of long-term memory.

        Answers with how the long-term memory of the agent is doing. It fails only when it takes
        too long.
        """
        return await self._caller.ask(
            Health,
            _AGENT_HEALTH,
        )

    async def list(
        self,
        *,
        tenant: Optional[str] = None,
        agent: Optional[str] = None,
    ) -> AgentNamePage:
        """List the agents that the token reaches, by tenant and agent.

        Lists the agents that the token reaches, by tenant and agent. An agent that is not there
        is not found, in the same words as one that the token does not reach. The answer is
        whole.

        Arguments:
            tenant: Only of this tenant; default all that the token is for.
            agent: Only of this agent; default all that the token is for.
        """
        return await self._caller.ask(
            AgentNamePage,
            _AGENT_LIST,
            query={"tenant": tenant, "agent": agent},
        )

    async def stats(
        self,
    ) -> Stats:
        """Count the records of the agent's store.

        Counts the records of the store of the agent, all at one instant.
        """
        return await self._caller.ask(
            Stats,
            _AGENT_STATS,
        )

    async def sync(
        self,
        *,
        place: Optional[str] = None,
    ) -> SyncReport:
        """Read the state of the sync with a place.

        Answers with what is known about the sync with a place: the devices it came from, what
        is in quarantine, and conflicts. Without a place it is what every place has in
        quarantine, and conflicts.

        Arguments:
            place: The place, by the name that sync gave it; default what every place has in
                quarantine, and conflicts.
        """
        return await self._caller.ask(
            SyncReport,
            _AGENT_SYNC,
            query={"place": place},
        )


class AsyncApprovalOperations:
    """Questions to people, and their decisions."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def decide(
        self,
        id: str,
        outcome: ApprovalStatus,
        *,
        actor: Optional[str] = None,
        claimed_by: Optional[str] = None,
        comment: Optional[str] = None,
        digest: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Approval:
        """Decide an approval once; the token that requested the approval may not, and the recorded
        actor is the name of the token.

        Decides an approval, once, and answers with it. It needs the scope approve, and the
        token that requested the approval may not decide it whatever its scopes. The decision is
        recorded under the name of the token. An approval that is decided already, or whose
        payload has another digest, is a conflict.

        Arguments:
            id: The id of the approval.
            outcome: The decision: approved, rejected or cancelled.
            actor: Who decides. It is needed where no token is used. Otherwise the server
                puts the name of the token there, and keeps this one in claimed_by.
            claimed_by: Who has decided as the caller says, where a token is used. The
                default is actor.
            comment: What the person says about the decision.
            digest: The digest of the payload that the person saw. Another payload that is
                stored is a conflict. It is not checked where it is left out.
        """
        return await self._caller.ask(
            Approval,
            _APPROVAL_DECIDE,
            path={"id": id},
            body={"outcome": outcome, "actor": actor, "claimed_by": claimed_by, "comment": comment, "digest": digest},
            key=idempotency_key,
        )

    async def get(
        self,
        id: str,
    ) -> Approval:
        """Read one approval.

        Answers with one approval, its payload checked against its digest.

        Arguments:
            id: The id of the approval.
        """
        return await self._caller.ask(
            Approval,
            _APPROVAL_GET,
            path={"id": id},
        )

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        task_id: Optional[str] = None,
    ) -> AsyncListing[Approval]:
        """List the approvals of a task, oldest first, or every pending one.

        Lists the approvals of a task, oldest first, or every pending one where no task is
        named, a page at a time.

        Arguments:
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
            task_id: The task.
        """
        return self._caller.listing(
            Approval,
            _APPROVAL_LIST,
            query={"limit": limit, "cursor": cursor, "task_id": task_id},
        )

    async def request(
        self,
        node_id: str,
        payload: Any,
        summary: str,
        task_id: str,
        *,
        id: Optional[str] = None,
        requested_by: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Approval:
        """Ask a person for an approval.

        Asks a person for an approval and answers with it. The payload is frozen: what is
        approved is what will be done. The same id with the same payload is answered as it is
        stored, and with another one it is a conflict. The token that asks does not decide.

        Arguments:
            node_id: The id of the node of the task.
            payload: What will be done if the answer is yes, any JSON.
            summary: The question in words for people.
            task_id: The id of the task.
            id: The id of the approval. The same id with the same payload is the stored
                approval. The default is a new UUID.
            requested_by: Who asks. Where a token is used the server puts its id there,
                whatever the request says.
        """
        return await self._caller.ask(
            Approval,
            _APPROVAL_REQUEST,
            body={"node_id": node_id, "payload": payload, "summary": summary, "task_id": task_id, "id": id, "requested_by": requested_by},
            key=idempotency_key,
        )


class AsyncAuditOperations:
    """The audit log of the home."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        tenant: Optional[str] = None,
        agent: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        actor: Optional[str] = None,
        action: Optional[str] = None,
        since: Optional[Union[datetime, str]] = None,
    ) -> AsyncListing[AuditEntry]:
        """List entries of the audit log, newest first; a token for one tenant or agent is shown
        only entries about it, without hashes.

        Lists entries of the audit log, newest first, a page at a time. A token for one tenant
        or agent is shown only entries about it, without hashes.

        Arguments:
            tenant: Only of this tenant; default all that the token is for.
            agent: Only of this agent; default all that the token is for.
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
            actor: Only what this actor did: the id of a token, local, or cli.
            action: Only this operation, as in memory.write.
            since: Only what happened at this time or later.
        """
        return self._caller.listing(
            AuditEntry,
            _AUDIT_LIST,
            query={"tenant": tenant, "agent": agent, "limit": limit, "cursor": cursor, "actor": actor, "action": action, "since": since},
        )

    async def verify(
        self,
    ) -> AuditReport:
        """Recompute the audit log and find what was changed; needs a token for every tenant,
        because the entries of all tenants are one chain.

        Reads the whole audit log, computes every hash again and answers with what does not fit.
        Damage is no error. The entries of all tenants are one chain, so it needs a token for
        every tenant.
        """
        return await self._caller.ask(
            AuditReport,
            _AUDIT_VERIFY,
        )


class AsyncChangeOperations:
    """The change log of memory."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def head(
        self,
    ) -> LogPosition:
        """Read the position of the newest entry.

        Answers with the position of the newest entry of the change log of memory, from which a
        reader can go on.
        """
        return await self._caller.ask(
            LogPosition,
            _CHANGE_HEAD,
        )

    def list(
        self,
        *,
        after: Optional[str] = None,
        before: Optional[str] = None,
        order: Optional[str] = None,
        scope: Optional[Sequence[str]] = None,
        cursor: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> AsyncListing[Change]:
        """Read what changed, oldest or newest first; next is the position to continue from.

        Reads the change log of memory, oldest or newest first. Entries tell what changed and
        never its text. The field next is the position to go on from, and any position of an
        entry will do. After a restore an old position is a conflict: begin again without one.

        Arguments:
            after: Only changes after this position; default: from the beginning.
            before: With order=newest: only changes before this position; default: from the
                end.
            order: Oldest or newest first; default oldest.
            scope: With order=newest: only changes of this layer, as memory or turn
                (repeat).
            cursor: The same as after, or before: the field next of the previous page.
            limit: The most items; default 50, at most 1000.
        """
        return self._caller.listing(
            Change,
            _CHANGE_LIST,
            query={"after": after, "before": before, "order": order, "scope": scope, "cursor": cursor, "limit": limit},
        )


class AsyncCompactionOperations:
    """Summaries of turns that an agent host dropped."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def add(
        self,
        session_id: str,
        summary: str,
        *,
        created_at: Optional[Union[datetime, str]] = None,
        id: Optional[str] = None,
        turns: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> Compaction:
        """Store the summary of turns; a summary with an id is stored once.

        Stores the summary of turns that an agent host dropped and answers with it. A summary
        whose id is stored already is answered as it was stored; the id of a summary of another
        session is a conflict.

        Arguments:
            session_id: The id of the session.
            summary: The summary.
            created_at: When the summary was made. The default is now.
            id: The id of the summary. One that is stored already is not stored again. The
                default is a new UUID.
            turns: How many turns the summary stands for.
        """
        return await self._caller.ask(
            Compaction,
            _COMPACTION_ADD,
            path={"id": session_id},
            body={"summary": summary, "created_at": created_at, "id": id, "turns": turns},
            key=idempotency_key,
        )

    def list(
        self,
        session_id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> AsyncListing[Compaction]:
        """Read the summaries of a session, oldest first.

        Lists the summaries of a session, oldest first, a page at a time. An unknown session has
        none.

        Arguments:
            session_id: The id of the session.
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
        """
        return self._caller.listing(
            Compaction,
            _COMPACTION_LIST,
            path={"id": session_id},
            query={"limit": limit, "cursor": cursor},
        )


class AsyncConceptOperations:
    """Concept tags of memories."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def count(
        self,
    ) -> ConceptCountPage:
        """List the concepts of all memories, most frequent first.

        Lists the concepts of all live memories with how many have each, most frequent first, at
        most 1000.
        """
        return await self._caller.ask(
            ConceptCountPage,
            _CONCEPT_COUNT,
        )

    async def list(
        self,
        memory_id: str,
    ) -> StringPage:
        """List the concept tags of a memory.

        Lists the concept tags of a memory, sorted. The answer is whole.

        Arguments:
            memory_id: The id of the memory.
        """
        return await self._caller.ask(
            StringPage,
            _CONCEPT_LIST,
            path={"id": memory_id},
        )

    async def set(
        self,
        memory_id: str,
        *,
        items: Optional[Sequence[str]] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Replace the concept tags of a memory.

        Replaces the concept tags of a live memory with those of the body. Recall finds a memory
        by the words of its concepts, too.

        Arguments:
            memory_id: The id of the memory.
            items: The concept tags, in place of all that are there. An empty list removes
                them.
        """
        await self._caller.done(
            _CONCEPT_SET,
            path={"id": memory_id},
            body={"items": items},
            key=idempotency_key,
        )


class AsyncConsolidationOperations:
    """Marks around runs that rewrite memory."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def begin(
        self,
        *,
        abandon: Optional[str] = None,
        run: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Consolidation:
        """Take a snapshot as snapshot.auto.before_consolidation says, and begin a consolidation.

        Takes a snapshot as the configuration says, opens a consolidation and answers with it.
        While another one is open it is a conflict, unless abandon names that one.

        Arguments:
            abandon: The id of the consolidation that is open and whose program is gone. It
                is given up, and this one takes its place.
            run: What the program calls the run, at most 64 bytes.
        """
        return await self._caller.ask(
            Consolidation,
            _CONSOLIDATION_BEGIN,
            body={"abandon": abandon, "run": run},
            key=idempotency_key,
        )

    async def end(
        self,
        id: str,
        *,
        outcome: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Consolidation:
        """End a consolidation.

        Closes the open consolidation and answers with it. One that is not open is not found.

        Arguments:
            id: The id of the consolidation.
            outcome: How it ended: done (the default) or failed.
        """
        return await self._caller.ask(
            Consolidation,
            _CONSOLIDATION_END,
            path={"id": id},
            body={"outcome": outcome},
            key=idempotency_key,
        )

    async def open(
        self,
    ) -> Consolidation:
        """Read the open consolidation.

        Answers with the open consolidation. Where none is open it is not found.
        """
        return await self._caller.ask(
            Consolidation,
            _CONSOLIDATION_OPEN,
        )


class AsyncControlChangeOperations:
    """The change log of the control plane: tasks, approvals, results and the queue."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def head(
        self,
    ) -> LogPosition:
        """Read the position of the newest entry.

        Answers with the position of the newest entry of the change log of the control plane,
        from which a reader can go on.
        """
        return await self._caller.ask(
            LogPosition,
            _CONTROL_CHANGE_HEAD,
        )

    def list(
        self,
        *,
        after: Optional[str] = None,
        before: Optional[str] = None,
        order: Optional[str] = None,
        scope: Optional[Sequence[str]] = None,
        cursor: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> AsyncListing[Change]:
        """Read what changed in the control plane, oldest or newest first; next is the position to
        continue from.

        Reads the change log of the control plane, oldest or newest first. Entries tell what
        changed and never its text. The field next is the position to go on from, and any
        position of an entry will do. After a restore an old position is a conflict: begin again
        without one.

        Arguments:
            after: Only changes after this position; default: from the beginning.
            before: With order=newest: only changes before this position; default: from the
                end.
            order: Oldest or newest first; default oldest.
            scope: With order=newest: only changes of this layer, as memory or turn
                (repeat).
            cursor: The same as after, or before: the field next of the previous page.
            limit: The most items; default 50, at most 1000.
        """
        return self._caller.listing(
            Change,
            _CONTROL_CHANGE_LIST,
            query={"after": after, "before": before, "order": order, "scope": scope, "cursor": cursor, "limit": limit},
        )


class AsyncDocumentOperations:
    """Documents of runtime state: small JSON documents by name."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def delete(
        self,
        name: str,
        *,
        if_revision: Optional[str] = None,
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Remove a document of runtime state.

        Removes a document of runtime state, also a damaged one. With If-Match or if_revision
        another revision that is stored is a conflict.

        Arguments:
            name: The name of the document.
            if_revision: The same as If-Match.
            if_match: The ETag of the document that is removed.
        """
        await self._caller.done(
            _DOCUMENT_DELETE,
            path={"name": name},
            query={"if_revision": if_revision},
            headers={"If-Match": if_match},
            key=idempotency_key,
        )

    async def get(
        self,
        name: str,
    ) -> Document:
        """Read a document of runtime state.

        Answers with a document of runtime state and its revision as ETag.

        Arguments:
            name: The name of the document.
        """
        return await self._caller.ask(
            Document,
            _DOCUMENT_GET,
            path={"name": name},
        )

    async def list(
        self,
    ) -> DocumentPage:
        """List the documents of runtime state by name, without their text.

        Lists the documents of runtime state by name, without their text. One that is damaged is
        among them and says so. The answer is whole.
        """
        return await self._caller.ask(
            DocumentPage,
            _DOCUMENT_LIST,
        )

    async def put(
        self,
        name: str,
        document: Any,
        *,
        if_absent: Optional[bool] = None,
        if_revision: Optional[str] = None,
        if_match: Optional[str] = None,
        if_none_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Document:
        """Store a document of runtime state, over the expected revision or as a new document.

        Stores a document of runtime state, new or over the one of that name, and answers with
        its revision. With If-Match or if_revision another revision that is stored is a
        conflict; with If-None-Match: * or if_absent a name that is taken is one. An agent has
        at most 256 documents.

        Arguments:
            name: The name of the document.
            document: The document, any JSON, at most 256 KiB.
            if_absent: True stores the document only if there is none of that name, and is a
                conflict otherwise. It is the same as the header If-None-Match with *.
            if_revision: The revision that is replaced. Another one that is stored is a
                conflict. It is the same as the header If-Match.
            if_match: The ETag of the document that is replaced.
            if_none_match: * stores the document only if the name is not taken.
        """
        return await self._caller.ask(
            Document,
            _DOCUMENT_PUT,
            path={"name": name},
            headers={"If-Match": if_match, "If-None-Match": if_none_match},
            body={"document": document, "if_absent": if_absent, "if_revision": if_revision},
            key=idempotency_key,
        )


class AsyncEventOperations:
    """What happens to an agent, as it happens."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def stream(
        self,
        *,
        after: Optional[str] = None,
        last_event_id: Optional[str] = None,
    ) -> AsyncStream[Event]:
        """Stream every change and every event of snapshots as server-sent events; a stream that
        continues after the last event misses nothing.

        Streams every change and every event of snapshots as server-sent events, until the
        caller goes. A stream that goes on after the id of the last event misses no change. An
        event restored without data says that a restore has replaced the history. Changes never
        hold text. At most 256 streams run at one time, and one more is busy.

        Arguments:
            after: Continue after this event; default: begin with the next event.
            last_event_id: The same as after, sent by browsers.
        """
        return self._caller.stream(
            Event,
            _EVENT_STREAM,
            query={"after": after},
            headers={"Last-Event-ID": last_event_id},
        )


class AsyncExportOperations:
    """Exports for other programs."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def download(
        self,
        *,
        to: str,
        project: Optional[str] = None,
        user: Optional[Sequence[str]] = None,
        all_users: Optional[bool] = None,
        private: Optional[bool] = None,
    ) -> AsyncFile:
        """Export memories, conversations and notes in a format that another program reads; a
        format that writes several files comes as a zip file.

        Answers with a file of memories, conversations and notes in a format that another
        program reads. A format that writes several files comes as a zip file. Memories of users
        leave only when the users are named, and secrets are taken out. An export that fails on
        the way is cut off.

        Arguments:
            to: The format.
            project: Only this project; notes stay then.
            user: Memories of this user, too; may be repeated.
            all_users: Memories of every user, too.
            private: Passages that are marked private, too.
        """
        return self._caller.file(
            _EXPORT_DOWNLOAD,
            query={"to": to, "project": project, "user": user, "all_users": all_users, "private": private},
        )


class AsyncFolderOperations:
    """Folders of the machine that claim a project."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def list(
        self,
    ) -> WaitingFolderPage:
        """List the folders of the machine that claim a project and wait for the owner.

        Lists the folders of the machine of the server that claim a project which the home
        already knows, and which folders have the project. Only for callers of every tenant. The
        answer is whole.
        """
        return await self._caller.ask(
            WaitingFolderPage,
            _FOLDER_LIST,
        )

    async def trust(
        self,
        asks: str,
        place: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> TrustedFolder:
        """Confirm that a folder belongs to the project that it claims.

        Gives a folder the project that it claims, with what was said in the folder until now,
        and answers with how much that was. A folder that claims another project by now is a
        conflict. Only for callers of every tenant.

        Arguments:
            asks: The project that the folder claims, as the list shows.
            place: The path that the home knows the folder by.
        """
        return await self._caller.ask(
            TrustedFolder,
            _FOLDER_TRUST,
            body={"asks": asks, "place": place},
            key=idempotency_key,
        )


class AsyncImportOperations:
    """Imports from other programs."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def list(
        self,
    ) -> ImportRecordPage:
        """List the imports that were made, oldest first.

        Lists the imports that were made, oldest first. The answer is whole.
        """
        return await self._caller.ask(
            ImportRecordPage,
            _IMPORT_LIST,
        )

    async def undo(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> ImportUndo:
        """Take an import back; what was edited since stays and is named.

        Takes an import back and answers with what was deleted. What was edited since stays and
        is named. Taking it back again does nothing.

        Arguments:
            id: The id of the import.
        """
        return await self._caller.ask(
            ImportUndo,
            _IMPORT_UNDO,
            path={"id": id},
            key=idempotency_key,
        )

    async def upload(
        self,
        data: AsyncUpload,
        *,
        from_: Optional[str] = None,
        name: Optional[str] = None,
        modified: Optional[Union[datetime, str]] = None,
        dry_run: Optional[bool] = None,
        project: Optional[str] = None,
        user: Optional[str] = None,
        as_own: Optional[bool] = None,
        since: Optional[Union[datetime, str]] = None,
        only: Optional[str] = None,
        observations: Optional[bool] = None,
        sensitive: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> ForeignImport:
        """Import a file of another program, or a zip or tar.gz of its folder, which is the body;
        importing again stores only what is new.

        Imports a file of another program, or a zip or tar.gz of its folder, and answers with
        what is new, changed and known, and what was skipped and why. Importing the same file
        again stores only what is new. One import into an agent runs at a time, and another one
        is busy. With dry_run nothing is written.

        Arguments:
            from_: The format; default: found out from the file.
            name: The name of the file or folder, which helps to find out the format;
                reports show it.
            modified: When the file was last changed: the time of what has none of its own.
            dry_run: Tell what would be imported, and write nothing.
            project: The project of everything that is imported; default: what the file
                says.
            user: The user whom memories about the user belong to; without one they are
                skipped.
            as_own: The file is the caller's own: what it says has the trust own instead of
                imported.
            since: Only what was changed since.
            only: Only these of memories, sessions and notes, separated with commas.
            observations: Take lines that look like observations out of any Markdown as
                memories.
            sensitive: Rows that their program marks as sensitive, too.
        """
        return await self._caller.ask(
            ForeignImport,
            _IMPORT_UPLOAD,
            query={"from": from_, "name": name, "modified": modified, "dry_run": dry_run, "project": project, "user": user, "as_own": as_own, "since": since, "only": only, "observations": observations, "sensitive": sensitive},
            data=data,
            key=idempotency_key,
        )


class AsyncJournalOperations:
    """The crash journal of agent hosts."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def cursor(
        self,
        journal: str,
    ) -> JournalCursor:
        """Read how far the journal of a session has been stored.

        Answers with how far the journal of a session has been stored. A journal that nobody
        knows has a cursor at 0.

        Arguments:
            journal: The name of the journal of one session.
        """
        return await self._caller.ask(
            JournalCursor,
            _JOURNAL_CURSOR,
            path={"journal": journal},
        )

    async def ingest(
        self,
        host: str,
        journal: str,
        session_id: str,
        *,
        after: Optional[int] = None,
        last_at: Optional[Union[datetime, str]] = None,
        past: Optional[bool] = None,
        process: Optional[Union[HostProcessAsked, Mapping[str, Any]]] = None,
        steps: Optional[Sequence[Union[IngestStepAsked, Mapping[str, Any]]]] = None,
        through: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> IngestResult:
        """Store a range of entries of a crash journal, exactly once.

        Stores what a range of entries of a crash journal means, in one step and exactly once,
        and answers with how many steps were applied. A range that does not begin where the last
        one ended is a conflict, and nothing is applied then.

        Arguments:
            host: The agent host, as in claude.
            journal: The name of the journal of one session, 32 hexadecimal digits.
            session_id: The id of the session.
            after: The number of the last entry that was stored before. 0, the default,
                means that none was. Another one that is stored is a conflict.
            last_at: When the agent host was last heard of.
            past: True when all of it happened long ago and was read from a record of it.
                The session is stored already then and stays as it is.
            process: The process of the agent host.
            steps: What the entries mean, in their order.
            through: The number of the last entry of the range, at least after.
        """
        return await self._caller.ask(
            IngestResult,
            _JOURNAL_INGEST,
            body={"host": host, "journal": journal, "session_id": session_id, "after": after, "last_at": last_at, "past": past, "process": process, "steps": steps, "through": through},
            key=idempotency_key,
        )

    async def open(
        self,
    ) -> JournalCursorPage:
        """List the journal cursors of sessions that have not ended, least recently updated first.

        Lists the cursors of sessions that have not ended, those heard of longest ago first, at
        most 1000.
        """
        return await self._caller.ask(
            JournalCursorPage,
            _JOURNAL_OPEN,
        )

    async def status(
        self,
    ) -> JournalStatusPage:
        """Read the state of the crash journal.

        Lists what the crash journal holds of each session. The answer is whole.
        """
        return await self._caller.ask(
            JournalStatusPage,
            _JOURNAL_STATUS,
        )


class AsyncLoopOperations:
    """Suspended loops of agents: one for each session."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def clear(
        self,
        session_id: str,
        *,
        run_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Remove the suspended loop of a session.

        Removes the suspended loop of a session. With run_id only the loop of that run is
        removed, and the loop of another run is a conflict. A session without a loop is no
        error.

        Arguments:
            session_id: The id of the session.
            run_id: Only the loop of this run.
        """
        await self._caller.done(
            _LOOP_CLEAR,
            path={"id": session_id},
            query={"run_id": run_id},
            key=idempotency_key,
        )

    async def get(
        self,
        session_id: str,
    ) -> PendingLoop:
        """Read the suspended loop of a session.

        Answers with the suspended loop of a session and its revision as ETag. A session without
        a loop is not found, and a loop whose bytes are not those that were written is damaged.

        Arguments:
            session_id: The id of the session.
        """
        return await self._caller.ask(
            PendingLoop,
            _LOOP_GET,
            path={"id": session_id},
        )

    async def save(
        self,
        session_id: str,
        run_id: str,
        state_json: Any,
        *,
        if_revision: Optional[int] = None,
        if_run_id: Optional[str] = None,
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> PendingLoop:
        """Store the suspended loop of a session over the expected run and revision; 0 means that
        the session has no loop yet.

        Stores the suspended loop of a session over the expected run and revision and answers
        with the new revision. The revision is named by If-Match or if_revision, and without
        them the session must have no loop yet. Anything else that is stored is a conflict. A
        session has one loop at most.

        Arguments:
            session_id: The id of the session.
            run_id: The run that the loop belongs to.
            state_json: The state of the loop, any JSON. Amber does not look inside.
            if_revision: The revision that is stored now. 0, the default, means that the
                session has no loop yet. Another one is a conflict. It is the same as the header
                If-Match.
            if_run_id: The run whose loop is stored now. The default is run_id.
            if_match: The ETag of the stored value.
        """
        return await self._caller.ask(
            PendingLoop,
            _LOOP_SAVE,
            path={"id": session_id},
            headers={"If-Match": if_match},
            body={"run_id": run_id, "state_json": state_json, "if_revision": if_revision, "if_run_id": if_run_id},
            key=idempotency_key,
        )


class AsyncMemoryOperations:
    """Long-term memories: store, find, read, change, forget and erase them, and build the context
    of a prompt.
    """

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def context(
        self,
        *,
        explain: Optional[bool] = None,
        goal: Optional[str] = None,
        known: Optional[Sequence[Union[ContextItemAsked, Mapping[str, Any]]]] = None,
        max_bytes: Optional[int] = None,
        occasion: Optional[str] = None,
        pending_loop_active: Optional[bool] = None,
        project_id: Optional[str] = None,
        session_id: Optional[str] = None,
        sessions: Optional[int] = None,
        user_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
    ) -> ContextBlock:
        """Build the block of memory that is put before a prompt.

        Builds the block of memory that is put before the prompt of an agent, and answers with
        its text and what is in it. The text is between two lines with a random delimiter, so
        that nothing in it can be taken for instructions. What was imported and not signed by a
        trusted key is not in it. Nothing is changed.

        Arguments:
            explain: True fills in the field why of each memory.
            goal: What the user asks for. It is empty at the start of a session.
            known: What was put before the agent in this session already. It is left out
                unless it has changed.
            max_bytes: The most bytes of the text. The default is 8192, the bounds are 512
                and 65536.
            occasion: When the block is put before the agent: start (a session begins),
                prompt (the user has typed the goal) or compaction (the host has summed up the
                session). Without one, a request with a goal is answered with what is relevant
                to the goal, and one without a goal like the start of a session.
            pending_loop_active: True when a suspended loop of the session is resumed. It
                changes the reason of the recall.
            project_id: The project that memories of scope project are bound to.
            session_id: The session that memories of scope session are bound to.
            sessions: How many recent sessions to tell of. 0 means 3, a negative number
                none.
            user_id: The user that memories of scope user are bound to.
            workspace_id: The workspace that memories of scope workspace are bound to.
        """
        return await self._caller.ask(
            ContextBlock,
            _MEMORY_CONTEXT,
            body={"explain": explain, "goal": goal, "known": known, "max_bytes": max_bytes, "occasion": occasion, "pending_loop_active": pending_loop_active, "project_id": project_id, "session_id": session_id, "sessions": sessions, "user_id": user_id, "workspace_id": workspace_id},
        )

    async def edit(
        self,
        id: str,
        *,
        author: Optional[Union[AuthorAsked, Mapping[str, Any]]] = None,
        content: Optional[str] = None,
        if_revision: Optional[int] = None,
        keep: Optional[bool] = None,
        kind: Optional[MemoryKind] = None,
        metadata: Optional[Mapping[str, str]] = None,
        summary: Optional[str] = None,
        tags: Optional[Sequence[str]] = None,
        title: Optional[str] = None,
        trust: Optional[Trust] = None,
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Memory:
        """Change fields of a memory.

        Changes the fields that the body names and answers with the new revision. An edit that
        changes nothing answers with the memory as it is. Earlier revisions stay in the history.
        With If-Match or if_revision it is a conflict when another revision is stored; an edit
        that would make the memory equal to another one is a conflict, too.

        Arguments:
            id: The id of the memory.
            author: The server does not use it: it knows who asks.
            content: The new content.
            if_revision: The revision that the edit is based on. Another one that is stored
                is a conflict. 0, the default, takes any. It is the same as the header If-Match.
            keep: The caller vouches for the memory, which gets the trust of the caller.
            kind: The new kind.
            metadata: The new metadata, in place of all that is there.
            summary: The new summary.
            tags: The new tags, in place of all that are there.
            title: The new title.
            trust: The trust of the caller, at most what the server gives it. A memory that
                is trusted more is not changed.
            if_match: The ETag the edit is based on.
        """
        return await self._caller.ask(
            Memory,
            _MEMORY_EDIT,
            path={"id": id},
            headers={"If-Match": if_match},
            body={"author": author, "content": content, "if_revision": if_revision, "keep": keep, "kind": kind, "metadata": metadata, "summary": summary, "tags": tags, "title": title, "trust": trust},
            key=idempotency_key,
        )

    async def erase(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> EraseReport:
        """Remove the text of a memory for good.

        Removes every trace of the text of a memory from the files of the store, and answers
        with what was removed and which copies remain elsewhere. A tombstone without text stays,
        and no import brings the memory back. Erasing it again does nothing. It cannot be
        undone.

        Arguments:
            id: The id of the memory.
        """
        return await self._caller.ask(
            EraseReport,
            _MEMORY_ERASE,
            path={"id": id},
            key=idempotency_key,
        )

    async def forget(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Delete a memory; a tombstone stays.

        Deletes a memory. A tombstone stays, and the history still shows the memory. Deleting it
        again does nothing.

        Arguments:
            id: The id of the memory.
        """
        await self._caller.done(
            _MEMORY_FORGET,
            path={"id": id},
            key=idempotency_key,
        )

    async def get(
        self,
        id: str,
    ) -> Memory:
        """Read one memory.

        Answers with one live memory and its revision as ETag. A memory that was deleted is not
        found.

        Arguments:
            id: The id of the memory.
        """
        return await self._caller.ask(
            Memory,
            _MEMORY_GET,
            path={"id": id},
        )

    def history(
        self,
        id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> AsyncListing[Memory]:
        """Read every revision of a memory.

        Lists every revision of a memory, oldest first, with the tombstone last if it is
        deleted, a page at a time.

        Arguments:
            id: The id of the memory.
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
        """
        return self._caller.listing(
            Memory,
            _MEMORY_HISTORY,
            path={"id": id},
            query={"limit": limit, "cursor": cursor},
        )

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        scope: Optional[Scope] = None,
        session_id: Optional[str] = None,
        user_id: Optional[str] = None,
        project_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
        kind: Optional[Sequence[MemoryKind]] = None,
        tag: Optional[Sequence[str]] = None,
        since: Optional[Union[datetime, str]] = None,
        until: Optional[Union[datetime, str]] = None,
        all: Optional[bool] = None,
        deleted: Optional[bool] = None,
        trusted: Optional[bool] = None,
        trust: Optional[Trust] = None,
        waiting: Optional[str] = None,
    ) -> AsyncListing[Memory]:
        """List memories, newest first.

        Lists memories without searching, last updated first, a page at a time. Seen are global
        memories and those of the identities that the query names, or with all=true those of
        every scope and identity.

        Arguments:
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
            scope: Only this scope.
            session_id: See memories of this session.
            user_id: See memories of this user.
            project_id: See memories of this project.
            workspace_id: See memories of this workspace.
            kind: Only this kind (repeat).
            tag: Only with this tag (repeat).
            since: Updated at or after.
            until: Updated before.
            all: Every scope and identity.
            deleted: Include tombstones.
            trusted: Own and signed memories alone.
            trust: Of this trust or more.
            waiting: Those alone that wait for the owner by this rule: agents, imports or
                none; a server with a rule of its own goes by that.
        """
        return self._caller.listing(
            Memory,
            _MEMORY_LIST,
            query={"limit": limit, "cursor": cursor, "scope": scope, "session_id": session_id, "user_id": user_id, "project_id": project_id, "workspace_id": workspace_id, "kind": kind, "tag": tag, "since": since, "until": until, "all": all, "deleted": deleted, "trusted": trusted, "trust": trust, "waiting": waiting},
        )

    async def recall(
        self,
        *,
        explain: Optional[bool] = None,
        kinds: Optional[Sequence[MemoryKind]] = None,
        layers: Optional[Sequence[str]] = None,
        limit: Optional[int] = None,
        local: Optional[bool] = None,
        min_score: Optional[float] = None,
        project_id: Optional[str] = None,
        reason: Optional[str] = None,
        scope: Optional[Scope] = None,
        session_id: Optional[str] = None,
        since: Optional[Union[datetime, str]] = None,
        tags: Optional[Sequence[str]] = None,
        text: Optional[str] = None,
        trusted: Optional[bool] = None,
        until: Optional[Union[datetime, str]] = None,
        user_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
    ) -> RecallResult:
        """Find the memories and passages of sessions that best answer a text.

        Answers with the memories, and the passages of sessions and notes, that best answer a
        text, best first, each with a score from 0 to 1. Seen are global memories and those of
        the identities that the query names, and of no others. No match is an empty list.
        Nothing is changed.

        Arguments:
            explain: True fills in the field why of each hit.
            kinds: Only memories of these kinds.
            layers: The layers that are asked: memory, exchange, note, session, activity.
                The default is all of them, or memory alone where the query has kinds or tags.
            limit: The most hits. The default is 8. More than 64 is lowered to 64, and
                clamped says so.
            local: True leaves out what was imported and not signed by a trusted key.
            min_score: Leave out hits with a lower score, from 0 to 1. Where no hit reaches
                0.25, memory has rather no answer.
            project_id: The project that memories of scope project are bound to.
            reason: Why it is asked: manual (the default), request_intake or resume.
            scope: Only this scope. The default is every scope whose identity is named, and
                global.
            session_id: The session that memories of scope session are bound to.
            since: Only what was updated at this time or later.
            tags: Only memories that have every one of these tags.
            text: A question in natural language. Found is what is near it in meaning, and
                what has its words, parts of them or words with a slip of the keyboard. Blank
                text matches every memory, newest first.
            trusted: True takes own and signed memories alone.
            until: Only what was updated before this time.
            user_id: The user that memories of scope user are bound to.
            workspace_id: The workspace that memories of scope workspace are bound to.
        """
        return await self._caller.ask(
            RecallResult,
            _MEMORY_RECALL,
            body={"explain": explain, "kinds": kinds, "layers": layers, "limit": limit, "local": local, "min_score": min_score, "project_id": project_id, "reason": reason, "scope": scope, "session_id": session_id, "since": since, "tags": tags, "text": text, "trusted": trusted, "until": until, "user_id": user_id, "workspace_id": workspace_id},
        )

    async def timeline(
        self,
        id: str,
        *,
        before: Optional[int] = None,
        after: Optional[int] = None,
    ) -> MemoryPage:
        """List the memories that were stored just before and after a memory.

        Lists the memories that were stored just before and after a memory, with the memory
        between them, oldest first. They are of the same session, or of the same scope and
        identity where the memory has no session.

        Arguments:
            id: The id of the memory.
            before: How many older memories.
            after: How many newer memories.
        """
        return await self._caller.ask(
            MemoryPage,
            _MEMORY_TIMELINE,
            path={"id": id},
            query={"before": before, "after": after},
        )

    async def write(
        self,
        content: str,
        *,
        author: Optional[Union[AuthorAsked, Mapping[str, Any]]] = None,
        content_digest: Optional[str] = None,
        created_at: Optional[Union[datetime, str]] = None,
        deleted_at: Optional[Union[datetime, str]] = None,
        duplicate_count: Optional[int] = None,
        foreign: Optional[Mapping[str, Any]] = None,
        id: Optional[str] = None,
        kind: Optional[MemoryKind] = None,
        metadata: Optional[Mapping[str, str]] = None,
        origin: Optional[Union[OriginAsked, Mapping[str, Any]]] = None,
        project_id: Optional[str] = None,
        reason: Optional[str] = None,
        revision: Optional[int] = None,
        scope: Optional[Scope] = None,
        session_id: Optional[str] = None,
        source_refs: Optional[Sequence[Union[SourceRefAsked, Mapping[str, Any]]]] = None,
        summary: Optional[str] = None,
        tags: Optional[Sequence[str]] = None,
        title: Optional[str] = None,
        topic: Optional[str] = None,
        trust: Optional[Trust] = None,
        updated_at: Optional[Union[datetime, str]] = None,
        user_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> WriteAck:
        """Store one memory.

        Stores one memory durably and answers with it as it is stored. The same content, kind,
        scope, identity and title again is the same memory: deduplicated is true, tags are
        joined, and a summary and keys of the metadata that it lacks are added. A topic that
        exists becomes a new revision of its memory. Without a scope the memory is for the
        narrowest identity that the request names, and global only where it names none. Secrets
        are taken out before it is stored. The same Idempotency-Key gets the first answer; with
        another request, or once that memory was erased, it is a conflict.

        Arguments:
            content: The text that is remembered, at most 1 MiB.
            author: The server does not use it: it knows who asks.
            content_digest: The SHA-256 of the content of a memory that was stored before.
                It needs an id.
            created_at: When the memory was first stored. A new memory gets this date in
                place of now.
            deleted_at: When a memory that was stored before was deleted. It needs an id.
            duplicate_count: How many times a memory that was stored before was written
                again. It needs an id.
            foreign: Fields of the program that the memory came from, by program. It needs
                an id.
            id: The id of a memory that was stored before, here or elsewhere. With an id the
                memory is stored as it is; a stored memory of this id that says something else
                is a conflict. Leave it out for a new memory.
            kind: What the memory is about. The default is workspace_fact. A server also
                takes common names, such as decision, for the kind that they mean.
            metadata: Names and values that a program keeps with the memory. Amber does not
                look inside.
            origin: The origin of a memory that was stored before. It needs an id.
            project_id: The project that memories of scope project are bound to.
            reason: Why the memory is written: operator_requested (the default),
                task_succeeded, high_value_observation or compact_summary.
            revision: The revision of a memory that was stored before. It needs an id.
            scope: Where the memory is visible. The default is the narrowest identity that
                the request names (session_id, user_id, project_id, workspace_id, in this
                order), and global only where it names none. Every scope but global needs its
                identity.
            session_id: The session that memories of scope session are bound to.
            source_refs: Where the memory came from.
            summary: The content in short.
            tags: The tags, at most 64. They are sorted when they are stored.
            title: A short title on one line.
            topic: The topic. There is one live memory for each project, scope, identity and
                topic, so a write to a topic that exists becomes a new revision of its memory.
            trust: How far the memory may be believed: at most what the server gives the
                caller, which is the default.
            updated_at: When the memory was last changed. A new memory gets this date in
                place of now.
            user_id: The user that memories of scope user are bound to.
            workspace_id: The workspace that memories of scope workspace are bound to.
        """
        return await self._caller.ask(
            WriteAck,
            _MEMORY_WRITE,
            body={"content": content, "author": author, "content_digest": content_digest, "created_at": created_at, "deleted_at": deleted_at, "duplicate_count": duplicate_count, "foreign": foreign, "id": id, "kind": kind, "metadata": metadata, "origin": origin, "project_id": project_id, "reason": reason, "revision": revision, "scope": scope, "session_id": session_id, "source_refs": source_refs, "summary": summary, "tags": tags, "title": title, "topic": topic, "trust": trust, "updated_at": updated_at, "user_id": user_id, "workspace_id": workspace_id},
            key=idempotency_key,
        )

    async def write_batch(
        self,
        *,
        items: Optional[Sequence[Union[WriteRequestAsked, Mapping[str, Any]]]] = None,
        idempotency_key: Optional[str] = None,
    ) -> WriteAckPage:
        """Store several memories, all or none.

        Stores up to 256 memories in one step, all of them or none, and answers with each in the
        order of the request. For every memory the rules of memory.write hold.

        Arguments:
            items: The memories, at most 256.
        """
        return await self._caller.ask(
            WriteAckPage,
            _MEMORY_WRITE_BATCH,
            body={"items": items},
            key=idempotency_key,
        )


class AsyncNoteOperations:
    """Notes: Markdown documents with a history."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def at(
        self,
        name: str,
        commit: str,
    ) -> Note:
        """Read one note as a change left it.

        Answers with a note as one of its last 1000 changes left it. A change that deleted the
        note is not found.

        Arguments:
            name: The name of the note, its slashes as %2F.
            commit: The commit of the change.
        """
        return await self._caller.ask(
            Note,
            _NOTE_AT,
            path={"name": name, "commit": commit},
        )

    async def delete(
        self,
        name: str,
        *,
        trust: Optional[Trust] = None,
        author_host: Optional[str] = None,
        author_agent: Optional[str] = None,
        author_session: Optional[str] = None,
        author_token: Optional[str] = None,
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Remove a note and commit that; its history stays.

        Removes a note and commits that; its history stays and can be read. With If-Match it is
        a conflict when the note was changed meanwhile.

        Arguments:
            name: The name of the note, its slashes as %2F.
            trust: The trust of the caller, to lower that of the token; the commit says it.
            author_host: The program that speaks, where the caller is the owner's.
            author_agent: The agent in it.
            author_session: Its session.
            author_token: The name of its token.
            if_match: The ETag the change is based on.
        """
        await self._caller.done(
            _NOTE_DELETE,
            path={"name": name},
            query={"trust": trust, "author_host": author_host, "author_agent": author_agent, "author_session": author_session, "author_token": author_token},
            headers={"If-Match": if_match},
            key=idempotency_key,
        )

    async def get(
        self,
        name: str,
    ) -> Note:
        """Read one note.

        Answers with one note and its commit as ETag.

        Arguments:
            name: The name of the note, its slashes as %2F.
        """
        return await self._caller.ask(
            Note,
            _NOTE_GET,
            path={"name": name},
        )

    async def list(
        self,
    ) -> NotePage:
        """List notes by name, without content.

        Lists the notes by name, without their content. The answer is whole.
        """
        return await self._caller.ask(
            NotePage,
            _NOTE_LIST,
        )

    async def log(
        self,
        name: str,
        *,
        limit: Optional[int] = None,
    ) -> NoteCommitPage:
        """List the last changes of a note, newest first; the history of a deleted note is listed
        too.

        Lists the last changes of a note, newest first, also of a note that was deleted. It has
        a limit and no pages.

        Arguments:
            name: The name of the note, its slashes as %2F.
            limit: The most items; default 50, at most 1000.
        """
        return await self._caller.ask(
            NoteCommitPage,
            _NOTE_LOG,
            path={"name": name},
            query={"limit": limit},
        )

    async def write(
        self,
        name: str,
        content: str,
        *,
        author: Optional[Union[AuthorAsked, Mapping[str, Any]]] = None,
        trust: Optional[Trust] = None,
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Note:
        """Store a note and commit it.

        Stores a note, commits it to the history of the notes and answers with it. Equal content
        makes no commit. With If-Match it is a conflict when the note was changed or deleted
        meanwhile.

        Arguments:
            name: The name of the note, its slashes as %2F.
            content: The text of the note, Markdown, at most 1 MiB.
            author: Who writes, where a program of the owner speaks for an agent. Of other
                callers the server knows who asks.
            trust: The trust of the caller, at most what the server gives it.
            if_match: The ETag the change is based on.
        """
        return await self._caller.ask(
            Note,
            _NOTE_WRITE,
            path={"name": name},
            headers={"If-Match": if_match},
            body={"content": content, "author": author, "trust": trust},
            key=idempotency_key,
        )


class AsyncQuarantineOperations:
    """What the crash journal has set aside."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def list(
        self,
        *,
        session: Optional[str] = None,
    ) -> HeldEntryPage:
        """List what the crash journal has set aside, without the payloads.

        Lists the files that the crash journal has set aside and why, without what is in them.
        The answer is whole.

        Arguments:
            session: Only of this session: its id, or its key.
        """
        return await self._caller.ask(
            HeldEntryPage,
            _QUARANTINE_LIST,
            query={"session": session},
        )

    async def retry(
        self,
        *,
        name: Optional[str] = None,
        session: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> HeldEntryPage:
        """Put entries that were set aside back into the crash journal, to be stored again: all of
        them, those of a session, or one.

        Puts entries that were set aside back into the crash journal, to be stored again, and
        answers with a list of them: all entries, those of a session, or one. Files that are no
        entries stay.

        Arguments:
            name: The name of one file, which needs a session. The default is all files.
            session: The id or the key of a session. The default is every session.
        """
        return await self._caller.ask(
            HeldEntryPage,
            _QUARANTINE_RETRY,
            body={"name": name, "session": session},
            key=idempotency_key,
        )

    async def show(
        self,
        session: str,
        name: str,
    ) -> HeldEntry:
        """Show one file that the crash journal has set aside, at most 8 MiB, without secrets.

        Answers with one file that the crash journal has set aside, with its bytes as base64 and
        without secrets. A file of more than 8 MiB is refused with quota.

        Arguments:
            session: The session: its key, or its id where one host has it.
            name: The name of the file.
        """
        return await self._caller.ask(
            HeldEntry,
            _QUARANTINE_SHOW,
            path={"session": session, "name": name},
        )


class AsyncQueueOperations:
    """The queue that hands work to programs."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def ack(
        self,
        consumer_id: str,
        entry_id: str,
        token: str,
        *,
        expires_at: Optional[Union[datetime, str]] = None,
        fence: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Finish a leased entry.

        Finishes a leased entry. Doing it again under the same lease does nothing. A lease that
        is lost is a conflict.

        Arguments:
            consumer_id: The program that works on the entry.
            entry_id: The id of the entry.
            token: What proves the lease.
            expires_at: When the lease ends unless it is renewed.
            fence: A number that grows with every lease of a node. A result under a smaller
                one is a conflict.
        """
        await self._caller.done(
            _QUEUE_ACK,
            body={"consumer_id": consumer_id, "entry_id": entry_id, "token": token, "expires_at": expires_at, "fence": fence},
            key=idempotency_key,
        )

    async def claim(
        self,
        consumer_id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> Claim:
        """Lease the next due entry; the reason queue_empty or queue_full says why no entry is
        leased.

        Leases the due entry of the highest priority, oldest first, and answers with it and the
        lease. It is not found with the reason queue_empty when no entry is due, and busy with
        the reason queue_full when every lease is taken. It shows what is stored, so it needs
        the scope read, too.

        Arguments:
            consumer_id: The program that will work on the entry.
        """
        return await self._caller.ask(
            Claim,
            _QUEUE_CLAIM,
            body={"consumer_id": consumer_id},
            key=idempotency_key,
        )

    def dead(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> AsyncListing[DeadEntry]:
        """List entries that used up their attempts, newest first.

        Lists entries that used up their attempts, newest first, a page at a time.

        Arguments:
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
        """
        return self._caller.listing(
            DeadEntry,
            _QUEUE_DEAD,
            query={"limit": limit, "cursor": cursor},
        )

    async def nack(
        self,
        lease: Union[LeaseAsked, Mapping[str, Any]],
        *,
        not_before: Optional[Union[datetime, str]] = None,
        reason: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Return a leased entry to the queue.

        Gives a leased entry back to the queue, or buries it when its attempts are used up. A
        lease that is lost is a conflict.

        Arguments:
            lease: The right to work on the entry for a while.
            not_before: The entry is not leased again before this time. The default is a
                delay that doubles with each attempt.
            reason: Why it is given back.
        """
        await self._caller.done(
            _QUEUE_NACK,
            body={"lease": lease, "not_before": not_before, "reason": reason},
            key=idempotency_key,
        )

    async def publish(
        self,
        entry_id: str,
        node_id: str,
        task_id: str,
        *,
        attempt: Optional[int] = None,
        not_before: Optional[Union[datetime, str]] = None,
        payload: Optional[str] = None,
        priority: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Add an entry to the queue.

        Adds an entry to the queue. An entry id that was added before with the same bytes does
        nothing, also after it was done, for at least 7 days; with other bytes it is a conflict.
        A full queue is refused with quota.

        Arguments:
            entry_id: The id of the entry. One that was added before with the same bytes is
                not added again, also when it is done; with other bytes it is a conflict.
            node_id: The id of the node of the task.
            task_id: The id of the task.
            attempt: The server counts attempts, so leave it out.
            not_before: The entry is not leased before this time.
            payload: What is to be done, as text. Amber does not look inside.
            priority: The priority. Entries with a higher one are leased first. The default
                is 0.
        """
        await self._caller.done(
            _QUEUE_PUBLISH,
            body={"entry_id": entry_id, "node_id": node_id, "task_id": task_id, "attempt": attempt, "not_before": not_before, "payload": payload, "priority": priority},
            key=idempotency_key,
        )

    async def renew(
        self,
        consumer_id: str,
        entry_id: str,
        token: str,
        *,
        expires_at: Optional[Union[datetime, str]] = None,
        fence: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> Lease:
        """Extend a lease.

        Extends a lease that is not over and answers with it. It never makes it shorter. A lease
        that is lost is a conflict.

        Arguments:
            consumer_id: The program that works on the entry.
            entry_id: The id of the entry.
            token: What proves the lease.
            expires_at: When the lease ends unless it is renewed.
            fence: A number that grows with every lease of a node. A result under a smaller
                one is a conflict.
        """
        return await self._caller.ask(
            Lease,
            _QUEUE_RENEW,
            body={"consumer_id": consumer_id, "entry_id": entry_id, "token": token, "expires_at": expires_at, "fence": fence},
            key=idempotency_key,
        )

    async def show(
        self,
    ) -> Backpressure:
        """Count the entries of the queue.

        Answers with how many entries of the queue wait, are leased and are dead, and how many
        leases may still be given out.
        """
        return await self._caller.ask(
            Backpressure,
            _QUEUE_SHOW,
        )


class AsyncRelationOperations:
    """Links between memories."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def get(
        self,
        id: str,
    ) -> Relation:
        """Read one relation.

        Answers with one live relation, by its id.

        Arguments:
            id: The id of the relation.
        """
        return await self._caller.ask(
            Relation,
            _RELATION_GET,
            path={"id": id},
        )

    async def list(
        self,
        memory_id: str,
    ) -> RelationPage:
        """List the relations from and to a memory.

        Lists the live relations from and to a memory. The answer is whole.

        Arguments:
            memory_id: The id of the memory.
        """
        return await self._caller.ask(
            RelationPage,
            _RELATION_LIST,
            path={"id": memory_id},
        )

    async def neighbours(
        self,
        memory_id: str,
        *,
        depth: Optional[int] = None,
        type: Optional[Sequence[str]] = None,
        limit: Optional[int] = None,
        session_id: Optional[str] = None,
        user_id: Optional[str] = None,
        project_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
        all: Optional[bool] = None,
    ) -> Neighbourhood:
        """Read what is near a memory by relations, up to 2 steps and 200 memories; more tells that
        there are others.

        Answers with a memory and what is one or two steps away by relations: the memories in
        short, nearest first, and the relations between them. Seen are global memories, those of
        the scope and identity of the memory, and those of the identities that the query names.
        At most 200 memories are listed, and more tells that there are others.

        Arguments:
            memory_id: The id of the memory.
            depth: Steps: 1 or 2; default 2.
            type: Only by relations of this type (repeat).
            limit: The most memories, with the one that is asked for; default and at most
                200.
            session_id: See memories of this session.
            user_id: See memories of this user.
            project_id: See memories of this project.
            workspace_id: See memories of this workspace.
            all: Every scope and identity; default global ones, those of the identities that
                are named, and those of the scope and identity of the memory.
        """
        return await self._caller.ask(
            Neighbourhood,
            _RELATION_NEIGHBOURS,
            path={"id": memory_id},
            query={"depth": depth, "type": type, "limit": limit, "session_id": session_id, "user_id": user_id, "project_id": project_id, "workspace_id": workspace_id, "all": all},
        )

    async def relate(
        self,
        from_: str,
        to: str,
        type: str,
        *,
        author: Optional[Union[AuthorAsked, Mapping[str, Any]]] = None,
        created_at: Optional[Union[datetime, str]] = None,
        deleted_at: Optional[Union[datetime, str]] = None,
        id: Optional[str] = None,
        origin: Optional[Union[OriginAsked, Mapping[str, Any]]] = None,
        strength: Optional[float] = None,
        trust: Optional[Trust] = None,
        idempotency_key: Optional[str] = None,
    ) -> Relation:
        """Link two memories; a relation of the same ends and type is replaced.

        Links two live memories and answers with the relation. A relation of the same ends and
        type is replaced, so doing it again is the same as doing it once.

        Arguments:
            from_: The id of the memory that the relation leads from.
            to: The id of the memory that the relation leads to.
            type: The type of the relation, as in related, supersedes or conflicts_with.
            author: The server does not use it: it knows who asks.
            created_at: The server knows the time, so this one is not used.
            deleted_at: The server does not use it: relations are deleted by their id.
            id: The server makes the id, so this one is not used.
            origin: The server makes the origin, so this one is not used.
            strength: How strong the relation is, from 0 (the default) to 1.
            trust: How far the relation may be believed: the trust of its author. A relation
                of lower trust does not hide a memory of higher trust.
        """
        return await self._caller.ask(
            Relation,
            _RELATION_RELATE,
            body={"from": from_, "to": to, "type": type, "author": author, "created_at": created_at, "deleted_at": deleted_at, "id": id, "origin": origin, "strength": strength, "trust": trust},
            key=idempotency_key,
        )

    async def unrelate(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Delete a relation; a tombstone stays.

        Deletes a relation by its id. A tombstone stays for the sync with other places.

        Arguments:
            id: The id of the relation.
        """
        await self._caller.done(
            _RELATION_UNRELATE,
            path={"id": id},
            key=idempotency_key,
        )


class AsyncResultOperations:
    """What nodes of tasks produced."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def get(
        self,
        task: str,
        node: str,
    ) -> Result:
        """Read the result of a node.

        Answers with the result of one node of a task.

        Arguments:
            task: The id of the task.
            node: The id of the node.
        """
        return await self._caller.ask(
            Result,
            _RESULT_GET,
            path={"task": task, "node": node},
        )

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        task_id: Optional[str] = None,
    ) -> AsyncListing[Result]:
        """List the results of a task, by node.

        Lists the results of a task, by node, a page at a time.

        Arguments:
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
            task_id: The task.
        """
        return self._caller.listing(
            Result,
            _RESULT_LIST,
            query={"limit": limit, "cursor": cursor, "task_id": task_id},
        )

    async def save(
        self,
        node_id: str,
        producer: str,
        status: str,
        task_id: str,
        *,
        confidence: Optional[float] = None,
        evidence: Optional[Sequence[Union[EvidenceAsked, Mapping[str, Any]]]] = None,
        fence: Optional[int] = None,
        payload: Optional[str] = None,
        schema_version: Optional[str] = None,
        updated_at: Optional[Union[datetime, str]] = None,
        idempotency_key: Optional[str] = None,
    ) -> Result:
        """Store what a node of a task produced.

        Stores what a node of a task produced, in place of what was there, and answers with it.
        The fence must be the newest one that was leased for the node, or 0 where none ever was;
        any other is a conflict, since its lease is lost.

        Arguments:
            node_id: The id of the node of the task.
            producer: Who produced it.
            status: How it ended: ok or error.
            task_id: The id of the task.
            confidence: How sure the producer is, from 0 to 1.
            evidence: What backs the result.
            fence: The fence of the lease that the work was done under, 0 for work that came
                from no queue. Any other fence than the newest one of the node is a conflict.
            payload: What was produced, as text.
            schema_version: The version of the form of the payload. The default is
                result.v1.
            updated_at: The server knows the time, so this one is not used.
        """
        return await self._caller.ask(
            Result,
            _RESULT_SAVE,
            body={"node_id": node_id, "producer": producer, "status": status, "task_id": task_id, "confidence": confidence, "evidence": evidence, "fence": fence, "payload": payload, "schema_version": schema_version, "updated_at": updated_at},
            key=idempotency_key,
        )


class AsyncSessionOperations:
    """The catalogue of sessions, and the active session of each chat or terminal."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def active(
        self,
        *,
        binding: Optional[str] = None,
    ) -> Session:
        """Read the active session of a binding.

        Answers with the active session of a binding, which is the one that was started or
        selected last. Where there is none it is not found.

        Arguments:
            binding: The chat or terminal; default cli.
        """
        return await self._caller.ask(
            Session,
            _SESSION_ACTIVE,
            query={"binding": binding},
        )

    async def delete(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Remove a session with everything in it; long-term memories stay.

        Removes a session with its turns, activity, state, loop and summaries. Long-term
        memories stay.

        Arguments:
            id: The id of the session.
        """
        await self._caller.done(
            _SESSION_DELETE,
            path={"id": id},
            key=idempotency_key,
        )

    async def end(
        self,
        id: str,
        *,
        reason: Optional[str] = None,
        summary: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Session:
        """End a session.

        Marks a session as ended and answers with it. It is no longer the active one of its
        binding. A session that has ended already is answered as it is, unless Amber itself had
        noticed that it was gone.

        Arguments:
            id: The id of the session.
            reason: How the session ends. The default is ended.
            summary: What the session amounts to.
        """
        return await self._caller.ask(
            Session,
            _SESSION_END,
            path={"id": id},
            body={"reason": reason, "summary": summary},
            key=idempotency_key,
        )

    async def get(
        self,
        id: str,
    ) -> Session:
        """Read one session.

        Answers with one session of the catalogue.

        Arguments:
            id: The id of the session.
        """
        return await self._caller.ask(
            Session,
            _SESSION_GET,
            path={"id": id},
        )

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        binding: Optional[str] = None,
        project: Optional[str] = None,
        trusted: Optional[bool] = None,
    ) -> AsyncListing[Session]:
        """List sessions, last updated first.

        Lists the sessions of the catalogue, last updated first, a page at a time.

        Arguments:
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
            binding: Only of this chat or terminal.
            project: Only of this project.
            trusted: Leave out imported sessions.
        """
        return self._caller.listing(
            Session,
            _SESSION_LIST,
            query={"limit": limit, "cursor": cursor, "binding": binding, "project": project, "trusted": trusted},
        )

    async def rename(
        self,
        id: str,
        name: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> Session:
        """Rename a session.

        Gives a session a new name and answers with it.

        Arguments:
            id: The id of the session.
            name: The new name.
        """
        return await self._caller.ask(
            Session,
            _SESSION_RENAME,
            path={"id": id},
            body={"name": name},
            key=idempotency_key,
        )

    async def select(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> Session:
        """Make a session the active one of its binding.

        Makes a session the active one of its own binding and answers with it.

        Arguments:
            id: The id of the session.
        """
        return await self._caller.ask(
            Session,
            _SESSION_SELECT,
            path={"id": id},
            key=idempotency_key,
        )

    async def start(
        self,
        *,
        binding: Optional[str] = None,
        directory: Optional[str] = None,
        id: Optional[str] = None,
        name: Optional[str] = None,
        parent: Optional[str] = None,
        project: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Session:
        """Start a session, or go on with one.

        Starts a session, makes it the active one of its binding, and answers with it. An id
        that exists is answered as it is, and opened again if it had ended, so that a program
        can go on with it. Under another binding it is a conflict. Without an id a new session
        is made every time.

        Arguments:
            binding: The chat or terminal that the session belongs to. The default is cli.
            directory: The folder that the session works in.
            id: The id of the session. The default is a new UUID; in a journal it is needed.
            name: The name of the session. The default is the id.
            parent: The id of the session that starts this one.
            project: The project that the session is about.
        """
        return await self._caller.ask(
            Session,
            _SESSION_START,
            body={"binding": binding, "directory": directory, "id": id, "name": name, "parent": parent, "project": project},
            key=idempotency_key,
        )


class AsyncSnapshotOperations:
    """Snapshots of agents: take, look into, keep and restore them."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def delete(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Delete a snapshot.

        Deletes a snapshot. A stub stays in its place. The last snapshot of an agent and a
        pinned one are refused. What no other snapshot needs is freed by garbage collection.

        Arguments:
            id: The id of the snapshot.
        """
        await self._caller.done(
            _SNAPSHOT_DELETE,
            path={"id": id},
            key=idempotency_key,
        )

    async def diff(
        self,
        a: str,
        b: str,
        *,
        rows: Optional[bool] = None,
    ) -> SnapshotDiff:
        """Compare two snapshots.

        Compares two snapshots of the agent and answers with what changed from a to b. Nothing
        is changed.

        Arguments:
            a: The id of the first snapshot.
            b: The id of the second snapshot.
            rows: True names what changed, too, at most 1000 rows of each kind.
        """
        return await self._caller.ask(
            SnapshotDiff,
            _SNAPSHOT_DIFF,
            body={"a": a, "b": b, "rows": rows},
        )

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> AsyncListing[SnapshotMeta]:
        """List the snapshots of the agent, newest first.

        Lists the snapshots of the agent, newest first, a page at a time. One whose manifest
        cannot be read is listed with its damage.

        Arguments:
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
        """
        return self._caller.listing(
            SnapshotMeta,
            _SNAPSHOT_LIST,
            query={"limit": limit, "cursor": cursor},
        )

    def memories(
        self,
        id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        scope: Optional[Scope] = None,
        session_id: Optional[str] = None,
        user_id: Optional[str] = None,
        project_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
        kind: Optional[Sequence[MemoryKind]] = None,
        tag: Optional[Sequence[str]] = None,
        since: Optional[Union[datetime, str]] = None,
        until: Optional[Union[datetime, str]] = None,
        all: Optional[bool] = None,
        deleted: Optional[bool] = None,
        trusted: Optional[bool] = None,
        trust: Optional[Trust] = None,
        waiting: Optional[str] = None,
    ) -> AsyncListing[Memory]:
        """List the memories of a snapshot, newest first.

        Lists the memories of a snapshot, last updated first, a page at a time.

        Arguments:
            id: The id of the snapshot.
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
            scope: Only this scope.
            session_id: See memories of this session.
            user_id: See memories of this user.
            project_id: See memories of this project.
            workspace_id: See memories of this workspace.
            kind: Only this kind (repeat).
            tag: Only with this tag (repeat).
            since: Updated at or after.
            until: Updated before.
            all: Every scope and identity.
            deleted: Include tombstones.
            trusted: Own and signed memories alone.
            trust: Of this trust or more.
            waiting: Those alone that wait for the owner by this rule: agents, imports or
                none; a server with a rule of its own goes by that.
        """
        return self._caller.listing(
            Memory,
            _SNAPSHOT_MEMORIES,
            path={"id": id},
            query={"limit": limit, "cursor": cursor, "scope": scope, "session_id": session_id, "user_id": user_id, "project_id": project_id, "workspace_id": workspace_id, "kind": kind, "tag": tag, "since": since, "until": until, "all": all, "deleted": deleted, "trusted": trusted, "trust": trust, "waiting": waiting},
        )

    async def memory(
        self,
        id: str,
        memory: str,
    ) -> Memory:
        """Read one memory of a snapshot.

        Answers with one memory as it was at the time of a snapshot, and its revision as ETag.

        Arguments:
            id: The id of the snapshot.
            memory: The id of the memory.
        """
        return await self._caller.ask(
            Memory,
            _SNAPSHOT_MEMORY,
            path={"id": id, "memory": memory},
        )

    async def pin(
        self,
        id: str,
        pinned: bool,
        *,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Pin a snapshot so that prune keeps it, or unpin the snapshot.

        Keeps a snapshot from being deleted and pruned, or lets it be again.

        Arguments:
            id: The id of the snapshot.
            pinned: True keeps the snapshot from being deleted and pruned, false lets it be.
        """
        await self._caller.done(
            _SNAPSHOT_PIN,
            path={"id": id},
            body={"pinned": pinned},
            key=idempotency_key,
        )

    async def prune(
        self,
        *,
        automatic_only: Optional[bool] = None,
        dry_run: Optional[bool] = None,
        keep_daily: Optional[int] = None,
        keep_hourly: Optional[int] = None,
        keep_last: Optional[int] = None,
        keep_safety: Optional[int] = None,
        keep_weekly: Optional[int] = None,
        max_age: Optional[int] = None,
        safety_age: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> PruneReport:
        """Delete the snapshots that no rule keeps.

        Deletes the snapshots of the agent that no rule keeps and answers with those that went
        and those that stay. At least one rule is needed. The last snapshot and pinned ones
        always stay. With dry_run nothing is deleted.

        Arguments:
            automatic_only: True keeps every snapshot that Amber did not take by itself.
            dry_run: True tells what would be done and changes nothing.
            keep_daily: Keep the last snapshot of this many days.
            keep_hourly: Keep the last snapshot of this many hours.
            keep_last: Keep this many of the last snapshots.
            keep_safety: Keep this many of the snapshots that Amber took before a restore.
            keep_weekly: Keep the last snapshot of this many weeks.
            max_age: Delete older snapshots whatever the other rules say. 0 means that none
                is too old. In nanoseconds.
            safety_age: Keep the snapshots that Amber took before a restore while they are
                younger than this. In nanoseconds.
        """
        return await self._caller.ask(
            PruneReport,
            _SNAPSHOT_PRUNE,
            body={"automatic_only": automatic_only, "dry_run": dry_run, "keep_daily": keep_daily, "keep_hourly": keep_hourly, "keep_last": keep_last, "keep_safety": keep_safety, "keep_weekly": keep_weekly, "max_age": max_age, "safety_age": safety_age},
            key=idempotency_key,
        )

    async def recall(
        self,
        id: str,
        *,
        explain: Optional[bool] = None,
        kinds: Optional[Sequence[MemoryKind]] = None,
        layers: Optional[Sequence[str]] = None,
        limit: Optional[int] = None,
        local: Optional[bool] = None,
        min_score: Optional[float] = None,
        project_id: Optional[str] = None,
        reason: Optional[str] = None,
        scope: Optional[Scope] = None,
        session_id: Optional[str] = None,
        since: Optional[Union[datetime, str]] = None,
        tags: Optional[Sequence[str]] = None,
        text: Optional[str] = None,
        trusted: Optional[bool] = None,
        until: Optional[Union[datetime, str]] = None,
        user_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
    ) -> RecallResult:
        """Find the memories and passages of sessions that best answered a text at the time of a
        snapshot.

        Answers with what memory.recall would have answered at the time of a snapshot. Nothing
        is changed.

        Arguments:
            id: The id of the snapshot.
            explain: True fills in the field why of each hit.
            kinds: Only memories of these kinds.
            layers: The layers that are asked: memory, exchange, note, session, activity.
                The default is all of them, or memory alone where the query has kinds or tags.
            limit: The most hits. The default is 8. More than 64 is lowered to 64, and
                clamped says so.
            local: True leaves out what was imported and not signed by a trusted key.
            min_score: Leave out hits with a lower score, from 0 to 1. Where no hit reaches
                0.25, memory has rather no answer.
            project_id: The project that memories of scope project are bound to.
            reason: Why it is asked: manual (the default), request_intake or resume.
            scope: Only this scope. The default is every scope whose identity is named, and
                global.
            session_id: The session that memories of scope session are bound to.
            since: Only what was updated at this time or later.
            tags: Only memories that have every one of these tags.
            text: A question in natural language. Found is what is near it in meaning, and
                what has its words, parts of them or words with a slip of the keyboard. Blank
                text matches every memory, newest first.
            trusted: True takes own and signed memories alone.
            until: Only what was updated before this time.
            user_id: The user that memories of scope user are bound to.
            workspace_id: The workspace that memories of scope workspace are bound to.
        """
        return await self._caller.ask(
            RecallResult,
            _SNAPSHOT_RECALL,
            path={"id": id},
            body={"explain": explain, "kinds": kinds, "layers": layers, "limit": limit, "local": local, "min_score": min_score, "project_id": project_id, "reason": reason, "scope": scope, "session_id": session_id, "since": since, "tags": tags, "text": text, "trusted": trusted, "until": until, "user_id": user_id, "workspace_id": workspace_id},
        )

    async def restore(
        self,
        id: str,
        *,
        accept_redacted: Optional[bool] = None,
        accept_unsigned: Optional[bool] = None,
        discard_old: Optional[bool] = None,
        dry_run: Optional[bool] = None,
        local_only: Optional[bool] = None,
        no_safety_snapshot: Optional[bool] = None,
        only: Optional[Sequence[str]] = None,
        to: Optional[str] = None,
        with_control: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> RestoreReport:
        """Restore the agent from a snapshot, or make another agent from the snapshot.

        Builds the agent of a snapshot beside the live one, checks it and puts it in its place
        in one step, and answers with what changed. A snapshot of the agent as it was is taken
        before. With to another agent is made, and the live one stays; that needs the scope
        restore for the new one. With dry_run nothing is changed.

        Arguments:
            id: The id of the snapshot.
            accept_redacted: True lets a snapshot without secrets take the place of a live
                agent.
            accept_unsigned: True restores a snapshot that is not signed though those before
                it in its chain are.
            discard_old: True removes the old generation also without a safety snapshot.
            dry_run: True tells what would be done and changes nothing.
            local_only: True keeps the stamps of the snapshot, so that the next sync may
                undo the restore. Without it records that differ become new revisions.
            no_safety_snapshot: True leaves out the snapshot of the agent as it is now.
            only: The parts that are restored: memory, notes, state. The default is these
                three.
            to: The agent that is made from the snapshot. It must not exist. The default is
                the agent that the snapshot was taken of.
            with_control: True restores tasks, approvals, results and the queue too.
        """
        return await self._caller.ask(
            RestoreReport,
            _SNAPSHOT_RESTORE,
            path={"id": id},
            body={"accept_redacted": accept_redacted, "accept_unsigned": accept_unsigned, "discard_old": discard_old, "dry_run": dry_run, "local_only": local_only, "no_safety_snapshot": no_safety_snapshot, "only": only, "to": to, "with_control": with_control},
            key=idempotency_key,
        )

    async def restore_memory(
        self,
        id: str,
        memory: str,
        *,
        dry_run: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> MemoryRestore:
        """Restore one memory from a snapshot as a new revision.

        Brings one memory of a snapshot back as a new revision and answers with it and the
        fields that changed. With dry_run nothing is changed.

        Arguments:
            id: The id of the snapshot.
            memory: The id of the memory.
            dry_run: True tells what would be done and changes nothing.
        """
        return await self._caller.ask(
            MemoryRestore,
            _SNAPSHOT_RESTORE_MEMORY,
            path={"id": id},
            body={"memory": memory, "dry_run": dry_run},
            key=idempotency_key,
        )

    async def show(
        self,
        id: str,
    ) -> SnapshotDetail:
        """Show one snapshot.

        Answers with everything that one snapshot says about itself.

        Arguments:
            id: The id of the snapshot.
        """
        return await self._caller.ask(
            SnapshotDetail,
            _SNAPSHOT_SHOW,
            path={"id": id},
        )

    async def take(
        self,
        *,
        by: Optional[Union[AskerAsked, Mapping[str, Any]]] = None,
        encrypt: Optional[Sequence[str]] = None,
        label: Optional[str] = None,
        no_sign: Optional[bool] = None,
        pin: Optional[bool] = None,
        sources: Optional[Sequence[str]] = None,
        idempotency_key: Optional[str] = None,
    ) -> SnapshotMeta:
        """Take a snapshot of the agent; adding recipients needs the scope admin, because a
        recipient can read every snapshot of the tenant, and sources need a token for all
        tenants, because sources belong to the machine.

        Freezes everything the agent is at one instant and answers once the snapshot is safe on
        disk and was read back. It may take long. Adding recipients needs the scope admin, and
        sources need a token for all tenants.

        Arguments:
            by: Who asks, as far as a caller of the scope own says it for another one. For
                others the server does.
            encrypt: Age recipients that must be able to read the snapshot, beside those
                that are configured. They can read every encrypted snapshot of the tenant then,
                so this needs the scope admin.
            label: A label on one line, at most 200 bytes.
            no_sign: True leaves the signature out.
            pin: True keeps the snapshot from being deleted and pruned.
            sources: The names of sources to freeze with the agent, which are set up for the
                whole machine. They need a token for all tenants.
        """
        return await self._caller.ask(
            SnapshotMeta,
            _SNAPSHOT_TAKE,
            body={"by": by, "encrypt": encrypt, "label": label, "no_sign": no_sign, "pin": pin, "sources": sources},
            key=idempotency_key,
        )

    async def verify(
        self,
        id: str,
        *,
        read_data: Optional[bool] = None,
    ) -> VerifyReport:
        """Verify a snapshot.

        Looks whether a snapshot is whole and answers with what was checked and what is damaged.
        Damage is no error: it is what the report is for. With read_data every byte is read,
        which may take long.

        Arguments:
            id: The id of the snapshot.
            read_data: True reads every byte, builds every database again and checks it.
                Without it every object is looked for.
        """
        return await self._caller.ask(
            VerifyReport,
            _SNAPSHOT_VERIFY,
            path={"id": id},
            body={"read_data": read_data},
        )


class AsyncStateOperations:
    """The state of sessions: one JSON document for each."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def delete(
        self,
        session_id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> None:
        """Remove the state of a session.

        Removes the state of a session. A session without state is no error.

        Arguments:
            session_id: The id of the session.
        """
        await self._caller.done(
            _STATE_DELETE,
            path={"id": session_id},
            key=idempotency_key,
        )

    async def get(
        self,
        session_id: str,
    ) -> SessionState:
        """Read the state of a session.

        Answers with the state of a session and its version as ETag. A session without state is
        not found.

        Arguments:
            session_id: The id of the session.
        """
        return await self._caller.ask(
            SessionState,
            _STATE_GET,
            path={"id": session_id},
        )

    async def save(
        self,
        session_id: str,
        *,
        document: Optional[Any] = None,
        exact: Optional[bytes] = None,
        if_version: Optional[int] = None,
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> SessionState:
        """Store the state of a session over the expected version; 0 means that the session has no
        state yet.

        Stores the state of a session over the expected version and answers with the new
        version. The version is named by If-Match or if_version, and without them the session
        must have no state yet. Another version that is stored is a conflict: read, change and
        save again. The session need not be in the catalogue.

        Arguments:
            session_id: The id of the session.
            document: The document, any JSON. Either this or exact is needed.
            exact: The document to the byte, in place of document.
            if_version: The version that is replaced. 0, the default, means that the session
                has no state yet. Another version that is stored is a conflict. It is the same
                as the header If-Match.
            if_match: The ETag of the stored value.
        """
        return await self._caller.ask(
            SessionState,
            _STATE_SAVE,
            path={"id": session_id},
            headers={"If-Match": if_match},
            body={"document": document, "exact": exact, "if_version": if_version},
            key=idempotency_key,
        )


class AsyncTaskOperations:
    """Tasks and their history."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def compact(
        self,
        id: str,
        *,
        keep: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> ReplaySnapshot:
        """Fold all but the last events of a task into its replay.

        Folds all but the last events of a task into its replay, in one step, and answers with
        what they amount to. A task without events is not found. It cannot be undone.

        Arguments:
            id: The id of the task.
            keep: How many of the last events stay. The default is 0.
        """
        return await self._caller.ask(
            ReplaySnapshot,
            _TASK_COMPACT,
            path={"id": id},
            body={"keep": keep},
            key=idempotency_key,
        )

    async def event(
        self,
        id: str,
        from_: TaskState,
        *,
        approval_id: Optional[str] = None,
        at: Optional[Union[datetime, str]] = None,
        attempt: Optional[int] = None,
        error_class: Optional[str] = None,
        kind: Optional[str] = None,
        node_id: Optional[str] = None,
        node_kind: Optional[str] = None,
        reason: Optional[str] = None,
        result: Optional[str] = None,
        seq: Optional[int] = None,
        task_id: Optional[str] = None,
        to: Optional[TaskState] = None,
        idempotency_key: Optional[str] = None,
    ) -> TaskEvent:
        """Append an event to the history of a task.

        Appends an event to the history of a task and answers with it, with its number and time.
        The task need not be stored.

        Arguments:
            id: The id of the task.
            from_: The state of the task before.
            approval_id: The id of the approval it is about.
            at: The server knows the time, so this one is not used.
            attempt: Which attempt it was.
            error_class: The class of a failure: validation, dependency, timeout, security,
                budget_exhausted or non_retriable.
            kind: What it records: state_transition (the default), node_completed,
                approval_pending, approval_approved or approval_rejected.
            node_id: The id of the node it is about.
            node_kind: What sort of node it is.
            reason: Why it happened.
            result: The result it brought.
            seq: The server counts events, so this one is not used.
            task_id: The id of the task. The path names it too, so it may be left out.
            to: The state of the task after.
        """
        return await self._caller.ask(
            TaskEvent,
            _TASK_EVENT,
            path={"id": id},
            body={"from": from_, "approval_id": approval_id, "at": at, "attempt": attempt, "error_class": error_class, "kind": kind, "node_id": node_id, "node_kind": node_kind, "reason": reason, "result": result, "seq": seq, "task_id": task_id, "to": to},
            key=idempotency_key,
        )

    def events(
        self,
        id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> AsyncListing[TaskEvent]:
        """Read the history of a task, oldest first.

        Lists the events of a task that were not folded, oldest first, a page at a time.

        Arguments:
            id: The id of the task.
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
        """
        return self._caller.listing(
            TaskEvent,
            _TASK_EVENTS,
            path={"id": id},
            query={"limit": limit, "cursor": cursor},
        )

    async def get(
        self,
        id: str,
    ) -> Task:
        """Read one task.

        Answers with one task and its version as ETag.

        Arguments:
            id: The id of the task.
        """
        return await self._caller.ask(
            Task,
            _TASK_GET,
            path={"id": id},
        )

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        state: Optional[TaskState] = None,
        session_id: Optional[str] = None,
    ) -> AsyncListing[Task]:
        """List tasks, newest first.

        Lists tasks, newest first, a page at a time.

        Arguments:
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
            state: Only in this state.
            session_id: Only of this session.
        """
        return self._caller.listing(
            Task,
            _TASK_LIST,
            query={"limit": limit, "cursor": cursor, "state": state, "session_id": session_id},
        )

    async def replay(
        self,
        id: str,
    ) -> ReplayReport:
        """Compare a task with its history.

        Compares a stored task with its history and answers with what may be done after a crash.
        Nothing is changed.

        Arguments:
            id: The id of the task.
        """
        return await self._caller.ask(
            ReplayReport,
            _TASK_REPLAY,
            path={"id": id},
        )

    async def save(
        self,
        id: str,
        goal: str,
        *,
        attempts: Optional[int] = None,
        completed_nodes: Optional[Sequence[str]] = None,
        created_at: Optional[Union[datetime, str]] = None,
        extra: Optional[Any] = None,
        extra_exact: Optional[bytes] = None,
        last_result: Optional[str] = None,
        next_node_index: Optional[int] = None,
        pending_approval_id: Optional[str] = None,
        request_id: Optional[str] = None,
        session_id: Optional[str] = None,
        state: Optional[TaskState] = None,
        updated_at: Optional[Union[datetime, str]] = None,
        version: Optional[int] = None,
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Task:
        """Store a task, a new one or the next version.

        Stores a task and answers with its new version as ETag. A new task has no If-Match and
        must be queued; the next version names the stored one with If-Match, and another one
        that is stored is a conflict. Only changes of state of the table of states are allowed.

        Arguments:
            id: The id of the task.
            goal: What is to be done.
            attempts: How many times it was tried.
            completed_nodes: The ids of the nodes that are done.
            created_at: The server knows the time, so this one is not used.
            extra: What else the program keeps with the task, any JSON.
            extra_exact: The field extra to the byte, in place of extra.
            last_result: The last result of the task, as the program that runs it wrote it.
            next_node_index: The index of the node that comes next.
            pending_approval_id: The id of the approval that the task waits for.
            request_id: The id of the request that the task was made for.
            session_id: The id of the session it belongs to.
            state: Where the task stands. The default is queued, and a new task must be
                queued. Only the changes of state of the table of states are allowed.
            updated_at: The server knows the time, so this one is not used.
            version: The server counts versions, so this one is not used. The header
                If-Match names the version that is replaced.
            if_match: The ETag of the version that is replaced; leave out for a new task.
        """
        return await self._caller.ask(
            Task,
            _TASK_SAVE,
            path={"id": id},
            headers={"If-Match": if_match},
            body={"goal": goal, "attempts": attempts, "completed_nodes": completed_nodes, "created_at": created_at, "extra": extra, "extra_exact": extra_exact, "last_result": last_result, "next_node_index": next_node_index, "pending_approval_id": pending_approval_id, "request_id": request_id, "session_id": session_id, "state": state, "updated_at": updated_at, "version": version},
            key=idempotency_key,
        )


class AsyncTenantOperations:
    """What concerns all snapshots of a tenant."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def check(
        self,
        *,
        read_data: Optional[bool] = None,
    ) -> CheckReport:
        """Check every object of the tenant's snapshots.

        Checks every object of the snapshots of the tenant and answers with what was checked and
        what is damaged. Damage is no error. With read_data every byte is read, which may take
        long.

        Arguments:
            read_data: True reads every byte of every object.
        """
        return await self._caller.ask(
            CheckReport,
            _TENANT_CHECK,
            body={"read_data": read_data},
        )

    async def gc(
        self,
        *,
        dry_run: Optional[bool] = None,
        old_generations: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> GCReport:
        """Delete the data that no snapshot of the tenant needs.

        Frees the data that no snapshot of the tenant needs and answers with what was freed.
        Packs are condemned first and deleted when a grace time is over. With dry_run nothing is
        deleted.

        Arguments:
            dry_run: True tells what would be done and changes nothing.
            old_generations: True also removes what restores have kept of agents because no
                snapshot holds it.
        """
        return await self._caller.ask(
            GCReport,
            _TENANT_GC,
            body={"dry_run": dry_run, "old_generations": old_generations},
            key=idempotency_key,
        )


class AsyncTokenOperations:
    """The tokens of the home."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def create(
        self,
        name: str,
        scopes: Sequence[TokenScope],
        *,
        expires_at: Optional[Union[datetime, str]] = None,
        project_id: Optional[str] = None,
        user_id: Optional[str] = None,
        workspace_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> NewToken:
        """Make a token that may do no more than the one that asks, in no other place and not for
        longer; its secret is in this answer and never again, so a repetition with the same
        Idempotency-Key has an empty one.

        Makes a token and answers with it and its secret. It may do no more than the token that
        asks, in no other place and not for longer. With user_id, project_id or workspace_id the
        token is bound: it reaches what is of these and what is global, and it may have the
        scopes read, write, approve and erase. The secret is in this answer and never again: the
        same Idempotency-Key is answered with the same token and an empty secret. The first
        token that is made closes a server that needed none.

        Arguments:
            name: The name of the token, at most 100 bytes.
            scopes: What the token lets its holder do, at least one scope.
            expires_at: When the token ends. The default is never.
            project_id: Bind the token to this project. The default is not to bind it.
            user_id: Bind the token to this user. It then reaches no other user, and nothing
                that is about the whole agent. The default is not to bind it.
            workspace_id: Bind the token to this workspace. The default is not to bind it.
        """
        return await self._caller.ask(
            NewToken,
            _TOKEN_CREATE,
            body={"name": name, "scopes": scopes, "expires_at": expires_at, "project_id": project_id, "user_id": user_id, "workspace_id": workspace_id},
            key=idempotency_key,
        )

    async def list(
        self,
        *,
        tenant: Optional[str] = None,
        agent: Optional[str] = None,
    ) -> TokenPage:
        """List the tokens that reach no farther than the one that asks, oldest first, revoked and
        expired ones too; never a secret.

        Lists the tokens that reach no farther than the one that asks, oldest first, revoked and
        expired ones too. Secrets are never shown. The answer is whole.

        Arguments:
            tenant: Only of this tenant; default all that the token is for.
            agent: Only of this agent; default all that the token is for.
        """
        return await self._caller.ask(
            TokenPage,
            _TOKEN_LIST,
            query={"tenant": tenant, "agent": agent},
        )

    async def revoke(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> Token:
        """Revoke a token, at once and for good; revoking it twice does nothing.

        Revokes a token, at once and for good, and answers with it. The whole id is needed.
        Revoking it again does nothing.

        Arguments:
            id: The whole id of the token.
        """
        return await self._caller.ask(
            Token,
            _TOKEN_REVOKE,
            path={"id": id},
            key=idempotency_key,
        )


class AsyncTurnOperations:
    """What was said in sessions."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def append(
        self,
        session_id: str,
        content: str,
        role: Role,
        *,
        created_at: Optional[Union[datetime, str]] = None,
        id: Optional[str] = None,
        project_id: Optional[str] = None,
        trust: Optional[Trust] = None,
        idempotency_key: Optional[str] = None,
    ) -> Turn:
        """Store a turn at the end of a session; a turn with an id is stored once.

        Stores a turn at the end of a session and answers with it, with id and time filled in. A
        turn whose id is stored already is answered as it was stored; the id of a turn of
        another session is a conflict. The session need not be in the catalogue. A block of
        context that Amber itself made is cut out of what a user said.

        Arguments:
            session_id: The id of the session.
            content: What was said, at most 1 MiB.
            role: Who spoke.
            created_at: When it was said. The default is now.
            id: The id of the turn. A turn whose id is stored already is not stored again.
                The default is a new UUID.
            project_id: The project it belongs to.
            trust: It is left out of what was said here, and is signed or imported for a
                prompt that came from elsewhere. A prompt that an agent or a program stored has
                agent.
        """
        return await self._caller.ask(
            Turn,
            _TURN_APPEND,
            path={"id": session_id},
            body={"content": content, "role": role, "created_at": created_at, "id": id, "project_id": project_id, "trust": trust},
            key=idempotency_key,
        )

    async def delete(
        self,
        session_id: str,
        *,
        idempotency_key: Optional[str] = None,
    ) -> DeletedTurns:
        """Remove every turn of a session.

        Removes every turn of a session and answers with how many there were. An unknown session
        has none and is no error.

        Arguments:
            session_id: The id of the session.
        """
        return await self._caller.ask(
            DeletedTurns,
            _TURN_DELETE,
            path={"id": session_id},
            key=idempotency_key,
        )

    async def get(
        self,
        id: str,
    ) -> Turn:
        """Read one turn.

        Answers with one turn by its id.

        Arguments:
            id: The id of the turn.
        """
        return await self._caller.ask(
            Turn,
            _TURN_GET,
            path={"id": id},
        )

    def list(
        self,
        session_id: str,
        *,
        limit: Optional[int] = None,
    ) -> AsyncListing[Turn]:
        """Read the last turns of a session, oldest first.

        Lists the last turns of a session, oldest first. The answer ends where its text reaches
        1 MiB; `next` is then the cursor at which `turn.page` goes on with the turns before. An
        unknown session has none.

        Arguments:
            session_id: The id of the session.
            limit: The most items; default 50, at most 1000; as lines (application/x-ndjson)
                any number, default all.
        """
        return self._caller.listing(
            Turn,
            _TURN_LIST,
            path={"id": session_id},
            query={"limit": limit},
        )

    def page(
        self,
        session_id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[str] = None,
        excerpt: Optional[int] = None,
    ) -> AsyncListing[ListedTurn]:
        """List the turns of a session, newest or oldest first, whole or their beginnings.

        Lists the turns of a session a page at a time, newest or oldest first. With excerpt only
        the beginning of each turn is answered, and bytes tells how long it is.

        Arguments:
            session_id: The id of the session.
            limit: The most items; default 50, at most 1000.
            cursor: The field next of the previous page.
            order: Newest or oldest first; default newest.
            excerpt: Give at most this many characters of each turn; default all.
        """
        return self._caller.listing(
            ListedTurn,
            _TURN_PAGE,
            path={"id": session_id},
            query={"limit": limit, "cursor": cursor, "order": order, "excerpt": excerpt},
        )


class AsyncOperations:
    """Every operation, by the kind of thing it is about."""

    def __init__(self, caller: AsyncCaller) -> None:
        self.activity = AsyncActivityOperations(caller)
        self.agent = AsyncAgentOperations(caller)
        self.approval = AsyncApprovalOperations(caller)
        self.audit = AsyncAuditOperations(caller)
        self.change = AsyncChangeOperations(caller)
        self.compaction = AsyncCompactionOperations(caller)
        self.concept = AsyncConceptOperations(caller)
        self.consolidation = AsyncConsolidationOperations(caller)
        self.control_change = AsyncControlChangeOperations(caller)
        self.document = AsyncDocumentOperations(caller)
        self.event = AsyncEventOperations(caller)
        self.export = AsyncExportOperations(caller)
        self.folder = AsyncFolderOperations(caller)
        self.import_ = AsyncImportOperations(caller)
        self.journal = AsyncJournalOperations(caller)
        self.loop = AsyncLoopOperations(caller)
        self.memory = AsyncMemoryOperations(caller)
        self.note = AsyncNoteOperations(caller)
        self.quarantine = AsyncQuarantineOperations(caller)
        self.queue = AsyncQueueOperations(caller)
        self.relation = AsyncRelationOperations(caller)
        self.result = AsyncResultOperations(caller)
        self.session = AsyncSessionOperations(caller)
        self.snapshot = AsyncSnapshotOperations(caller)
        self.state = AsyncStateOperations(caller)
        self.task = AsyncTaskOperations(caller)
        self.tenant = AsyncTenantOperations(caller)
        self.token = AsyncTokenOperations(caller)
        self.turn = AsyncTurnOperations(caller)
