package amber

// Defaults and hard caps. A cap cannot be configured away.
const (
	DefaultTopK      = 8
	MaxTopK          = 64
	DefaultBatchSize = 16
	MaxBatchSize     = 256
	DefaultPageSize  = 50
	MaxPageSize      = 1000
	MaxPageBytes     = 1 << 20 // of text, after which a page ends: it may have fewer items than were asked for

	MaxContentBytes  = 1 << 20 // content of a memory, a note or a turn
	MaxStateBytes    = 4 << 20 // state of a loop, a session or a task; a payload
	MaxTitleBytes    = 1000
	MaxSummaryBytes  = 16 << 10
	MaxTopicBytes    = 200
	MaxQueryBytes    = 16 << 10
	MaxTags          = 64
	MaxTagBytes      = 100
	MaxMetadata      = 64
	MaxMetadataBytes = 8 << 10 // one value
	MaxSourceRefs    = 64
	MaxNameRunes     = 50 // name of a session
)
