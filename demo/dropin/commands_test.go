package dropin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// pages are the Markdown files whose commands are tested.
func pages(t *testing.T) []string {
	t.Helper()
	all := []string{readmeFile, "../README.md", "README.md", "../../memory/README.md", "../../ecs/README.md"}
	guides, err := filepath.Glob("../../memory/doc/*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append(all, guides...)
}

// notRun are the commands that no test runs, and why. The nightly runs those of CONTRIBUTING.md.
var notRun = []struct{ pattern, why string }{
	{`^go (get|tool pprof)`, "a reader's own program or file"},
	{`^go (run|test) -(tags memdebug|bench)`, "a reader's own program"},
	{`^go run \./demo/dropin/headless -http`, "serves until it is interrupted; its tests ask it"},
	{`^go run \./demo( -config.*)?$`, "opens a window until the player leaves"},
	{`^go run \./demo/dropin/(ebitengine)?$`, "opens a window, or is the beginning of a command"},
	{`^cd demo/dropin/terminal`, "needs a terminal until Q is pressed"},
	{`^go run \./demo/web`, "serves until it is interrupted, or compresses for half a minute; the tests of demo/web do both"},
	{`^go run \./demo -compare`, "eight minutes"},
	{`^go run \./demo/dropin/server`, "half a minute; its tests run it shorter"},
	{`^go run \./demo/dropin/sprites -rounds`, "half a minute; without the flag it is run"},
	{`^go run -C memory/bench`, "minutes to hours; its tests run each row shorter"},
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

// Commands of the pages that take less than ten seconds on an idle machine are run as a reader types them.
func TestCommands_RunAsThePagesHaveThem(t *testing.T) {
	testenv.Long(t)
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
