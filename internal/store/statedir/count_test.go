package statedir_test

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/statedir"
	"github.com/amber-memory/amber/internal/test/must"
)

// rounds is how often a process counts that is not killed.
const rounds = 20

// countedLine is what a process prints when a count was acknowledged.
const countedLine = "counted"

// count adds one to the document n, again and again, and says so each time.
func count(t *testing.T, d *statedir.Dir) {
	for range rounds {
		for !increment(t, d) {
		}
		fmt.Println(countedLine)
	}
}

// increment adds one unless another process was quicker.
func increment(t *testing.T, d *statedir.Dir) bool {
	doc := must.Get(d.ReadDocument(t.Context(), "n"))(t)
	n := must.Get(strconv.Atoi(string(doc.Document)))(t)
	_, err := d.PutDocument(t.Context(), amber.DocumentWrite{Name: "n", Document: fmt.Append(nil, n+1), IfRevision: doc.Revision})
	if err != nil && amber.KindOf(err) != amber.KindConflict {
		t.Fatal(err)
	}
	return err == nil
}

// acknowledged counts what a process says, and tells each.
func acknowledged(out io.Reader, each func(n int)) (n int) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), countedLine) {
			n++
			each(n)
		}
	}
	return n
}
