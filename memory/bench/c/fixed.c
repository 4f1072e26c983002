/* W2, W3 and W5: blocks of one size. */
#include "driver.h"

struct stack {
	void *refs[64];
	u32 depth, rounds;
};

static double lifo_turn(void *data) {
	struct stack *s = data;
	u32 depth = s->depth, rounds = s->rounds;
	void **refs = s->refs;
	double begin = now();
	for (u32 i = 0; i < rounds; i++) {
		for (u32 k = 0; k < depth; k++) {
			void *p = ALLOC(64);
			*(u64 *)p = i;
			used(p);
			refs[k] = p;
		}
		for (u32 k = depth; k-- > 0;)
			FREE(refs[k]);
	}
	return now() - begin;
}

void lifo(struct job *j) {
	static struct stack s;
	s.depth = j->live;
	s.rounds = j->ops / j->live;
	fold(&drawn, s.depth);
	if (j->nothing) {
		figure("resident", resident());
		return;
	}
	figure("pair", repeat(j, (double)s.rounds * s.depth, lifo_turn, &s));
	for (u32 k = 0; k < s.depth; k++) {
		void *p = ALLOC(64);
		*(u64 *)p = k;
		used(p);
		fold(&readback, *(u64 *)p);
	}
}

struct queue {
	u32 n, times;
	void **refs;
};

static void fill(struct queue *q) {
	for (u32 i = 0; i < q->n; i++) {
		void *p = ALLOC(64);
		*(u64 *)p = i;
		used(p);
		q->refs[i] = p;
	}
}

static double fifo_turn(void *data) {
	struct queue *q = data;
	double begin = now();
	for (u32 k = 0; k < q->times; k++) {
		fill(q);
		for (u32 i = 0; i < q->n; i++)
			FREE(q->refs[i]);
	}
	return now() - begin;
}

void fifo(struct job *j) {
	struct queue q = {.n = j->live, .times = j->ops, .refs = pages(j->live * sizeof *q.refs)};
	fold(&drawn, q.n);
	if (j->nothing) {
		figure("resident", resident());
		return;
	}
	figure("pair", repeat(j, (double)q.n * q.times, fifo_turn, &q));
	fill(&q);
	for (u32 i = 0; i < q.n; i++)
		fold(&readback, *(u64 *)q.refs[i]);
	figure("live", 64.0 * q.n);
	figure("resident", resident());
}

struct particle {
	float x, y, z, vx, vy, vz;
	u64 id;
	float life, size;
	u32 color, pad;
};
_Static_assert(sizeof(struct particle) == 48, "a particle has 48 bytes");

struct cloud {
	u32 live, dies, frames, *ends;
	struct particle **refs;
	double moving;
};

static void respawn(struct particle **refs, const u32 *ends, u32 dies) {
	for (u32 i = 0; i < dies; i++)
		FREE(refs[ends[i]]);
	for (u32 i = 0; i < dies; i++) {
		struct particle *p = ALLOC(48);
		p->x = p->y = p->z = 0;
		p->vx = 1;
		p->vy = 2;
		p->vz = 3;
		p->id = i;
		used(p);
		refs[ends[i]] = p;
	}
}

static void move(struct particle **refs, u32 n) {
	for (u32 i = 0; i < n; i++) {
		struct particle *p = refs[i];
		p->x += p->vx;
		p->y += p->vy;
		p->z += p->vz;
	}
}

static double frames(void *data) {
	struct cloud *c = data;
	double took = 0;
	c->moving = 0;
	for (u32 f = 0; f < c->frames; f++) {
		double begin = now(), moved;
		respawn(c->refs, c->ends + (size_t)f * c->dies, c->dies);
		moved = now();
		took += moved - begin;
		move(c->refs, c->live);
		c->moving += now() - moved;
	}
	return took;
}

void particles(struct job *j) {
	struct cloud c = {.live = j->live, .dies = j->live / 10, .frames = j->ops};
	u32 *order = pages(c.live * sizeof *order);
	c.refs = pages(c.live * sizeof *c.refs);
	c.ends = pages((size_t)c.dies * c.frames * sizeof *c.ends);
	for (u32 i = 0; i < c.live; i++)
		order[i] = i;
	for (u32 f = 0; f < c.frames; f++)
		for (u32 i = 0; i < c.dies; i++) {
			u32 k = i + below(c.live - i), v = order[i];
			order[i] = order[k];
			order[k] = v;
			c.ends[f * c.dies + i] = order[i];
			fold(&drawn, order[i]);
		}
	if (j->nothing) {
		figure("resident", resident());
		return;
	}
	for (u32 i = 0; i < c.live; i++) {
		c.refs[i] = ALLOC(48);
		memset(c.refs[i], 0, 48);
		c.refs[i]->vx = 1;
	}
	figure("pair", repeat(j, (double)c.dies * c.frames, frames, &c));
	figure("move", c.moving / ((double)c.live * c.frames));
	for (u32 i = 0; i < c.live; i++)
		fold(&readback, c.refs[i]->id);
	figure("live", 48.0 * c.live);
	figure("resident", resident());
}
