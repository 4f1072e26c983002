package instances

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/strata-go/strata/memory/plan"
)

const text = "id,lower,upper,size\n7,0,4,100\n9,-2,6,50\r\n  3,5,9,2147483647  \n"

var set = []plan.Buffer{
	{ID: 0, Birth: 0, Death: 4, Size: 100, Align: 1},
	{ID: 1, Birth: -2, Death: 6, Size: 50, Align: 1},
	{ID: 2, Birth: 5, Death: 9, Size: 2147483647, Align: 1},
}

func TestRead_NumbersTheBuffersAsTheyCome(t *testing.T) {
	got, err := Read(strings.NewReader(text))
	if err != nil || !slices.Equal(got, set) {
		t.Errorf("%+v, %v; want %+v", got, err, set)
	}
	if got, err := Read(strings.NewReader("id,lower,upper,size\n")); err != nil || len(got) != 0 {
		t.Errorf("a file without buffers: %+v, %v", got, err)
	}
}

func TestRead_TellsTheLineThatIsWrong(t *testing.T) {
	const head = "id,lower,upper,size\n0,0,4,100\n"
	for text, want := range map[string]string{
		head + "1,2,6\n":       "line 3 has 3 fields, not 4",
		head + "1,2,6,50,1\n":  "line 3 has 5 fields, not 4",
		head + "\n":            "line 3 has 1 fields, not 4",
		head + "1,x,6,50\n":    `line 3: "x" is not a whole number`,
		head + "1,2,x,50\n":    `line 3: "x" is not a whole number`,
		head + "1,2,6,50 KB\n": `line 3: "50 KB" is not a whole number`,
	} {
		if got, err := Read(strings.NewReader(text)); got != nil || fmt.Sprint(err) != want {
			t.Errorf("%q: %+v, %v; want %s", text, got, err, want)
		}
	}
}

func TestRead_AReaderThatFailsIsAnError(t *testing.T) {
	if _, err := Read(iotest.ErrReader(fs.ErrClosed)); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}

func TestLoad_ReadsWhatIsCompressedAndWhatIsNot(t *testing.T) {
	dir := t.TempDir()
	plain, packed, none := filepath.Join(dir, "a.csv"), filepath.Join(dir, "a.csv.gz"), filepath.Join(dir, "b.gz")
	var small bytes.Buffer
	z := gzip.NewWriter(&small)
	_, err := z.Write([]byte(text))
	if err := errors.Join(err, z.Close(), os.WriteFile(packed, small.Bytes(), 0o644), os.WriteFile(plain, []byte(text), 0o644), os.WriteFile(none, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{plain, packed} {
		if got, err := Load(name); err != nil || !slices.Equal(got, set) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := Load(none); !errors.Is(err, gzip.ErrHeader) || !strings.HasPrefix(err.Error(), none+": ") {
		t.Error(err)
	}
	bad := filepath.Join(dir, "bad.csv") // with several files nothing said which is bad
	if err := os.WriteFile(bad, []byte("h\n1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(bad); err == nil || err.Error() != bad+": line 2 has 1 fields, not 4" {
		t.Error(err)
	}
	if _, err := Load(filepath.Join(dir, "c.csv")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// The figures of the planners are those of these very sets.
func TestGraph_IsTheSameForASeedAndANumber(t *testing.T) {
	for _, c := range []struct {
		seed   uint64
		n      int
		digest uint64
	}{{1, 1000, 0x72bd2a6fc021cca2}, {1, 3000, 0x9f453bd43e52335a}, {2, 1000, 0xa3fa5f86925529a3}, {1, 1, 0xb4d998004950919b}} {
		h := fnv.New64a()
		for _, b := range Graph(c.seed, c.n) {
			fmt.Fprintln(h, b.ID, b.Size, b.Align, b.Birth, b.Death)
		}
		if h.Sum64() != c.digest {
			t.Errorf("seed %d, %d buffers: %#x, want %#x", c.seed, c.n, h.Sum64(), c.digest)
		}
	}
}

func TestGraph_LivesAsThatOfACompiler(t *testing.T) {
	const n = 10_000
	long, middle, short := 0, 0, 0
	for i, b := range Graph(3, n) {
		switch life := b.Death - b.Birth; {
		case b.ID != uint32(i) || b.Align != 64 || b.Size < 64 || b.Size > 16<<10 || life < 2:
			t.Errorf("%d: %+v", i, b)
		case life >= n/2:
			long++
		case life > 31:
			middle++
		default:
			short++
		}
	}
	if long < n/200 || long > n/50 || middle < n/20 || middle > n/5 || short < n*3/4 {
		t.Errorf("%d, %d and %d", long, middle, short)
	}
}
