package resident_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/resident"
)

func TestRead_ElsewhereSaysThatItCannotKnow(t *testing.T) {
	r := resident.Report{RSS: 1, Libraries: make([]resident.Library, 3)}
	err := resident.Read(nil, &r)
	if runtime.GOOS == "linux" {
		if err != nil || r.RSS <= 1 {
			t.Errorf("%d bytes, %v", r.RSS, err)
		}
		return
	}
	if !errors.Is(err, errors.ErrUnsupported) || r.RSS != 0 || len(r.Libraries) != 0 {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestRead_WithoutAReportIsMisuse(t *testing.T) {
	defer func() {
		if _, ok := recover().(*memory.Misuse); !ok {
			t.Error("a nil Report is no misuse")
		}
	}()
	_ = resident.Read(nil, nil)
}
