internal import Dispatch
internal import Glibc

/// Reports by inotify that a path may now lead to another file. Nothing is polled.
///
/// While the path exists, the watch is on its file and its folder themselves, so other files in a busy folder cause no
/// wake-ups. While the path does not exist, the watch is on new files in the nearest existing folder.
///
/// A user has few inotify instances (`fs.inotify.max_user_instances`, 128 by default), and other programs may have used
/// them up. In that case only, the path is checked every `period`, until inotify can watch it; `failure` tells why.
///
/// It may fire several times until it is cancelled. After a change of the path, a new watch is needed.
package struct PathWatch {
    /// How often the path is checked if inotify does not watch it.
    ///
    /// Callers of a socket that vanished wait that long at most; a check costs two or three system calls.
    package static let period = Duration.seconds(10)

    /// Why the path was checked by a timer at first; nil if inotify watches it.
    package let failure: VarlinkServerError?
    private let source: any DispatchSourceProtocol

    /// Starts the watch.
    ///
    /// - Parameter onChange: called on a queue of Dispatch.
    package init(_ path: String, onChange: @escaping @Sendable () -> Void) {
        let period = DispatchTimeInterval.seconds(Int(Self.period.components.seconds))
        self.init(path, every: period, instance: Self.instance, onChange: onChange)
    }

    /// Starts the watch.
    ///
    /// - Parameter instance: makes an inotify instance, as inotify_init1(2) does.
    init(
        _ path: String,
        every period: DispatchTimeInterval,
        instance: @escaping @Sendable () -> Int32,
        onChange: @escaping @Sendable () -> Void
    ) {
        do throws(VarlinkServerError) {
            source = try Self.inotify(path, instance, onChange)
            failure = nil
        } catch {
            source = Self.timer(path, every: period, instance, onChange)
            failure = error
        }
        source.resume()
    }

    static func instance() -> Int32 { inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)) }

    private static func inotify(
        _ path: String,
        _ instance: () -> Int32,
        _ onChange: @escaping @Sendable () -> Void
    ) throws(VarlinkServerError) -> any DispatchSourceProtocol {
        let descriptor = instance()
        guard descriptor >= 0 else { throw .cannotWatch(path: path, errno: errno) }
        let gone = UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
        // When a name is removed, only the link count changes, because the file lives on in the socket.
        let file = gone | UInt32(IN_ATTRIB) | UInt32(IN_DONT_FOLLOW)
        let hasFile = unsafe inotify_add_watch(descriptor, path, file) >= 0
        var folder = Folder.parent(of: path)
        let wanted = hasFile ? gone : gone | UInt32(IN_CREATE) | UInt32(IN_MOVED_TO)
        while unsafe inotify_add_watch(descriptor, folder, wanted) < 0 {
            let number = errno
            guard folder != "/", folder != "." else {
                close(descriptor)
                throw .cannotWatch(path: path, errno: number)
            }
            folder = Folder.parent(of: folder)
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
        source.setEventHandler {
            discardEvents(descriptor)
            onChange()
        }
        source.setCancelHandler { close(descriptor) }
        return source
    }

    /// Checks the path every `period`, until it has changed or inotify watches it.
    private static func timer(
        _ path: String,
        every period: DispatchTimeInterval,
        _ instance: @escaping @Sendable () -> Int32,
        _ onChange: @escaping @Sendable () -> Void
    ) -> any DispatchSourceProtocol {
        let before = FileIdentity(path: path)
        let source = DispatchSource.makeTimerSource()
        source.schedule(deadline: .now() + period, repeating: period, leeway: .seconds(1))
        var watch: (any DispatchSourceProtocol)?
        source.setEventHandler {
            // A path that is missing may be one that can be made by now.
            guard before != nil, FileIdentity(path: path) == before else { return onChange() }
            guard let begun = try? inotify(path, instance, onChange) else { return }
            watch = begun
            begun.resume()
            source.schedule(deadline: .distantFuture)
            // A change before the watch began would be missed.
            if FileIdentity(path: path) != before { onChange() }
        }
        source.setCancelHandler { watch?.cancel() }
        return source
    }

    package func cancel() { source.cancel() }

    /// Discards the events. Their kind does not matter, because the path is checked again.
    private static func discardEvents(_ descriptor: Int32) {
        unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            while unsafe read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
        }
    }
}
