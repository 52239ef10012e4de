package digest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// picker chooses the items of each kind.
type picker struct {
	*talk
	used map[int]bool // lines that an item has
	now  map[Kind][]Item
}

// least is what a sentence must score to be an item of a kind.
var least = map[Kind]float64{Constraint: 1.2, Preference: 1.2, Decision: 1.8, Cause: 2.2, Command: 2, Unfinished: 2.2}

func (p *picker) pick() {
	p.asked()
	p.rules()
	p.unanswered()
	p.best(Unfinished, p.unfinished)
	p.best(Command, p.command)
	p.best(Decision, p.decision)
	p.best(Cause, p.cause)
	p.came()
}

// isUser reports whether the user said a line.
func (p *picker) isUser(i int) bool { return p.turns[p.lines[i].turn].Role == amber.RoleUser }

// before returns the words of the last turn of a role before a turn.
func (p *picker) before(turn int, role amber.Role) []string {
	for i := turn - 1; i >= 0; i-- {
		if p.turns[i].Role == role {
			return p.turns[i].words
		}
	}
	return nil
}

// weighted adds how central a line is, and what the user repeated, to what its
// cue words score.
func (p *picker) weighted(i int, score float64) float64 {
	if score <= 0 {
		return 0
	}
	l := p.lines[i]
	score = score*(0.85+0.3*l.central) + 0.4*l.again
	if strings.HasSuffix(l.text, "?") {
		score *= 0.4
	}
	if len(l.terms) < 2 && i > p.turns[l.turn].first {
		score *= 0.5
	}
	return score
}

// cued is what cue words score in a line and in the heading above it.
func (p *picker) cued(i int, c cues) float64 {
	l := p.lines[i]
	if l.code {
		return 0
	}
	return c.score(l.words) + 1.5*c.score(l.lead)
}

// asked takes what the user asked for: how the session begins, and where a later
// turn begins something new.
func (p *picker) asked() {
	for t := range p.turns {
		if p.turns[t].Role == amber.RoleUser && len(p.now[Task]) < most[Task] {
			p.askedIn(t)
		}
	}
	if len(p.now[Task]) == 0 && len(p.lines) > 0 && p.isUser(0) {
		p.add(Task, 0, 0)
	}
}

// askedIn takes the first request of a turn.
func (p *picker) askedIn(t int) {
	first := len(p.now[Task]) == 0
	for i := p.turns[t].first; i < p.turns[t].last; i++ {
		l := p.lines[i]
		if l.code || p.isRule(i) || len(l.terms) < 3 || !first && fresh.score(l.words[:min(len(l.words), 3)]) == 0 {
			continue
		}
		to := i
		if to+1 < p.turns[t].last && len(l.text) < 100 && !p.isRule(to+1) {
			to++
		}
		p.add(Task, i, to)
		return
	}
}

// fresh are the words with which a user begins something new.
var fresh = newCues(map[float64]string{1: "next thing,next,now,another thing,new task,also,important thing,second,one more", 0: "from now on,for now,right now"})

// rules takes what the user said must hold, and how things are to be done.
func (p *picker) rules() {
	score := func(kind Kind) func(i int) float64 {
		return func(i int) float64 {
			if k, score := p.rule(i); k == kind {
				return score
			}
			return 0
		}
	}
	p.best(Constraint, score(Constraint))
	p.best(Preference, score(Preference))
}

// rule scores what the user wants, and says whether it is a constraint or a
// preference.
func (p *picker) rule(i int) (Kind, float64) {
	if !p.isUser(i) {
		return Constraint, 0
	}
	c, f := p.cued(i, constraints), p.cued(i, preferences)
	if f > c {
		return Preference, p.weighted(i, f)
	}
	return Constraint, p.weighted(i, c)
}

func (p *picker) isRule(i int) bool {
	k, score := p.rule(i)
	return score >= least[k]
}

// decision scores what was chosen. How the answer to a question about a choice
// begins counts, whatever its words, and so does what the user agreed to.
func (p *picker) decision(i int) float64 {
	score := p.cued(i, decisions)
	l := p.lines[i]
	if p.isUser(i) {
		return p.weighted(i, 0.8*score)
	}
	if p.answers(l.turn, choices) && !l.code && !(p.isLastAnswer(l.turn) && p.answers(l.turn, closing)) {
		score += []float64{2.2, 0.8, 0.3}[min(i-p.turns[l.turn].first, 2)]
	}
	if score < 0.9 {
		return 0
	}
	if next := l.turn + 1; score >= 1.4 && next < len(p.turns) && p.turns[next].Role == amber.RoleUser && agrees(p.turns[next].words) {
		score += 0.8
	}
	return p.weighted(i, score)
}

// answers reports whether the turn before an answer has cues.
func (p *picker) answers(turn int, c cues) bool {
	return c.score(p.before(turn, amber.RoleUser)) >= 1
}

