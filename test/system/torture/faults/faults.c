// Preloaded into the program under test: counts its calls on files beneath a folder and its calls on the network, and
// lets the n-th of one kind fail, stop half way, or kill the process. Linux with glibc.
//
// INCRAWL_FAULT_COUNTS  a file of 64-bit counters, one for each kind, then one that is 1 once the fault has happened;
//                       child processes share it
// INCRAWL_FAULT_UNDER   folder; calls on other files are not counted
// INCRAWL_FAULT_PORT    connections to this port count as such files
// INCRAWL_FAULT         kind:n:action, such as "3:17:24"; the action is an error number, or one of the following
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { OPEN, READ, WRITE, SYNC, RENAME, UNLINK, MKDIR, CONNECT, ACCEPT, SPAWN, CHANGE, KINDS };
enum { KILL = -1, TEAR = -2, SHORT = -3 };

#define FILES 65536
static _Atomic uint64_t *counts;
static atomic_uchar watched[FILES];
static const char *under;
static size_t under_length;
static in_port_t watched_port;
static int fault_kind = -1;
static uint64_t fault_at;
static int fault_action;

__attribute__((constructor)) static void start(void) {
  const char *file = getenv("INCRAWL_FAULT_COUNTS");
  under = getenv("INCRAWL_FAULT_UNDER");
  if (file == NULL || under == NULL) return;
  under_length = strlen(under);
  const char *port = getenv("INCRAWL_FAULT_PORT");
  if (port != NULL) watched_port = htons((uint16_t)atoi(port));
  const char *fault = getenv("INCRAWL_FAULT");
  long long at;
  if (fault != NULL && sscanf(fault, "%d:%lld:%d", &fault_kind, &at, &fault_action) == 3) fault_at = (uint64_t)at;
  int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
  int fd = real(file, O_RDWR);
  if (fd < 0) return;
  void *map = mmap(NULL, (KINDS + 1) * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (map != MAP_FAILED) counts = map;
}

/** Counts a call; 0, or what is to be done instead. */
static int counted(enum kind kind) {
  if (counts == NULL) return 0;
  uint64_t now = atomic_fetch_add(&counts[kind], 1) + 1;
  if ((int)kind != fault_kind || now != fault_at) return 0;
  atomic_store(&counts[KINDS], 1);
  return fault_action;
}

/** True where the call has to fail; a kill does not return. */
static int fails(enum kind kind) {
  int action = counted(kind);
  if (action == 0 || action == SHORT) return 0;
  if (action < 0) kill(getpid(), SIGKILL), pause();
  errno = action;
  return 1;
}

static int is_under(const char *path) {
  if (counts == NULL || path == NULL) return 0;
  if (path[0] == '/') return strncmp(path, under, under_length) == 0;
  char folder[4096];
  return getcwd(folder, sizeof folder) != NULL && strncmp(folder, under, under_length) == 0;
}
static int is_watched(int fd) { return counts != NULL && fd >= 0 && fd < FILES && atomic_load(&watched[fd]); }
static void watch(int fd, int yes) {
  if (fd >= 0 && fd < FILES) atomic_store(&watched[fd], yes);
}

#define REAL(name) \
  static __typeof__(&name) real; \
  if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define MODE(flags) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list rest; \
    va_start(rest, flags); \
    mode = va_arg(rest, mode_t); \
    va_end(rest); \
  }

/** A folder is opened by readdir too; only what can change a file counts as a change. */
static int open_fails(const char *path, int flags) {
  if (!is_under(path)) return 0;
  return ((flags & (O_CREAT | O_TRUNC)) && fails(CHANGE)) || fails(OPEN);
}
#define OPENED(call) \
  int fd = (call); \
  watch(fd, is_under(path)); \
  return fd

int open(const char *path, int flags, ...) {
  REAL(open);
  MODE(flags)
  if (open_fails(path, flags)) return -1;
  OPENED(real(path, flags, mode));
}
int open64(const char *path, int flags, ...) {
  REAL(open64);
  MODE(flags)
  if (open_fails(path, flags)) return -1;
  OPENED(real(path, flags, mode));
}
int openat(int at, const char *path, int flags, ...) {
  REAL(openat);
  MODE(flags)
  if (open_fails(path, flags)) return -1;
  OPENED(real(at, path, flags, mode));
}
int openat64(int at, const char *path, int flags, ...) {
  REAL(openat64);
  MODE(flags)
  if (open_fails(path, flags)) return -1;
  OPENED(real(at, path, flags, mode));
}
FILE *fopen(const char *path, const char *how) {
  REAL(fopen);
  if (is_under(path) && fails(OPEN)) return NULL;
  return real(path, how);
}
FILE *fopen64(const char *path, const char *how) {
  REAL(fopen64);
  if (is_under(path) && fails(OPEN)) return NULL;
  return real(path, how);
}
int close(int fd) {
  REAL(close);
  watch(fd, 0);
  return real(fd);
}

