/*
 * Records what a process hands to the disk for the files of one folder. Preloaded with LD_PRELOAD,
 * it stands before the C library's calls, makes them, and appends a record of each that succeeds to
 * a log. recording.ts reads the log.
 *
 * GREENROOM_DISK_FOLDER: the absolute path of the folder; its subfolders are not recorded.
 * GREENROOM_DISK_LOG: the log. Several processes may write to it at once.
 * GREENROOM_DISK_SYNC_US: how long a sync takes, in microseconds, as on a slow disk.
 *
 * A record is four numbers of 64 bits (kind, inode, number, length) and `length` bytes. The index
 * of a write-ahead log (`…-shm`) is not recorded: SQLite makes it anew after a crash.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { CREATE = 1, WRITE, TRUNCATE, SYNC_BEGIN, SYNC_END, UNLINK, UNKNOWN };

#define REAL(name) ((__typeof__(&name)) real(#name))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *folder;
static size_t folder_length;
static int log_fd = -1;
static useconds_t sync_us;

static void *real(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

__attribute__((constructor)) static void start(void) {
  const char *log = getenv("GREENROOM_DISK_LOG");
  const char *sync = getenv("GREENROOM_DISK_SYNC_US");
  folder = getenv("GREENROOM_DISK_FOLDER");
  if (folder == NULL || log == NULL) return;
  folder_length = strlen(folder);
  sync_us = sync == NULL ? 0 : (useconds_t) atoi(sync);
  log_fd = REAL(open)(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log_fd < 0) abort();
}

/* Other threads wait, and other processes too: the log has the order of the calls. */
static void lock(void) {
  pthread_mutex_lock(&mutex);
  while (flock(log_fd, LOCK_EX) != 0 && errno == EINTR) {}
}

static void unlock(void) {
  int before = errno;
  flock(log_fd, LOCK_UN);
  pthread_mutex_unlock(&mutex);
  errno = before;
}

static void put(enum kind kind, uint64_t inode, uint64_t number, const void *bytes, uint64_t length) {
  uint64_t head[4] = {kind, inode, number, length};
  struct iovec parts[2] = {{head, sizeof head}, {(void *) bytes, length}};
  int before = errno;
  if (REAL(writev)(log_fd, parts, 2) != (ssize_t) (sizeof head + length)) abort();
  errno = before;
}

/* The name of a file directly in the folder, "" for the folder itself, or NULL. */
static const char *name_of(const char *path) {
  if (log_fd < 0 || path == NULL || strncmp(path, folder, folder_length) != 0) return NULL;
  const char *rest = path + folder_length;
  if (*rest == 0) return rest;
  if (*rest++ != '/' || strchr(rest, '/') != NULL) return NULL;
  size_t length = strlen(rest);
  return length >= 4 && strcmp(rest + length - 4, "-shm") == 0 ? NULL : rest;
}

/* The inode of an open file of the folder, or 0. */
static uint64_t inode_of(int fd) {
  char link[64], path[PATH_MAX];
  struct stat info;
  if (log_fd < 0 || fd == log_fd) return 0;
  int before = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  errno = before;
  if (length < 0) return 0;
  path[length] = 0;
  static const char deleted[] = " (deleted)";
  size_t end = (size_t) length - (sizeof deleted - 1);
  if ((size_t) length > sizeof deleted && strcmp(path + end, deleted) == 0) path[end] = 0;
  return name_of(path) == NULL || fstat(fd, &info) != 0 ? 0 : info.st_ino;
}

static int open_at(int at, const char *path, int flags, mode_t mode) {
  const char *name = flags & (O_CREAT | O_TRUNC) ? name_of(path) : NULL;
  if (name == NULL) return REAL(openat)(at, path, flags, mode);
  lock();
  struct stat info;
  int existed = stat(path, &info) == 0;
  int fd = REAL(openat)(at, path, flags, mode);
  if (fd >= 0 && fstat(fd, &info) == 0) {
    if (!existed) put(CREATE, info.st_ino, 0, name, strlen(name));
    else if (flags & O_TRUNC) put(TRUNCATE, info.st_ino, 0, NULL, 0);
  }
  unlock();
  return fd;
}

