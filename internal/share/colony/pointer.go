package colony

import "github.com/amber-memory/amber"

// pointer is what the file of a label says that names its newest snapshot.
type pointer struct {
	Label        string // the members as they are there; "" for what is no string
	ID           SnapshotID
	ManifestFile string
	UpdatedAt    string

	format     string
	duplicates bool
}

// parsePointer reads a pointer. It must name a snapshot; the method Objections returns everything else that is wrong
// with it. Errors: damaged, too_new.
func parsePointer(content string) (pointer, error) {
	fail := func(why error) (pointer, error) {
		return pointer{}, &amber.Error{Op: "read pointer", Kind: amber.KindDamaged, Err: why}
	}
	v, err := decodeJSON([]byte(content))
	if err != nil {
		return fail(err)
	}
	text := func(name string) string {
		m, _ := v.member(name)
		s, _ := m.str()
		return s
	}
	p := pointer{
		Label: text("label"), ManifestFile: text("manifest_file"), UpdatedAt: text("updated_at"),
		format: text("format"), duplicates: v.Duplicates(),
	}
	if isNewer(p.format, latestFormat) {
		return pointer{}, amber.Errorf(amber.KindTooNew, "read pointer", "", "the format is %s, which is newer than this program", quote(p.format))
	}
	if p.ID, err = ParseSnapshotID(text("snapshot_id")); err != nil {
		return fail(err)
	}
	return p, nil
}

// Objections returns what a strict reader of a label has against the pointer. It
// does not look whether the snapshot is there.
func (p pointer) Objections(label string) []string {
	var out []string
	object := func(wrong bool, why string) {
		if wrong {
			out = append(out, why)
		}
	}
	object(p.format != latestFormat, "the format of the pointer is "+quote(p.format))
	object(p.Label != label, "the label of the pointer is "+quote(p.Label))
	object(p.ManifestFile != ManifestName(label, p.ID), "the manifest_file of the pointer is "+quote(p.ManifestFile))
	object(!isTime(p.UpdatedAt), "the updated_at of the pointer is "+quote(p.UpdatedAt))
	object(p.duplicates, "a member of the pointer appears twice")
	return out
}
