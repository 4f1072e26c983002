package main

import (
	"bytes"
	"io"
	"testing"

	"github.com/strata-go/strata/engine/cmdline/cmdtest"
)

func TestFlags_EveryMalformedValueIsOneLine(t *testing.T) {
	cmdtest.Every(t, func(args []string, out io.Writer) error {
		_, err := parse(args, out)
		return err
	})
}

// It was found after the pictures were composed.
func TestFlags_ASheetThatCannotBeWrittenIsRefused(t *testing.T) {
	var fault bytes.Buffer
	dir := t.TempDir()
	if _, err := parse([]string{"-sheet", dir}, &fault); err == nil || fault.String() != "gen: -sheet: cannot write "+dir+": it is a folder; allowed is a plain file\n" {
		t.Errorf("%v, %q", err, &fault)
	}
}
