package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A chrome is a headless Chromium, spoken to over a pipe in its DevTools protocol, and its one page.
// It keeps what went wrong in the page and how many bytes came over the network.
type chrome struct {
	t       *testing.T
	to      *os.File
	session string

	mu     sync.Mutex
	id     int
	wait   map[int]chan reply
	wrong  []string
	ignore string // what it may say that is not wrong
	loaded int64
}

type reply struct {
	ID     int
	Result json.RawMessage
	Error  *struct{ Message string }

	Method string
	Params json.RawMessage
}

// newChrome starts one. Where there is none the test is skipped, but in CI it fails.
func newChrome(t *testing.T) *chrome {
	t.Helper()
	name := ""
	for _, n := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(n); err == nil {
			name = path
			break
		}
	}
	if name == "" {
		testenv.Missing(t, "Chromium on the PATH")
	}
	profile, err := os.MkdirTemp("", "strata-chromium-*") // some of its processes write until they end
	if err != nil {
		t.Fatal(err)
	}
	theirs, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, theirs2, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := testenv.Command(t, name, "--headless=new", "--no-sandbox", "--remote-debugging-pipe",
		"--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{theirs, theirs2} // 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	theirs2.Close()
	c := &chrome{t: t, to: to, wait: map[int]chan reply{}}
	done := make(chan struct{})
	go func() { defer close(done); c.listen(from) }()
	t.Cleanup(func() {
		c.send("Browser.close", nil)
		_ = cmd.Wait() // it was told to go
		to.Close()
		from.Close()
		<-done
		testenv.Until(t, "the folder of the profile can be removed", 50*time.Millisecond, func() bool { return os.RemoveAll(profile) == nil })
	})
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	c.call("Target.getTargets", nil, &targets)
	for _, target := range targets.TargetInfos {
		if target.Type == "page" {
			var attached struct{ SessionID string }
			c.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
			c.session = attached.SessionID
			break
		}
	}
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		c.call(domain+".enable", nil, nil)
	}
	c.call("Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}, nil)
	return c
}

// listen reads what Chromium says: answers, and events of the page.
func (c *chrome) listen(from *os.File) {
	for r := bufio.NewReader(from); ; {
		line, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m reply
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		c.mu.Lock()
		if m.ID != 0 {
			if w := c.wait[m.ID]; w != nil {
				w <- m
			}
			delete(c.wait, m.ID)
		} else {
			c.event(&m)
		}
		c.mu.Unlock()
	}
}

// event keeps what the test asks about.
func (c *chrome) event(m *reply) {
	var p struct {
		Type              string
		Args              []struct{ Value, Description any }
		ExceptionDetails  struct{ Exception struct{ Description string } }
		Entry             struct{ Level, Text, URL string }
		EncodedDataLength float64
	}
	_ = json.Unmarshal(m.Params, &p) // what it has not is empty
	switch {
	case m.Method == "Runtime.exceptionThrown":
		c.wrong = append(c.wrong, "exception: "+p.ExceptionDetails.Exception.Description)
	case m.Method == "Runtime.consoleAPICalled" && (p.Type == "error" || p.Type == "assert"):
		c.wrong = append(c.wrong, fmt.Sprintf("console: %v", p.Args))
	case m.Method == "Log.entryAdded" && p.Entry.Level == "error" && c.ignore != "" && strings.Contains(p.Entry.Text, c.ignore):
	case m.Method == "Log.entryAdded" && p.Entry.Level == "error":
		c.wrong = append(c.wrong, fmt.Sprintf("log: %s %s", p.Entry.Text, p.Entry.URL))
	case m.Method == "Network.loadingFinished":
		c.loaded += int64(p.EncodedDataLength)
	}
}

func (c *chrome) send(method string, params any) chan reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id++
	msg := map[string]any{"id": c.id, "method": method, "params": params}
	if params == nil {
		msg["params"] = map[string]any{}
	}
	if c.session != "" && !strings.HasPrefix(method, "Browser.") {
		msg["sessionId"] = c.session
	}
	w := make(chan reply, 1)
	c.wait[c.id] = w
	data, err := json.Marshal(msg)
	if err != nil {
		panic(err)
	}
	_, _ = c.to.Write(append(data, 0)) // one that is gone does not answer
	return w
}

// call has Chromium do something, and reads its result into v, which may be nil.
func (c *chrome) call(method string, params map[string]any, v any) {
	c.t.Helper()
	select {
	case m := <-c.send(method, params):
		if m.Error != nil {
			c.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if v == nil {
			return
		}
		if err := json.Unmarshal(m.Result, v); err != nil {
			c.t.Fatalf("%s: %v", method, err)
		}
	case <-time.After(time.Until(testenv.Deadline(c.t))):
		c.t.Fatalf("%s: no answer", method)
	}
}

// eval evaluates an expression in the page and reads its value into v, which may be nil.
func (c *chrome) eval(expression string, v any) {
	c.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Text string }
	}
	c.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		c.t.Fatalf("%s: %s", expression, r.ExceptionDetails.Text)
	}
	if v != nil && len(r.Result.Value) > 0 {
		if err := json.Unmarshal(r.Result.Value, v); err != nil {
			c.t.Fatalf("%s: %v", expression, err)
		}
	}
}

// errors returns what went wrong in the page so far.
func (c *chrome) errors() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wrong
}

// bytes returns what came over the network so far, as it was sent.
func (c *chrome) bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loaded
}
