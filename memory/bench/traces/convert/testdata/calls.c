// A program with known calls, for the test of record.c. The sizes name the blocks. It ends by SIGKILL.
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { threads = 4, rounds = 2000, slots = 16 };

static void *volatile kept; // so that the compiler removes no call
static _Atomic(void *) shared[slots];

// exchange allocates blocks and frees those that the other threads have left.
static void *exchange(void *number) {
	for (uintptr_t i = 0; i < rounds; i++) {
		void *p = malloc(3000 + (uintptr_t)number);
		if (i % 8 == 0) p = realloc(p, 4000);
		free(atomic_exchange(&shared[i % slots], p));
	}
	return NULL;
}

static void oneThread(void) {
	kept = malloc(1001);
	kept = realloc(kept, 1 << 22);
	if (realloc(kept, SIZE_MAX / 2) != NULL) abort();
	free(kept);
	kept = calloc(3, 334);
	kept = realloc(kept, 0);
	free(NULL);
	kept = realloc(NULL, 1003);
	void *p;
	if (posix_memalign(&p, 64, 1004) != 0 || posix_memalign(&p, 3, 1005) == 0) abort();
	free(p);
	free(aligned_alloc(4096, 8192));
	free(memalign(32, 1006));
	free(valloc(1007));
	free(pvalloc(1008));
	free(malloc(0));
	free(malloc(9));
	free(strdup("ten bytes"));
}

int main(int argc, char **argv) {
	if (argc > 1) { // the program that the child starts
		kept = malloc(7777);
		_exit(0);
	}
	kept = malloc(1000);
	if (malloc_usable_size(kept) < 1000) abort();
	oneThread();
	if (fork() == 0) {
		for (int i = 0; i < 50000; i++) free(malloc(7777)); // more calls than the parent will make
		execl(argv[0], argv[0], "child", NULL);
	}
	int status;
	if (wait(&status) < 0 || status != 0) abort();
	pthread_t t[threads];
	for (uintptr_t i = 0; i < threads; i++) pthread_create(&t[i], NULL, exchange, (void *)i);
	for (int i = 0; i < threads; i++) pthread_join(t[i], NULL);
	for (int i = 0; i < slots; i++) free(atomic_load(&shared[i]));
	kept = malloc(1009);
	kill(getpid(), SIGKILL);
}