ssize_t read(int fd, void *to, size_t size) {
  REAL(read);
  if (is_watched(fd) && fails(READ)) return -1;
  return real(fd, to, size);
}
ssize_t pread64(int fd, void *to, size_t size, off64_t at) {
  REAL(pread64);
  if (is_watched(fd) && fails(READ)) return -1;
  return real(fd, to, size, at);
}
ssize_t pread(int fd, void *to, size_t size, off_t at) {
  REAL(pread);
  if (is_watched(fd) && fails(READ)) return -1;
  return real(fd, to, size, at);
}

/** Bytes that may be written of so many, -1 for a failure. A process that is to be torn dies after half of them. */
static ssize_t part(int fd, size_t size, int *dies) {
  *dies = 0;
  if (!is_watched(fd)) return (ssize_t)size;
  int change = counted(CHANGE);
  int action = change != 0 ? change : counted(WRITE);
  if (action == 0) return (ssize_t)size;
  if (action == KILL) kill(getpid(), SIGKILL), pause();
  if (action == TEAR || action == SHORT) {
    *dies = action == TEAR;
    return size > 1 ? (ssize_t)(size / 2) : (ssize_t)size;
  }
  errno = action;
  return -1;
}
#define WRITTEN(call) \
  int dies; \
  ssize_t some = part(fd, size, &dies); \
  if (some < 0) return -1; \
  ssize_t done = (call); \
  if (dies) kill(getpid(), SIGKILL), pause(); \
  return done

ssize_t write(int fd, const void *from, size_t size) {
  REAL(write);
  WRITTEN(real(fd, from, (size_t)some));
}
ssize_t pwrite64(int fd, const void *from, size_t size, off64_t at) {
  REAL(pwrite64);
  WRITTEN(real(fd, from, (size_t)some, at));
}
ssize_t pwrite(int fd, const void *from, size_t size, off_t at) {
  REAL(pwrite);
  WRITTEN(real(fd, from, (size_t)some, at));
}
/** Half of several buffers is half of the first. */
ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(writev);
  size_t size = count > 0 ? parts[0].iov_len : 0;
  struct iovec half = {count > 0 ? parts[0].iov_base : NULL, 0};
  WRITTEN(some == (ssize_t)size && !dies ? real(fd, parts, count)
                                         : (half.iov_len = (size_t)some, real(fd, &half, 1)));
}

#define ON_FILE(name, kind) \
  int name(int fd) { \
    REAL(name); \
    if (is_watched(fd) && (fails(CHANGE) || fails(kind))) return -1; \
    return real(fd); \
  }
ON_FILE(fsync, SYNC)
ON_FILE(fdatasync, SYNC)

#define TRUNCATE(name, type) \
  int name(int fd, type size) { \
    REAL(name); \
    if (is_watched(fd) && (fails(CHANGE) || fails(WRITE))) return -1; \
    return real(fd, size); \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

int rename(const char *from, const char *to) {
  REAL(rename);
  if (is_under(to) && (fails(CHANGE) || fails(RENAME))) return -1;
  return real(from, to);
}
int unlink(const char *path) {
  REAL(unlink);
  if (is_under(path) && (fails(CHANGE) || fails(UNLINK))) return -1;
  return real(path);
}
int rmdir(const char *path) {
  REAL(rmdir);
  if (is_under(path) && (fails(CHANGE) || fails(UNLINK))) return -1;
  return real(path);
}
int mkdir(const char *path, mode_t mode) {
  REAL(mkdir);
  if (is_under(path) && (fails(CHANGE) || fails(MKDIR))) return -1;
  return real(path, mode);
}

int connect(int fd, const struct sockaddr *address, socklen_t size) {
  REAL(connect);
  if (fails(CONNECT)) return -1;
  if (watched_port != 0 && address->sa_family == AF_INET)
    watch(fd, ((const struct sockaddr_in *)address)->sin_port == watched_port);
  return real(fd, address, size);
}
int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags) {
  REAL(accept4);
  if (fails(ACCEPT)) return -1;
  return real(fd, address, size, flags);
}
pid_t fork(void) {
  REAL(fork);
  if (fails(SPAWN)) return -1;
  return real();
}
