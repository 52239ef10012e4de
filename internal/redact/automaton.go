package redact

import (
	"cmp"
	"math/bits"
	"slices"
)

// automaton finds every place where one of its literals ends, in one pass and
// whatever the literals are (Aho and Corasick 1975). Upper and lower case
// ASCII letters are one. It is read-only once built.
type automaton struct {
	column [256]uint8 // byte to column; bytes of no literal share column 0
	shift  int        // a row is 1<<shift columns
	next   []uint16   // row<<shift | column to row
	accept int        // rows from here on end a literal
	ends   [][]int    // by row minus accept: the literals that end, longest first
}

// trie is the automaton under construction, its rows in the order they were
// made: at first only the steps along literals, 0 where there is none.
type trie struct {
	width int
	next  []uint16 // row*width + column to row
	ends  [][]int  // by row
}

// newAutomaton builds the automaton of literals, which are not empty.
func newAutomaton(literals []string) *automaton {
	a := &automaton{}
	a.assignColumns(literals)
	rows := 1
	for _, l := range literals {
		rows += len(l)
	}
	t := &trie{width: 1 << a.shift, next: make([]uint16, 0, rows<<a.shift)}
	t.addRow()
	for i, l := range literals {
		t.add(a, l, i)
	}
	t.complete()
	a.take(t)
	for _, ends := range a.ends {
		slices.SortStableFunc(ends, func(x, y int) int {
			return cmp.Compare(len(literals[y]), len(literals[x]))
		})
	}
	return a
}

func (a *automaton) assignColumns(literals []string) {
	columns := 1
	for _, l := range literals {
		for i := range len(l) {
			if b := lower(l[i]); a.column[b] == 0 {
				a.column[b] = uint8(columns)
				columns++
			}
		}
	}
	for b := 'a'; b <= 'z'; b++ {
		a.column[b-'a'+'A'] = a.column[b]
	}
	a.shift = bits.Len(uint(columns - 1))
}

func (t *trie) addRow() uint16 {
	t.next = append(t.next, make([]uint16, t.width)...)
	t.ends = append(t.ends, nil)
	return uint16(len(t.ends) - 1)
}

func (t *trie) add(a *automaton, literal string, index int) {
	row := 0
	for i := range len(literal) {
		step := row*t.width + int(a.column[literal[i]])
		if t.next[step] == 0 {
			to := t.addRow() // it may move next
			t.next[step] = to
		}
		row = int(t.next[step])
	}
	t.ends[row] = append(t.ends[row], index)
}

// complete adds a step for every column, to where the longest literal that may
// have begun goes on. It walks breadth first: the row that a failed step falls
// back to is shorter, and so complete before it is copied.
func (t *trie) complete() {
	fall := make([]uint16, len(t.ends))
	queue := make([]uint16, 1, len(t.ends))
	for len(queue) > 0 {
		row := int(queue[0])
		queue = queue[1:]
		for c := range t.width {
			back := uint16(0)
			if row != 0 {
				back = t.next[int(fall[row])*t.width+c]
			}
			step := row*t.width + c
			to := t.next[step]
			if to == 0 {
				t.next[step] = back
				continue
			}
			fall[to] = back
			t.ends[to] = append(t.ends[to], t.ends[back]...)
			queue = append(queue, to)
		}
	}
}

// take copies the trie and puts the rows that end a literal last, so that the
// scan tells them by one comparison. The root ends none and stays row 0.
func (a *automaton) take(t *trie) {
	var order, accepting []int
	for row, ends := range t.ends {
		if len(ends) == 0 {
			order = append(order, row)
		} else {
			accepting = append(accepting, row)
			a.ends = append(a.ends, ends)
		}
	}
	a.accept = len(order)
	order = append(order, accepting...)
	number := make([]uint16, len(order))
	for n, row := range order {
		number[row] = uint16(n)
	}
	a.next = make([]uint16, 0, len(t.next))
	for _, row := range order {
		for _, to := range t.next[row*t.width : (row+1)*t.width] {
			a.next = append(a.next, number[to])
		}
	}
}

// scan calls hit with the literals that end before the byte at end, for each
// such place of text[lo:hi] in order. The scan goes on afresh where hit says,
// or where it was when hit returns no more than end.
func (a *automaton) scan(text string, lo, hi int, hit func(end int, literals []int) int) {
	row := 0
	for i := lo; i < hi; i++ {
		row = int(a.next[row<<a.shift|int(a.column[text[i]])])
		if row < a.accept {
			continue
		}
		if to := hit(i+1, a.ends[row-a.accept]); to > i+1 {
			i, row = to-1, 0
		}
	}
}

// lower folds an ASCII letter.
func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
