/* W4, W6, W7, W12 and W4 on two cores: live blocks are replaced one after the other. */
#include "driver.h"

#include <pthread.h>
#include <stdatomic.h>

struct churn {
	u32 live, ops, *sizes, *index, *next;
	void **refs;
	bool whole;
};

static struct churn new_churn(struct job *j, enum kind k) {
	struct churn c = {.live = j->live, .ops = j->ops, .whole = j->whole};
	c.refs = pages(c.live * sizeof *c.refs);
	c.sizes = draw_sizes(c.live, k);
	c.index = draw_below(c.ops, c.live);
	c.next = draw_sizes(c.ops, k);
	return c;
}

static void populate(struct churn *c) {
	for (u32 i = 0; i < c->live; i++) {
		u32 n = c->sizes[i];
		void *p = ALLOC(n);
		if (c->whole)
			memset(p, 0, n);
		*(u64 *)p = i;
		used(p);
		c->refs[i] = p;
	}
}

static void replace(struct churn *c) {
	for (u32 i = 0; i < c->ops; i++) {
		u32 at = c->index[i], n = c->next[i];
		FREE(c->refs[at]);
		void *p = ALLOC(n);
		*(u64 *)p = i;
		used(p);
		c->refs[at] = p;
		c->sizes[at] = n;
	}
}

static void replace_whole(struct churn *c) {
	for (u32 i = 0; i < c->ops; i++) {
		u32 at = c->index[i], n = c->next[i];
		FREE(c->refs[at]);
		void *p = ALLOC(n);
		memset(p, 0, n);
		*(u64 *)p = i;
		used(p);
		c->refs[at] = p;
		c->sizes[at] = n;
	}
}

static double turn(void *data) {
	struct churn *c = data;
	double begin = now();
	if (c->whole)
		replace_whole(c);
	else
		replace(c);
	return now() - begin;
}

static void timed(struct churn *c) {
	u32 *allocs = pages((size_t)c->ops * sizeof *allocs), *frees = pages((size_t)c->ops * sizeof *frees);
	u64 over = overhead();
	for (u32 i = 0; i < c->ops; i++) {
		u32 at = c->index[i], n = c->next[i];
		void *p = c->refs[at];
		u64 begin = start();
		FREE(p);
		u64 end = stop();
		frees[i] = elapsed(begin, end, over);
		begin = start();
		p = ALLOC(n);
		end = stop();
		allocs[i] = elapsed(begin, end, over);
		*(u64 *)p = i;
		used(p);
		c->refs[at] = p;
		c->sizes[at] = n;
	}
	quantiles("", allocs, c->ops);
	quantiles("free ", frees, c->ops);
}

static void churn(struct job *j, enum kind k) {
	struct churn c = new_churn(j, k);
	if (j->nothing) {
		figure("resident", resident());
		return;
	}
	populate(&c);
	if (j->time_calls)
		j->reps = 0;
	figure("pair", repeat(j, c.ops, turn, &c));
	read_back(c.refs, c.sizes, c.live);
	if (!j->whole && has_ticks)
		timed(&c);
}

void w4(struct job *j) { churn(j, small_kind); }
void w6(struct job *j) { churn(j, mixed_kind); }
void w7(struct job *j) { churn(j, large_kind); }

void w12(struct job *j) {
	j->time_calls = true;
	churn(j, mixed_kind);
}

static struct churn halves[2];
static _Atomic u64 started, done;

static void *second(void *core) {
	if (core)
		pin(0);
	populate(&halves[1]);
	for (u64 t = 1;; t++) {
		atomic_store_explicit(&done, t, memory_order_release);
		while (atomic_load_explicit(&started, memory_order_acquire) < t)
			pause_once();
		replace(&halves[1]);
	}
	return NULL;
}

static double both(void *data) {
	u64 *t = data;
	double begin = now();
	atomic_store_explicit(&started, ++*t, memory_order_release);
	replace(&halves[0]);
	while (atomic_load_explicit(&done, memory_order_acquire) <= *t)
		pause_once();
	return now() - begin;
}

void two_cores(struct job *j) {
	u64 t = 0;
	pthread_t th;
	shared_switches();
	halves[0] = new_churn(j, small_kind);
	halves[1] = new_churn(j, small_kind);
	if (j->nothing) {
		figure("resident", resident());
		return;
	}
	if (pthread_create(&th, NULL, second, j->core >= 0 ? j : NULL))
		fail("pthread_create");
	while (atomic_load_explicit(&done, memory_order_acquire) < 1)
		pause_once();
	populate(&halves[0]);
	figure("pair", repeat(j, j->ops, both, &t));
	for (int i = 0; i < 2; i++)
		read_back(halves[i].refs, halves[i].sizes, halves[i].live);
}
