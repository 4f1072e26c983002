package ecs

import (
	"bytes"
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// basedTelling is a tellingMemory that a Set accepts. A file never uses its base.
type basedTelling struct{ *tellingMemory }

func (m basedTelling) Base() unsafe.Pointer { return unsafe.Pointer(m.tellingMemory) }

// Set.Read has an error result, and reports removals. See Observer: "If the call that reported the event has an error
// result, it returns an error that wraps memory.ErrClosed".
func TestWorld_ReadReturnsErrClosedIfARemovalCloses(t *testing.T) {
	mem := basedTelling{&tellingMemory{testMemory: newTestMemory(t)}}
	w, err := New(mem, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var set save.Set
	if err := errors.Join(set.Add("world", w), set.Seal()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.NewEntity(); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := set.Write(&file); err != nil {
		t.Fatal(err)
	}
	w.OnRemove(func(Entity) { mem.close() })
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("Read panics: %v", r)
		}
	}()
	if err := set.Read(&file, nil); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("Read: %v", err)
	}
}

type basedTest struct{ *testMemory }

func (m basedTest) Base() unsafe.Pointer { return unsafe.Pointer(m.testMemory) }

// An observer of removal may use up the memory by spawning, and then the removal fails. The spare that was given back
// for the space of the removal must not wait: otherwise the memory is short by it, and saving fails with ErrBusy.
func TestWorld_ARemovalThatFailsFreesWhatWaits(t *testing.T) {
	mem := basedTest{newTestMemory(t)}
	w, err := New(mem, Config{FirstChunkBytes: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var set save.Set
	if err := errors.Join(set.Add("world", w), set.Seal()); err != nil {
		t.Fatal(err)
	}
	for _, e := range []Entity{ // four spares of 16 KiB, which is the budget
		must[Entity](t)(NewMap1[velocity](w).NewEntity(velocity{})), must[Entity](t)(NewMap1[health](w).NewEntity(health{})),
		must[Entity](t)(NewMap1[struct{ N int32 }](w).NewEntity(struct{ N int32 }{})), must[Entity](t)(NewMap1[position](w).NewEntity(position{})),
	} {
		w.Remove(e)
	}
	for range 16 << 10 / int(entityBytes) {
		must[Entity](t)(w.NewEntity())
	}
	e := must[Entity](t)(NewMap1[position](w).NewEntity(position{}))
	pos := mustRegisterTest[position](t, w)
	spawned := 0
	pos.OnRemove(func(Entity, *position) {
		mem.limit = len(mem.live)
		for {
			if _, err := w.Commands().Spawn(); err != nil {
				return
			}
			spawned++
		}
	})
	if _, err := pos.Remove(e); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Fatalf("Remove: %v after %d spawned", err, spawned)
	}
	if w.store.pending != 0 {
		t.Error("a block waits to be freed after an error")
	}
	w.Commands().clear() // the commands wait, too, which is no fault
	if err := set.Write(&bytes.Buffer{}); err != nil {
		t.Errorf("Write: %v", err)
	}
}
