/* W14, the program of a trace. ../driver/replay.go has the same loops; memory/trace/program.go describes the file. */
#include "driver.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Comparisons select the kind of an operation, as in Go. A jump through a table costs up to 4 ns an operation more. */
#pragma GCC optimize("no-jump-tables")

struct op {
	uint8_t kind, shift, tier, zero;
	u32 slot, size, old;
};

/* How many operations are timed together. */
enum { slice = 1024 };

enum { op_alloc, op_free, op_resize, op_tick, op_aligned };

struct header {
	char magic[8];
	u32 version, slots;
	u64 all, timed, operations, peak_at, peak;
	u32 largest, sum;
};

struct replay {
	const struct header *p;
	const struct op *ops;
	void **slots;
	u32 *times, slices; /* ns of each slice of the operations, in all runs */
	u32 *ticks, tick_count;
	u32 kept; /* runs */
	u32 *tick; /* the next one */
	u64 last; /* when the tick before it ended */
	bool whole;
};

/* The checksum of the file is not verified: the parent has written it, and compares what is folded below. */
static const struct header *map_program(const char *name) {
	struct stat s;
	int f = open(name, O_RDONLY);
	if (f < 0 || fstat(f, &s))
		fail("the program of the trace cannot be opened");
	const struct header *h = mmap(NULL, s.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, f, 0);
	if (h == MAP_FAILED || (size_t)s.st_size < sizeof *h || memcmp(h->magic, "strprog\x1A", 8) || h->version != 1 ||
	    (u64)s.st_size != sizeof *h + h->all * sizeof(struct op) || h->operations == 0)
		fail("it is no program of a trace");
	close(f);
	return h;
}

static void run(struct replay *r, const struct op *ops, u64 n) {
	void **slots = r->slots;
	u64 time;
	for (u64 i = 0; i < n; i++) {
		const struct op *op = &ops[i];
		void *p;
		switch (op->kind) {
		case op_alloc:
			p = ALLOC(op->size);
			*(u64 *)p = i;
			used(p);
			slots[op->slot] = p;
			break;
		case op_free:
			FREE(slots[op->slot]);
			break;
		case op_resize:
			slots[op->slot] = RESIZE(slots[op->slot], op->size);
			break;
		case op_aligned:
			p = ALIGNED((size_t)1 << op->shift, op->size);
			*(u64 *)p = i;
			used(p);
			slots[op->slot] = p;
			break;
		case op_tick:
			time = stop();
			*r->tick++ = elapsed(r->last, time, 0);
			r->last = time;
			break;
		}
	}
}

static void run_whole(struct replay *r, const struct op *ops, u64 n) {
	void **slots = r->slots;
	for (u64 i = 0; i < n; i++) {
		const struct op *op = &ops[i];
		char *p;
		switch (op->kind) {
		case op_alloc:
		case op_aligned:
			p = op->kind == op_alloc ? ALLOC(op->size) : ALIGNED((size_t)1 << op->shift, op->size);
			memset(p, 0, op->size);
			used(p);
			slots[op->slot] = p;
			break;
		case op_free:
			FREE(slots[op->slot]);
			break;
		case op_resize:
			p = RESIZE(slots[op->slot], op->size);
			if (op->size > op->old)
				memset(p + op->old, 0, op->size - op->old);
			used(p);
			slots[op->slot] = p;
			break;
		}
	}
}

/* The run before the clock starts, as in the Go driver. */
static void check(struct replay *r) {
	for (u64 i = 0; i < r->p->all; i++) {
		const struct op *op = &r->ops[i];
		if (op->kind == op_free || op->kind == op_resize)
			fold(&readback, *(u64 *)r->slots[op->slot]);
		if (op->kind == op_tick)
			; /* it has no memory */
		else if (r->whole)
			run_whole(r, op, 1);
		else
			run(r, op, 1);
		if (op->kind != op_free && op->kind != op_tick)
			*(u64 *)r->slots[op->slot] = i;
		if (i == r->p->peak_at) {
			figure("live", r->p->peak);
			figure("resident", resident());
		}
	}
}

static double again(void *data) {
	struct replay *r = data;
	u32 *times = r->times + (size_t)r->kept * r->slices;
	double took = 0;
	r->tick = r->ticks + (size_t)r->kept * r->tick_count;
	r->last = stop();
	for (u64 k = 0; k < r->slices; k++) {
		u64 from = k * slice, n = r->p->timed - from < slice ? r->p->timed - from : slice;
		double begin = now(), t;
		if (r->whole)
			run_whole(r, r->ops + from, n);
		else
			run(r, r->ops + from, n);
		t = now() - begin;
		times[k] = t < 4e9 ? (u32)t : (u32)4e9;
		took += t;
	}
	for (u64 i = r->p->timed; i < r->p->all; i++)
		FREE(r->slots[r->ops[i].slot]);
	r->kept++;
	return took;
}

static int by_time(const void *a, const void *b) {
	u32 x = *(const u32 *)a, y = *(const u32 *)b;
	return (x > y) - (x < y);
}

/* The median over the runs of each slice or tick replaces that of the first run. It does the same work in each run, but
   the kernel may take the processor away in any of them. */
static void typical(u32 *all, u32 count, u32 runs) {
	u32 one[most_runs];
	for (u32 k = 0; k < count; k++) {
		for (u32 i = 0; i < runs; i++)
			one[i] = all[(size_t)i * count + k];
		qsort(one, runs, sizeof *one, by_time);
		all[k] = one[(runs - 1) / 2];
	}
}

void replay(struct job *j) {
	struct replay r = {.p = map_program(j->program), .whole = j->whole};
	r.ops = (const struct op *)(r.p + 1);
	r.slots = pages(r.p->slots * sizeof *r.slots);
	for (u64 i = 0; i < r.p->all; i++) {
		if (r.ops[i].kind == op_tick)
			r.tick_count++;
		fold(&drawn, (u64)r.ops[i].slot << 32 | r.ops[i].size);
	}
	r.slices = (r.p->timed + slice - 1) / slice;
	r.times = pages(sizeof *r.times * r.slices * most_runs);
	r.ticks = pages(sizeof *r.ticks * r.tick_count * most_runs);
	if (j->nothing) {
		figure("resident", resident());
		return;
	}
	check(&r);
	repeat(j, r.p->operations, again, &r);
	double sum = 0;
	typical(r.times, r.slices, r.kept);
	for (u32 k = 0; k < r.slices; k++)
		sum += r.times[k];
	figure("pair", sum / r.p->operations);
	if (r.tick_count > 0 && !j->whole) {
		typical(r.ticks, r.tick_count, r.kept);
		quantiles("tick ", r.ticks, r.tick_count);
	}
}
