package testenv

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"unsafe"
)

// Mappings returns the number of the process's mappings that contain at least one of the size bytes at base. It exists
// on Linux only. If /proc is missing, it calls [Missing].
func Mappings(t testing.TB, base unsafe.Pointer, size uintptr) (n int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		Missing(t, err.Error())
	}
	for line := range bytes.Lines(maps) {
		var from, to uintptr
		if k, _ := fmt.Sscanf(string(line), "%x-%x", &from, &to); k == 2 && from < uintptr(base)+size && to > uintptr(base) {
			n++
		}
	}
	return n
}
