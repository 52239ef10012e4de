package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// row is the outcome of one check of one host.
type row struct {
	host, version, check string
	err                  error
	skip                 string // why there is nothing to check
}

// show writes the table and reports whether every check is well.
func show(w io.Writer, rows []row) bool {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "host\tversion\tcheck\toutcome")
	failed := 0
	for _, r := range rows {
		outcome := "ok"
		if r.err != nil {
			outcome = "FAIL: " + strings.Join(strings.Fields(r.err.Error()), " ")
			failed++
		} else if r.skip != "" {
			outcome = "not checked: " + r.skip
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.host, r.version, r.check, outcome)
	}
	_ = t.Flush()
	if failed > 0 {
		fmt.Fprintf(w, "%d of %d checks failed\n", failed, len(rows))
	}
	return failed == 0 && len(rows) > 0
}
