package remote

import (
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

var errFile = fmt.Errorf("remote: an Inbox cannot be in a file: %w", save.ErrPortable)

// CanWrite returns an error that wraps save.ErrPortable: an Inbox cannot be in a file.
func (in *Inbox) CanWrite() error { return errFile }

// SaveState verifies that no block waits in the inbox. It saves nothing, so a load does not change the statistics. If a
// block waits, even a stale block (see [Inbox.Reset]), saving and loading fail with an error that wraps save.ErrBusy.
// On a closed inbox the error wraps memory.ErrClosed.
//
// Before a save or load, flush all Freers, then drain the inbox. No Freer may be used until the Set has saved or
// loaded. SaveState does not detect blocks that a Freer has not flushed. If they are flushed after a load, they are
// freed in the loaded state.
func (in *Inbox) SaveState(c *save.Coder) {
	switch {
	case in.target == nil:
		c.Fail(memory.ErrClosed)
	case in.Pending() && (c.Saving() || c.Fitting()): // a load must not fail after the fit, should a Freer send
		c.Busy("blocks wait in a remote inbox; call Drain")
	}
}
