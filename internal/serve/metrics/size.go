package metrics

import "github.com/amber-memory/amber"

func memoryBytes(ms ...amber.Memory) (n int) {
	for i := range ms {
		n += len(ms[i].Title) + len(ms[i].Content) + len(ms[i].Summary)
	}
	return n
}

func requestBytes(rs ...amber.WriteRequest) (n int) {
	for i := range rs {
		n += len(rs[i].Title) + len(rs[i].Content) + len(rs[i].Summary)
	}
	return n
}

func editBytes(r amber.EditRequest) (n int) {
	for _, s := range []*string{r.Title, r.Content, r.Summary} {
		if s != nil {
			n += len(*s)
		}
	}
	return n
}

func hitBytes(hits []amber.Hit) (n int) {
	for i := range hits {
		n += len(hits[i].Title) + len(hits[i].Snippet) + len(hits[i].Content)
	}
	return n
}

func turnBytes(ts []amber.Turn) (n int) {
	for i := range ts {
		n += len(ts[i].Content)
	}
	return n
}

func ingestBytes(in amber.Ingestion) (n int) {
	for i := range in.Steps {
		n += turnBytes(in.Steps[i].Turns) + requestBytes(in.Steps[i].Memories...)
	}
	return n
}
