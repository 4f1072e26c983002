//go:build unix || windows

package page

// OSOn returns the system's memory as it is with other pages and another way to touch them first.
func OSOn(o Options, pageBytes uintptr, huge, populate func([]byte) bool) Source {
	return &osSource{opt: o, page: pageBytes, huge: huge, populate: populate}
}

// TellDropped tells whoever OnDropped has named.
func TellDropped(d Dropped) { (*onDropped.Load())(d) }
