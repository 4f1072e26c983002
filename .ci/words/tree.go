package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A finding is a mistake at a line of a file.
type finding struct {
	file string // relative to the root, with slashes
	line int
	text string // what is wrong, and what to write instead
}

func (f finding) String() string { return fmt.Sprintf("%s:%d: %s", f.file, f.line, f.text) }

// A unit is a folder with Go files, or a Markdown file.
type unit struct {
	wrong   []finding // what the gate rejects
	other   []finding // what the ratchet counts
	lengths []int     // words of each sentence in comments of exported names
}

// A tree has the units by name.
type tree struct{ units map[string]*unit }

func (t *tree) unit(name string) *unit {
	u := t.units[name]
	if u == nil {
		u = &unit{}
		t.units[name] = u
	}
	return u
}

func (t *tree) names() []string { return sorted(t.units) }

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// exempt are the beginnings of names of files with the words of others.
var exempt = []string{"LICENSE", "NOTICE", "COPYING"}

// scan reads the tree below root.
func scan(root string) (*tree, error) {
	t := &tree{units: map[string]*unit{}}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			if base == ".git" || base == "testdata" {
				return fs.SkipDir
			}
			return t.folder(root, name)
		}
		if path.Ext(base) != ".md" || slices.ContainsFunc(exempt, func(p string) bool { return strings.HasPrefix(base, p) }) {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		u := t.unit(name)
		for _, b := range markdownBlocks(string(text)) {
			found, _ := checkBlock(name, b)
			u.wrong = append(u.wrong, found...)
		}
		return nil
	})
	if err == nil && len(t.units) == 0 {
		err = fmt.Errorf("%s has no Go file and no Markdown", root)
	}
	return t, err
}

// checkBlock returns the phrases and the long sentences of a block, and the length of each sentence.
func checkBlock(file string, b *block) (found []finding, lengths []int) {
	for _, h := range findPhrases(b.text) {
		found = append(found, finding{file, b.lineAt(h.at), fmt.Sprintf("%q: write %s", h.text, h.phrase.instead)})
	}
	for _, s := range b.sentences() {
		lengths = append(lengths, s.words)
		if s.words > maxWords {
			found = append(found, finding{file, b.lineAt(s.from), tooLong(s.words)})
		}
	}
	return found, lengths
}

func tooLong(words int) string {
	return fmt.Sprintf("a sentence of %d words: split it, at most %d", words, maxWords)
}
