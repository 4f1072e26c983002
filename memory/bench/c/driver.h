/* What the workloads of the C driver share. The Go driver in ../driver does the same work on the same tables. */
#ifndef DRIVER_H
#define DRIVER_H

#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;

/* The calls that are measured. WRAPPED puts a function that is never inlined around each, as in the Go driver. */
#ifdef NOOP /* an allocator that does nothing, for the time of the loop alone */
__attribute__((noinline)) void *noop_alloc(size_t n);
__attribute__((noinline)) void noop_free(void *p);
__attribute__((noinline)) void *noop_resize(void *p, size_t n);
#define ALLOC(n) noop_alloc(n)
#define FREE(p) noop_free(p)
#define ALIGNED(align, n) noop_alloc(n)
#define RESIZE(p, n) noop_resize(p, n)
#elif defined WRAPPED
__attribute__((noinline)) void *wrapped_alloc(size_t n);
__attribute__((noinline)) void wrapped_free(void *p);
__attribute__((noinline)) void *wrapped_aligned(size_t align, size_t n);
__attribute__((noinline)) void *wrapped_resize(void *p, size_t n);
#define ALLOC(n) wrapped_alloc(n)
#define FREE(p) wrapped_free(p)
#define ALIGNED(align, n) wrapped_aligned(align, n)
#define RESIZE(p, n) wrapped_resize(p, n)
#else
#define ALLOC(n) malloc(n)
#define FREE(p) free(p)
#define ALIGNED(align, n) aligned_alloc(align, n)
#define RESIZE(p, n) realloc(p, n)
#endif

/* used keeps the compiler from removing the stores to a block. */
static inline void used(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }

/* A job is one run of a workload. */
struct job {
	int live, ops, warm, reps, core;
	bool whole, nothing, time_calls;
	const char *program; /* of W14: the file */
};

struct workload {
	const char *name;
	int live, ops;
	void (*run)(struct job *);
};

/* driver.c */
void fail(const char *why);
void figure(const char *name, double v);
void pin(int core);
void shared_switches(void);
double now(void); /* ns */
double resident(void);
void *pages(size_t bytes); /* zeroed, outside of malloc, and touched */
void fold(u64 *sum, u64 v);
extern u64 drawn, readback;

/* A repetition takes its data and returns its time in ns. */
typedef double (*body)(void *data);
enum { most_repeated = 100, most_reps = 64, most_runs = most_repeated + most_reps + 8 };
double repeat(struct job *j, double ops, body run, void *data);

/* draw.c */
enum kind { small_kind, mixed_kind, large_kind };
u32 below(u32 n);
u32 between(u32 lo, u32 hi);
u32 size_of(enum kind k);
u32 *draw_between(u32 n, u32 lo, u32 hi);
u32 *draw_below(u32 n, u32 below);
u32 *draw_sizes(u32 n, enum kind k);
u32 *permutation(u32 n);

/* The time stamp counter, with overhead and quantiles in draw.c. The intrinsics' header takes longer to compile than
   the rest. On other processors nothing is timed call by call. */
#ifdef __x86_64__
enum { has_ticks = 1 };
static inline u64 start(void) {
	__builtin_ia32_lfence();
	u64 t = __builtin_ia32_rdtsc();
	__builtin_ia32_lfence();
	return t;
}
static inline u64 stop(void) {
	unsigned aux;
	u64 t = __builtin_ia32_rdtscp(&aux);
	__builtin_ia32_lfence();
	return t;
}
static inline void pause_once(void) { __builtin_ia32_pause(); }
#else
enum { has_ticks = 0 };
static inline u64 start(void) { return 0; }
static inline u64 stop(void) { return 0; }
static inline void pause_once(void) {}
#endif
u64 overhead(void);
static inline u32 elapsed(u64 begin, u64 end, u64 over) { return end - begin > over ? (u32)(end - begin - over) : 0; }
void quantiles(const char *of, u32 *ticks, u32 n);

/* workloads */
void w1(struct job *j);
void cold(struct job *j);
void lifo(struct job *j);
void fifo(struct job *j);
void w4(struct job *j);
void particles(struct job *j);
void w6(struct job *j);
void w7(struct job *j);
void hand_over(struct job *j);
void w9(struct job *j);
void aligned(struct job *j);
void fragmented(struct job *j);
void w12(struct job *j);
void growing_kept(struct job *j);
void growing_freed(struct job *j);
void two_cores(struct job *j);
void replay(struct job *j);

/* batch.c */
void read_back(void **refs, const u32 *sizes, u32 n);

#endif
