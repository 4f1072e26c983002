//go:build cgo || !(freebsd || netbsd)

package sound

// openReal asks the system's library even where there is nothing to find.
var openReal opener = openSystem
