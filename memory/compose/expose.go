package compose

import "github.com/strata-go/strata/memory"

// expose returns w with the interfaces that can has, and without the others. Go has no type whose
// methods are chosen at run time, so there is one for each combination. A call costs one more dynamic
// dispatch than a call of w.
func expose(w whole, can optional) Allocator {
	switch can {
	case resets:
		return struct {
			core
			memory.Resetter
		}{w, w}
	case resizes:
		return struct {
			core
			memory.Resizer
		}{w, w}
	case resets | resizes:
		return struct {
			core
			memory.Resetter
			memory.Resizer
		}{w, w, w}
	case trims:
		return struct {
			core
			memory.Trimmer
		}{w, w}
	case resets | trims:
		return struct {
			core
			memory.Resetter
			memory.Trimmer
		}{w, w, w}
	case resizes | trims:
		return struct {
			core
			memory.Resizer
			memory.Trimmer
		}{w, w, w}
	case resets | resizes | trims:
		return struct {
			core
			memory.Resetter
			memory.Resizer
			memory.Trimmer
		}{w, w, w, w}
	case sizes:
		return struct {
			core
			sized
		}{w, w}
	case resets | sizes:
		return struct {
			core
			memory.Resetter
			sized
		}{w, w, w}
	case resizes | sizes:
		return struct {
			core
			memory.Resizer
			sized
		}{w, w, w}
	case resets | resizes | sizes:
		return struct {
			core
			memory.Resetter
			memory.Resizer
			sized
		}{w, w, w, w}
	case trims | sizes:
		return struct {
			core
			memory.Trimmer
			sized
		}{w, w, w}
	case resets | trims | sizes:
		return struct {
			core
			memory.Resetter
			memory.Trimmer
			sized
		}{w, w, w, w}
	case resizes | trims | sizes:
		return struct {
			core
			memory.Resizer
			memory.Trimmer
			sized
		}{w, w, w, w}
	case resets | resizes | trims | sizes:
		return struct {
			core
			memory.Resetter
			memory.Resizer
			memory.Trimmer
			sized
		}{w, w, w, w, w}
	case bases:
		return struct {
			core
			based
		}{w, w}
	case resets | bases:
		return struct {
			core
			memory.Resetter
			based
		}{w, w, w}
	case resizes | bases:
		return struct {
			core
			memory.Resizer
			based
		}{w, w, w}
	case resets | resizes | bases:
		return struct {
			core
			memory.Resetter
			memory.Resizer
			based
		}{w, w, w, w}
	case trims | bases:
		return struct {
			core
			memory.Trimmer
			based
		}{w, w, w}
	case resets | trims | bases:
		return struct {
			core
			memory.Resetter
			memory.Trimmer
			based
		}{w, w, w, w}
	case resizes | trims | bases:
		return struct {
			core
			memory.Resizer
			memory.Trimmer
			based
		}{w, w, w, w}
	case resets | resizes | trims | bases:
		return struct {
			core
			memory.Resetter
			memory.Resizer
			memory.Trimmer
			based
		}{w, w, w, w, w}
	case sizes | bases:
		return struct {
			core
			sized
			based
		}{w, w, w}
	case resets | sizes | bases:
		return struct {
			core
			memory.Resetter
			sized
			based
		}{w, w, w, w}
	case resizes | sizes | bases:
		return struct {
			core
			memory.Resizer
			sized
			based
		}{w, w, w, w}
	case resets | resizes | sizes | bases:
		return struct {
			core
			memory.Resetter
			memory.Resizer
			sized
			based
		}{w, w, w, w, w}
	case trims | sizes | bases:
		return struct {
			core
			memory.Trimmer
			sized
			based
		}{w, w, w, w}
	case resets | trims | sizes | bases:
		return struct {
			core
			memory.Resetter
			memory.Trimmer
			sized
			based
		}{w, w, w, w, w}
	case resizes | trims | sizes | bases:
		return struct {
			core
			memory.Resizer
			memory.Trimmer
			sized
			based
		}{w, w, w, w, w}
	case resets | resizes | trims | sizes | bases:
		return struct {
			core
			memory.Resetter
			memory.Resizer
			memory.Trimmer
			sized
			based
		}{w, w, w, w, w, w}
	}
	return struct{ core }{w}
}
