import CSpawn
import Foundation
import Glibc

/// Whether the tests run as root, as some of what they arrange needs.
package let isRoot = geteuid() == 0

/// Runs `body`, which must stay on this thread, as another user in the kernel's eyes, so far as files and sockets are concerned.
package func asUser<Success>(_ user: UInt32, _ body: () throws -> Success) rethrows -> Success {
    // setfsuid(2) is for the calling thread alone; that of glibc's setuid is for the process.
    let previous = setfsuid(user)
    defer { setfsuid(UInt32(bitPattern: previous)) }
    return try body()
}

/// Gives a symbolic link itself, not what it points to, to another user.
package func changeOwner(ofLink path: String, to user: UInt32) throws(TestFault) {
    guard unsafe lchown(path, user, user) == 0 else { throw .system("lchown", errno: errno) }
}

/// Mounts a tmpfs of `size` (as mount(8) writes it) for the time of `body`.
package func withTemporaryMount(at path: String, size: String, _ body: () async throws -> Void) async throws {
    guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=\(size),mode=0700") == 0 else {
        throw TestFault.system("mount", errno: errno)
    }
    do {
        try await body()
    } catch {
        unmount(path)
        throw error
    }
    unmount(path)
}

/// Makes the folder `path` of a temporary mount read-only for all who open files there from now on.
///
/// By a mount of its own above it: that has no writers yet, while a program that is just being started elsewhere may hold a file of
/// the other open for a moment longer.
package func remountReadOnly(_ path: String) throws(TestFault) {
    let bind = UInt(MS_BIND)
    guard unsafe mount(path, path, nil, bind, nil) == 0,
        unsafe mount(nil, path, nil, bind | UInt(MS_REMOUNT | MS_RDONLY), nil) == 0
    else { throw .system("mount", errno: errno) }
}

/// Takes away all that is mounted at `path`.
private func unmount(_ path: String) {
    while unsafe umount2(path, Int32(MNT_DETACH)) == 0 {}
}
