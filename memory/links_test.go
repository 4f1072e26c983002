package memory_test

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeBlock  = regexp.MustCompile("(?ms)^```.*?^```$")
	codeInline = regexp.MustCompile("`[^`\n]*`")
)

// Each link of a Markdown file leads to a file of the repository and to a heading in it. Links to other sites are
// only parsed, for a test needs no network.
func TestHouse_LinksLeadSomewhere(t *testing.T) {
	links := 0
	err := filepath.WalkDir(root(t), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(name) == ".md":
			links += checkLinks(t, name)
		}
		return nil
	})
	if err != nil || links < 30 {
		t.Errorf("%d links, %v: the test looks at the wrong thing", links, err)
	}
}

func checkLinks(t *testing.T, name string) (n int) {
	t.Helper()
	text := read(t, name)
	text = codeInline.ReplaceAllString(codeBlock.ReplaceAllString(text, ""), "`")
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		n++
		to, err := url.Parse(m[1])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if to.Scheme != "" {
			if to.Scheme != "https" || to.Host == "" {
				t.Errorf("%s: %s: want https", name, m[1])
			}
			continue
		}
		file := name
		if to.Path != "" {
			file = filepath.Join(filepath.Dir(name), filepath.FromSlash(to.Path))
		}
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%s: %s: there is no such file", name, m[1])
		} else if to.Fragment != "" && !hasHeading(read(t, file), to.Fragment) {
			t.Errorf("%s: %s: there is no such heading", name, m[1])
		}
	}
	return n
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// hasHeading reports whether a Markdown file has a heading whose name in links is anchor.
func hasHeading(text, anchor string) bool {
	for line := range strings.Lines(codeBlock.ReplaceAllString(text, "")) {
		if title := strings.TrimLeft(line, "#"); title != line && anchorOf(title) == anchor {
			return true
		}
	}
	return false
}

// anchorOf returns the name of a heading in links, as GitHub makes it.
func anchorOf(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(title)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		}
	}
	return b.String()
}

func TestAnchorOf_NamesHeadingsAsGitHubDoes(t *testing.T) {
	for title, want := range map[string]string{" What it costs\n": "what-it-costs", " `Free`, and W4!": "free-and-w4", " A/B": "ab"} {
		if got := anchorOf(title); got != want {
			t.Errorf("%q is %q, want %q", title, got, want)
		}
	}
	if text := "# One\n```\n## Two\n```\n"; !hasHeading(text, "one") || hasHeading(text, "two") || hasHeading(text, "three") {
		t.Error("headings are not those outside of code")
	}
}
