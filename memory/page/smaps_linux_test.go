package page_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/page"
)

// smaps returns a line of what the kernel says about the mapping that holds p: "VmFlags", "Rss".
func smaps(t *testing.T, p uintptr, key string) string {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return ""
	}
	defer f.Close()
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var from, to uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); n == 2 {
			inside = from <= p && p < to
		}
		if v, ok := strings.CutPrefix(lines.Text(), key+":"); ok && inside {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func TestOSWith_TheKernelKnowsOfHugePagesAndPrefault(t *testing.T) {
	const size = 2 << 20
	for _, o := range []page.Options{{}, {HugePages: true}, {Prefault: true}, {HugePages: true, Prefault: true}} {
		src := page.OSWith(o)
		m := reserve(t, src, 4<<20)
		if err := src.Commit(m, 0, size); err != nil {
			t.Fatal(err)
		}
		flags, rss := smaps(t, uintptr(m.Base), "VmFlags"), smaps(t, uintptr(m.Base), "Rss")
		if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err == nil && flags != "" {
			if got := strings.Contains(" "+flags+" ", " hg "); got != o.HugePages {
				t.Errorf("%+v: the mapping has the flags %q", o, flags)
			}
		}
		var kib uintptr
		if _, err := fmt.Sscanf(rss, "%d kB", &kib); err == nil && (kib >= size>>10) != o.Prefault {
			t.Errorf("%+v: %d KiB of %d are resident", o, kib, size>>10)
		}
	}
}
