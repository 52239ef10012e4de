package search

import (
	"cmp"
	"encoding/json"
	"slices"
)

// How many documents make a segment, and how many segments of a level make one of the
// next. A segment is written anew when every eighth of its documents is dead.
const (
	tailDocs  = 256
	fanIn     = 16
	deadShare = 8
	maxLevel  = 4
)

// How many documents may be in no segment yet. While very many come, more may: a segment of
// the second level is made of them at once then, which spares the first and its merging.
const (
	FewWait  = tailDocs
	ManyWait = fanIn * tailDocs
)

// New documents make work for Tidy, this many rows for each of their terms. Merging a document
// up to the highest level costs about one and a half rows a term where documents share most of
// their terms. A few documents make twice that work, so that merging is done soon; many make
// less, so that a transaction of many writers does not hold up the others for long. Where there
// are more segments than merging would leave, Tidy has fallen behind, and does more.
const (
	tidyFew     = 3
	tidyMany    = 2
	tidyFree    = 8192 // rows of work that are few in any case
	tidyCrowded = 3    // times as much
	crowded     = 4 * fanIn
)

// TidyWork is how much work new documents with so many terms in all bring.
func TidyWork(terms int) int {
	return min(tidyFew*terms, max(tidyFree, tidyMany*terms))
}

// job is what was begun and goes on in later transactions: segments are merged into a
// target, a few terms at a time, or the lists of segments that are gone are removed.
type job struct {
	Target  int64   `json:"target,omitempty"`
	Sources []int64 `json:"sources,omitempty"`
	After   string  `json:"after,omitempty"` // the last term that is done
	Drop    []int64 `json:"drop,omitempty"`
}

func readJob(w Writer) (j job, err error) {
	b, err := w.Job()
	if err != nil || len(b) == 0 {
		return j, err
	}
	if json.Unmarshal(b, &j) != nil {
		return j, errList
	}
	return j, nil
}

func (j job) put(w Writer) error {
	if j.Target == 0 && len(j.Drop) == 0 {
		return w.PutJob(nil)
	}
	b, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return w.PutJob(b)
}

// Tidy keeps the index small: documents of the tail become a segment where as many are there
// as may wait, segments become one of the next level. It does about as many rows of work as
// it is given, and reports whether some is left; what it has begun goes on with the next call.
func Tidy(w Writer, cache *Cache, work, wait int) (left bool, err error) {
	for {
		n, err := tail(w, wait)
		if err != nil {
			return false, err
		}
		if n == 0 {
			break
		}
		if work -= n; work < 0 {
			return true, nil
		}
	}
	full, err := IsCrowded(w)
	if err != nil {
		return false, err
	}
	if full {
		work *= tidyCrowded
	}
	for work > 0 {
		j, err := readJob(w)
		if err != nil {
			return false, err
		}
		var n int
		switch {
		case len(j.Drop) > 0:
			n, err = j.drop(w, work)
		case j.Target != 0:
			n, err = j.merge(w, cache, work)
		default:
			n, err = begin(w, cache)
		}
		if err != nil || n == 0 {
			return false, err
		}
		work -= n
	}
	return true, nil
}

// IsCrowded reports whether there are more segments than merging would leave.
func IsCrowded(r Rows) (bool, error) {
	segments, err := r.Segments()
	return len(segments) > crowded, err
}

// tail makes a segment of the documents of the tail where there are enough of them, and
// returns how many rows that were.
func tail(w Writer, wait int) (rows int, err error) {
	enough, err := w.HasTail(wait)
	if err != nil || !enough {
		return 0, err
	}
	made, err := buildTail(w)
	if err != nil || len(made.rows) == 0 {
		return 0, err
	}
	level := 0
	if len(made.rows) == ManyWait {
		level = 1
	}
	terms := made.terms()
	id, err := w.PutSegment(made.segment(level), Content{made.marshal(), marshalTexts(terms)})
	if err != nil {
		return 0, err
	}
	for _, term := range terms {
		if err := w.PutList(id, term, made.list(term)); err != nil {
			return 0, err
		}
	}
	return len(terms), w.DropTailThrough(made.rows[len(made.rows)-1])
}

// maxPostings is how many postings a segment may have that is made of the tail: all of them
// are in memory.
const maxPostings = 1 << 19

