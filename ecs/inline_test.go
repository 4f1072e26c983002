package ecs

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// TestFastPaths_Inline holds the compiler to what doc.go promises: these calls vanish.
func TestFastPaths_Inline(t *testing.T) {
	testenv.Long(t)
	if runtime.GOOS == "js" {
		t.Skip("no processes")
	}
	// Built for this machine whatever the test was built for: all runs then share one cached build.
	cmd := testenv.Command(t, "go", "build", "-gcflags=-m=2", "-o", os.DevNull, "./testdata/inline")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0", "GOOS=", "GOARCH=", "GOEXPERIMENT=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		report := regexp.MustCompile(`(?m)^.*(inlin|escape|leaking param|moved to heap).*\n`)
		t.Fatalf("%v\n%s", err, report.ReplaceAll(out, nil))
	}
	types := regexp.MustCompile(`\[.*\]`) // the compiler prints the shapes of type arguments
	// Go 1.26 names an iterator that it has inlined after the function around the loop, 1.27 after its package.
	loop := regexp.MustCompile(`^(all|chunks)\d\.`)
	inlined := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		// In the program, not in what the compiler makes of a method for an interface.
		if at, call, ok := strings.Cut(strings.TrimSpace(line), "inlining call to "); ok && strings.Contains(at, "main.go:") {
			inlined[loop.ReplaceAllString(types.ReplaceAllString(call, ""), "ecs.")] = true
		}
	}
	wanted := []string{
		"ecs.(*Filter2).Query", "ecs.(*cursor).Next", "ecs.(*cursor).NextChunk", "ecs.(*cursor).Entity",
		"ecs.(*Query2).Columns", "ecs.Component.Get", "ecs.(*World).Alive",
	}
	for n := 1; n <= maxFilter; n++ {
		// A loop is inlined when the iterator is, and the body in it.
		for _, format := range []string{"ecs.(*Filter%d).All", "ecs.(*Filter%d).All.func1", "all%d-range1", "ecs.(*Filter%d).Chunks", "ecs.(*Filter%d).Chunks.func1", "chunks%d-range1"} {
			wanted = append(wanted, fmt.Sprintf(format, n))
		}
		if n < 8 { // eight addresses are past what the compiler inlines
			wanted = append(wanted, fmt.Sprintf("ecs.(*Query%d).Get", n))
		}
	}
	for _, want := range wanted {
		if !inlined[want] {
			t.Errorf("a call of %s is not inlined; %v", want, inlined)
		}
	}
}
