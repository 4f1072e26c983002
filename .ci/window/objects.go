package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// warmUp is for how many ticks the game counts apart from steady play.
const warmUp = 3600

// objects counts the objects of this module in a run of its own: counting them slows the game down.
func (g *game) objects(ticks int, args []string) error {
	overlay, err := exact(filepath.Dir(g.demo))
	if err == nil {
		err = g.build("-overlay", overlay)
	}
	if err != nil {
		return err
	}
	r, err := g.play(warmUp+ticks, append([]string{"-heat", "10", "-size", "640x360"}, args...), []string{"GODEBUG=memprofilerate=1"})
	if err != nil {
		return err
	}
	own := r.Go.Own
	if own == nil || own.Steady.Ticks == 0 {
		return fmt.Errorf("the game did not count its objects in steady play: the last realm was too short")
	}
	fmt.Printf("the first %d ticks of the realm: %v\n", own.WarmUp.Ticks, &own.WarmUp)
	fmt.Printf("steady play, the next %d ticks: %v\n", own.Steady.Ticks, &own.Steady)
	fmt.Printf("beside these, three for each collection, of which %d were in play\n", r.Go.InPlay)
	return nil
}

// String lists the sites, those with the most objects first.
func (c *count) String() string {
	slices.SortStableFunc(c.Sites, func(a, b site) int { return cmp.Compare(b.Objects, a.Objects) })
	text := fmt.Sprintf("functions of this module allocated %.4f objects a tick", c.PerTick)
	for _, x := range c.Sites {
		text += fmt.Sprintf("\n%8d %s", x.Objects, strings.TrimPrefix(x.Site, "github.com/strata-go/strata/"))
	}
	return text
}

// exact writes a runtime that records each object if it records all, and returns the overlay for go build. Go's own
// records objects without pointers and below 16 bytes once for each 16 bytes that they share.
func exact(dir string) (overlay string, err error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	replace := map[string]string{}
	for _, name := range []string{"malloc.go", "malloc_generated.go"} {
		from, to := filepath.Join(strings.TrimSpace(string(root)), "src", "runtime", name), filepath.Join(dir, name)
		text, err := os.ReadFile(from)
		if err != nil {
			return "", err
		}
		const shared = " && c.tiny != 0 {"
		if !bytes.Contains(text, []byte(shared)) {
			return "", fmt.Errorf("%s has no %q: where do small objects share 16 bytes now?", from, shared)
		}
		text = bytes.ReplaceAll(text, []byte(shared), []byte(" && c.tiny != 0 && MemProfileRate != 1 {"))
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return "", err
		}
		replace[from] = to
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}
