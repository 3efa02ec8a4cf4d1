internal import Dispatch
internal import Glibc

/// Tells when a path may lead elsewhere than before, by inotify; nothing is polled.
///
/// While the path is there, its file and its folder are watched themselves, not what else happens in the folder: a file
/// in a busy folder wakes nobody. While it is not, the nearest folder that exists is watched for what is made in it.
///
/// Fires any number of times until cancelled; after a change of the path a new watch is needed.
package struct PathWatch {
    private let source: any DispatchSourceRead

    /// Nil if the kernel has no inotify instance left; the path is then simply not watched.
    ///
    /// - Parameter onChange: Called on a queue of Dispatch's own.
    package init?(_ path: String, onChange: @escaping @Sendable () -> Void) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        let gone = UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
        // Removing a name shows as a changed link count: the file itself lives on in the socket.
        let file = gone | UInt32(IN_ATTRIB) | UInt32(IN_DONT_FOLLOW)
        let hasFile = unsafe inotify_add_watch(descriptor, path, file) >= 0
        var folder = Folder.parent(of: path)
        let wanted = hasFile ? gone : gone | UInt32(IN_CREATE) | UInt32(IN_MOVED_TO)
        while unsafe inotify_add_watch(descriptor, folder, wanted) < 0, folder != "/", folder != "." {
            folder = Folder.parent(of: folder)
        }
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
        source.setEventHandler {
            Self.discardEvents(descriptor)
            onChange()
        }
        source.setCancelHandler { close(descriptor) }
        source.resume()
    }

    package func cancel() { source.cancel() }

    /// Which event it was does not matter: the path is looked at anew.
    private static func discardEvents(_ descriptor: Int32) {
        unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            while unsafe read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
        }
    }
}
