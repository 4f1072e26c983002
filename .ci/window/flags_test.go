package main

import (
	"io"
	"strings"
	"testing"

	"github.com/strata-go/strata/engine/cmdline/cmdtest"
)

func TestFlags_EveryMalformedValueIsOneLine(t *testing.T) {
	get := func(args []string, out io.Writer) error {
		_, err := parse(args, out)
		return err
	}
	cmdtest.Every(t, get)
	for args, good := range map[string]bool{
		"": true, "-ticks 1 -rounds 1 -collections": true, "-objects -- -overlay=f9": true,
		"x": false, "-collections x": false, "-ticks 0": false, "-rounds 0": false, "-rounds 4": false, "-collections -rounds 0": false, "-objects -rounds 4": false, "-collections -objects": false,
	} {
		if err := get(strings.Fields(args), io.Discard); (err == nil) != good {
			t.Errorf("%q: %v", args, err)
		}
	}
}
