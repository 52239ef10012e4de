package memory

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/term"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

// filterFlags narrow recall and list.
type filterFlags struct {
	cli.IdentityFlags
	kinds, tags  []string
	since, until string
}

func (f *filterFlags) add(cmd *cobra.Command) {
	f.IdentityFlags.Add(cmd)
	f.addNarrowing(cmd)
}

// addNarrowing adds the flags that are about no identity.
func (f *filterFlags) addNarrowing(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.kinds, "kind", nil, "only this kind (repeat)")
	fl.StringArrayVar(&f.tags, "tag", nil, "only with this tag (repeat: all of them)")
	fl.StringVar(&f.since, "since", "", "changed at or after this time: "+cli.TimeForms+" ago")
	fl.StringVar(&f.until, "until", "", "changed before this time: "+cli.TimeForms+" ago")
}

// filter returns what the flags ask for, with the identities known here.
func (a *app) filter(ctx context.Context, s *cli.Opened, f filterFlags) (out amber.Filter, err error) {
	out.Scope, out.Tags = amber.Scope(f.Scope), f.tags
	for _, k := range f.kinds {
		out.Kinds = append(out.Kinds, amber.MemoryKind(k))
	}
	for _, t := range []struct {
		flag, text string
		into       *amber.Time
	}{{"since", f.since, &out.Since}, {"until", f.until, &out.Until}} {
		if *t.into, err = a.Past(t.flag, t.text); err != nil {
			return out, err
		}
	}
	out.Identities, err = a.Identities(ctx, s, f.IdentityFlags)
	return out, err
}

// hitFlags say which hits are shown, and how.
type hitFlags struct {
	n        int
	explain  bool
	weak     bool
	layers   []string
	minScore float64
}

func (h *hitFlags) add(cmd *cobra.Command) {
	cmd.Flags().IntVarP(&h.n, "limit", "n", 0, "how many hits at most (default memory.recall.top_k, 8; cap 64)")
	cmd.Flags().StringArrayVar(&h.layers, "layer", nil, "only this layer (repeat): memory, exchange, note, session or activity")
	cmd.Flags().Float64Var(&h.minScore, "min-score", 0, "leave out hits that are less likely to be relevant, 0 to 1")
	cmd.Flags().BoolVar(&h.explain, "explain", false, "show the score of each hit, and why it ranks where it does")
	cmd.Flags().BoolVar(&h.weak, "weak", false, "show hits that are hardly relevant, too")
}

// question is the query of an argument and the flags.
func (a *app) question(cmd *cobra.Command, arg string, h hitFlags) (amber.Query, error) {
	if cmd.Flags().Changed("limit") {
		if err := cli.Limit("-n", h.n); err != nil {
			return amber.Query{}, err
		}
	}
	text, err := a.Text(arg, amber.MaxQueryBytes)
	if err != nil {
		return amber.Query{}, err
	}
	if strings.TrimSpace(text) == "" {
		return amber.Query{}, amber.Errorf(amber.KindInvalid, "recall", "", "the question is empty").WithHint("amber list")
	}
	return layered(amber.Query{Text: text, Limit: h.n, Explain: h.explain}, h.layers, h.minScore)
}

func (a *app) recallCommand() *cobra.Command {
	var f filterFlags
	var h hitFlags
	var all bool
	var at string
	cmd := cli.Verb("recall", func(cmd *cobra.Command, args []string) error {
		q, err := a.question(cmd, args[0], h)
		if err != nil {
			return err
		}
		if all && cmd.Flags().Changed("at") {
			return cli.Usage("--all does not go with --at: a snapshot answers for the project")
		}
		if cmd.Flags().Changed("at") {
			return a.recallAt(cmd, at, f, q, h.weak)
		}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			if all {
				return a.ask(ctx, s, q, f, h.weak)
			}
			return a.recall(ctx, s, q, f, h.weak)
		})
	})
	f.add(cmd)
	h.add(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "ask every project, chat, session and note, as amber ask does")
	cmd.Flags().StringVar(&at, "at", "", "answer from this snapshot")
	cli.OnlyHere(cmd.Flags(), "all")
	return cmd
}

// recall answers a question from what is seen here, and says where better hits lie.
func (a *app) recall(ctx context.Context, s *cli.Opened, q amber.Query, f filterFlags, weak bool) error {
	var err error
	if q.Filter, err = a.filter(ctx, s, f); err != nil {
		return err
	}
	if s.Local != nil {
		s.Local.FeedWithin(ctx)
	}
	result, err := s.Store.LongTerm.Recall(ctx, q)
	if err != nil {
		return err
	}
	recalled := wire.Recalled{RecallResult: result}
	if recalled.Elsewhere, err = a.elsewhere(ctx, s, q, result); err != nil {
		return err
	}
	if len(result.Hits) == 0 {
		defer a.noteOtherNames(ctx, s, f.Project)
	}
	return a.Out.Show(recalled, func(w io.Writer) {
		a.printHits(w, result, weak)
		if line := wire.ElsewhereLine(recalled.Elsewhere); line != "" {
			a.Out.Note("%s: --all", cli.Flat(line))
		}
	})
}

// layered adds what --layer and --min-score ask for.
func layered(q amber.Query, layers []string, minScore float64) (amber.Query, error) {
	for _, l := range layers {
		if err := amber.CheckOneOf("layer", amber.RecallLayer(l), amber.RecallLayers()...); err != nil {
			return q, cli.Usage("--layer is %q, want one of %s", cli.OneLine(l, 40), strings.Join(cli.Texts(amber.RecallLayers()), ", "))
		}
		q.Layers = append(q.Layers, amber.RecallLayer(l))
	}
	if !(minScore >= 0 && minScore <= 1) {
		return q, cli.Usage("--min-score is %v, want 0 to 1", minScore)
	}
	q.MinScore = minScore
	return q, nil
}

