/* Random numbers, tables of them, and the time stamp counter. */
#include "driver.h"

static u64 state = 0x9E3779B97F4A7C15u;

/* xorshift64* */
static u64 next(void) {
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545F4914F6CDD1Du;
}

u32 below(u32 n) { return (u32)((next() >> 32) % n); }
u32 between(u32 lo, u32 hi) { return lo + below(hi - lo + 1); }

u32 size_of(enum kind k) {
	if (k == small_kind)
		return between(16, 512);
	if (k == large_kind)
		return between(4 << 10, 256 << 10);
	u32 share = between(0, 99);
	if (share < 80)
		return between(16, 256);
	if (share < 95)
		return between(257, 4096);
	return between(4097, 64 << 10);
}

u32 *draw_between(u32 n, u32 lo, u32 hi) {
	u32 *t = pages((size_t)n * sizeof *t);
	for (u32 i = 0; i < n; i++)
		fold(&drawn, t[i] = between(lo, hi));
	return t;
}

u32 *draw_below(u32 n, u32 limit) {
	u32 *t = pages((size_t)n * sizeof *t);
	for (u32 i = 0; i < n; i++)
		fold(&drawn, t[i] = below(limit));
	return t;
}

u32 *draw_sizes(u32 n, enum kind k) {
	u32 *t = pages((size_t)n * sizeof *t);
	for (u32 i = 0; i < n; i++)
		fold(&drawn, t[i] = size_of(k));
	return t;
}

u32 *permutation(u32 n) {
	u32 *t = pages((size_t)n * sizeof *t);
	for (u32 i = 0; i < n; i++)
		t[i] = i;
	for (u32 i = n - 1; i > 0 && i < n; i--) {
		u32 k = below(i + 1), v = t[i];
		t[i] = t[k];
		t[k] = v;
	}
	for (u32 i = 0; i < n; i++)
		fold(&drawn, t[i]);
	return t;
}

u64 overhead(void) {
	u64 least = ~0ull;
	for (int i = 0; i < 100000; i++) {
		u64 begin = start(), t = stop() - begin;
		if (t < least)
			least = t;
	}
	return least;
}

/* The rate of the counter. A switch of threads in between lowers the result, so the largest counts. */
static double ticks_per_ns(void) {
	double most = 0;
	for (int i = 0; i < 5; i++) {
		double begin = now(), t;
		u64 c = start();
		while (now() - begin < 2e6)
			;
		c = stop() - c;
		t = (double)c / (now() - begin);
		if (t > most)
			most = t;
	}
	return most;
}

static int by_ticks(const void *a, const void *b) {
	u32 x = *(const u32 *)a, y = *(const u32 *)b;
	return (x > y) - (x < y);
}

void quantiles(const char *of, u32 *ticks, u32 n) {
	static const struct {
		const char *name;
		double at;
	} qs[] = {{"p50", .5}, {"p99", .99}, {"p999", .999}, {"p9999", .9999}};
	double rate = ticks_per_ns();
	qsort(ticks, n, sizeof *ticks, by_ticks);
	for (int i = 0; i < 4; i++) {
		char name[24];
		snprintf(name, sizeof name, "%s%s", of, qs[i].name);
		figure(name, ticks[(u32)(qs[i].at * (n - 1))] / rate);
	}
}
