package journal

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// ParkReport says what was parked.
type ParkReport struct {
	Sessions int64
	Frames   int64
	Bytes    int64            // of payloads
	Floors   map[string]int64 // by cursor: the last sequence of it that is parked
	Damaged  int64            // places that could not be read
	Failed   map[Key]string   // sessions that could not be read, and why; nothing of them is parked
}

// Park copies every entry that the store has not drained to a journal of its
// own at dest, and returns once that is durable. Drained returns the store's
// cursor of an origin. The copies keep host, session, type and time, and are
// numbered from 1 under a new [Origin]. Whatever was at dest before is removed;
// where nothing waits to be drained nothing is there afterwards.
//
// The journal itself is not changed: the caller moves its cursors to the floors,
// so that no copied entry is drained, too. An entry that is appended meanwhile
// is above the floor of its session. Quarantines stay where they are. The caller
// is the only one who drains ([Journal.BeginDrain]), and no other process uses
// dest. Errors: those of drained; invalid, unreachable when ctx ends; those of
// writing to dest.
func (j *Journal) Park(ctx context.Context, dest string, drained func(Origin) (int64, error)) (ParkReport, error) {
	report := ParkReport{Floors: map[string]int64{}, Failed: map[Key]string{}}
	if !filepath.IsAbs(dest) {
		return report, amber.Errorf(amber.KindInvalid, "park journal", dest, "the path is not absolute")
	}
	if err := fsx.RemoveAll(j.o.FS, dest); err != nil {
		return report, diskerr.Own("park journal", dest, err)
	}
	keys, err := j.Keys()
	if err != nil {
		return report, err
	}
	for _, key := range keys {
		p := parking{j: j, key: key, dir: filepath.Join(dest, string(key))}
		err := p.run(ctx, drained)
		if ctx.Err() != nil {
			return report, ended("park journal", "", ctx)
		}
		if p.failed != nil {
			return report, diskerr.Own("park journal", dest, p.failed)
		}
		if err != nil {
			if err := fsx.RemoveAll(j.o.FS, p.dir); err != nil {
				return report, diskerr.Own("park journal", dest, err)
			}
			report.Failed[key] = err.Error()
			continue
		}
		report.add(p)
	}
	if report.Frames == 0 {
		if err := fsx.RemoveAll(j.o.FS, dest); err != nil {
			return report, diskerr.Own("park journal", dest, err)
		}
		return report, nil
	}
	// One sync for everything: others wait meanwhile.
	if err := j.o.FS.SyncAll(dest); err != nil {
		return report, diskerr.Own("park journal", dest, err)
	}
	return report, nil
}

func (r *ParkReport) add(p parking) {
	r.Damaged += p.damage.Count()
	if p.frames == 0 {
		return
	}
	r.Sessions++
	r.Frames += p.frames
	r.Bytes += p.bytes
	r.Floors[p.origin.Cursor] = p.floor
}

// parking copies one session.
type parking struct {
	j      *Journal
	key    Key
	dir    string // where the copy goes
	origin Origin

	file    fsx.File // the segment that is being written, nil: none
	segment segmentWriter
	number  int64

	frames, bytes, floor int64
	damage               Damage
	failed               error // what is wrong with the copy, not with the session
}

func (p *parking) run(ctx context.Context, drained func(Origin) (int64, error)) error {
	var err error
	p.origin, err = p.j.Origin(p.key)
	if amber.KindOf(err) == amber.KindNotFound {
		return p.unnamed(ctx)
	}
	if err != nil {
		return err
	}
	after, err := drained(p.origin)
	if err != nil {
		p.failed = err
		return err
	}
	p.damage, err = p.j.Read(ctx, p.key, after, func(f Frame) error {
		p.failed = p.copy(f)
		return p.failed
	})
	if end := p.finish(); p.failed == nil {
		p.failed = end
	}
	return errors.Join(err, p.failed)
}

// unnamed returns the error of a folder without a meta file. Either a process is
// just making the folder, or it has entries and a person has to say first whose
// they are.
func (p *parking) unnamed(ctx context.Context) error {
	last, err := p.j.Last(ctx, p.key)
	if err == nil && last > 0 {
		err = amber.Errorf(amber.KindDamaged, "park session", string(p.key), "the session has no owner: its meta file is missing")
	}
	return err
}

// copy adds one frame to the copy under the next number.
func (p *parking) copy(f Frame) error {
	if p.file == nil || p.segment.at >= p.j.o.SegmentBytes {
		if err := p.next(f.At); err != nil {
			return err
		}
	}
	p.floor = f.Seq
	p.frames++
	p.bytes += int64(len(f.Payload))
	f.Seq = p.frames
	return p.segment.frame(f)
}

// next begins the next segment; the first one with the folder around it.
func (p *parking) next(at amber.Time) error {
	if err := p.finish(); err != nil {
		return err
	}
	if p.number == 0 {
		if err := p.begin(at); err != nil {
			return err
		}
	}
	p.number++
	f, err := fsx.Build(p.j.o.FS, filepath.Join(p.dir, segmentName(p.number)), 0o600)
	if err != nil {
		return err
	}
	p.file = f
	p.segment = segmentWriter{
		w:      bufio.NewWriterSize(f, window),
		header: header{number: p.number, key: p.key, base: p.frames + 1},
	}
	return nil
}

// begin makes the folder and says whose entries it holds.
func (p *parking) begin(at amber.Time) error {
	fsys := p.j.o.FS
	err := fsys.Mkdir(p.dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) { // it is the first session
		if err = fsx.MkdirAll(fsys, filepath.Dir(p.dir), 0o700); err == nil {
			err = fsys.Mkdir(p.dir, 0o700)
		}
	}
	if err != nil {
		return err
	}
	m := meta{Format: metaFormat, Host: p.origin.Host, SessionID: p.origin.ID, StartedAt: at}
	if m.Epoch, err = newEpoch(p.j.o.Random); err != nil {
		return err
	}
	b, err := m.marshal()
	if err != nil {
		return err
	}
	return fsx.BuildOf(fsys, filepath.Join(p.dir, metaName), 0o600, b)
}

// finish ends the segment that is being written.
func (p *parking) finish() error {
	if p.file == nil {
		return nil
	}
	err := p.segment.flush()
	err = errors.Join(err, p.file.Close())
	p.file = nil
	return err
}