#define MODE(flags, mode) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list list; \
    va_start(list, flags); \
    mode = va_arg(list, mode_t); \
    va_end(list); \
  }

int open(const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_at(AT_FDCWD, path, flags, mode);
}
int openat(int at, const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_at(at, path, flags, mode);
}
int openat64(int at, const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_at(at, path, flags, mode);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  uint64_t inode = inode_of(fd);
  if (inode == 0) return REAL(pwrite)(fd, bytes, length, offset);
  lock();
  ssize_t written = REAL(pwrite)(fd, bytes, length, offset);
  if (written > 0) put(WRITE, inode, (uint64_t) offset, bytes, (uint64_t) written);
  unlock();
  return written;
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  return pwrite(fd, bytes, length, offset);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  uint64_t inode = inode_of(fd);
  if (inode == 0) return REAL(write)(fd, bytes, length);
  lock();
  ssize_t written = REAL(write)(fd, bytes, length);
  if (written > 0) {
    put(WRITE, inode, (uint64_t) (lseek(fd, 0, SEEK_CUR) - written), bytes, (uint64_t) written);
  }
  unlock();
  return written;
}

int ftruncate(int fd, off_t size) {
  uint64_t inode = inode_of(fd);
  if (inode == 0) return REAL(ftruncate)(fd, size);
  lock();
  int result = REAL(ftruncate)(fd, size);
  if (result == 0) put(TRUNCATE, inode, (uint64_t) size, NULL, 0);
  unlock();
  return result;
}
int ftruncate64(int fd, off64_t size) {
  return ftruncate(fd, size);
}

/* What other threads write meanwhile is recorded between the beginning and the end. */
static int sync_with(int (*sync)(int), int fd) {
  static uint64_t last;
  uint64_t inode = inode_of(fd);
  if (inode == 0) return sync(fd);
  lock();
  uint64_t number = ((uint64_t) getpid() << 32) | ++last;
  put(SYNC_BEGIN, inode, number, NULL, 0);
  unlock();
  usleep(sync_us);
  int result = sync(fd);
  if (result != 0) return result;
  lock();
  put(SYNC_END, inode, number, NULL, 0);
  unlock();
  return 0;
}
int fsync(int fd) {
  return sync_with(REAL(fsync), fd);
}
int fdatasync(int fd) {
  return sync_with(REAL(fdatasync), fd);
}

static int unlink_with(const char *path, int at, int flags) {
  const char *name = name_of(path);
  if (name == NULL) return REAL(unlinkat)(at, path, flags);
  lock();
  int result = REAL(unlinkat)(at, path, flags);
  if (result == 0) put(UNLINK, 0, 0, name, strlen(name));
  unlock();
  return result;
}
int unlink(const char *path) {
  return unlink_with(path, AT_FDCWD, 0);
}
int unlinkat(int at, const char *path, int flags) {
  return unlink_with(path, at, flags);
}

/* A process that kills itself does so when no other thread has written without a record of it. */
int kill(pid_t process, int signal) {
  if (log_fd >= 0 && process == getpid()) lock();
  int result = REAL(kill)(process, signal);
  if (log_fd >= 0 && process == getpid()) unlock();
  return result;
}

/* What the stores do not do, and the reader of the log does not know. It refuses such a log. */
static void unknown(const char *call, uint64_t inode) {
  if (inode == 0) return;
  lock();
  put(UNKNOWN, inode, 0, call, strlen(call));
  unlock();
}

int rename(const char *from, const char *to) {
  if (name_of(from) != NULL || name_of(to) != NULL) unknown("rename", 1);
  return REAL(rename)(from, to);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  unknown("writev", inode_of(fd));
  return REAL(writev)(fd, parts, count);
}
ssize_t sendfile64(int out, int in, off64_t *offset, size_t count) {
  unknown("sendfile", inode_of(out));
  return REAL(sendfile64)(out, in, offset, count);
}
void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset) {
  if (fd >= 0 && (flags & MAP_SHARED) && (protection & PROT_WRITE)) unknown("mmap", inode_of(fd));
  return REAL(mmap64)(address, length, protection, flags, fd, offset);
}
void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  return mmap64(address, length, protection, flags, fd, offset);
}
