package save

import (
	"errors"
	"fmt"
)

var (
	// ErrBusy is wrapped by the errors of a Set while a part is in use. Examples are an open query of a world and an open
	// frame of a manager. The error names what is open. Calls of the Set by its own States fail with it, too.
	ErrBusy = errors.New("save: busy")

	// ErrLayout is wrapped by the errors of Load and Read if a part does not fit what was saved. It may have another
	// capacity or another type, or a level has ended. Save returns it if a State visits other bytes than it was counted to
	// have. The error names the part and what differs.
	ErrLayout = errors.New("save: the layout differs")

	// ErrPortable is wrapped by the errors of Portable, Write and Read for a Set with a part that cannot be in a file. The
	// error names the part and the path of the field.
	ErrPortable = errors.New("save: it cannot be in a file")

	// ErrFile is wrapped by the errors of Read and Verify for a file that is damaged, truncated, continued, of another
	// version, or not of Write. A truncated file also wraps io.ErrUnexpectedEOF.
	ErrFile = errors.New("save: the file is not valid")

	// ErrForeign is wrapped by the errors of Save, Load, Scan and Diff for a Slot that is nil or of another Set.
	ErrForeign = errors.New("save: the slot belongs to another Set")

	// ErrEmpty is wrapped by the errors of Load, Scan and Diff for a Slot without a state, and of a History without a
	// matching one.
	ErrEmpty = errors.New("save: the slot has no state")
)

var (
	errAddress = fmt.Errorf("%w: an address is not valid in another process", ErrPortable)
	errBlocks  = fmt.Errorf("%w: bytes of an unknown type", ErrPortable)
)
