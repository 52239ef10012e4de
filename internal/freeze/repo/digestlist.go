package repo

import "slices"

// digestBlock is how many digests lie together: those of whole chunks,
// whatever the page size.
const digestBlock = 4096

// digestList grows without leaving what it was behind. Its blocks are full,
// but for the last one.
type digestList struct{ blocks [][]PageDigest }

func (l *digestList) len() int {
	n := len(l.blocks)
	if n == 0 {
		return 0
	}
	return (n-1)*digestBlock + len(l.blocks[n-1])
}

func (l *digestList) add(d PageDigest) {
	n := len(l.blocks)
	if n == 0 || len(l.blocks[n-1]) == digestBlock {
		l.blocks = append(l.blocks, make([]PageDigest, 0, digestBlock))
		n++
	}
	l.blocks[n-1] = append(l.blocks[n-1], d)
}

// last returns the n digests added last, which are of one chunk.
func (l *digestList) last(n int) []PageDigest {
	b := l.blocks[len(l.blocks)-1]
	return b[len(b)-n:]
}

// join returns all digests and empties the list.
func (l *digestList) join() []PageDigest {
	all := slices.Concat(l.blocks...)
	l.blocks = nil
	return all
}
