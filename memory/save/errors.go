package save

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory"
)

var (
	// ErrBusy is wrapped by the errors of a Set while a part is in use. Examples are an open query of a world and an
	// open frame of a manager. The error names the open thing. A method that calls SaveState also fails with ErrBusy if
	// a State or the yield of Scan calls it.
	ErrBusy = errors.New("save: busy")

	// ErrLayout is wrapped by the errors of Load, Read, Verify, Scan and Diff if the parts do not fit the saved state.
	// Examples are another capacity, another type, and a level that has ended. Save returns such an error if a State
	// visits more or fewer bytes than in the pass that counts bytes. The error names the difference.
	ErrLayout = errors.New("save: the layout differs")

	// ErrPortable is wrapped by the errors of Portable, Write, Read and Verify if a part of the Set cannot be in a
	// file. The error names the part. The methods for a [Slot], such as Save, return such an error if a State calls
	// [Coder.Stream].
	ErrPortable = errors.New("save: it cannot be in a file")

	// ErrFile is wrapped by the errors of Read and Verify if the file is damaged or truncated, or if other bytes follow
	// it. It is also wrapped if the file is of another version, or was not written by Write. For a truncated file the
	// error also wraps io.ErrUnexpectedEOF.
	ErrFile = errors.New("save: the file is not valid")

	// ErrForeign is wrapped by the errors of Save, Load, Scan and Diff for a Slot that is nil or of another Set.
	ErrForeign = errors.New("save: the slot belongs to another Set")

	// ErrEmpty is wrapped by the errors of Load, Scan and Diff for a Slot without a state. The error of [History.Load]
	// wraps it if no state is at the tick or before it.
	ErrEmpty = errors.New("save: the slot has no state")
)

var (
	errAddress = fmt.Errorf("%w: an address is not valid in another process", ErrPortable)
	// errUncovered continues a sentence.
	errUncovered = fmt.Errorf("lie in an allocator that is no earlier part of the Set: add it, or save.Metadata of it; a Set for files is another one: %w", memory.ErrConfig)
	// errElements, too.
	errElements = fmt.Errorf("lie in an allocator that no earlier part of the Set saves with its contents: add it; a Set for files is another one: %w", memory.ErrConfig)

	errNoPool = errors.New("exactly one pool of the Set must have these handles")
	errBlocks = fmt.Errorf("%w: bytes of an unknown type", ErrPortable)
)
