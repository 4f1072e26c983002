// Command words checks the language of the repository. From the root of the repository:
//
//	go run -C .ci/words .                       # the whole tree
//	go run -C .ci/words . memory/page README.md # everything that is wrong in these units
//	go run -C .ci/words . -other memory/page    # the other comments of this unit, too
//	go run -C .ci/words . -write                # lower the ratchet, shorten the list of units to do
//
// A unit is a folder with Go files, or a Markdown file. In the comments of exported names, in package
// comments, in error texts and in Markdown the command rejects:
//
//   - the phrases of phrases.go,
//   - sentences of more than 30 words,
//   - unexported fields in the comment of an exported type, its fields and its methods.
//
// It rejects names of tests above 60 characters. All other comments are counted: ratchet.txt has the
// number of phrases and long sentences of each folder, which may fall and may not rise.
//
// todo.txt lists the units that are not rewritten yet. Their mistakes are counted and tolerated. A
// unit of this list without a mistake is itself a mistake, so the list only gets shorter.
//
// Test data, licenses and notices are not checked.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/strata-go/strata/engine/cmdline"
)

func main() {
	out := &cmdline.Output{Writer: os.Stdout}
	os.Exit(max(run(os.Args[1:], out, os.Stderr), out.Status("words", nil, os.Stderr)))
}

// run returns the exit code: 0 if nothing is wrong, 1 if something is, 2 if it cannot say.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("words", flag.ContinueOnError)
	root := flags.String("root", "../..", "the repository")
	write := flags.Bool("write", false, "lower the ratchet and remove finished units from the list of units to do")
	other := flags.Bool("other", false, "with units: list the mistakes in their other comments, too")
	err := cmdline.Parse(flags, args, stderr)
	if units := flags.NArg(); err == nil && (*write && units > 0 || *other && units == 0) {
		err = cmdline.Wrong(flags, stderr, fmt.Sprintf("%d units; allowed are none with -write, and at least one with -other", units))
	}
	if err != nil {
		return cmdline.Status("words", err, stderr)
	}
	tree, err := scan(*root)
	if err != nil {
		fmt.Fprintln(stderr, "words:", err)
		return 2
	}
	if flags.NArg() > 0 {
		return listUnits(tree, flags.Args(), *other, stdout, stderr)
	}
	lists, err := readLists(filepath.Join(*root, ".ci", "words"))
	if err != nil {
		fmt.Fprintln(stderr, "words:", err)
		return 2
	}
	if *write {
		lists.lower(tree)
		if err := lists.write(); err != nil {
			fmt.Fprintln(stderr, "words:", err)
			return 2
		}
	}
	return report(tree, lists, stdout)
}

// listUnits prints the mistakes of some units, whether or not they are in the list of units to do.
func listUnits(tree *tree, units []string, other bool, stdout, stderr io.Writer) int {
	code := 0
	for _, name := range units {
		name = filepath.ToSlash(filepath.Clean(name))
		u := tree.units[name]
		if u == nil {
			fmt.Fprintf(stderr, "words: no unit %s: want a folder with Go files or a Markdown file\n", name)
			return 2
		}
		found := u.wrong
		if other {
			found = append(slices.Clone(found), u.other...)
		}
		slices.SortStableFunc(found, func(a, b finding) int {
			return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
		})
		for _, f := range found {
			fmt.Fprintln(stdout, f)
		}
		if len(u.wrong) > 0 {
			code = 1
		}
		fmt.Fprintf(stdout, "%s: %d mistakes, %d in other comments; %s\n", name, len(u.wrong), len(u.other), median(u.lengths))
	}
	return code
}

// report prints what is wrong in the tree, less what the lists tolerate.
func report(tree *tree, lists *lists, stdout io.Writer) int {
	failures, tolerated, others := 0, 0, 0
	var lengths []int
	for _, name := range tree.names() {
		u := tree.units[name]
		others += len(u.other)
		lengths = append(lengths, u.lengths...)
		switch {
		case !lists.todo[name]:
			for _, f := range u.wrong {
				fmt.Fprintln(stdout, f)
			}
			failures += len(u.wrong)
		case len(u.wrong) == 0:
			fmt.Fprintf(stdout, "%s has no mistake left: remove it from todo.txt (-write does)\n", name)
			failures++
		default:
			fmt.Fprintf(stdout, "%s: %d mistakes to do\n", name, len(u.wrong))
			tolerated += len(u.wrong)
		}
		if allowed := lists.ratchet[name]; len(u.other) > allowed {
			fmt.Fprintf(stdout, "%s: %d phrases and long sentences in other comments, of which ratchet.txt allows %d: "+
				"-other %s lists them (if the folder was renamed, rename its row)\n", name, len(u.other), allowed, name)
			failures++
		}
	}
	for _, name := range sorted(lists.todo) {
		if tree.units[name] == nil {
			fmt.Fprintf(stdout, "%s is in todo.txt and not in the tree: remove or rename it\n", name)
			failures++
		}
	}
	fmt.Fprintf(stdout, "%d units, %d mistakes, %d to do, %d in other comments; exported comments: %s\n",
		len(tree.units), failures, tolerated, others, median(lengths))
	if failures > 0 {
		return 1
	}
	return 0
}

// median describes the middle of the lengths of sentences.
func median(lengths []int) string {
	if len(lengths) == 0 {
		return "no sentence"
	}
	l := slices.Clone(lengths)
	slices.Sort(l)
	return fmt.Sprintf("%d sentences, median %d words, longest %d", len(l), l[len(l)/2], l[len(l)-1])
}
