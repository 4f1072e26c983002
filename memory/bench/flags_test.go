package main

import (
	"io"
	"strings"
	"testing"

	"github.com/strata-go/strata/engine/cmdline"
	"github.com/strata-go/strata/engine/cmdline/cmdtest"
)

func TestFlags_EveryMalformedValueIsOneLine(t *testing.T) {
	cmdtest.Every(t, func(args []string, out io.Writer) error {
		_, err := parse(args, out)
		return err
	}, "rows", "state", "json", "md")
}

func TestRun_RefusesWhatItCannotDo(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-rounds 0", cmdline.ErrUsage.Error()}, // the line that is printed says more
		{"-placements 0", cmdline.ErrUsage.Error()},
		{"-check -all", cmdline.ErrUsage.Error()},
		{"-short -check", cmdline.ErrUsage.Error()},
		{"-all -short", cmdline.ErrUsage.Error()},
		{"-peer none", cmdline.ErrUsage.Error()},
		{"-peer slab=1.so", cmdline.ErrUsage.Error()},
		{"-peer mimalloc=1.so", cmdline.ErrUsage.Error()},
		{"-peer mimalloc,|wrapped=1.so", cmdline.ErrUsage.Error()},
		{"-peer slab|A/A=1.so", cmdline.ErrUsage.Error()},
		{"-peer a=1.so -peer a=2.so", cmdline.ErrUsage.Error()},
		{"-rows nosuch", `no workload begins with "nosuch"`},
		{"-rows W1 -peer next=/no/such.so", "-peer next: lstat /no"},
	} {
		args := strings.Fields(c.args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "|", " ")
		}
		if err := run(args, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.args, err)
		}
	}
}

func TestFlags_PeersAreCollected(t *testing.T) {
	o, err := parse([]string{"-peer", "a=1.so", "-peer=b=2=3.so"}, io.Discard)
	if err != nil || len(o.peers) != 2 || o.peers[0].name != "a" || o.peers[1].preload != "2=3.so" || !o.peers[1].extra || o.peers[0].kind != inC {
		t.Errorf("%+v, %v", o.peers, err)
	}
}

func TestFlags_AllKeepsItsStateAlways(t *testing.T) {
	o, err := parse([]string{"-all"}, io.Discard)
	if named, _ := parse([]string{"-all", "-state", "mine"}, io.Discard); err != nil || o.state == "" || named.state != "mine" {
		t.Errorf("%q, %q, %v", o.state, named.state, err)
	}
	if o, _ := parse([]string{"-check"}, io.Discard); o.state != "" {
		t.Errorf("%q", o.state)
	}
}
