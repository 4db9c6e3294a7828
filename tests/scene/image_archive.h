/* Archives of images, as image_fetch() writes them, made by hand. */
#pragma once

#include "base/memory.h"
#include "host/host.h"
#include "pki/digest.h"

/* One file of a .tar (POSIX.1-2024, pax, "ustar Interchange Format"). */
static inline void image_archive_add(struct text *tar, const char *path, const char *content) {
    char header[512] = {0};
    size_t len = strlen(content);
    unsigned sum = 0;

    (void)text_format(header, 100, "%s", path);
    (void)text_format(header + 100, 8, "0000644");
    (void)text_format(header + 124, 12, "%011zo", len);
    (void)text_format(header + 136, 12, "%011o", 0U);
    memset(header + 148, ' ', 8);
    header[156] = '0';
    (void)text_format(header + 257, 8, "ustar");
    for (size_t i = 0; i < sizeof header; i++)
        sum += (unsigned char)header[i];
    (void)text_format(header + 148, 8, "%06o", sum);
    text_add_bytes(tar, header, sizeof header);
    text_add(tar, content);
    while (tar->len % sizeof header)
        text_add_char(tar, '\0');
}

/* The bundle D:\b with one image. `platform`: of its row in the index, or ""; `layers` of its
 * manifest:
 * "\"layers\":[]". */
static inline void image_bundle_put(struct host *host, const char *name, const char *platform,
                                    const char *config, const char *layers) {
    _cleanup_(text_free) struct text tar = {0};
    _cleanup_(freep) char *row = NULL, *manifest = NULL, *lock = NULL;
    char sha256[DIGEST_TEXT_MAX];

    row = xasprintf("{\"manifests\":[{\"digest\":\"sha256:m\"%s}]}", platform);
    manifest = xasprintf("{\"config\":{\"digest\":\"sha256:c\"},%s}", layers);
    image_archive_add(&tar, "oci-layout", "{}");
    image_archive_add(&tar, "index.json", "{\"manifests\":[{\"digest\":\"sha256:i\"}]}");
    image_archive_add(&tar, "blobs/sha256/i", row);
    image_archive_add(&tar, "blobs/sha256/m", manifest);
    image_archive_add(&tar, "blobs/sha256/c", config);
    digest_sha256(tar.data, tar.len, sha256);
    lock =
        xasprintf("{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[]"
                  ",\"images\":[{\"name\":\"%s\",\"sha256\":\"%s\",\"size\":%zu,\"path\":"
                  "\"images/own.tar\"}]}",
                  name, sha256, tar.len);
    if (host_write(host, "D:\\b\\winjoin.lock", lock, strlen(lock), HOST_PUBLIC, NULL) < 0 ||
        host_write(host, "D:\\b\\images\\own.tar", tar.data, tar.len, HOST_PUBLIC, NULL) < 0)
        fail_msg("the bundle cannot be written");
}

/* The same image as the sandbox image: a program of the lock. */
static inline void image_bundle_is_sandbox(struct host *host) {
    _cleanup_(freep) char *lock = NULL, *data = NULL;
    const char *row;
    size_t len = 0;

    if (host_read(host, "D:\\b\\winjoin.lock", 4096, &data, &len, NULL) < 0)
        fail_msg("the bundle cannot be read");
    row = strstr(data, "\"sha256\"");
    lock =
        xasprintf("{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[{"
                  "\"name\":\"pause\",\"version\":\"3.10.2\",%.*s]}",
                  (int)(strlen(row) - 2), row);
    if (host_write(host, "D:\\b\\winjoin.lock", lock, strlen(lock), HOST_PUBLIC, NULL) < 0)
        fail_msg("the bundle cannot be written");
}
