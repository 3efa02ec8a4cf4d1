internal import Dispatch
internal import Glibc

/// Reports by inotify that a path may now lead to another file. Nothing is polled.
///
/// While the path exists, the watch is on its file and its folder themselves, so other files in a busy folder cause no
/// wake-ups. While the path does not exist, the watch is on new files in the nearest existing folder.
///
/// It may fire several times until it is cancelled. After a change of the path, a new watch is needed.
package struct PathWatch {
    private let source: any DispatchSourceRead

    /// Starts the watch; nil if the kernel has no inotify instance left, and the path is then not watched.
    ///
    /// - Parameter onChange: called on a queue of Dispatch.
    package init?(_ path: String, onChange: @escaping @Sendable () -> Void) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        let gone = UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
        // When a name is removed, only the link count changes, because the file lives on in the socket.
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

    /// Discards the events. Their kind does not matter, because the path is checked again.
    private static func discardEvents(_ descriptor: Int32) {
        unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            while unsafe read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
        }
    }
}
