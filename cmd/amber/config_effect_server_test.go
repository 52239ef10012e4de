//go:build linux

package main

import (
	"bufio"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber/internal/test/must"
)

func serverEffects() map[string]effect {
	return map[string]effect{
		"server.listen": {value("127.0.0.2:0"), func(s *setting) string {
			w, err := s.tryToServe()
			if err != nil && strings.Contains(err.Error(), "127.0.0.1:7411") {
				return "127.0.0.1:7411" // another process is there
			}
			must.Do(s, err)
			u := must.Get(url.Parse(w.url))(s)
			if u.Port() == "7411" {
				return u.Host
			}
			return u.Hostname()
		}, "127.0.0.1:7411", "127.0.0.2"},
		"server.tls_cert": tlsEffect("AMBER_SERVER__TLS_KEY"),
		"server.tls_key":  tlsEffect("AMBER_SERVER__TLS_CERT"),
		"server.memory": {value("1TiB"), func(s *setting) string {
			w := s.serve()
			const callers = 70 // one more than have room by default, and wait
			answers := make(chan string, callers)
			for range callers { // their bodies never come
				c := must.Get(net.Dial("tcp", strings.TrimPrefix(w.url, "http://")))(s)
				s.Cleanup(func() { _ = c.Close() })
				fmt.Fprintf(c, "POST /v1/tenants/default/agents/default/memories HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 7000000\r\n\r\n")
				go func() {
					line, _ := bufio.NewReader(c).ReadString('\n') // it is closed at the end
					answers <- line
				}()
			}
			for range callers {
				if strings.Contains(<-answers, " 503 ") {
					break
				}
			}
			status, _ := w.ask("POST", "/v1/tenants/default/agents/default/memories", `{"content":"x"}`)
			return fmt.Sprint(status / 100)
		}, "5", "2"},
		"server.max_body": {value("1MiB"), func(s *setting) string {
			status, _ := s.serve().ask("POST", "/v1/tenants/default/agents/default/memories", `{"content":"x"}`+strings.Repeat(" ", 2<<20))
			return fmt.Sprint(status / 100)
		}, "2", "4"},
	}
}

// tlsEffect is of one of two keys that need each other.
func tlsEffect(other string) effect {
	return effect{func(s *setting) string {
		cert, key, transport := certificate(s.T)
		s.https = transport
		if strings.HasSuffix(other, "KEY") {
			cert, key = key, cert
		}
		s.set(other, cert)
		return key
	}, func(s *setting) string {
		w, err := s.tryToServe("--listen", "127.0.0.1:0")
		if err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			return first
		}
		w.client.Transport = s.https
		status, _ := w.ask("GET", "/livez", "")
		return fmt.Sprint(w.url[:5], " ", status)
	}, "exit 2", "https 200"}
}

// tool calls a tool over MCP.
func (w *waiter) tool(name string, args map[string]any) *mcp.CallToolResult {
	w.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	way := &mcp.StreamableClientTransport{Endpoint: w.url + "/mcp", HTTPClient: w.client, DisableStandaloneSSE: true}
	session := must.Get(c.Connect(w.Context(), way, nil))(w)
	defer session.Close()
	r, err := session.CallTool(w.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil || r.IsError {
		w.Fatal(r, err)
	}
	return r
}
