package main

import (
	"fmt"
	"slices"
)

const million = 1_000_000

// rows are what the command measures, on worlds of at most so many entities.
func rows(limit int) []row {
	all := slices.Concat(
		walkRows(limit),
		getRows(limit),
		lifeRows(min(crowd, limit)),
		moveRows(min(crowd, limit)),
		[]row{newWorld(), growth(min(million, limit)), memory(min(million, limit)), marking(min(million, limit))},
		targetRows(limit),
		relationRows(limit),
		archetypeRows(limit),
		pointerRows(limit),
		watchingRows(limit),
		coreRows(limit),
	)
	return all
}

// Goals are ratios to a side of the same run: a time holds for one processor. Compared with loops over
// slices, loops must be within 5 % by columns and within 10 % entity by entity. The other goals are the
// time that was once the goal of a row over what Ark took on the processor for which it was set. There
// are two exceptions: that gives .67 and .56 for removal, in order and at random, and the goal is .70.
var (
	columnGoal = goal{most: 1.05, of: bare}
	entityGoal = goal{most: 1.10, of: bare}
)

func walkRows(limit int) (all []row) {
	for _, w := range []struct {
		n, components int
		how           form
		goals         []goal
	}{
		{1, 2, byEntity, []goal{{most: .15, of: arks}}},
		{1, 2, byQuery, nil},
		{1, 2, byColumn, nil},
		{1_000, 1, byEntity, []goal{entityGoal}},
		{1_000, 1, byColumn, []goal{columnGoal}},
		{100_000, 1, byEntity, []goal{entityGoal}},
		{100_000, 1, byColumn, []goal{columnGoal}},
		{million, 1, byEntity, []goal{entityGoal}},
		{million, 1, byColumn, []goal{columnGoal}},
		{1_000, 2, byEntity, []goal{entityGoal, {most: .80, of: arks}}},
		{1_000, 2, byQuery, nil},
		{1_000, 2, byColumn, []goal{columnGoal}},
		{100_000, 2, byEntity, []goal{entityGoal}},
		{100_000, 2, byQuery, nil},
		{100_000, 2, byColumn, []goal{columnGoal}},
		{million, 2, byEntity, []goal{entityGoal, {most: .80, of: arks}}},
		{million, 2, byQuery, nil},
		{million, 2, byColumn, []goal{columnGoal}},
		{1_000, 3, byEntity, []goal{entityGoal}},
		{1_000, 3, byColumn, []goal{columnGoal}},
		{100_000, 3, byEntity, []goal{entityGoal}},
		{100_000, 3, byColumn, []goal{columnGoal}},
		{million, 3, byEntity, []goal{entityGoal}},
		{million, 3, byColumn, []goal{columnGoal}},
		{1_000, 4, byEntity, []goal{entityGoal}},
		{1_000, 4, byColumn, []goal{columnGoal}},
		{100_000, 4, byEntity, []goal{entityGoal}},
		{100_000, 4, byColumn, []goal{columnGoal}},
		{million, 4, byEntity, []goal{entityGoal}},
		{million, 4, byColumn, []goal{columnGoal}},
	} {
		all = append(all, walk(w.n, min(w.n, limit), w.components, w.how, w.goals))
	}
	singly := walk(1_000, min(1_000, limit), 2, byColumn, nil)
	singly.name = "walk 1000 made one by one, by columns"
	singly.sides[0].make = func(s *stand) side { return strataWalk(strataSingly(s, min(1_000, limit)), 2, byColumn) }
	all = append(all, singly)
	return append(all, light(min(1_000, limit), byEntity), light(min(1_000, limit), byColumn),
		archetypes(byEntity), archetypes(byColumn), cold(min(100_000, limit)))
}

