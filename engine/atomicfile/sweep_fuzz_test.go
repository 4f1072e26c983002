package atomicfile

import (
	"strings"
	"testing"
)

// FuzzWriter gives a folder files of any name. Sweep ignores those that Pattern does not make.
func FuzzWriter(f *testing.F) {
	for _, s := range []string{Pattern(""), Pattern(".json"), ".strata-7-1.json-old", ".strata--7-1", ".strata-+7-1", ".strata-07-1", ".strata-7", ".strata-99999999999999999999-1", "strata-7-1", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		pid, ok := writer(name)
		if !ok {
			return
		}
		rest, ours := strings.CutPrefix(name, prefix)
		digits, _, _ := strings.Cut(rest, "-")
		if !ours || pid < 0 || digits == "" || strings.Trim(digits, "0123456789") != "" || len(digits) > 1 && digits[0] == '0' {
			t.Fatalf("%q is taken for a file of process %d", name, pid)
		}
	})
}
