/* W8: one thread allocates runs of blocks, another frees them. */
#include "driver.h"

#include <pthread.h>
#include <stdatomic.h>

enum { run_blocks = 256, run_bytes = 256, ring_runs = 64, each_run_sum = run_blocks * (run_blocks - 1) / 2 };

/* A ring has one producer and one consumer. Each counter has a cache line of its own. */
static struct {
	_Alignas(64) _Atomic u64 filled;
	_Alignas(64) _Atomic u64 emptied;
	_Alignas(64) _Atomic bool stop;
	_Alignas(64) void *runs[ring_runs][run_blocks];
} ring;

static void *consume(void *core) {
	u64 wrong = 0;
	if (core)
		pin(0);
	for (u64 n = 0;; n++) {
		while (atomic_load_explicit(&ring.filled, memory_order_acquire) <= n) {
			if (atomic_load_explicit(&ring.stop, memory_order_acquire))
				return (void *)(uintptr_t)wrong;
			pause_once();
		}
		void **run = ring.runs[n % ring_runs];
		u64 sum = 0;
		for (u32 i = 0; i < run_blocks; i++) {
			sum += *(u64 *)run[i];
			FREE(run[i]);
		}
		wrong += sum != each_run_sum;
		atomic_store_explicit(&ring.emptied, n + 1, memory_order_release);
	}
}

struct producer {
	u64 made;
	int runs;
};

static double produce(void *data) {
	struct producer *w = data;
	double begin = now();
	for (int k = 0; k < w->runs; k++) {
		while (w->made - atomic_load_explicit(&ring.emptied, memory_order_acquire) >= ring_runs)
			pause_once();
		void **run = ring.runs[w->made % ring_runs];
		for (u32 i = 0; i < run_blocks; i++) {
			void *p = ALLOC(run_bytes);
			*(u64 *)p = i;
			used(p);
			run[i] = p;
		}
		atomic_store_explicit(&ring.filled, ++w->made, memory_order_release);
	}
	while (atomic_load_explicit(&ring.emptied, memory_order_acquire) != w->made)
		pause_once();
	return now() - begin;
}

void hand_over(struct job *j) {
	struct producer w = {.runs = j->ops};
	pthread_t th;
	void *wrong;
	shared_switches();
	fold(&drawn, (u64)j->live);
	if (j->nothing) {
		figure("resident", resident());
		return;
	}
	if (pthread_create(&th, NULL, consume, j->core >= 0 ? j : NULL))
		fail("pthread_create");
	figure("pair", repeat(j, (double)j->ops * run_blocks, produce, &w));
	atomic_store_explicit(&ring.stop, true, memory_order_release);
	pthread_join(th, &wrong);
	readback = each_run_sum + (u64)(uintptr_t)wrong;
}
