package gitsync

import (
	"context"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// Verify reads every chunk in the folder from beginning to end and imports
// nothing: the name of each file against its bytes, each record against the
// rules, counts, signatures, and that no chunk is missing that another follows
// upon. Errors: those of the disk and of the trust list; what is wrong with
// chunks is in the report.
func (s *Sync) Verify(ctx context.Context) (wire.SyncVerify, error) {
	v := wire.SyncVerify{Checked: []string{}, NotChecked: []string{}, Damaged: []amber.QuarantinedChunk{}, Missing: []string{}}
	if _, err := s.fs.Lstat(s.dir); err != nil {
		return v, fail("verify", s.dir, err)
	}
	if s.o.Format == wire.SyncEngram {
		return v, s.verifyEngram(ctx, &v)
	}
	look := &survey{headers: map[chunk.ID]chunk.Header{}, present: map[chunk.ID]bool{}, wanted: map[chunk.ID]bool{}, files: map[string]bool{}}
	records := 0
	err := s.eachPart(ctx, func(p chunk.Part, from file) error {
		c, err := chunk.Decode(p.ID, p.Bytes)
		if err != nil {
			return err
		}
		records += len(c.Records)
		look.add(p, from, c.Header)
		return s.countSignature(ctx, c.Signature, &v)
	}, func(id string, err error) { v.Damaged = append(v.Damaged, quarantined(id, err)) })
	if err != nil {
		return v, err
	}
	v.Missing = append(v.Missing, look.missing()...)
	v.Summary = look.summary()
	v.Checked = append(v.Checked,
		fmt.Sprintf("%d chunks in %d files: name against SHA-256 of the bytes, one frame, header, counts", len(look.order), len(look.files)),
		fmt.Sprintf("%d records against the rules of the store", records),
		fmt.Sprintf("%d signatures", v.Signed+v.Unknown),
		"that every chunk that a later chunk names is there")
	v.NotChecked = append(v.NotChecked, "whether the newest chunk of a device was removed: no later chunk names it")
	if v.Unsigned > 0 {
		v.NotChecked = append(v.NotChecked, fmt.Sprintf("who wrote %d chunks, which are not signed", v.Unsigned))
	}
	if v.Unknown > 0 {
		v.NotChecked = append(v.NotChecked, fmt.Sprintf("the owners of %d signatures, whose keys are not trusted here", v.Unknown))
	}
	return v, nil
}

func (s *Sync) countSignature(ctx context.Context, sig *sign.Signature, v *wire.SyncVerify) error {
	standing, err := s.standing(ctx, sig)
	switch standing {
	case "":
		v.Unsigned++
	case sign.StandingStranger:
		v.Unknown++
	default:
		v.Signed++
	}
	return err
}

func sorted(ids []string) []string {
	slices.Sort(ids)
	return ids
}

func earlier(a, b amber.Time) amber.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b amber.Time) amber.Time {
	if a.Before(b) {
		return b
	}
	return a
}