// agrees reports whether words begin with an agreement.
func agrees(words []string) bool {
	for _, a := range agreements {
		if begins(words, strings.Fields(a)) {
			return true
		}
	}
	return false
}

// cause scores what went wrong and why. An answer to somebody who tells of a
// problem counts more, and how its explanation begins most.
func (p *picker) cause(i int) float64 {
	l := p.lines[i]
	score := p.cued(i, causes)
	if p.isUser(i) || l.code {
		return p.weighted(i, 0.6*score)
	}
	if p.answersProblem(l.turn) {
		score += 0.8
		if l.paragraph == p.explains(l.turn) {
			score += 1.4
		}
	}
	if score < 1.5 {
		return 0
	}
	return p.weighted(i, score)
}

// answersProblem reports whether the user told of a problem before an answer. A
// session that begins with a statement rather than a request does so more often.
func (p *picker) answersProblem(turn int) bool {
	said := p.before(turn, amber.RoleUser)
	score := problems.score(said)
	if turn == 1 && len(said) > 0 && !requests[said[0]] {
		score += 0.5
	}
	return score >= 1 && !p.answers(turn, choices)
}

// requests are verbs with which a request begins.
var requests = set("add write create implement build make rename refactor update publish move remove delete port convert document generate set show list open run please can could let")

// explains returns the first paragraph of a turn that has something to say.
func (p *picker) explains(turn int) int {
	t := p.turns[turn]
	for i := t.first; i < t.last; i++ {
		if l := p.lines[i]; !l.code && len(l.whole) >= 100 {
			return l.paragraph
		}
	}
	return -1
}

// command scores sentences of the assistant that name a command.
func (p *picker) command(i int) float64 {
	l := p.lines[i]
	if p.isUser(i) {
		return 0
	}
	asked := asksHow.score(p.before(l.turn, amber.RoleUser))
	switch {
	case l.code && program(l.text):
		return 2 + min(asked, 2)
	case quotesCommand(l.text):
		return p.weighted(i, 1.6+min(asked, 2))
	}
	return 0
}

// unanswered takes the last request if no answer to it was heard.
func (p *picker) unanswered() {
	last := len(p.turns) - 1
	if last < 0 || p.turns[last].Role != amber.RoleUser || last == 0 {
		return
	}
	for i := p.turns[last].first; i < p.turns[last].last; i++ {
		if !p.used[i] && !p.lines[i].code && len(p.lines[i].terms) >= 3 && !p.isRule(i) {
			p.used[i] = true
			p.add(Unfinished, i, i)
			return
		}
	}
}

// unfinished scores what is left to be done: mostly in the last answer. If the user
// asked for it there, everything counts that does not say that something is done.
func (p *picker) unfinished(i int) float64 {
	l := p.lines[i]
	after := len(p.turns) - 1 - l.turn
	if p.isUser(i) || l.code || after > 3 {
		return 0
	}
	score := p.cued(i, unfinished)
	if !p.isLastAnswer(l.turn) {
		return p.weighted(i, 0.7*score)
	}
	if p.answers(l.turn, closing) {
		score += 2.7 - 0.8*max(0, p.cued(i, outcomes))
	}
	return p.weighted(i, score)
}

func (p *picker) isLastAnswer(turn int) bool {
	for _, t := range p.turns[turn+1:] {
		if t.Role == amber.RoleAssistant {
			return false
		}
	}
	return true
}

// came takes what came of it: the best sentence of the last answers that says that
// something is done, else how the last answer begins.
func (p *picker) came() {
	answers := 0
	for t := len(p.turns) - 1; t >= 0 && answers < 3; t-- {
		if p.turns[t].Role != amber.RoleAssistant || p.turns[t].first == p.turns[t].last {
			continue
		}
		answers++
		best, top := -1, 1.5
		for i := p.turns[t].first; i < p.turns[t].last; i++ {
			if s := p.weighted(i, p.cued(i, outcomes)); s > top && !p.used[i] {
				best, top = i, s
			}
		}
		if best >= 0 {
			p.add(Outcome, best, best)
			return
		}
	}
	p.begins()
}

// begins takes how the last answer begins as the outcome.
func (p *picker) begins() {
	for t := len(p.turns) - 1; t >= 0; t-- {
		if p.turns[t].Role != amber.RoleAssistant || p.turns[t].first == p.turns[t].last {
			continue
		}
		for i := p.turns[t].first; i < p.turns[t].last; i++ {
			if !p.used[i] && !p.lines[i].code && len(p.lines[i].terms) >= 2 {
				p.add(Outcome, i, i)
				return
			}
		}
		return
	}
}

// span is a stretch of lines.
type span struct{ from, to int }

