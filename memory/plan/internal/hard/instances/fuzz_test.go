package instances

import (
	"bytes"
	"strings"
	"testing"
)

func FuzzRead(f *testing.F) {
	for _, s := range []string{"", "id,lower,upper,size\n0,1,2,3\n", "h\n0,1,2\n", "h\n0,1,2,-3\n", "h\nx,5,4,3", "h\n0,1,2,99999999999999999999\n", "h\n" + strings.Repeat("1", 70_000)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := Read(bytes.NewReader(data))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") || len(err.Error()) > 300 {
				t.Fatalf("%q", err)
			}
			return
		}
		for i, b := range set {
			if b.ID != uint32(i) || uint64(b.Size) > 1<<62 || b.Death < b.Birth {
				t.Fatalf("buffer %d is %+v", i, b)
			}
		}
	})
}