// buildTail reads the first documents of the tail, as many as may wait or fit, a few at a time.
func buildTail(w Writer) (*builder, error) {
	made := newBuilder()
	for last := int64(0); len(made.rows) < ManyWait && made.postings < maxPostings; {
		docs, err := w.Tail(last, tailDocs)
		if err != nil || len(docs) == 0 {
			return made, err
		}
		for _, d := range docs {
			if d.Row <= last {
				return nil, errList
			}
			last = d.Row
			if made.add(d); made.postings >= maxPostings {
				break
			}
		}
	}
	return made, nil
}

// begin begins a merge where one is due: the new segment has its documents, and no list.
func begin(w Writer, cache *Cache) (work int, err error) {
	segments, err := w.Segments()
	if err != nil {
		return 0, err
	}
	due, err := mergeable(w, segments)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	var all documents
	j := job{}
	for _, s := range due {
		d, err := cache.documents(w, s)
		if err != nil {
			return 0, err
		}
		dead, err := w.Dead(s.ID)
		if err != nil {
			return 0, err
		}
		slices.Sort(dead)
		for i, row := range d.rows {
			if _, is := slices.BinarySearch(dead, row); !is {
				all.rows, all.lengths = append(all.rows, row), append(all.lengths, d.lengths[i])
			}
		}
		j.Sources = append(j.Sources, s.ID)
	}
	if !slices.IsSorted(all.rows) {
		return 0, errList
	}
	if j.Target, err = w.PutSegment(all.segment(building), Content{all.marshal(), marshalTexts(nil)}); err != nil {
		return 0, err
	}
	return 1, j.put(w)
}

// mergeable returns segments that are to become one: neighbours of a level, neighbours of
// several levels where there are more than merging by levels leaves, or one alone with many
// dead.
func mergeable(w Writer, segments []Segment) ([]Segment, error) {
	for level := range maxLevel {
		if run := neighbours(segments, level, level, fanIn); run != nil {
			return run, nil
		}
	}
	for level := 1; level < maxLevel; level++ {
		if run := neighbours(segments, 0, level, (level+1)*fanIn); run != nil {
			return run, nil
		}
	}
	for i, s := range segments {
		dead, err := w.Dead(s.ID)
		if err != nil {
			return nil, err
		}
		if len(dead)*deadShare > s.Docs {
			return segments[i : i+1], nil
		}
	}
	return nil, nil
}

// neighbours returns the first n neighbours whose levels are in a range; nil where there are
// not as many.
func neighbours(segments []Segment, low, high, n int) []Segment {
	begin := 0
	for i, s := range segments {
		if s.Level < low || s.Level > high {
			begin = i + 1
		}
		if i+1-begin == n {
			return segments[begin : i+1]
		}
	}
	return nil
}

// gone is the new number of a document that is dead.
const gone = ^uint32(0)

// source is a segment on its way into another.
type source struct {
	w     Writer
	id    int64
	docs  int
	to    []uint32 // new numbers of its documents
	after string
	next  []Entry
	done  bool
}

// entry returns the next list.
func (s *source) entry() (e Entry, err error) {
	if len(s.next) == 0 && !s.done {
		if s.next, err = s.w.NextLists(s.id, s.after, 64); err != nil {
			return e, err
		}
		s.done = len(s.next) == 0
	}
	if s.done {
		return e, nil
	}
	if s.next[0].Term <= s.after {
		return e, errList
	}
	return s.next[0], nil
}

// take goes behind the next list, and returns its postings with their new numbers.
func (s *source) take() ([]posting, error) {
	e := s.next[0]
	s.next, s.after = s.next[1:], e.Term
	l, err := openList(e.List, s.docs)
	if err != nil {
		return nil, err
	}
	postings, err := l.postings()
	if err != nil {
		return nil, err
	}
	out := postings[:0]
	for _, p := range postings {
		if to := s.to[p.doc]; to != gone {
			out = append(out, posting{to, p.weight})
		}
	}
	return out, nil
}

