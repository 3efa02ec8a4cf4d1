import Glibc

/// Whether the tests run as root, as some of what they arrange needs.
let isRoot = geteuid() == 0

/// Gives a symbolic link itself, not what it points to, to another user.
func changeOwner(ofLink path: String, to user: UInt32) throws {
    guard unsafe lchown(path, user, user) == 0 else { throw SystemCallFailed(code: errno) }
}

/// Mounts a tmpfs of `size` (as mount(8) writes it) for the time of `body`.
func withTemporaryMount(at path: String, size: String, _ body: () throws -> Void) throws {
    guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=\(size),mode=0700") == 0 else {
        throw SystemCallFailed(code: errno)
    }
    defer { _ = unsafe umount2(path, Int32(MNT_DETACH)) }
    try body()
}

/// Makes the mount at `path` read-only.
func remountReadOnly(_ path: String) throws {
    let flags = UInt(MS_REMOUNT | MS_RDONLY)
    guard unsafe mount("tmpfs", path, "tmpfs", flags, nil) == 0 else { throw SystemCallFailed(code: errno) }
}

struct SystemCallFailed: Error {
    let code: Int32
}
