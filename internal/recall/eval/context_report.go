package eval

import "slices"

// report turns outcomes into scores.
func (r *scene) report() ContextReport {
	p := ContextReport{Sessions: r.sessions, Classes: []Injection{}}
	p.All = r.injection("all", func(o PromptOutcome) bool { return o.Class != "" })
	p.From = r.injection("from earlier", func(o PromptOutcome) bool { return o.From != "" })
	for _, c := range r.classes() {
		p.Classes = append(p.Classes, r.injection(c, func(o PromptOutcome) bool { return o.Class == c }))
	}
	silent, found := 0, 0
	for _, o := range r.outcomes {
		if o.Class == "" {
			if p.Quiet.N++; o.Bytes == 0 {
				silent++
			}
		}
		if o.Bytes > 0 {
			if p.Precision.Injected++; o.Found {
				found++
			}
		}
	}
	p.Quiet.Share = share(silent, p.Quiet.N)
	p.Precision.Share = share(found, p.Precision.Injected)
	p.Start = Start{N: r.startN, Share: share(r.startFound, r.startN)}
	p.PromptBytes, p.StartBytes = bytesOf(r.prompts), bytesOf(r.starts)
	p.Latency = latencyOf(r.took)
	for _, d := range r.took {
		if r.o.Budget > 0 && d > r.o.Budget {
			p.OverBudget++
		}
	}
	if r.o.Each {
		p.Outcomes = r.outcomes
	}
	return p
}

func share(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

// classes returns the classes in the order they were asked.
func (r *scene) classes() (names []string) {
	for _, o := range r.outcomes {
		if o.Class != "" && !slices.Contains(names, o.Class) {
			names = append(names, o.Class)
		}
	}
	return names
}

// injection scores the outcomes that belong to a class.
func (r *scene) injection(name string, belongs func(PromptOutcome) bool) Injection {
	i := Injection{Class: name}
	found, withStart := 0, 0
	for _, o := range r.outcomes {
		if !belongs(o) {
			continue
		}
		i.N++
		if o.Found {
			found++
		}
		if o.WithStart {
			withStart++
		}
	}
	i.Prompt, i.WithStart = share(found, i.N), share(withStart, i.N)
	return i
}
