package memory_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)\\w*|…_\\w+)…?`")
	typeName  = regexp.MustCompile("`(\\w+)\\.(\\w+)[^`]*`")
)

// The catalogue names tests that exist, and marks a type with "none" exactly if the game does not name it. A
// system that the game reaches through package tiers is described there, so it may be anything else.
func TestReadme_TestsExistAndUsesAreTrue(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	tests, game := sources(t, "memory", "demo"), sources(t, "demo", "ecs", "engine", "render", "particles")
	rows, unused := 0, 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for _, m := range namedTest.FindAllStringSubmatch(line, -1) {
			rows++
			if name := strings.TrimPrefix(m[1], "…"); !strings.Contains(tests.tests, name) {
				t.Errorf("README.md names %s, which does not exist", m[1])
			}
		}
		if len(cells) != 4 || !strings.HasPrefix(strings.TrimSpace(cells[3]), "none") {
			continue
		}
		if m := typeName.FindStringSubmatch(cells[1]); m != nil && m[1] != "tiers" {
			unused++
			for _, name := range []string{m[1] + "." + m[2], m[1] + ".New" + m[2]} {
				if strings.Contains(game.code, name) && regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).MatchString(game.code) {
					t.Errorf("README.md says that the game does not use %s, and it names %s", m[1]+"."+m[2], name)
				}
			}
		}
	}
	if rows < 60 || unused < 8 {
		t.Errorf("%d names of tests, %d rows with none: the test looks at the wrong thing", rows, unused)
	}
}

// goSources are the Go files of some folders: the names of functions in tests, and all else.
type goSources struct{ tests, code string }

func sources(t *testing.T, folders ...string) (s goSources) {
	t.Helper()
	var tests, code strings.Builder
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root(t), folder), func(name string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(name) != ".go" {
				return err
			}
			text, err := os.ReadFile(name)
			if strings.HasSuffix(name, "_test.go") {
				tests.Write(text)
			} else {
				code.Write(text)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return goSources{tests.String(), code.String()}
}
