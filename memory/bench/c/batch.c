/* W1, W9 and W10: the blocks of a batch are live, then none. */
#include "driver.h"

struct batch {
	u32 n, *sizes, *order; /* order NULL: freed in the order of the allocations */
	void **refs;
	int times;
	bool whole;
	double filling;
};

static void fill(struct batch *b) {
	for (u32 i = 0; i < b->n; i++) {
		void *p = ALLOC(b->sizes[i]);
		*(u64 *)p = i;
		used(p);
		b->refs[i] = p;
	}
}

static void fill_whole(struct batch *b) {
	for (u32 i = 0; i < b->n; i++) {
		u32 n = b->sizes[i];
		void *p = ALLOC(n);
		memset(p, 0, n);
		*(u64 *)p = i;
		used(p);
		b->refs[i] = p;
	}
}

static void release(struct batch *b) {
	if (!b->order) {
		for (u32 i = 0; i < b->n; i++)
			FREE(b->refs[i]);
		return;
	}
	for (u32 i = 0; i < b->n; i++)
		FREE(b->refs[b->order[i]]);
}

static double turn(void *data) {
	struct batch *b = data;
	double took = 0;
	for (int k = 0; k < b->times; k++) {
		double begin = now();
		if (b->whole)
			fill_whole(b);
		else
			fill(b);
		b->filling = now() - begin;
		release(b);
		took += now() - begin;
	}
	return took;
}

/* To sort the times of more blocks takes too long. */
enum { most_timed = 1000000 };

/* Each allocation of a batch is timed. */
static void timed(struct batch *b) {
	u32 *ticks = pages((size_t)b->n * sizeof *ticks);
	u64 over = overhead();
	for (u32 i = 0; i < b->n; i++) {
		u64 begin = start();
		void *p = ALLOC(b->sizes[i]);
		u64 end = stop();
		*(u64 *)p = i;
		used(p);
		b->refs[i] = p;
		ticks[i] = elapsed(begin, end, over);
	}
	release(b);
	quantiles("", ticks, b->n);
}

void read_back(void **refs, const u32 *sizes, u32 n) {
	double live = 0;
	for (u32 i = 0; i < n; i++) {
		fold(&readback, *(u64 *)refs[i]);
		live += sizes[i];
	}
	figure("live", live);
	figure("resident", resident());
}

static void batch(struct job *j, u32 lo, u32 hi, bool random, int times) {
	struct batch b = {.n = j->live, .times = times, .whole = j->whole};
	b.sizes = draw_between(b.n, lo, hi);
	b.refs = pages(b.n * sizeof *b.refs);
	if (random)
		b.order = permutation(b.n);
	if (j->nothing) {
		figure("resident", resident());
		return;
	}
	figure("pair", repeat(j, (double)b.n * times, turn, &b));
	figure("alloc", b.filling / b.n);
	if (j->whole)
		fill_whole(&b);
	else
		fill(&b);
	read_back(b.refs, b.sizes, b.n);
	release(&b);
	if (has_ticks && j->reps > 0 && b.n <= most_timed)
		timed(&b);
}

void w1(struct job *j) { batch(j, 8, 256, true, 1); }

void cold(struct job *j) {
	j->warm = 1;
	j->reps = 0;
	batch(j, 8, 256, true, 1);
}

void w9(struct job *j) { batch(j, 16, 256, false, j->ops); }

static void fill_aligned(struct batch *b) {
	for (u32 i = 0; i < b->n; i++) {
		void *p = ALIGNED(64, b->sizes[i]);
		*(u64 *)p = i;
		used(p);
		b->refs[i] = p;
	}
}

static double turn_aligned(void *data) {
	struct batch *b = data;
	double begin = now();
	for (int k = 0; k < b->times; k++) {
		fill_aligned(b);
		release(b);
	}
	return now() - begin;
}

void aligned(struct job *j) {
	struct batch b = {.n = j->live, .times = j->ops};
	b.refs = pages(b.n * sizeof *b.refs);
	b.sizes = pages(b.n * sizeof *b.sizes);
	for (u32 i = 0; i < b.n; i++)
		fold(&drawn, b.sizes[i] = (between(16, 256) + 63) & ~63u);
	if (j->nothing) {
		figure("resident", resident());
		return;
	}
	figure("pair", repeat(j, (double)b.n * b.times, turn_aligned, &b));
	fill_aligned(&b);
	for (u32 i = 0; i < b.n; i++)
		if ((uintptr_t)b.refs[i] % 64)
			fail("a block is not aligned");
	read_back(b.refs, b.sizes, b.n);
	release(&b);
}
