package save_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory/container"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

// An index has the numbers of the lines in which a word stands. Its records differ in length.
type index struct {
	sp    *container.Space
	words container.Strings
	lines container.Map[uint32, container.Vec[uint32]] // by the id of the word
}

func (x *index) add(word string, lines ...uint32) error {
	id, err := x.words.Intern(x.sp, word)
	if err != nil {
		return err
	}
	v, _, err := x.lines.GetOrSet(x.sp, id, container.Vec[uint32]{})
	if err != nil {
		return err
	}
	return v.AppendSlice(x.sp, lines)
}

func (x *index) clear() {
	for _, v := range x.lines.Ptrs(x.sp) {
		v.Free(x.sp)
	}
	x.lines.Clear(x.sp)
	x.words.Clear(x.sp)
}

// visit visits the number of records, and each record. Loading adds them again: blocks and ids may be other ones.
func (x *index) visit(c *save.Coder) {
	n := c.Count(x.lines.Len())
	if c.Saving() {
		for id, v := range x.lines.All(x.sp) {
			word, lines := []byte(x.words.Text(x.sp, id)), v.Slice(x.sp)
			save.List(c, &word)
			save.List(c, &lines)
		}
		return
	}
	if c.Loading() {
		x.clear()
	}
	for range n {
		var word []byte
		var lines []uint32
		save.List(c, &word)
		save.List(c, &lines)
		if c.Loading() && !c.Failed() {
			c.Fail(x.add(string(word), lines...))
		}
	}
}

// A file of records in containers. The same function visits them for a slot.
func ExampleSet_AddFunc_records() {
	heap, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	if err != nil {
		panic(err)
	}
	defer heap.Close()
	sp, err := container.In(heap)
	x := index{sp: sp}
	var set save.Set
	if err := errors.Join(err, x.add("seal", 3, 8), x.add("heart", 5), set.AddFunc("index", x.visit), set.Seal()); err != nil {
		panic(err)
	}
	var file bytes.Buffer
	err = set.Write(&file)
	x.clear()
	fmt.Println(x.lines.Len(), err)

	err = set.Read(&file, nil)
	id, _ := x.words.Lookup(sp, "seal")
	v, _ := x.lines.Get(sp, id)
	fmt.Println(x.lines.Len(), v.Slice(sp), err)
	// Output:
	// 0 <nil>
	// 2 [3 8] <nil>
}
