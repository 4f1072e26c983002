package ecs

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestFastPaths_Inline holds the compiler to what doc.go promises: these calls vanish.
func TestFastPaths_Inline(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command")
	}
	// Built for this machine whatever the test was built for: all runs then share one cached build.
	cmd := exec.Command("go", "build", "-gcflags=-m", "-o", os.DevNull, "./testdata/inline")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=", "GOARCH=", "GOEXPERIMENT=", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	types := regexp.MustCompile(`\[.*\]`) // the compiler prints the shapes of type arguments
	inlined := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if _, call, ok := strings.Cut(strings.TrimSpace(line), "inlining call to "); ok {
			inlined[types.ReplaceAllString(call, "")] = true
		}
	}
	for _, want := range []string{
		"ecs.(*Filter2).Query", "ecs.(*cursor).Next", "ecs.(*cursor).NextChunk", "ecs.(*cursor).Entity",
		"ecs.(*Query2).Get", "ecs.(*Query2).Columns", "ecs.Component.Get", "ecs.(*World).Alive",
	} {
		if !inlined[want] {
			t.Errorf("a call of %s is not inlined; %v", want, inlined)
		}
	}
}
