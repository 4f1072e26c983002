package compact

import (
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

// Records for which the Go heap has no room are an error, and not the end of the process.
func TestNew_MoreRecordsThanThereIsRoomForIsAnError(t *testing.T) {
	if !memtest.UnderUlimit(t, 4<<20) {
		return
	}
	h, err := New(nil, Config{Blocks: maxRecords})
	if h != nil || !errors.Is(err, memory.ErrOutOfMemory) || !strings.HasPrefix(err.Error(), "compact: new Heap: 1073741824 records: page: Go heap: ") {
		t.Errorf("%v, %v", h, err)
	}
}
