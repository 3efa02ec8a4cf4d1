import Glibc

/// Whether the tests run as root, as some of what they arrange needs.
package let isRoot = geteuid() == 0

/// Mounts a tmpfs of `size` (as mount(8) writes it) for the time of `body`.
package func withTemporaryMount(at path: String, size: String, _ body: () async throws -> Void) async throws {
    guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=\(size),mode=0700") == 0 else {
        throw TestFault.system("mount", errno: errno)
    }
    do {
        try await body()
    } catch {
        _ = unsafe umount2(path, Int32(MNT_DETACH))
        throw error
    }
    _ = unsafe umount2(path, Int32(MNT_DETACH))
}

/// Makes the mount at `path` read-only.
package func remountReadOnly(_ path: String) throws(TestFault) {
    let flags = UInt(MS_REMOUNT | MS_RDONLY)
    guard unsafe mount("tmpfs", path, "tmpfs", flags, nil) == 0 else { throw .system("mount", errno: errno) }
}
