#pragma once

// This module loads Glibc's before its own headers, so that both have the same types (see CLinux).
#pragma clang module import SwiftGlibc

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <zlib.h>

#if LIBCURL_VERSION_NUM < 0x075700
#error "libcurl 7.87 or newer is needed: CURLOPT_QUICK_EXIT"
#endif

// curl_easy_setopt and curl_easy_getinfo are variadic, and Swift cannot import variadic functions. One function for each type of value.
static inline CURLcode authrefresh_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode authrefresh_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode authrefresh_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode authrefresh_curl_set_blob(CURL *handle, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {.data = (void *)bytes, .len = count, .flags = CURL_BLOB_COPY};
    return curl_easy_setopt(handle, option, &blob);
}
static inline CURLcode authrefresh_curl_set_body(CURL *handle, const void *bytes, size_t count) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, bytes) : code;
}

// The functions that libcurl calls during an exchange. All get the same `context`.
typedef size_t (*authrefresh_curl_data)(char *bytes, size_t size, size_t count, void *context);
static inline CURLcode authrefresh_curl_set_callbacks(CURL *handle, void *context, authrefresh_curl_data head,
    authrefresh_curl_data body, curl_prereq_callback before_request, curl_xferinfo_callback progress,
    curl_opensocket_callback open_socket) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, head);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, before_request);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_PREREQDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, progress);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_XFERINFODATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, context);
    return code;
}

static inline long authrefresh_curl_long(CURL *handle, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}
static inline curl_off_t authrefresh_curl_offset(CURL *handle, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}
static inline const char *authrefresh_curl_text(CURL *handle, CURLINFO info) {
    char *value = NULL;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : NULL;
}
static inline struct curl_certinfo *authrefresh_curl_certificates(CURL *handle) {
    struct curl_certinfo *value = NULL;
    return curl_easy_getinfo(handle, CURLINFO_CERTINFO, &value) == CURLE_OK ? value : NULL;
}

static inline CURLSHcode authrefresh_curl_share_sessions(CURLSH *share) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
}

// The functions by which libcurl says what its transfers wait for. Both get the same `context`.
static inline void authrefresh_curl_watch(CURLM *multi, void *context, curl_socket_callback watch, curl_multi_timer_callback set_timer) {
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}

// The bytes that have arrived on a TCP connection so far; 0 if the kernel does not say.
static inline unsigned long long authrefresh_bytes_received(int descriptor) {
    struct {
        unsigned char before[128];
        unsigned long long received;
    } info = {0};
    socklen_t size = sizeof info;
    // tcpi_bytes_received lies at 128 in the kernel's struct tcp_info (linux/tcp.h), which glibc's copy does not have to the end.
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || size < sizeof info) return 0;
    return info.received;
}

// <malloc.h> belongs to the module CLinux.
size_t malloc_usable_size(void *memory);

// libcurl's memory holds requests and answers, so it is overwritten when it is freed.
static inline void authrefresh_erase_and_free(void *memory) {
    if (memory == NULL) return;
    explicit_bzero(memory, malloc_usable_size(memory));
    free(memory);
}
static inline void *authrefresh_erase_and_reallocate(void *memory, size_t size) {
    void *other = malloc(size);
    if (other == NULL || memory == NULL) return other;
    size_t held = malloc_usable_size(memory);
    memcpy(other, memory, held < size ? held : size);
    authrefresh_erase_and_free(memory);
    return other;
}
static inline CURLcode authrefresh_curl_begin(void) {
    return curl_global_init_mem(CURL_GLOBAL_DEFAULT, malloc, authrefresh_erase_and_free, authrefresh_erase_and_reallocate,
        strdup, calloc);
}
