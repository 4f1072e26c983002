package main

// refs returns n refs, and touches their memory so that the page faults are not part of what is measured.
func refs(n int) []ref {
	r := make([]ref, n)
	for i := range r {
		r[i] = none
	}
	return r
}
