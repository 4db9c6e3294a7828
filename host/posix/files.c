/* Implements the file functions of the POSIX host: maps Windows paths to a directory and works on
 * real files there. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/model/model.h"
#include "host/path.h"
#include "host/posix/posix.h"

enum { PIPE_MS = 10000 };

static int fail(struct error *err, const char *verb, const char *path) {
    int number = errno;
    _cleanup_(freep) char *shown = path_shown(path);
    enum error_kind kind = number == ENOENT || number == ENOTDIR     ? ERROR_ABSENT
                           : number == EACCES || number == EPERM     ? ERROR_DENIED
                           : number == EEXIST || number == ENOTEMPTY ? ERROR_CONFLICT
                                                                     : ERROR_HOST;

    return error_set_os(err, kind, (unsigned long)number, "%s '%s': %s", verb, shown,
                        strerror(number));
}

static bool lies_in(const char *real, const char *root) {
    size_t len = strlen(root);

    return strncmp(real, root, len) == 0 && (real[len] == '/' || real[len] == '\0');
}

/* Returns 0 when the path contains no symbolic link. Else returns -1 with errno; ENOENT means that
 * no link precedes the first missing part. One system call replaces realpath(), which needs one for
 * each part. */
static int walk_straight(const char *path) {
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
    long fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);

    return fd < 0 ? -1 : close((int)fd);
}

/* Refuses a path whose last part is a link that leads out of the root directory. */
static int check_target(const struct posix_host *host, const char *at, const char *path,
                        struct error *err) {
    char real[PATH_MAX];

    if (path[0] == 'Z' || walk_straight(at) == 0 || errno == ENOENT)
        return 0;
    if (!realpath(at, real) || lies_in(real, host->rootfs))
        return 0;
    return error_set(err, ERROR_DENIED, "path '%s': the link leads out of the rootfs", path);
}

int rootfs_path(const struct posix_host *host, const char *path, char **ret, struct error *err) {
    bool machine = path[0] == 'Z';
    _cleanup_(freep) char *at = NULL, *part = NULL;
    char real[PATH_MAX], *slash;

    if (!machine && (path[0] != 'C' || !host->rootfs)) {
        (void)error_set(err, host->rootfs ? ERROR_ABSENT : ERROR_UNSUPPORTED,
                        "path '%s': there is no such drive on this machine", path);
        return host->rootfs ? -1 : error_hint(err, "to rehearse in a folder, use --rootfs DIR");
    }
    at = text_replace(xasprintf("%s/%s", machine ? "" : host->rootfs, path + 3), "\\", '/');

    /* The deepest existing folder of the path must lie below the root after all links are followed.
     * The path of the root itself has no links. */
    part = xstrdup(at);
    while (!machine && (slash = strrchr(part, '/')) &&
           (size_t)(slash - part) >= strlen(host->rootfs)) {
        *slash = '\0';
        if (walk_straight(part) == 0 || errno == ENOENT)
            break;
        if (!realpath(part, real))
            continue;
        if (!lies_in(real, host->rootfs))
            return error_set(err, ERROR_DENIED, "path '%s': a link in it leads out of the rootfs",
                             at);
        break;
    }
    *ret = take_ptr(at);
    return 0;
}