// noteAnswer says what an answer lacks.
func (a *app) noteAnswer(r amber.RecallResult) {
	p := a.Out
	for _, c := range r.Clamped {
		p.Note("-n %d is more than allowed; showing at most %d", c.Requested, c.Effective)
	}
	a.NoteAside(r.SetAside)
	if r.Degraded != "" {
		p.Note("%s", cli.OneLine(r.Degraded, 300))
	}
	if len(r.Hits) == 0 {
		p.Note("nothing found")
	}
}

// fold returns the hits that are shown, and what says afterwards how many weak ones are not.
func (a *app) fold(hits []amber.Hit, all bool) (shown []amber.Hit, note func()) {
	shown, weak := wire.Fold(hits)
	if all {
		return hits, func() {}
	}
	return shown, func() {
		if len(weak) > 0 {
			a.Out.Note("%s: --weak", words.Count(len(weak), "weak hit", "weak hits"))
		}
	}
}

// printHits prints the hits, the weak ones behind others only if they are asked for.
func (a *app) printHits(w io.Writer, r amber.RecallResult, all bool) {
	a.noteAnswer(r)
	shown, note := a.fold(r.Hits, all)
	defer note()
	for i, h := range shown {
		if i > 0 {
			fmt.Fprintln(w)
		}
		a.printFound(w, h)
	}
}

// printFound prints a hit and what it is.
func (a *app) printFound(w io.Writer, h amber.Hit) {
	a.printHit(w, h)
	cli.Wrapped(w, 6, "      %s", a.Out.Style(cli.Dim, strings.Join(a.aboutHit(h), " · ")))
	if h.Why != nil {
		printWhy(w, h.Why)
	}
}

// aboutHit says what a hit is, where it is from and how far to believe it.
func (a *app) aboutHit(h amber.Hit) (parts []string) {
	if h.Layer == amber.LayerMemory || h.Layer == "" {
		parts = append(parts, cli.ShortID(string(h.ID)), string(h.Kind), string(h.Scope), a.Out.When(h.UpdatedAt))
	} else {
		parts = append(parts, string(h.Layer))
		if h.Role != "" {
			parts = append(parts, string(h.Role))
		}
		if h.SessionID != "" {
			parts = append(parts, "session "+cli.Flat(cli.ShortID(string(h.SessionID))))
		}
		if h.Layer == amber.LayerNote {
			parts = append(parts, cli.Flat(h.Owner))
		}
		parts = append(parts, h.CreatedAt.Time().Format("2006-01-02"))
	}
	if h.Trust != amber.TrustOwn && h.Trust != "" {
		parts = append(parts, string(h.Trust))
	}
	if more := whole(h); more != "" {
		parts = append(parts, more)
	}
	return parts
}

// whole is the command that shows all of what a hit was taken from; "" for a memory that
// is shown as it is.
func whole(h amber.Hit) string {
	switch h.Layer {
	case amber.LayerExchange, amber.LayerSession:
		return "amber session show " + cli.Flat(cli.ShortID(string(h.SessionID)))
	case amber.LayerActivity:
		return "amber session activity " + cli.Flat(cli.ShortID(string(h.SessionID)))
	case amber.LayerNote:
		return "amber note show " + cli.Flat(h.Owner)
	}
	return ""
}

// hitLines is how much of a memory a hit shows on a terminal.
const hitLines = 6

// printHit prints what was found under how likely it is relevant: whole, or its first lines on a terminal.
func (a *app) printHit(w io.Writer, h amber.Hit) {
	const indent = 6
	p := a.Out
	likely := wire.LikelihoodOf(h.Score)
	score := p.Style(cli.Amb, likely.Dots()+" "+string(likely))
	if h.Why != nil {
		score += fmt.Sprintf(" %.2f", h.Score)
	}
	if h.Title != "" {
		cli.Wrapped(w, indent, "%s  %s", score, p.Style(cli.Bold, cli.Flat(h.Title)))
	}
	lines := strings.Split(strings.TrimRight(cli.Safe(h.Content), "\n"), "\n")
	if p.Columns > 0 {
		var fitting []string
		for _, line := range lines {
			fitting = append(fitting, term.Wrap(strings.ReplaceAll(line, "\t", "    "), max(p.Columns-indent, 20), 0)...)
		}
		if lines = fitting; len(lines) > hitLines {
			command := whole(h)
			if command == "" {
				command = "amber get " + cli.ShortID(string(h.ID))
			}
			more := p.Style(cli.Dim, fmt.Sprintf("… %s: %s", words.Count(int64(len(lines)-hitLines), "more line", "more lines"), command))
			lines = append(lines[:hitLines], more)
		}
	}
	for i, line := range lines {
		if i == 0 && h.Title == "" {
			fmt.Fprintf(w, "%s  %s\n", score, line)
			continue
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Repeat(" ", indent)+line, " "))
	}
}

func printWhy(w io.Writer, why *amber.Why) {
	for _, t := range why.Terms {
		fmt.Fprintf(w, "      %q in %s\n", t.Term, strings.Join(t.Fields, ", "))
	}
	fmt.Fprint(w, "      ", cli.ScoreParts(why))
	if why.Newer {
		fmt.Fprint(w, ", newer than another about the same")
	}
	fmt.Fprintln(w)
}