// walk is a row over n entities, which is called after another number.
func walk(called, n, components int, how form, goals []goal) row {
	r := row{
		name: fmt.Sprintf("walk %d %s, %d component%s", called, [...]string{"by All", "by Query", "by columns"}[how], components, [...]string{"", "s"}[min(components-1, 1)]),
		unit: "ns", n: n, goals: goals,
		sides: []contestant{
			{ours, func(s *stand) side { return strataWalk(strataOf(s, n, components), components, how) }},
			{bare, func(*stand) side { return sliceWalk(n, components) }},
			{arks, func(*stand) side { return arkWalk(arkOf(n, components), components, how) }},
		},
	}
	if how != byColumn {
		r.sides = append(r.sides, contestant{bowl, func(*stand) side { return bowlWalk(bowlOf(n, components), components) }})
	}
	return r
}

func getRows(limit int) (all []row) {
	for _, g := range []struct {
		called string
		n      int
		goals  []goal
	}{{"16k", 16 << 10, nil}, {"100k", 100_000, nil}, {"256k", 256 << 10, []goal{{most: .75, of: arks}}}, {"1M", million, []goal{{most: .75, of: arks}, {most: 1.5, of: floor}}}} {
		n := min(g.n, limit)
		all = append(all, row{
			name: "get at random, " + g.called, unit: "ns", n: n, goals: g.goals,
			sides: []contestant{
				{ours, func(s *stand) side { return strataGets(s, n) }},
				{bare, func(*stand) side { return sliceGets(n) }},
				{floor, func(*stand) side { return floorGets(n) }},
				{arks, func(*stand) side { return arkGets(n) }},
				{bowl, func(*stand) side { return bowlGets(n) }},
			},
		})
	}
	return all
}

// lifeRows create and remove n entities in a world that contained as many before.
func lifeRows(n int) []row {
	create := func(name string, how filling, goals ...goal) row {
		return row{name: name, unit: "ns", n: n, goals: goals, sides: []contestant{
			{ours, func(s *stand) side { return strataLife(s, n).creation(how) }},
			{bare, func(*stand) side { return sliceCreation(n) }},
			{arks, func(*stand) side { return arkLife(n).creation(how) }},
			{bowl, func(*stand) side { return bowlLife(n).creation(how) }},
		}}
	}
	remove := func(name string, mixed bool, most float64) row {
		return row{name: name, unit: "ns", n: n, goals: []goal{{most: most, of: arks}}, sides: []contestant{
			{ours, func(s *stand) side { return strataLife(s, n).removal(mixed) }},
			{arks, func(*stand) side { return arkLife(n).removal(mixed) }},
			{bowl, func(*stand) side { return bowlLife(n).removal(mixed) }},
		}}
	}
	all := row{name: "remove all that match", unit: "ns", n: n, sides: []contestant{
		{ours, func(s *stand) side { return strataLife(s, n).emptying() }},
		{arks, func(*stand) side { return arkLife(n).emptying() }},
	}}
	return []row{
		create("create", one, goal{most: .50, of: arks}),
		create("create a batch of one value", value, goal{most: .45, of: arks}),
		create("create a batch, each filled", each),
		remove("remove in order", false, .70),
		remove("remove in random order", true, .70),
		all,
	}
}

// moveRows add a component to n entities and take it away.
func moveRows(n int) []row {
	return []row{
		{name: "add and remove a component", unit: "ns", n: n, goals: []goal{{most: .60, of: arks}}, sides: []contestant{
			{ours, func(s *stand) side { return strataMoves(s, n) }},
			{arks, func(*stand) side { return arkMoves(n) }},
			{bowl, func(*stand) side { return bowlMoves(n) }},
		}},
		{name: "add and remove a component, all", unit: "ns", n: n, goals: []goal{{most: .70, of: arks}}, sides: []contestant{
			{ours, func(s *stand) side { return strataMovesAll(s, n) }},
			{arks, func(*stand) side { return arkMovesAll(n) }},
		}},
		{name: "exchange a component and back", unit: "ns", n: n, sides: []contestant{
			{ours, func(s *stand) side { return strataExchanges(s, n) }},
			{arks, func(*stand) side { return arkExchanges(n) }},
		}},
	}
}
