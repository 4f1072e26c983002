//go:build !cgo && (freebsd || netbsd)

package sound

var openReal opener = openOutput