// best takes the lines that score highest, each with the neighbours that belong to
// it, and keeps them in the order they were said.
func (p *picker) best(kind Kind, score func(i int) float64) {
	scores := make([]float64, len(p.lines))
	var seeds []int
	for i := range p.lines {
		if scores[i] = score(i); scores[i] >= least[kind] {
			seeds = append(seeds, i)
		}
	}
	slices.SortStableFunc(seeds, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var spans []span
	for _, i := range seeds {
		if len(spans) < most[kind] && !p.used[i] {
			s := p.grow(kind, i, scores)
			spans = append(spans, s)
			for j := s.from; j <= s.to; j++ {
				p.used[j] = true
			}
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for _, s := range p.joined(spans) {
		p.add(kind, s.from, s.to)
	}
}

// joined puts spans together that stand next to each other, where there is room. A
// short one that leads to the next and has no room says too little and goes.
func (p *picker) joined(spans []span) (out []span) {
	for n, s := range spans {
		if last := len(out) - 1; last >= 0 && p.adjacent(out[last].to, s.from) && len(p.text(out[last].from, s.to)) <= MaxItemBytes { // the lines are in one paragraph
			out[last].to = s.to
			continue
		}
		if n+1 < len(spans) && s.from == s.to && len(p.lines[s.to].text) < 70 && p.adjacent(s.to, spans[n+1].from) &&
			len(p.text(s.from, spans[n+1].to)) > MaxItemBytes {
			continue
		}
		out = append(out, s)
	}
	return out
}

// grow adds the neighbours of a line: the one before where the line points back to
// it, and those behind that score too or give a reason. Behind what was decided
// stands the reason.
func (p *picker) grow(kind Kind, i int, scores []float64) span {
	s := span{from: i, to: i}
	if kind != Constraint && kind != Preference && pointsBack(p.lines[i].words) && p.joins(i-1, i, s) && len(p.lines[i-1].terms) > 1 {
		s.from--
	}
	for s.to-s.from < 2 && p.joins(s.to, s.to+1, s) {
		if scores[s.to+1] <= 0.5 && !pointsBack(p.lines[s.to+1].words) && !(kind == Decision && s.to == i) {
			break
		}
		s.to++
	}
	return s
}

// together reports whether two lines are in one paragraph.
func (p *picker) together(a, b int) bool {
	return p.lines[a].turn == p.lines[b].turn && p.lines[a].paragraph == p.lines[b].paragraph && !p.lines[a].code && !p.lines[b].code
}

// adjacent reports whether one line follows the other in a paragraph, with no more
// than a short sentence between them.
func (p *picker) adjacent(a, b int) bool {
	return a+1 == b && p.together(a, b) && p.lines[b].at-p.lines[a].at-len(p.lines[a].text) <= minSentence+2
}

// joins reports whether two lines, one of them new to a span, stand next to each
// other in a paragraph, are free, and leave room.
func (p *picker) joins(a, b int, s span) bool {
	if a < 0 || b >= len(p.lines) || !p.adjacent(a, b) {
		return false
	}
	fresh := a
	if a == s.to {
		fresh = b
	}
	return !p.used[fresh] && len(p.text(min(a, s.from), max(b, s.to))) <= MaxItemBytes && !strings.HasSuffix(p.lines[fresh].text, "?")
}

// Words with which a sentence begins that needs the one before it, or explains it;
// and words near the beginning that do.
var (
	backwards = set("it that this they these those both so then there otherwise therefore because since but and which such until also he she its their for without instead neither either")
	following = set("therefore thus then hence instead too either")
)

func pointsBack(words []string) bool {
	return len(words) > 0 && backwards[words[0]] || slices.ContainsFunc(words[:min(len(words), 4)], func(w string) bool { return following[w] })
}

// text returns a stretch of a paragraph as it was said.
func (p *picker) text(from, to int) string {
	a, b := p.lines[from], p.lines[to]
	return a.whole[a.at : b.at+len(b.text)]
}

// add adds a stretch of lines as an item.
func (p *picker) add(kind Kind, from, to int) {
	for to > from && (!p.together(from, to) || len(p.text(from, to)) > MaxItemBytes) {
		to--
	}
	it := Item{Kind: kind, Text: clip(p.text(from, to), MaxItemBytes), Turns: []amber.TurnID{p.turns[p.lines[from].turn].ID}}
	said := Parse(it.Text)
	for i, known := range p.now[kind] {
		switch text := Parse(known.Text); {
		case said.Same(text):
			return
		case Revisable(kind) && said.Contradicts(text):
			p.now[kind][i] = it // what was said last holds
			return
		}
	}
	p.now[kind] = append(p.now[kind], it)
}

// Revisable reports whether a later item of a kind can take the place of an earlier
// one that it contradicts.
func Revisable(k Kind) bool { return k == Constraint || k == Preference || k == Decision }

// clip cuts s to at most n bytes of whole characters, between words where it can.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = strings.ToValidUTF8(s[:n], "")
	if at := strings.LastIndexByte(s, ' '); at > n/2 {
		s = s[:at]
	}
	return s
}
