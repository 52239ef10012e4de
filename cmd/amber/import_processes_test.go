//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// A server that is killed while it receives a file leaves the file, and the next one removes it.
func TestUploadsOfAKilledServerAreRemoved(t *testing.T) {
	t.Parallel()
	u, temp := newUser(t), t.TempDir()
	u.env = append(u.env, "TMPDIR="+temp)
	uploads := func() int {
		return len(must.Get(filepath.Glob(filepath.Join(temp, "amber-upload-*.amber-scratch")))(t))
	}
	r := u.serve()
	host := strings.TrimPrefix(r.url, "http://")
	c := must.Get(net.Dial("tcp", host))(t)
	defer c.Close()
	fmt.Fprintf(c, "POST %s/imports?name=a.jsonl HTTP/1.1\r\nHost: %s\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n", agentURL, host)
	must.Says(t, "the server", must.Get(bufio.NewReader(c).ReadString('\n'))(t), "100 Continue")
	another := newUser(t)
	another.env = u.env
	own := filepath.Join(temp, "amber-upload-backup.zip")
	must.Do(t, os.WriteFile(own, []byte("x"), 0o600))
	another.serve() // with the same temporary folder: it leaves alone what is in use
	must.Equal(t, "files while it comes", uploads(), 1)
	r.kill()
	must.Equal(t, "files of the server that was killed", uploads(), 1)
	u.serve()
	must.Equal(t, "files when the next one serves", uploads(), 0)
	must.Equal(t, "a file of the user", string(must.Get(os.ReadFile(own))(t)), "x")
}

// Two commands that import the same files at one time count each row once between them.
func TestTwoImportCommandsAtOnceCountEachRowOnce(t *testing.T) {
	t.Parallel()
	u, dir := newUser(t), t.TempDir()
	const rows = 1500
	var text strings.Builder
	for i := range rows {
		fmt.Fprintf(&text, `{"type":"entity","name":"e%d","entityType":"thing","observations":["it has number %d"]}`+"\n", i, i)
	}
	file := filepath.Join(dir, "memory.jsonl")
	must.Do(t, os.WriteFile(file, []byte(text.String()), 0o600))
	var cmds [2]*exec.Cmd
	var outs [2]bytes.Buffer
	for i := range cmds {
		cmds[i] = exec.CommandContext(t.Context(), "amber", "import", "--json", "--from", "mcp-memory", file)
		cmds[i].Env, cmds[i].Stdout = u.environ(), &outs[i]
		must.Do(t, cmds[i].Start())
	}
	var sum wire.ImportCounts
	for i := range cmds {
		must.Do(t, cmds[i].Wait())
		var r wire.ForeignImports
		must.Do(t, json.Unmarshal(outs[i].Bytes(), &r))
		sum.Add(r.ImportCounts)
		must.Equal(t, "conflicts and skips", fmt.Sprint(r.Conflicts, r.Skipped), "0 0")
	}
	must.Equal(t, "together", sum, wire.ImportCounts{Read: 2 * rows, New: rows, Known: rows})
}
