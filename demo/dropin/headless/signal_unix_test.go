//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

func TestMain_ReportsAndExitsWithZeroAtASignal(t *testing.T) {
	for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(sig.String(), func(t *testing.T) {
			cmd := testenv.Command(t, os.Args[0], "-every", "100ms")
			cmd.Env = append(cmd.Environ(), asServer+"=1")
			var out output
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			out.untilSteady(t, 1)
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			if checkReport(t, out.String(), 1); t.Failed() {
				t.Log(out.String())
			}
		})
	}
}
