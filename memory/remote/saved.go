package remote

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// SaveState verifies that no block waits in the inbox: a state that is loaded would free it again. Otherwise the error
// wraps save.ErrBusy. Drain the inbox first, after all Freers were flushed. The blocks that a Freer has not flushed are
// not detected. SaveState saves nothing else: the statistics go on.
func (in *Inbox) SaveState(c *save.Coder) {
	switch {
	case in.target == nil:
		c.Fail(memory.ErrClosed)
	case in.Pending():
		c.Busy("blocks wait in a remote inbox; call Drain")
	}
}
