//go:build unix || windows

package page

// OSOn returns the source of the system with other pages and another way to access them first.
func OSOn(o Options, pageBytes uintptr, huge, populate func([]byte) bool) Source {
	return &osSource{opt: o, page: pageBytes, huge: huge, populate: populate}
}

// ReportDropped calls the function of OnDropped.
func ReportDropped(d Dropped) { (*onDropped.Load())(d) }
