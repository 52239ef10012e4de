package op

// All returns every operation, in the order of the documents that are made of them.
func All() []*Row {
	return []*Row{
		MemoryWrite.Row, MemoryWriteBatch.Row, MemoryRecall.Row, MemoryList.Row, MemoryGet.Row, MemoryEdit.Row, MemoryForget.Row, MemoryErase.Row,
		MemoryHistory.Row, MemoryTimeline.Row, MemoryContext.Row,
		RelationRelate.Row, RelationGet.Row, RelationUnrelate.Row, RelationList.Row, RelationNeighbours.Row,
		ConceptCount.Row, ConceptList.Row, ConceptSet.Row,
		SessionStart.Row, SessionList.Row, SessionGet.Row, SessionDelete.Row, SessionRename.Row, SessionEnd.Row, SessionActive.Row, SessionSelect.Row,
		StateGet.Row, StateSave.Row, StateDelete.Row,
		TurnAppend.Row, TurnList.Row, TurnPage.Row, TurnGet.Row, TurnDelete.Row, CompactionAdd.Row, CompactionList.Row, ActivityList.Row, ActivityNamed.Row,
		LoopGet.Row, LoopSave.Row, LoopClear.Row,
		NoteList.Row, NoteGet.Row, NoteLog.Row, NoteAt.Row, NoteWrite.Row, NoteDelete.Row,
		DocumentList.Row, DocumentGet.Row, DocumentPut.Row, DocumentDelete.Row,
		JournalStatus.Row, JournalIngest.Row, JournalCursor.Row, JournalOpen.Row, QuarantineList.Row, QuarantineShow.Row, QuarantineRetry.Row,
		FolderList.Row, FolderTrust.Row,
		ChangeList.Row, ChangeHead.Row, ControlChangeList.Row, ControlChangeHead.Row,
		TaskSave.Row, TaskGet.Row, TaskList.Row, TaskReplay.Row, TaskEvent.Row, TaskEvents.Row, TaskCompact.Row,
		ApprovalRequest.Row, ApprovalDecide.Row, ApprovalGet.Row, ApprovalList.Row, ResultSave.Row, ResultGet.Row, ResultList.Row,
		QueuePublish.Row, QueueClaim.Row, QueueAck.Row, QueueNack.Row, QueueRenew.Row, QueueShow.Row, QueueDead.Row,
		SnapshotTake.Row, SnapshotList.Row, SnapshotShow.Row, SnapshotDiff.Row, SnapshotVerify.Row, SnapshotDelete.Row, SnapshotPin.Row, SnapshotPrune.Row,
		SnapshotRestore.Row, SnapshotRecall.Row, SnapshotMemories.Row, SnapshotMemory.Row, SnapshotRestoreMemory.Row, TenantGC.Row, TenantCheck.Row,
		ConsolidationBegin.Row, ConsolidationEnd.Row, ConsolidationOpen.Row,
		ImportUpload.Row, ImportList.Row, ImportUndo.Row, ExportDownload.Row,
		AgentCapabilities.Row, AgentStats.Row, AgentHealth.Row, AgentGeneration.Row, AgentDoctor.Row, AgentSync.Row,
		AuditList.Row, AuditVerify.Row, TokenList.Row, TokenCreate.Row, TokenRevoke.Row, AgentList.Row, EventStream.Row,
	}
}
