// record.c is a library for LD_PRELOAD that records the calls of malloc of one process.
//
//	cc -O2 -shared -fPIC -o record.so record.c
//	truncate -s 256M calls
//	LD_PRELOAD=$PWD/record.so program 99<>calls
//
// Descriptor 99 is the file for the calls. The library maps it at the first call and closes the descriptor. It writes a
// struct call for each call of malloc, calloc, realloc, free and the aligned variants. The size of the file is the
// limit: later calls are not recorded. ../traces/convert makes a trace of the file.
//
// # What is recorded
//
// Every call of the functions below is recorded, in every thread, from the first call of the dynamic loader on. The
// library calls glibc by the names that it exports besides malloc: __libc_malloc and others. dlsym would call calloc
// before the library knows the address of calloc.
//
// A call gets its place in the file by one atomic addition. An allocation gets it after the block exists, and a free
// before the block is freed. So in the order of the file an address belongs to one block at a time. A realloc is two
// calls for the same reason: MOVE before it and MOVED after it.
//
// The file is mapped shared, so a killed process leaves every complete call. The field written marks those.
//
// A forked child records nothing, because the kernel clears the page that contains the address of the file
// (MADV_WIPEONFORK). A program that the process or a child starts by exec records nothing, because it does not inherit
// the descriptor.
//
// Blocks that a program suballocates from mmap or from larger blocks are not recorded.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { descriptor = 99 };

// The numbers of operations. ../traces/convert has the same ones.
enum op { ALLOC = 1, FREE = 2, MOVE = 3, MOVED = 4 };

// A call as it is in the file, in the byte order of the machine.
struct call {
	uint64_t address; // of the block; of MOVED the new one, or 0 if realloc failed
	uint64_t size;    // bytes that the program asked for, of ALLOC and MOVED
	uint32_t thread;  // 0 for the first thread that allocated, then 1, 2 … in order of their first calls
	uint32_t op;
	uint32_t align;         // bytes, or 0 if the program asked for none
	_Atomic uint32_t written; // 1 if the call is complete
};

// A recording has a page of its own, which is empty in a forked child.
struct recording {
	struct call *calls; // NULL: record nothing
	uint64_t limit;     // calls that fit into the file
	_Atomic uint64_t next;
	_Atomic uint32_t threads;
};

static struct recording *recording; // NULL before the first call

static __thread uint32_t threadNumber __attribute__((tls_model("initial-exec"))); // plus 1; 0: not numbered yet

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static void fail(const char *text) {
	ssize_t ignored = write(2, text, strlen(text));
	(void)ignored;
	_exit(127);
}

static void *map(size_t size, int flags, int fd) {
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (p == MAP_FAILED) fail("record: mmap failed\n");
	return p;
}

// start runs in the first call, when the process has one thread.
static void start(void) {
	int saved = errno;
	struct recording *r = map(sizeof *r, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (madvise(r, sizeof *r, MADV_WIPEONFORK) != 0) fail("record: MADV_WIPEONFORK failed: Linux 4.14 has it\n");
	struct stat file;
	if (fstat(descriptor, &file) == 0 && S_ISREG(file.st_mode)) {
		r->limit = (uint64_t)file.st_size / sizeof(struct call);
		if (r->limit == 0) fail("record: the file of descriptor 99 is empty: give it its size by truncate\n");
		r->calls = map((size_t)file.st_size, MAP_SHARED, descriptor);
		close(descriptor);
	}
	recording = r;
	errno = saved;
}

static void put(enum op op, const void *p, size_t size, size_t align) {
	if (recording == NULL) start();
	struct recording *r = recording;
	if (r->calls == NULL) return;
	if (threadNumber == 0) threadNumber = atomic_fetch_add(&r->threads, 1) + 1;
	uint64_t i = atomic_fetch_add(&r->next, 1);
	if (i >= r->limit) return;
	struct call *c = &r->calls[i];
	c->address = (uintptr_t)p;
	c->size = size;
	c->thread = threadNumber - 1;
	c->op = op;
	c->align = (uint32_t)align;
	atomic_store_explicit(&c->written, 1, memory_order_release);
}

static void *aligned(size_t align, size_t size) {
	void *p = __libc_memalign(align, size);
	if (p != NULL) put(ALLOC, p, size, align);
	return p;
}

void *malloc(size_t size) {
	void *p = __libc_malloc(size);
	if (p != NULL) put(ALLOC, p, size, 0);
	return p;
}

void *calloc(size_t n, size_t size) {
	void *p = __libc_calloc(n, size);
	if (p != NULL) put(ALLOC, p, n * size, 0); // glibc refuses a product that overflows
	return p;
}

// A free of NULL does nothing and is not recorded.
void free(void *p) {
	if (p == NULL) return;
	put(FREE, p, 0, 0);
	__libc_free(p);
}

// realloc to no bytes frees the block, as in glibc.
void *realloc(void *p, size_t size) {
	if (p == NULL) return malloc(size);
	if (size == 0) {
		free(p);
		return NULL;
	}
	put(MOVE, p, 0, 0);
	void *q = __libc_realloc(p, size);
	put(MOVED, q, size, 0);
	return q;
}

void *memalign(size_t align, size_t size) { return aligned(align, size); }

void *aligned_alloc(size_t align, size_t size) { return aligned(align, size); }

void *valloc(size_t size) { return aligned((size_t)sysconf(_SC_PAGESIZE), size); }

void *pvalloc(size_t size) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	if (size > SIZE_MAX - page) {
		errno = ENOMEM;
		return NULL;
	}
	return aligned(page, (size + page - 1) & ~(page - 1));
}

int posix_memalign(void **p, size_t align, size_t size) {
	if (align < sizeof(void *) || (align & (align - 1)) != 0) return EINVAL;
	int saved = errno;
	void *q = aligned(align, size);
	errno = saved;
	if (q == NULL) return ENOMEM;
	*p = q;
	return 0;
}

// malloc_usable_size must be glibc's, also in a program that is linked with another allocator. Its first call adds the
// blocks of dlopen to the recording.
size_t malloc_usable_size(void *p) {
	static size_t (*usable)(void *);
	if (usable == NULL) {
		void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
		if (libc != NULL) usable = (size_t(*)(void *))dlsym(libc, "malloc_usable_size");
		if (usable == NULL) fail("record: libc.so.6 has no malloc_usable_size\n");
	}
	return usable(p);
}
