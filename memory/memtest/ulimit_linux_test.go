package memtest

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

func TestUnderUlimit_TheProcessHasNoMoreAddressSpace(t *testing.T) {
	if !UnderUlimit(t, 2<<20, 1<<20) {
		return
	}
	const want = uint64(2 << 30)
	if _, err := page.Default().Reserve(uintptr(want)); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("2 GiB: %v", err)
	}
}

// named is a recorder that has the name of a test.
type named struct {
	recorder
	name string
	logs []string
}

func (n *named) Name() string               { return n.name }
func (n *named) Logf(_ string, args ...any) { n.logs = append(n.logs, args[len(args)-1].(string)) }

func TestUnderUlimit_TellsWhatTheProcessSaid(t *testing.T) {
	if invariant.Debug || ^uintptr(0)>>32 == 0 || os.Getenv("STRATA_UNDER_ULIMIT") != "" {
		return // it does nothing there
	}
	for name, c := range map[string]struct{ said, logged string }{
		"TestUlimited_Fails":    {"ulimit -v 2097152: exit status 1\n=== RUN   TestUlimited_Fails\n", "it fails"},
		"TestUlimited_Passes":   {"", "it passes"},
		"TestUlimited_IsNoTest": {"ulimit -v 2097152: <nil>\ntesting: warning: no tests to run\nPASS", ""},
	} {
		n := &named{name: name}
		n.run(func() {
			if UnderUlimit(n, 2<<20) {
				t.Errorf("%s: this is not the process", name)
			}
		})
		if n.failed != (c.said != "") || !strings.HasPrefix(n.said, c.said) || !strings.Contains(strings.Join(n.logs, "\n"), c.logged) {
			t.Errorf("%s: %q, logged %q", name, n.said, n.logs)
		}
	}
}

func TestUlimited_Passes(t *testing.T) {
	if os.Getenv("STRATA_UNDER_ULIMIT") == t.Name() {
		t.Log("it passes")
	}
}

func TestUlimited_Fails(t *testing.T) {
	if os.Getenv("STRATA_UNDER_ULIMIT") == t.Name() {
		t.Error("it fails")
	}
}
