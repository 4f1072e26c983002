package main

import (
	"errors"
	"io"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/notices"
	"github.com/strata-go/strata/engine/cmdline/cmdtest"
)

func TestFlags_EveryMalformedValueIsOneLine(t *testing.T) {
	n := cmdtest.Every(t, func(args []string, out io.Writer) error {
		_, err := parse(args, out, assets.FS())
		if errors.Is(err, errVersion) || errors.Is(err, errNotices) {
			return nil
		}
		return err
	})
	if t.Logf("%d command lines refused", n); n < 1000 {
		t.Errorf("%d command lines were refused", n)
	}
}

func TestNotices_ArePrinted(t *testing.T) {
	if code, stdout, stderr := demo("-notices"); code != 0 || stdout != notices.Text || len(stdout) < 10_000 || stderr != "" {
		t.Errorf("exit %d, %d bytes, %q", code, len(stdout), stderr)
	}
}
