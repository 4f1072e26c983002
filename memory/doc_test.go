package memory_test

import (
	"os"
	"path"
	"strings"
	"testing"
)

// The table of package memory is how a reader finds an allocator.
func TestDoc_NamesEveryAllocator(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for pkg, s := range storeys {
		name := path.Base(pkg)
		if s != storeys["memory/arena"] || pkg == "memory/memtest" {
			continue
		}
		if !strings.Contains(string(text), " "+name+".") && !strings.Contains(strings.ToLower(string(text)), "package "+name) {
			t.Errorf("memory/doc.go does not name package %s", name)
		}
		named++
	}
	if named < 10 {
		t.Errorf("only %d allocators have a storey", named)
	}
}
