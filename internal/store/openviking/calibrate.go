package openviking

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/store/openviking/api"
)

const (
	calibratePairs = 50 // memories that are asked for
	calibrateFound = 64 // files that each question finds
)

// Spread is a distribution of scores.
type Spread struct {
	Count  int     `json:"count"`
	Min    float64 `json:"min"`
	P10    float64 `json:"p10"`
	Median float64 `json:"median"`
	P90    float64 `json:"p90"`
	Max    float64 `json:"max"`
}

func spreadOf(scores []float64) Spread {
	if len(scores) == 0 {
		return Spread{}
	}
	slices.Sort(scores)
	at := func(share float64) float64 { return scores[int(share*float64(len(scores)-1))] }
	return Spread{len(scores), scores[0], at(0.1), at(0.5), at(0.9), scores[len(scores)-1]}
}

// Calibration is the scores that the server's embedder gives to what belongs together, and to
// what does not.
type Calibration struct {
	Known  Spread `json:"known"`  // a title and its own memory
	Others Spread `json:"others"` // a title and other memories that it finds
	Lost   int    `json:"lost"`   // memories that their own title did not find
	// MinScore is what to take for a threshold, 0 where both cannot be told apart.
	MinScore float64 `json:"min_score"`
}

// threshold returns the score that half of the others stay below. A question in other words scores far below a title,
// among the others: a threshold between both would drop what the server is asked for. The wrong memories above the
// threshold cost little, since [insert] deals them in turn.
func (c *Calibration) threshold() float64 {
	switch {
	case c.Known.P10 <= c.Others.P90:
		return 0
	case c.Others.Median < c.Others.P90:
		return c.Others.Median
	}
	return (c.Known.P10 + c.Others.P90) / 2 // all others are equally far
}

// Calibrate asks the server for memories by their titles. Errors: those of the server and of the
// primary.
func (s *Store) Calibrate(ctx context.Context) (Calibration, error) {
	var c Calibration
	l, err := s.ready(ctx)
	if err != nil {
		return c, err
	}
	pairs, err := s.pairs(ctx)
	if err != nil {
		return c, err
	}
	var known, others []float64
	for _, p := range pairs {
		found, err := s.o.Server.Find(ctx, api.Query{Text: p.text, Targets: []string{l.root()}, Limit: calibrateFound})
		if err != nil {
			return c, err
		}
		lost := true
		for _, f := range found {
			if n, ok := l.parse(f.URI); !ok {
				continue
			} else if n.id == p.id {
				known, lost = append(known, f.Score), false
			} else {
				others = append(others, f.Score)
			}
		}
		if lost {
			c.Lost++
		}
	}
	c.Known, c.Others = spreadOf(known), spreadOf(others)
	c.MinScore = c.threshold()
	return c, nil
}

// pair is a question and the memory that answers it.
type pair struct {
	id   amber.MemoryID
	text string
}

// pairs returns questions whose answers are known: titles, or first lines where there is none.
func (s *Store) pairs(ctx context.Context) (out []pair, err error) {
	enough := errors.New("enough")
	err = s.eachLive(ctx, func(page []amber.Memory) error {
		for i := range page {
			m := &page[i]
			text, _, _ := strings.Cut(trim(m.Content), "\n")
			if m.Title != "" {
				text = m.Title
			}
			if text = trim(s.o.Redact(clip.Marked(clip.Printed(text), 2*maxReason))); s.o.leaves(m.Scope) && text != "" {
				out = append(out, pair{m.ID, text})
			}
			if len(out) == calibratePairs {
				return enough
			}
		}
		return nil
	})
	if errors.Is(err, enough) {
		err = nil
	}
	return out, err
}
