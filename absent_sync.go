package amber

import "context"

func (a absent) Outgoing(context.Context, OutgoingRequest) (Outgoing, error) {
	return Outgoing{Done: true}, a.read("read changes to sync")
}

func (a absent) SyncPlace(context.Context, string, string) (SyncPlace, error) {
	return SyncPlace{}, a.read("read state of sync")
}

func (a absent) Exported(context.Context, ExportNote) error { return a.fail("note export") }

func (a absent) AppliedChunks(context.Context, string, []string) (map[string]bool, error) {
	return nil, a.read("read state of sync")
}

func (a absent) Apply(context.Context, Incoming) (Applied, error) {
	return Applied{}, a.fail("apply chunk")
}

func (a absent) SetQuarantine(context.Context, string, []QuarantinedChunk) error {
	return a.fail("note quarantine")
}

func (a absent) SyncReport(context.Context, string) (SyncReport, error) {
	return SyncReport{Devices: []SyncDevice{}, Quarantined: []QuarantinedChunk{}, Conflicts: []SyncConflict{}}, a.read("read state of sync")
}

func (a absent) Links(context.Context, LinkQuery) ([]SyncLink, error) {
	return nil, a.read("read links")
}

func (a absent) LastLocalID(context.Context, string, ChangeScope) (int64, error) {
	return 0, a.read("read links")
}

func (a absent) SyncRecords(_ context.Context, refs []SyncRef) ([]SyncRecord, error) {
	return make([]SyncRecord, len(refs)), a.read("read records")
}

func (a absent) Held(_ context.Context, _ string, marks []SyncMark) ([]bool, error) {
	return make([]bool, len(marks)), a.read("read state of sync")
}

func (a absent) RemovedAt(_ context.Context, _ string, refs []SyncRef) ([]bool, error) {
	return make([]bool, len(refs)), a.read("read state of sync")
}
