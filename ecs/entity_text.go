package ecs

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/strata-go/strata/ecs/internal/jsonio"
)

// MarshalText returns slot and generation in the form "12:7". encoding/json uses this form for each Entity
// in a value and for each Entity that is the key of a map. The zero Entity is "0:0". MarshalText does not
// check whether the entity is alive.
//
// MarshalText returns an error for a placeholder of [Task.Commands], whose index is 1<<31 or more. A placeholder names
// no entity, even after Apply. It also returns an error if the index is 0 or the generation is even, except for the
// zero Entity.
//
// A struct that embeds an Entity promotes this method, so encoding/json writes only the Entity. Name the field instead.
func (e Entity) MarshalText() ([]byte, error) {
	if (e.gen&1 == 0 || e.index == 0) && !e.IsZero() {
		return nil, fmt.Errorf("ecs: entity %v never was: slots begin at 1, and generations are odd", e)
	}
	if e.index >= placeholderBit {
		return nil, fmt.Errorf("ecs: entity %v is not created before Apply", e)
	}
	return e.appendText(make([]byte, 0, 24)), nil
}

func (e Entity) appendText(b []byte) []byte {
	b = strconv.AppendUint(b, uint64(e.index), 10)
	b = append(b, ':')
	return strconv.AppendUint(b, uint64(e.gen), 10)
}

// UnmarshalText sets e from a text in the form of MarshalText. It does not check whether the entity is alive in any
// world. It returns an error for a text of any other form, but accepts leading zeros. It also returns an error for
// slot 0, for slots of 1<<31 and above, and for an even generation, but not for "0:0". On error e is unchanged.
func (e *Entity) UnmarshalText(text []byte) error {
	slot, generation, ok := bytes.Cut(text, []byte(":"))
	index, err := strconv.ParseUint(string(slot), 10, 32)
	gen, also := strconv.ParseUint(string(generation), 10, 32)
	if !ok || err != nil || also != nil {
		return fmt.Errorf("ecs: %q is not an entity; the form is \"slot:generation\"", jsonio.Clip(text))
	}
	if index|gen == 0 {
		*e = Entity{}
		return nil
	}
	if index == 0 || index >= placeholderBit || gen&1 == 0 {
		return fmt.Errorf("ecs: %q is not an entity: slots are 1 to 2147483647, and generations are odd", jsonio.Clip(text))
	}
	*e = Entity{index: uint32(index), gen: uint32(gen)}
	return nil
}
