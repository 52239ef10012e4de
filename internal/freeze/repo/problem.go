package repo

import (
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
)

// Problem is something wrong with an object of a repository.
type Problem struct {
	Object string     // the object's name
	Blob   ID         // the blob in it; zero when the object itself is meant
	Kind   amber.Kind // damaged, not_found or too_new
	Reason string
}

// String renders the object, the blob and the reason on one line.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Object)
	if !p.Blob.IsZero() {
		b.WriteString(" blob " + p.Blob.String())
	}
	b.WriteString(": " + p.Reason)
	return b.String()
}

// problemOf makes a problem of an error for which isProblem holds.
func problemOf(object string, blob ID, err error) Problem {
	p := Problem{Object: object, Blob: blob, Kind: amber.KindOf(err), Reason: err.Error()}
	if e, ok := err.(*amber.Error); ok && e.Err != nil {
		p.Reason = e.Err.Error() // the object has been named
	}
	return p
}

// problems collects problems, up to a bound.
type problems struct {
	list []Problem
	more int         // not in the list
	seen map[ID]bool // packs that are noted
}

func (ps *problems) add(p Problem) {
	if len(ps.list) == maxProblems {
		ps.more++
		return
	}
	ps.list = append(ps.list, p)
}

// note adds an error that is about an object and returns every other one.
func (ps *problems) note(object string, err error) error {
	if err != nil && isProblem(err) {
		ps.add(problemOf(object, ID{}, err))
		return nil
	}
	return err
}

// missing notes, once, a pack that is not there or has another size than an
// index object says.
func (ps *problems) missing(p packDir, packs map[ID]int64) bool {
	size, ok := packs[p.id]
	if ok && size == p.size {
		return false
	}
	if ps.seen[p.id] {
		return true
	}
	if ps.seen == nil {
		ps.seen = map[ID]bool{}
	}
	ps.seen[p.id] = true
	if !ok {
		ps.add(Problem{Object: packName(p.id), Kind: amber.KindNotFound, Reason: "the pack is missing"})
	} else {
		ps.add(Problem{
			Object: packName(p.id), Kind: amber.KindDamaged,
			Reason: fmt.Sprintf("the pack has %d bytes, an index object says %d", size, p.size),
		})
	}
	return true
}
