package main

import (
	"io"
	"testing"

	"github.com/strata-go/strata/engine/cmdline/cmdtest"
)

func TestFlags_EveryMalformedValueIsOneLine(t *testing.T) {
	cmdtest.Every(t, func(args []string, out io.Writer) error {
		_, err := parse(args, out)
		return err
	}, "root", "pkg", "state")
}