// merge merges the lists of some more terms.
func (j job) merge(w Writer, cache *Cache, work int) (did int, err error) {
	sources, target, docs, err := j.open(w, cache)
	if err != nil {
		return 0, err
	}
	size := 0
	for did < work && size < 1<<20 {
		open := sources[:0:0]
		least := ""
		for _, s := range sources {
			e, err := s.entry()
			if err != nil {
				return 0, err
			}
			if s.done {
				continue
			}
			if open = append(open, s); least == "" || e.Term < least {
				least = e.Term
			}
		}
		if len(open) == 0 {
			return did + 1, j.finish(w, target, docs)
		}
		var postings []posting
		for _, s := range open {
			if s.next[0].Term != least {
				continue
			}
			size += len(s.next[0].List)
			more, err := s.take()
			if err != nil {
				return 0, err
			}
			postings = append(postings, more...)
			did++
		}
		if j.After = least; len(postings) == 0 {
			continue
		}
		if err := w.PutList(j.Target, least, marshalList(postings, docs.lengths)); err != nil {
			return 0, err
		}
		did++
	}
	return did, j.put(w)
}

// open reads what the merge needs.
func (j job) open(w Writer, cache *Cache) (sources []*source, target Segment, docs documents, err error) {
	segments, err := w.Segments()
	if err != nil {
		return nil, target, docs, err
	}
	by := map[int64]Segment{}
	for _, s := range segments {
		by[s.ID] = s
	}
	target, ok := by[j.Target]
	if !ok || target.Level != building {
		return nil, target, docs, errList
	}
	if docs, err = cache.documents(w, target); err != nil {
		return nil, target, docs, err
	}
	for _, id := range j.Sources {
		s, ok := by[id]
		if !ok {
			return nil, target, docs, errList
		}
		d, err := cache.documents(w, s)
		if err != nil {
			return nil, target, docs, err
		}
		one := &source{w: w, id: id, docs: len(d.rows), to: make([]uint32, len(d.rows)), after: j.After}
		at, _ := slices.BinarySearch(docs.rows, s.First)
		for i, row := range d.rows {
			one.to[i] = gone
			for at < len(docs.rows) && docs.rows[at] < row {
				at++
			}
			if at < len(docs.rows) && docs.rows[at] == row {
				one.to[i] = uint32(at)
			}
		}
		sources = append(sources, one)
	}
	return sources, target, docs, nil
}

// finish puts the target into the place of its sources. Documents that died meanwhile are
// dead in it.
func (j job) finish(w Writer, target Segment, docs documents) error {
	segments, err := w.Segments()
	if err != nil {
		return err
	}
	level := 0
	for _, s := range segments {
		if !slices.Contains(j.Sources, s.ID) {
			continue
		}
		dead, err := w.Dead(s.ID)
		if err != nil {
			return err
		}
		for _, row := range dead {
			if _, there := docs.find(row); there {
				if err := w.PutDead(j.Target, row); err != nil {
					return err
				}
			}
		}
		if level = max(level, s.Level); len(j.Sources) > 1 {
			level = max(level, s.Level+1)
		}
		if err := w.DropSegment(s.ID); err != nil {
			return err
		}
	}
	next := job{Drop: j.Sources}
	if target.Docs == 0 {
		next.Drop = append(next.Drop, j.Target)
		if err := w.DropSegment(j.Target); err != nil {
			return err
		}
		return next.put(w)
	}
	terms, err := w.ListTerms(j.Target)
	if err != nil {
		return err
	}
	is := docs.segment(level)
	is.ID, is.Edition = target.ID, target.Edition+1
	if err := w.ReplaceSegment(is, Content{docs.marshal(), marshalTexts(terms)}); err != nil {
		return err
	}
	return next.put(w)
}

// drop removes lists of segments that are gone.
func (j job) drop(w Writer, work int) (did int, err error) {
	n := cmp.Or(min(work, 2000), 1)
	left, err := w.DropLists(j.Drop[0], n)
	if err != nil {
		return 0, err
	}
	if !left {
		j.Drop = j.Drop[1:]
	}
	return n, j.put(w)
}

// settle ends what was begun: a merge is given up, what is to be removed goes.
func settle(w Writer) error {
	j, err := readJob(w)
	if err != nil {
		return err
	}
	if j.Target != 0 {
		if err := w.DropSegment(j.Target); err != nil {
			return err
		}
		j = job{Drop: []int64{j.Target}}
	}
	for _, id := range j.Drop {
		for left := true; left; {
			if left, err = w.DropLists(id, 2000); err != nil {
				return err
			}
		}
	}
	return job{}.put(w)
}
