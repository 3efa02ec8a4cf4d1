import CSpawn
import Foundation
import Glibc

/// Whether the tests run as root, which some tests need.
package let isRoot = geteuid() == 0

/// Runs `body` with the rights of another user on files and sockets. `body` must stay on this thread.
package func asUser<Success>(_ user: UInt32, _ body: () throws -> Success) rethrows -> Success {
    // setfsuid(2) applies only to the calling thread; glibc's setuid applies to the whole process.
    let previous = setfsuid(user)
    defer { setfsuid(UInt32(bitPattern: previous)) }
    return try body()
}

/// Changes the owner of a symbolic link itself, not of its target.
package func changeOwner(ofLink path: String, to user: UInt32) throws(TestFault) {
    guard unsafe lchown(path, user, user) == 0 else { throw .system("lchown", errno: errno) }
}

/// Mounts a tmpfs of `size` (in the notation of mount(8)) while `body` runs.
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

/// Makes the folder `path` of a temporary mount read-only for everybody who opens files there from now on.
///
/// It puts a bind mount of the folder over the folder and makes that read-only. The new mount has no writers, while a
/// program that is being started elsewhere may hold a file of the first mount open for a moment.
package func remountReadOnly(_ path: String) throws(TestFault) {
    let bind = UInt(MS_BIND)
    guard unsafe mount(path, path, nil, bind, nil) == 0,
        unsafe mount(nil, path, nil, bind | UInt(MS_REMOUNT | MS_RDONLY), nil) == 0
    else { throw .system("mount", errno: errno) }
}

/// Unmounts everything at `path`.
private func unmount(_ path: String) {
    while unsafe umount2(path, Int32(MNT_DETACH)) == 0 {}
}
