/* W11, pairs in a fragmented heap, and W13, one block that grows step by step. */
#include "driver.h"

enum { few = 64 };

struct pairs {
	u32 size, *frees;
	int times;
	void *group[few];
};

static double pairs(void *data) {
	struct pairs *w = data;
	u32 size = w->size;
	double begin = now();
	for (int k = 0; k < w->times; k++) {
		for (u32 i = 0; i < few; i++) {
			void *p = ALLOC(size);
			*(u64 *)p = i;
			used(p);
			w->group[i] = p;
		}
		for (u32 i = 0; i < few; i++)
			FREE(w->group[w->frees[i] % few]);
	}
	return now() - begin;
}

void fragmented(struct job *j) {
	static const u32 of[] = {128, 243, 512, 4097};
	u32 n = j->live, *sizes = draw_between(n, 16, 8192), *order = permutation(n);
	struct pairs w = {.frees = permutation(few), .times = j->ops};
	void **refs = pages(n * sizeof *refs);
	if (j->nothing) {
		figure("resident", resident());
		return;
	}
	for (u32 i = 0; i < n; i++) {
		refs[i] = ALLOC(sizes[i]);
		*(u64 *)refs[i] = i;
		used(refs[i]);
	}
	for (u32 i = 0; i < n / 2; i++)
		FREE(refs[order[i]]);
	for (int i = 0; i < 4; i++) {
		char name[24];
		w.size = of[i];
		snprintf(name, sizeof name, "pair %u", of[i]);
		figure(name, repeat(j, (double)w.times * few, pairs, &w));
	}
	for (u32 i = n / 2; i < n; i++)
		fold(&readback, *(u64 *)refs[order[i]]);
}

enum { grow_from = 4 << 10, grow_to = 600 << 10, grow_step = 128, grow_steps = (grow_to - grow_from) / grow_step };

struct growth {
	u32 steps;
	bool keep;
	void **refs;
	double resident;
};

static char *grow(struct growth *g) {
	char *block = ALLOC(grow_from);
	size_t size = grow_from;
	for (u32 i = 0; i < g->steps; i++) {
		block = RESIZE(block, size + grow_step);
		*(u64 *)(block + size) = i;
		size += grow_step;
		void *p = ALLOC(grow_step);
		*(u64 *)p = i;
		used(p);
		g->refs[i] = p;
		if (!g->keep && i > 0)
			FREE(g->refs[i - 1]);
	}
	return block;
}

static double trace(void *data) {
	struct growth *g = data;
	double begin = now(), took, r;
	char *block = grow(g);
	took = now() - begin;
	readback = 0;
	for (u32 i = 0; i < g->steps; i++)
		fold(&readback, *(u64 *)(block + grow_from + (size_t)i * grow_step));
	if ((r = resident()) > g->resident)
		g->resident = r;
	begin = now();
	for (u32 i = g->keep ? 0 : g->steps - 1; i < g->steps; i++)
		FREE(g->refs[i]);
	FREE(block);
	return took + now() - begin;
}

static void growing(struct job *j, bool keep) {
	struct growth g = {.steps = j->ops > 1 ? j->ops : grow_steps, .keep = keep};
	g.refs = pages(g.steps * sizeof *g.refs);
	fold(&drawn, g.steps);
	if (j->nothing) {
		figure("resident", resident());
		return;
	}
	figure("pair", repeat(j, g.steps, trace, &g));
	figure("live", grow_from + grow_step * (double)g.steps * (keep ? 2 : 1));
	figure("resident", g.resident);
}

void growing_kept(struct job *j) { growing(j, true); }
void growing_freed(struct job *j) { growing(j, false); }
