package dropin_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// pages are the Markdown files of the repository except CONTRIBUTING.md, whose commands the nightly runs.
func pages(t *testing.T) (all []string) {
	t.Helper()
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(name) == ".md" && d.Name() != "CONTRIBUTING.md":
			all = append(all, name)
		}
		return nil
	})
	if err != nil || len(all) < 15 {
		t.Fatalf("%d pages, %v", len(all), err)
	}
	return all
}

// notRun are the commands that no test runs, and why.
var notRun = []struct{ pattern, why string }{
	{`^go (get|tool pprof)`, "a reader's own program or file"},
	{`^go (run|test) -(tags memdebug|bench)`, "a reader's own program"},
	{`^go run \./demo/dropin/headless -http`, "serves until it is interrupted; its tests ask it"},
	{`^go run \./demo( -config.*)?$`, "opens a window until the player leaves"},
	{`^go run \./demo/dropin/(ebitengine|rewind)?$`, "opens a window, or is the beginning of a command"},
	{`^cd demo/dropin/terminal`, "needs a terminal until Q is pressed"},
	{`^go run \./demo/web`, "serves until it is interrupted, or compresses for half a minute; the tests of demo/web do both"},
	{`^go run \./demo -compare`, "eight minutes"},
	{`^go run \./demo/dropin/server`, "half a minute; its tests run it shorter"},
	{`^go run \./demo/dropin/sprites -rounds`, "half a minute; without the flag it is run"},
	{`^go (run|test) -C (memory|ecs)/bench`, "minutes to hours; their tests run each row shorter"},
	{`^go test (-v -run|-run - -bench) NAME`, "the beginning of a command"},
	{`^go run -C assets/gen \.$`, "needs oggenc; its tests make what they compare"},
	{`^go run -C \.ci/release`, "compiles two versions; a step of the gate"},
	{`^go run \./memory/tiers/internal/hour`, "two minutes"},
	{`^go test \./\.\.\.`, "it runs this test"},
	{`^go (mod (init|edit|tidy)|run \.$)`, "in an empty folder, with downloads; the nightly's part archive does"},
}

var (
	commandLine = regexp.MustCompile(`(?m)^(?: {4})?((?:go|cd) [^\n]*)$`)
	commandSpan = regexp.MustCompile("`((?:go (?:run|test|doc|tool|get|vet|build)|cd) [^`\n]*)`")
	codeBlock   = regexp.MustCompile("(?ms)^```.*?^```$|^    [^\n]*$")
	folderArg   = regexp.MustCompile(`(?:^| )(?:-C ([\w./]+)|cd ([\w./]+)|(\./[\w./]+))`)
)

// commands returns the commands in a text: those in spans, and in code the lines that begin with one.
func commands(text string) (all []string) {
	for _, block := range codeBlock.FindAllString(text, -1) {
		for _, m := range commandLine.FindAllStringSubmatch(block, -1) {
			line, _, _ := strings.Cut(m[1], " # ")
			all = append(all, strings.TrimSpace(line))
		}
	}
	for _, m := range commandSpan.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestCommands_FindsSpansAndLinesOfCode(t *testing.T) {
	got := commands("# a\n`go run ./b -c` and `go` and `m.go x`\n\n```sh\ngo test ./d   # why\necho\n```\n\ngo away\n\n    cd e && go run .\n")
	if want := []string{"cd e && go run .", "go run ./b -c", "go test ./d"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// allCommands returns the commands of all pages.
func allCommands(t *testing.T) (all []string) {
	t.Helper()
	for _, page := range pages(t) {
		all = append(all, commands(readFile(t, page))...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Each command of the pages names folders that exist, and each pattern of notRun is for a command.
func TestCommands_NameFoldersThatExist(t *testing.T) {
	all := allCommands(t)
	if len(all) < 20 {
		t.Errorf("%d commands: the test looks at the wrong thing", len(all))
	}
	for _, c := range all {
		dir := "../.."
		for _, m := range folderArg.FindAllStringSubmatch(c, -1) {
			if to := m[1] + m[2]; to != "" {
				dir = filepath.Join(dir, to)
			}
			if _, err := os.Stat(filepath.Join(dir, strings.TrimSuffix(m[3], "/..."))); err != nil {
				t.Errorf("%s: %v", c, err)
			}
		}
	}
	for _, n := range notRun {
		if !slices.ContainsFunc(all, regexp.MustCompile(n.pattern).MatchString) {
			t.Errorf("no page has a command that matches %s", n.pattern)
		}
	}
}

var (
	heading    = regexp.MustCompile(`(?m)^#+ `)
	timeFigure = regexp.MustCompile(`[\d.]+ (ns|µs|ms)\b`)
	printedBy  = regexp.MustCompile("\\bgo (run|test) |`(Test|Benchmark)\\w+`|\\]\\([\\w./-]*#what-it-costs\\)")
)

// Each section with a time names what printed it: a command, a test or a benchmark, or leads to the section that does.
func TestCommands_SectionsWithTimesNameTheirs(t *testing.T) {
	times := 0
	for _, page := range pages(t) {
		for _, section := range heading.Split(readFile(t, page), -1) {
			figure := timeFigure.FindString(section)
			if figure == "" {
				continue
			}
			times++
			if title, _, _ := strings.Cut(section, "\n"); !printedBy.MatchString(section) {
				t.Errorf("%s, %s: no command prints %s", page, title, figure)
			}
		}
	}
	if times < 10 {
		t.Errorf("%d sections with times: the test looks at the wrong thing", times)
	}
}

// Commands of the pages that take less than ten seconds on an idle machine are run as a reader types them.
func TestCommands_RunAsThePagesHaveThem(t *testing.T) {
	testenv.Longest(t)
	if _, err := exec.LookPath("bash"); err != nil {
		testenv.Missing(t, "bash")
	}
	ran := 0
	for _, c := range allCommands(t) {
		if slices.ContainsFunc(notRun, func(n struct{ pattern, why string }) bool { return regexp.MustCompile(n.pattern).MatchString(c) }) {
			continue
		}
		ran++
		t.Run(c, func(t *testing.T) {
			cmd := testenv.Command(t, "bash", "-c", "set -e; "+c)
			cmd.Dir = "../.."
			cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0", "GOOS=", "GOARCH=", "GOEXPERIMENT=", "STRATA_TEST=")
			if out, err := cmd.CombinedOutput(); err != nil || len(out) == 0 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	_ = os.Remove("../../out.json") // of -stats, which the root may have
	if ran < 8 {
		t.Errorf("%d commands were run", ran)
	}
}
