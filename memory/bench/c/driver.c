/* The C driver measures malloc on one workload and prints the figures as one JSON object, as the Go driver does. The
   library that serves malloc is linked statically or chosen by LD_PRELOAD; the object names it. */
#include "driver.h"

#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

static const struct workload workloads[] = {
	{"W1", 100000, 0, w1},
	{"cold", 100000, 0, cold},
	{"W2.1", 1, 200000, lifo},
	{"W2.64", 64, 200000, lifo},
	{"W3", 10000, 20, fifo},
	{"W4", 10000, 200000, w4},
	{"W5", 10000, 60, particles},
	{"W6", 4000, 200000, w6},
	{"W7", 256, 20000, w7},
	{"W8", 256, 400, hand_over},
	{"W9", 1000, 200, w9},
	{"W10", 1000, 200, aligned},
	{"W11", 20000, 500, fragmented},
	{"W12", 4000, 500000, w12},
	{"W13", 1, 1, growing_kept},
	{"W13.freed", 1, 1, growing_freed},
	{"W14", 1, 1, replay},
	{"two", 10000, 200000, two_cores},
};

u64 drawn, readback;
static int repeated, disturbed;
static double spent;
static int whose = RUSAGE_THREAD;

void fail(const char *why) {
	fprintf(stderr, "driver: %s\n", why);
	exit(1);
}

double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

void pin(int core) {
	if (core < 0)
		return;
	cpu_set_t s;
	CPU_ZERO(&s);
	CPU_SET(core, &s);
	if (sched_setaffinity(0, sizeof s, &s))
		fail("the processor is not available");
}

void shared_switches(void) { whose = RUSAGE_SELF; }

static long switches(void) {
	struct rusage u;
	if (getrusage(whose, &u))
		fail("getrusage");
	return u.ru_nivcsw;
}

/* The anonymous resident bytes of the process, counted page by page. Reading needs no malloc. */
double resident(void) {
	static char text[8192];
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	if (!f)
		fail("smaps_rollup cannot be opened");
	setvbuf(f, NULL, _IONBF, 0);
	size_t n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = 0;
	const char *at = strstr(text, "Anonymous:");
	if (!at)
		fail("smaps_rollup has no line Anonymous");
	return atof(at + 10) * 1024;
}

void *pages(size_t bytes) {
	void *p = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		fail("mmap");
	return memset(p, 0, bytes);
}

void fold(u64 *sum, u64 v) { *sum = (*sum ^ v) * 1099511628211u; }

/* Figures are kept until the end, so that printing allocates nothing in between. */
static struct {
	char name[24];
	double v;
} figures[32];
static int figure_count;

void figure(const char *name, double v) {
	for (int i = 0; i < figure_count; i++)
		if (!strcmp(figures[i].name, name)) {
			figures[i].v = v;
			return;
		}
	snprintf(figures[figure_count].name, sizeof figures[0].name, "%s", name);
	figures[figure_count++].v = v;
}

static int by_value(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The same limits as in the Go driver. */
static const double most_spent = 1.5e9;

double repeat(struct job *j, double ops, body run, void *data) {
	double took[most_reps];
	for (int r = -j->warm; r < j->reps;) {
		long before = switches();
		double t = run(data);
		bool changed = switches() != before;
		if (r >= 0 && changed) {
			if (repeated < most_repeated && spent < most_spent) {
				repeated++;
				spent += t;
				continue;
			}
			disturbed++;
		}
		if (r == -j->warm)
			figure("cold", t / ops);
		if (r >= 0)
			took[r] = t / ops;
		r++;
	}
	if (j->reps <= 0)
		return 0;
	qsort(took, j->reps, sizeof took[0], by_value);
	return (took[(j->reps - 1) / 2] + took[j->reps / 2]) / 2;
}

#ifdef NOOP
static u64 noop_block[1 << 24]; /* more than any block; never touched beyond the first word */
void *noop_alloc(size_t n) {
	used(noop_block);
	return noop_block;
}
void noop_free(void *p) { used(p); }
void *noop_resize(void *p, size_t n) {
	used(p);
	return p;
}
#elif defined WRAPPED
void *wrapped_alloc(size_t n) { return malloc(n); }
void wrapped_free(void *p) { free(p); }
void *wrapped_aligned(size_t align, size_t n) { return aligned_alloc(align, n); }
void *wrapped_resize(void *p, size_t n) { return realloc(p, n); }
#endif

#ifdef STATIC
/* Linked statically, a library shows itself by a function that no other has. That it serves malloc is tested. */
extern int mallctl(const char *, void *, size_t *, void *, size_t) __attribute__((weak));
extern void *tc_malloc(size_t) __attribute__((weak));

static u64 allocated(void) {
	u64 n = 0;
	size_t size = sizeof n;
	return mallctl("thread.allocated", &n, &size, NULL, 0) ? 0 : n;
}

static const char *served_by(void) {
	if (tc_malloc)
		return (void *)malloc == (void *)tc_malloc ? "static tcmalloc" : "unknown";
	if (!mallctl)
		return "static glibc";
	u64 before = allocated();
	void *p = malloc(1000);
	used(p);
	bool grew = allocated() >= before + 1000;
	free(p);
	return grew ? "static jemalloc" : "unknown";
}
#else
static const char *served_by(void) {
	Dl_info info;
	return dladdr(dlsym(RTLD_DEFAULT, "malloc"), &info) && info.dli_fname ? info.dli_fname : "unknown";
}
#endif

int main(int argc, char **argv) {
	struct job j = {.warm = 3, .reps = 11, .core = 1};
	const char *name = "";
	for (int i = 1; i < argc; i++) {
		const char *flag = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
		if (!strcmp(flag, "-whole"))
			j.whole = true;
		else if (!strcmp(flag, "-nothing"))
			j.nothing = true;
		else if (!strcmp(flag, "-workload"))
			name = value, i++;
		else if (!strcmp(flag, "-program"))
			j.program = value, i++;
		else if (!strcmp(flag, "-live"))
			j.live = atoi(value), i++;
		else if (!strcmp(flag, "-ops"))
			j.ops = atoi(value), i++;
		else if (!strcmp(flag, "-warm"))
			j.warm = atoi(value), i++;
		else if (!strcmp(flag, "-reps"))
			j.reps = atoi(value), i++;
		else if (!strcmp(flag, "-core"))
			j.core = atoi(value), i++;
		else
			fail("unknown flag");
	}
	if (j.reps > most_reps || j.warm > most_runs - most_repeated - most_reps)
		fail("more than 64 repetitions, or 8 before them");
	const struct workload *w = NULL;
	for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++)
		if (!strcmp(workloads[i].name, name))
			w = &workloads[i];
	if (!w)
		fail("there is no such workload");
	if (!j.live)
		j.live = w->live;
	if (!j.ops)
		j.ops = w->ops;
	pin(j.core);
	w->run(&j);
	printf("{\"allocator\":\"malloc\",\"workload\":\"%s\",\"served\":\"%s\",\"drawn\":\"%016llx\",\"read\":\"%016llx\",", w->name, served_by(),
	       (unsigned long long)drawn, (unsigned long long)readback);
	printf("\"repeated\":%d,\"disturbed\":%d,\"figures\":{", repeated, disturbed);
	for (int i = 0; i < figure_count; i++)
		printf("%s\"%s\":%.4f", i ? "," : "", figures[i].name, figures[i].v);
	printf("}}\n");
	return 0;
}
