package save

import "errors"

var (
	// ErrBusy is wrapped by the errors of Save and Load while a part is in use. Examples are an open query of a world and
	// an open frame of a manager. The error names what is open.
	ErrBusy = errors.New("save: busy")

	// ErrLayout is wrapped by the errors of Load if a part is no longer what was saved. It may have another capacity or
	// another type, or a level has ended. The error names the part and what differs.
	ErrLayout = errors.New("save: the layout differs")

	// ErrForeign is wrapped by the errors of Save, Load and Diff for a Slot of another Set.
	ErrForeign = errors.New("save: the slot belongs to another Set")

	// ErrEmpty is wrapped by the errors of Load and Diff for a Slot without a state.
	ErrEmpty = errors.New("save: the slot has no state")
)
