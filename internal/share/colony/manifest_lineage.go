package colony

// maxCounter bounds the counter of a snapshot: a number that every reader of JSON
// keeps exactly.
const maxCounter = 1<<53 - 1

// lineage reads the label of the snapshot and what the snapshot comes after. It takes neither a count that no client
// can have reached by counting nor a parent that is not earlier.
func (m *manifest) lineage(r *members) {
	if r.has("label_raw") {
		m.Info.LabelRaw = r.text("label_raw")
		if Label(m.Info.LabelRaw) != m.Info.Label {
			r.object("the label_raw is " + quote(m.Info.LabelRaw) + ", which does not become the label")
		}
	}
	if r.has("counter") {
		n := r.count("counter")
		if m.Info.Counter = counted(n); m.Info.Counter == 0 {
			r.object("the counter is not from 1 to 2^53-1")
		}
	}
	if r.has("parent") {
		id, err := ParseSnapshotID(r.text("parent"))
		switch {
		case err != nil:
			r.object("the parent is not an id")
		case id >= m.Info.ID:
			r.object("the parent is not earlier")
		default:
			m.Info.Parent = id
		}
	}
}

// counted returns the number of a snapshot, and 0 for a number that no client can have reached by counting: no snapshot
// could come after it.
func counted(n int64) int64 {
	if n < 1 || n > maxCounter {
		return 0
	}
	return n
}
