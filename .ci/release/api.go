package main

import (
	"fmt"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
)

// sinceFile has the commit that HEAD is compared with before there is a version.
const sinceFile = ".ci/release/since.txt"

// A change is a difference between the exported names of two commits.
type change struct {
	pkg, text string // the package below the module, and what is different, which begins with the name
	breaks    bool   // programs that use the name
}

var (
	embedded   = regexp.MustCompile(`^\(\*?\w+\)(\.\w+), method set of \*?(\w+)$`)
	parameters = regexp.MustCompile(`\[[^\]]*\]`)
)

// name returns the changed name as CHANGELOG has to write it: package, type and field or method.
func (c change) name() string {
	name, _, _ := strings.Cut(c.text, ": ")
	name = parameters.ReplaceAllString(name, "")
	name = embedded.ReplaceAllString(name, "$2$1")
	name = strings.NewReplacer("(*", "", "(", "", ")", "").Replace(name)
	return strings.TrimSuffix(path.Base(c.pkg)+"."+strings.TrimPrefix(name, "package"), ".")
}

// apiChanges prints what HEAD changes since the last version, and fails if CHANGELOG does not name a break.
func apiChanges(root string, out io.Writer) error {
	since, tagged, err := base(root)
	if err != nil {
		return err
	}
	changes, err := compare(root, since)
	if err != nil {
		return err
	}
	changelog, err := git(root, "show", "HEAD:CHANGELOG.md")
	if err != nil {
		return err
	}
	news := above(string(changelog), strings.TrimPrefix(since, "v"))
	breaks, unnamed := 0, 0
	for _, c := range changes {
		line := "      "
		if c.breaks {
			breaks++
			line = "break "
			if tagged && !names(news, c.name()) {
				unnamed++
				line = "BREAK "
			}
		}
		fmt.Fprintf(out, "%s %s: %s\n", line, c.pkg, c.text)
	}
	fmt.Fprintf(out, "%d changes since %s, %d of them break programs\n", len(changes), since, breaks)
	if unnamed > 0 {
		return fmt.Errorf("%d of them, marked BREAK, are not named in CHANGELOG.md above %s, as in `pkg.Type.Method`", unnamed, since)
	}
	return nil
}

// base returns the newest version that HEAD contains, or the commit in sinceFile if there is none.
func base(root string) (since string, tagged bool, err error) {
	tags, err := git(root, "tag", "--list", "v[0-9]*.[0-9]*.[0-9]*", "--merged", "HEAD", "--sort=-version:refname")
	if err != nil {
		return "", false, err
	}
	if tag, _, _ := strings.Cut(string(tags), "\n"); tag != "" {
		return tag, true, nil
	}
	commit, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(sinceFile)))
	if err != nil {
		return "", false, fmt.Errorf("there is no tag, and no commit to compare with: %w", err)
	}
	return strings.TrimSpace(string(commit)), false, nil
}

// compare returns the differences between a commit and HEAD.
func compare(root, since string) (changes []change, err error) {
	l := loader{fset: token.NewFileSet(), byDir: map[string]*types.Package{}}
	var trees [2]map[string]*types.Package
	for i, commit := range []string{since, "HEAD"} {
		dir, err := os.MkdirTemp("", "strata-api")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		if err := extract(root, commit, dir); err != nil {
			return nil, fmt.Errorf("%s: %w (a shallow clone has no history: git fetch --unshallow --tags)", commit, err)
		}
		if trees[i], err = l.load(dir); err != nil {
			return nil, fmt.Errorf("%s: %w", commit, err)
		}
	}
	before, after := trees[0], trees[1]
	for p := range before {
		if after[p] == nil {
			changes = append(changes, change{short(p), "package: removed", true})
			continue
		}
		for _, c := range apidiff.Changes(before[p], after[p]).Changes {
			changes = append(changes, change{short(p), c.Message, !c.Compatible})
		}
	}
	for p := range maps.Keys(after) {
		if before[p] == nil {
			changes = append(changes, change{short(p), "package: added", false})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return strings.Compare(a.pkg+": "+a.text, b.pkg+": "+b.text) })
	// A method of a generic type is reported once for each use of the type.
	return slices.Compact(changes), nil
}

// short returns an import path as a folder of the module.
func short(p string) string {
	if _, dir, ok := strings.Cut(p, "/strata/"); ok {
		return dir
	}
	return p
}

// above returns the sections of a changelog in front of that of a version.
func above(changelog, version string) string {
	if i := strings.Index(changelog, "\n## "+version); i >= 0 {
		return changelog[:i]
	}
	return changelog
}

// names reports whether a text has the name, and not as a part of a longer one.
func names(text, name string) bool {
	return regexp.MustCompile(`(^|[^\w.])` + regexp.QuoteMeta(name) + `([^\w]|$)`).MatchString(text)
}
