package shots

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A picture that no page shows is dead weight in every clone.
func TestShots_EachIsInAMarkdownFile(t *testing.T) {
	var pages strings.Builder
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".md" {
			return err
		}
		text, err := os.ReadFile(name)
		pages.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	pictures := 0
	for _, f := range files {
		switch filepath.Ext(f.Name()) {
		case ".go", ".mod":
			continue
		}
		pictures++
		if !strings.Contains(pages.String(), "assets/shots/"+f.Name()) {
			t.Errorf("no Markdown file shows %s", f.Name())
		}
	}
	if pictures == 0 {
		t.Error("there is no picture")
	}
}
