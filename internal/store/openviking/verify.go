package openviking

import (
	"context"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// maxNamed bounds each list of a verification; the counts are whole.
const maxNamed = 1000

// Names are names with their number.
type Names struct {
	Count int      `json:"count"`
	First []string `json:"first,omitempty"` // at most 1000
}

func (n *Names) add(s string) {
	if n.Count++; len(n.First) < maxNamed {
		n.First = append(n.First, s)
	}
}

// Verification is what a comparison of names, and of bytes, found.
type Verification struct {
	Live     int   `json:"live"`  // memories that belong on the server
	Files    int   `json:"files"` // of ours
	Missing  Names `json:"missing"`
	Stale    Names `json:"stale"`     // files of other versions, or of memories that are gone
	Strange  Names `json:"strange"`   // names that are not ours, below our folder
	NoVector Names `json:"no_vector"` // files that cannot be found
	Torn     Names `json:"torn"`      // files with other bytes; looked at if deep
	Deep     bool  `json:"deep"`
	// Vectors says whether the server named all files without one.
	Vectors bool `json:"vectors"`
	Behind  int  `json:"behind"` // changes that were not fed yet explain missing and stale files
	// Noted says that the next feed mends all that was found. It is false where a feeder is at
	// work, and where more files are torn than can be noted at a time.
	Noted bool `json:"noted"`
}

// Clean reports whether nothing was found.
func (v *Verification) Clean() bool {
	return v.Missing.Count+v.Stale.Count+v.Strange.Count+v.NoVector.Count+v.Torn.Count == 0
}

// Verify compares the names of the server's files with the primary, and with deep their bytes.
// It changes no file; what it finds is noted for the next feed, but for strange names, which
// stay. Errors: those of the server and of the primary.
func (s *Store) Verify(ctx context.Context, deep bool) (Verification, error) {
	v := Verification{Deep: deep}
	l, err := s.ready(ctx)
	if err != nil {
		return v, err
	}
	st, err := s.Status(ctx)
	if err != nil {
		return v, err
	}
	v.Behind = st.Behind
	there, strange := map[string]bool{}, map[string]bool{}
	err = s.o.Server.List(ctx, l.root(), func(uri string) error {
		if _, ours := l.parse(uri); ours {
			there[uri] = true
		} else if l.strange(uri) {
			strange[uri] = true
		}
		return nil
	})
	if err != nil && amber.KindOf(err) != amber.KindNotFound {
		return v, err
	}
	for _, uri := range slices.Sorted(maps.Keys(strange)) {
		v.Strange.add(clip.Marked(clip.Printed(uri), 1000))
	}
	v.Files = len(there)
	torn, err := s.verifyLive(ctx, l, there, &v)
	if err != nil {
		return v, err
	}
	for _, uri := range slices.Sorted(maps.Keys(there)) {
		v.Stale.add(uri)
	}
	if err := s.verifyVectors(ctx, l, &v); err != nil || v.Clean() {
		return v, err
	}
	all := false
	err = s.note(ctx, l, func(n *notes) {
		n.Compare = n.Compare || v.Missing.Count+v.Stale.Count > 0
		all = n.rewrite(torn...)
		n.unindexed(v.NoVector.First...)
	})
	v.Noted = err == nil && all
	if amber.KindOf(err) == amber.KindBusy { // a feeder is at work
		return v, nil
	}
	return v, err
}

// verifyLive takes the names of live memories out of those that are there. It returns the
// memories whose files have other bytes.
func (s *Store) verifyLive(ctx context.Context, l layout, there map[string]bool, v *Verification) (torn []amber.MemoryID, err error) {
	err = s.eachLive(ctx, func(page []amber.Memory) error {
		for i := range page {
			m := &page[i]
			if !s.o.leaves(m.Scope) {
				continue
			}
			v.Live++
			body := bodyOf(m, s.o.Redact)
			uri := l.uri(m, body)
			if !there[uri] {
				v.Missing.add(string(m.ID))
				continue
			}
			delete(there, uri)
			if !v.Deep {
				continue
			}
			whole, err := s.whole(ctx, uri, body)
			if err != nil {
				return err
			}
			if !whole {
				v.Torn.add(uri)
				torn = append(torn, m.ID)
			}
		}
		return nil
	})
	return torn, err
}

// whole reports whether a file has the bytes of a body.
func (s *Store) whole(ctx context.Context, uri, body string) (bool, error) {
	file, err := s.o.Server.Download(ctx, uri)
	if amber.KindOf(err) == amber.KindNotFound {
		return false, nil
	}
	return err == nil && holds(file, body), err
}

func (s *Store) verifyVectors(ctx context.Context, l layout, v *Verification) error {
	missing, err := s.o.Server.Missing(ctx, l.root())
	if amber.KindOf(err) == amber.KindNotFound {
		v.Vectors = true
		return nil
	}
	for _, uri := range missing.URIs {
		if _, ours := l.parse(uri); ours {
			v.NoVector.add(uri)
		}
	}
	v.Vectors = missing.Whole
	return err
}

// note changes the notes of the cursor.
func (s *Store) note(ctx context.Context, l layout, change func(*notes)) error {
	return s.alone(ctx, l, func(r *round) error {
		change(&r.notes)
		s.files = files{fence: r.cursor.Fence} // what was known of the files does not hold
		return r.save(ctx, r.cursor.Position)
	})
}

// alone calls fn with a round while no feeder is at work. Errors: busy.
func (s *Store) alone(ctx context.Context, l layout, fn func(*round) error) error {
	release, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = release() }() // the lock ends with the process at the latest
	r := &round{s: s, begun: s.o.Clock(), layout: l, gaveUp: ctx.Err}
	if err := r.load(ctx); err != nil {
		return err
	}
	return fn(r)
}

// Rebuild deletes everything of this agent on the server and feeds it again. Errors: those of
// [Store.Feed].
func (s *Store) Rebuild(ctx context.Context) (Report, error) {
	l, err := s.ready(ctx)
	if err != nil {
		return Report{}, err
	}
	err = s.alone(ctx, l, func(r *round) error {
		r.notes = notes{Compare: true}
		s.files = files{fence: r.cursor.Fence}
		if err := r.save(ctx, r.cursor.Position); err != nil {
			return err
		}
		err := r.patient(ctx, func() error { return s.o.Server.Delete(ctx, l.root(), true) })
		if amber.KindOf(err) == amber.KindNotFound {
			return nil
		}
		return err
	})
	if err != nil {
		return Report{}, err
	}
	return s.Feed(ctx, Budget{Force: true})
}
