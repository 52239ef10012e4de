package sqlrows

import "github.com/amber-memory/amber"

// ScanIndexCursor reads position, fence and notes of a cursor.
func ScanIndexCursor(s scanner) (c amber.IndexCursor, err error) {
	if err = s.Scan(&c.Position, &c.Fence, &c.Notes); err != nil {
		return c, err
	}
	if len(c.Notes) == 0 {
		c.Notes = nil
	}
	if c.Position != "" {
		if _, _, err := c.Position.Parse(); err != nil {
			return c, unreadable("index_cursors", "", "the position is not one of a change log")
		}
	}
	if c.Fence < 1 || len(c.Notes) > amber.MaxIndexNotes {
		return c, unreadable("index_cursors", "", "a number or a size is out of range")
	}
	return c, nil
}
