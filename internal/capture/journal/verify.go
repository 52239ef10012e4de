package journal

import "context"

// SessionReport is what Verify found in one session.
type SessionReport struct {
	Key    Key    `json:"key"`
	Frames int64  `json:"frames"` // intact
	Bytes  int64  `json:"bytes"`  // of their payloads
	Damage Damage `json:"damage"`
	Error  string `json:"error,omitempty"` // why it could not be read to the end
}

// Verify reads every byte of every session and checks every checksum. It
// changes nothing and takes no lock, so that it may run beside writers. One
// session that cannot be read is reported and hides no other. Errors:
// unreachable when ctx ends, and those of reading the spool itself.
func (j *Journal) Verify(ctx context.Context) ([]SessionReport, error) {
	keys, err := j.Keys()
	if err != nil {
		return nil, err
	}
	reports := make([]SessionReport, 0, len(keys))
	for _, k := range keys {
		report := SessionReport{Key: k}
		report.Damage, err = j.Look(ctx, k, func(f Frame) error {
			report.Frames++
			report.Bytes += int64(len(f.Payload))
			return nil
		})
		if ctx.Err() != nil {
			return reports, ended("verify", "", ctx)
		}
		if err != nil {
			report.Error = err.Error()
		}
		reports = append(reports, report)
	}
	return append(reports, j.strangers()...), nil
}

// strangers reports entries that have the name of a session's folder and are
// not folders, such as links, which are not followed.
func (j *Journal) strangers() []SessionReport {
	entries, err := j.o.FS.ReadDir(j.dir)
	if err != nil {
		return nil // Keys has listed it, or there is none
	}
	var reports []SessionReport
	for _, e := range entries {
		if k, err := ParseKey(e.Name()); err == nil && !e.IsDir() {
			reports = append(reports, SessionReport{Key: k, Error: "entry is not a folder"})
		}
	}
	return reports
}