int rootfs_read(struct host *host, const char *path, size_t max, char **ret, size_t *ret_len,
                struct error *err) {
    _cleanup_(freep) char *at = NULL, *data = NULL;
    struct pollfd wanted = {.events = POLLIN};
    size_t size = 0, len = 0;
    ssize_t n;
    int fd;

    if (rootfs_path(rootfs_of(host), path, &at, err) < 0 ||
        check_target(rootfs_of(host), at, path, err) < 0)
        return -1;
    fd = wanted.fd = open(at, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return fail(err, "read", path);
    do {
        if (len == size)
            data = xrealloc(data, (size = size ? size * 2 : 8192) + 1);
        n = read(fd, data + len, size - len);
        /* The file may be a pipe from a shell (<(...)), so wait for data, but not without limit. */
        if (n < 0 && errno == EAGAIN && poll(&wanted, 1, PIPE_MS) > 0)
            n = read(fd, data + len, size - len);
        len += n > 0 ? (size_t)n : 0;
    } while (n > 0 && len <= max);
    (void)close(fd); /* A failure of close() does not matter, because the file was only read. */
    if (n < 0)
        return fail(err, "read", path);
    if (len > max) {
        _cleanup_(freep) char *shown = path_shown(path);

        return error_set(err, ERROR_MALFORMED, "read '%s': longer than %zu bytes", shown, max);
    }
    data[len] = '\0';
    *ret = take_ptr(data);
    *ret_len = len;
    return 0;
}

/* Creates the parent folders. It tries the last folder first, because most of them exist. */
static int make_parents(char *at) {
    char *slash = strrchr(at, '/');
    int result;

    if (!slash || slash == at)
        return 0;
    *slash = '\0';
    result = mkdir(at, 0755);
    if (result < 0 && errno == ENOENT && make_parents(at) == 0)
        result = mkdir(at, 0755);
    if (result < 0 && errno == EEXIST)
        result = 0;
    *slash = '/';
    return result;
}

static int write_all(int fd, const char *data, size_t len) {
    while (len) {
        ssize_t n = write(fd, data, len);

        if (n < 0)
            return -1;
        data += n;
        len -= (size_t)n;
    }
    /* Devices and pipes do not support fsync(). */
    return fsync(fd) < 0 && errno != EINVAL ? -1 : 0;
}

/* Creates a new file, and its parent folders when they are missing. */
static int create(char *at, mode_t mode) {
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    int fd = open(at, flags, mode);

    if (fd >= 0 || errno != ENOENT || make_parents(at) < 0)
        return fd;
    return open(at, flags, mode);
}

int rootfs_read_part(struct host *host, const char *path, uint64_t offset, size_t max, char **ret,
                     size_t *ret_len, uint64_t *ret_size, struct error *err) {
    _cleanup_(freep) char *at = NULL, *data = NULL;
    struct stat status;
    ssize_t n = 0;
    int fd, known;

    if (rootfs_path(rootfs_of(host), path, &at, err) < 0 ||
        check_target(rootfs_of(host), at, path, err) < 0)
        return -1;
    fd = open(at, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    known = fd < 0 ? -1 : fstat(fd, &status);
    if (known == 0 && offset < (uint64_t)status.st_size) {
        uint64_t left = (uint64_t)status.st_size - offset;

        max = left < max ? (size_t)left : max;
        data = xmalloc(max + 1);
        n = pread(fd, data, max, (off_t)offset);
    }
    if (known < 0 || n < 0)
        (void)fail(err, "read", path);
    if (fd >= 0)
        (void)close(fd); /* A failure of close() does not matter, because the file was only read. */
    if (known < 0 || n < 0)
        return -1;
    *ret_len = (size_t)n;
    *ret_size = (uint64_t)status.st_size;
    *ret = data ? take_ptr(data) : xstrdup("");
    (*ret)[n] = '\0';
    return 0;
}

int rootfs_write_part(struct host *host, const char *path, uint64_t offset, const void *data,
                      size_t len, enum host_access access, struct error *err) {
    _cleanup_(freep) char *at = NULL;
    struct stat status;
    int fd, result;

    if (rootfs_path(rootfs_of(host), path, &at, err) < 0)
        return -1;
    if (!offset && unlink(at) < 0 && errno != ENOENT && errno != ENOTDIR)
        return fail(err, "write", path);
    fd = offset ? open(at, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
                : create(at, access == HOST_SECRET ? 0600 : 0644);
    if (fd < 0)
        return fail(err, "write", path);
    result = fstat(fd, &status);
    if (result == 0 && (uint64_t)status.st_size < offset) {
        errno = ESPIPE; /* ESPIPE's message is "Illegal seek". */
        result = -1;
    }
    if (result < 0 || ftruncate(fd, (off_t)offset) < 0 || lseek(fd, (off_t)offset, SEEK_SET) < 0 ||
        write_all(fd, data, len) < 0)
        result = fail(err, "write", path);
    if (close(fd) < 0 && result == 0)
        result = fail(err, "write", path);
    return result;
}

int rootfs_write(struct host *host, const char *path, const void *data, size_t len,
                 enum host_access access, struct error *err) {
    _cleanup_(freep) char *at = NULL, *beside = NULL;
    struct stat st;
    uint64_t name;
    bool device;
    int fd, result;

    if (rootfs_path(rootfs_of(host), path, &at, err) < 0 ||
        host_random(host, &name, sizeof name, err) < 0)
        return -1;
    /* Devices such as /dev/null, and pipes, are written to and never replaced by a file. */
    device = stat(at, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode));
    beside = xasprintf("%s.%016" PRIx64 ".new", at, name);
    fd = device ? open(at, O_WRONLY | O_CLOEXEC | O_NOCTTY)
                : create(beside, access == HOST_SECRET ? 0600 : 0644);
    if (fd < 0)
        return fail(err, "write", path);
    result = write_all(fd, data, len);
    if (close(fd) < 0)
        result = -1;
    if (result < 0 || (!device && rename(beside, at) < 0)) {
        (void)fail(err, "write", path);
        if (!device)
            /* A failure of unlink() is ignored, because err already has the first failure. */
            (void)unlink(beside);
        return -1;
    }
    return 0;
}

int rootfs_make_folder(struct host *host, const char *path, enum host_access access,
                       struct error *err) {
    mode_t mode = access == HOST_SECRET ? 0700 : access == HOST_POD_VOLUMES ? 0711 : 0755;
    _cleanup_(freep) char *at = NULL;
    struct stat st = {.st_mode = 07777};

    if (rootfs_path(rootfs_of(host), path, &at, err) < 0)
        return -1;
    if (mkdir(at, mode) < 0 && (errno != ENOENT || make_parents(at) < 0 || mkdir(at, mode) < 0)) {
        if (errno != EEXIST)
            return fail(err, "make folder", path);
        if (access != HOST_PUBLIC && lstat(at, &st) == 0 && S_ISLNK(st.st_mode))
            return error_set(err, ERROR_DENIED, "make folder '%s': it is a link", path);
        if (stat(at, &st) < 0 || !S_ISDIR(st.st_mode))
            return error_set(err, ERROR_HOST, "make folder '%s': a file with that name exists",
                             path);
    }
    mode &= st.st_mode; /* An existing folder never gets more rights than it had. */
    return access != HOST_PUBLIC && chmod(at, mode) < 0 ? fail(err, "protect folder", path) : 0;
}

/* Returns the mode of a file as octal digits, e.g. "755". */
int rootfs_access_get(struct host *host, const char *path, char **ret, struct error *err) {
    _cleanup_(freep) char *at = NULL;
    struct stat st;

    if (rootfs_path(rootfs_of(host), path, &at, err) < 0)
        return -1;
    if (stat(at, &st) < 0)
        return fail(err, "read the access of", path);
    *ret = xasprintf("%o", (unsigned)st.st_mode & 07777);
    return 0;
}

int rootfs_access_set(struct host *host, const char *path, const char *access, struct error *err) {
    _cleanup_(freep) char *at = NULL;

    if (rootfs_path(rootfs_of(host), path, &at, err) < 0)
        return -1;
    return chmod(at, (mode_t)strtoul(access, NULL, 8) & 07777) < 0
               ? fail(err, "set the access of", path)
               : 0;
}

/* Looks for something of another user in a path below the root directory. Files outside (drive Z:)
 * are not checked: the user who names them is responsible. */
int rootfs_find_untrusted(struct host *host, const char *path, struct host_untrusted *ret,
                          struct error *err) {
    const struct posix_host *posix = rootfs_of(host);
    const char *end = path + 2;

    if (path[0] != 'C' || !posix->rootfs)
        return 0;
    while (*end && !ret->path) {
        _cleanup_(freep) char *part = NULL, *at = NULL;
        struct stat st;

        end += 1 + strcspn(end + 1, "\\");
        part = xstrndup(path, (size_t)(end - path));
        at = text_replace(xasprintf("%s/%s", posix->rootfs, part + 3), "\\", '/');
        if (lstat(at, &st) < 0)
            return errno == ENOENT || errno == ENOTDIR ? 0 : fail(err, "look at", part);
        if (st.st_uid != 0 && st.st_uid != geteuid())
            ret->owner = xasprintf("user %u", (unsigned)st.st_uid);
        if (ret->owner || (S_ISLNK(st.st_mode) && *end))
            ret->path = take_ptr(part);
    }
    return 0;
}

static int remove_one(const char *at, const struct stat *, int, struct FTW *) {
    return remove(at);
}

int rootfs_remove(struct host *host, const char *path, bool tree, struct error *err) {
    _cleanup_(freep) char *at = NULL;
    int result;

    if (rootfs_path(rootfs_of(host), path, &at, err) < 0)
        return -1;
    result = tree ? nftw(at, remove_one, 16, FTW_DEPTH | FTW_PHYS) : remove(at);
    return result < 0 && errno != ENOENT && errno != ENOTDIR ? fail(err, "remove", path) : 0;
}

int rootfs_rename(struct host *host, const char *from, const char *to, struct error *err) {
    _cleanup_(freep) char *old = NULL, *new = NULL;

    if (rootfs_path(rootfs_of(host), from, &old, err) < 0 ||
        rootfs_path(rootfs_of(host), to, &new, err) < 0)
        return -1;
    if (access(old, F_OK) == 0 && make_parents(new) < 0)
        return fail(err, "rename", from);
    return rename(old, new) < 0 ? fail(err, "rename", from) : 0;
}

/* Creates a link. An absolute target becomes a path of this machine, so that it works here. */
int rootfs_link(struct host *host, const char *path, const char *target, struct error *err) {
    _cleanup_(freep) char *at = NULL, *normal = NULL, *to = NULL;

    if (rootfs_path(rootfs_of(host), path, &at, err) < 0)
        return -1;
    if (path_normalize(target, &normal, NULL) < 0)
        to = xstrdup(target);
    else if (rootfs_path(rootfs_of(host), normal, &to, err) < 0)
        return -1;
    /* A failure of unlink() is ignored: if the old file remains, symlink() fails. */
    (void)unlink(at);
    if (symlink(to, at) == 0 || (errno == ENOENT && make_parents(at) == 0 && symlink(to, at) == 0))
        return 0;
    return fail(err, "link", path);
}

enum host_file_type rootfs_file_type(struct host *host, const char *path) {
    _cleanup_(freep) char *at = NULL;
    struct stat st;

    if (rootfs_path(rootfs_of(host), path, &at, NULL) < 0 || lstat(at, &st) < 0)
        return HOST_ABSENT;
    return S_ISLNK(st.st_mode) ? HOST_LINK : S_ISDIR(st.st_mode) ? HOST_FOLDER : HOST_FILE;
}

int rootfs_list(struct host *host, const char *path, struct text_list *ret, struct error *err) {
    _cleanup_(freep) char *at = NULL;
    struct dirent *entry;
    DIR *dir;

    if (rootfs_path(rootfs_of(host), path, &at, err) < 0 ||
        check_target(rootfs_of(host), at, path, err) < 0)
        return -1;
    dir = opendir(at);
    if (!dir && errno == ENOTDIR && rootfs_file_type(host, path) == HOST_FILE)
        return error_set(err, ERROR_HOST, "list '%s': not a folder", path);
    if (!dir)
        return fail(err, "list", path);
    while ((entry = readdir(dir)))
        if (!text_equal(entry->d_name, ".") && !text_equal(entry->d_name, ".."))
            text_list_add(ret, entry->d_name);
    /* A failure of closedir() does not matter, because the folder was only read. */
    (void)closedir(dir);
    return 0;
}

int rootfs_free_space(struct host *host, const char *path, uint64_t *ret, struct error *err) {
    const char name[] = {path[0], '\0'};
    const json_t *drive = json_object_get(json_object_get(rootfs_of(host)->state, "drives"), name);
    bool is_given = json_is_integer(drive);
    _cleanup_(freep) char *at = NULL;
    struct statvfs st;

    if (is_given)
        *ret = (uint64_t)json_integer_value(drive);
    if (is_given && path[0] != 'C') /* Drives other than C: have no files here. */
        return 0;
    if (rootfs_path(rootfs_of(host), path, &at, err) < 0)
        return -1;
    while (statvfs(at, &st) < 0) { /* Go up to the nearest folder that exists. */
        char *slash = strrchr(at, '/');

        if (errno != ENOENT || !slash || slash == at)
            return fail(err, "look at", path);
        *slash = '\0';
    }
    if (!is_given)
        *ret = (uint64_t)st.f_bavail * st.f_frsize;
    return 0;
}
