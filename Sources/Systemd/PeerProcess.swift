internal import CSystemd
internal import Glibc

/// The process at the other end of a connection: its executable and its unit.
///
/// It is the process that connected, even if its number was reused, because a descriptor pins it while we look at it.
/// It may have passed its end of the connection to another process, or may run another program than when it connected.
package struct PeerProcess: Hashable, Sendable {
    package let pid: Int32
    /// The executable as the kernel names it in the caller's own view of the file system.
    ///
    /// Nil if it cannot be read. That is so for a process in another user namespace (as in a unit with
    /// `PrivateUsers=`), and for a process that is not dumpable.
    package let executable: String?
    /// The identity of the executable; nil if it cannot be read.
    package let file: FileIdentity?
    /// The executable's path without symbolic links, as this process sees it; nil if there is none, or if it leads to
    /// another file.
    package let path: String?
    /// The user manager's unit of the process, or else the system manager's: `mbsync.service`, `session-2.scope`; nil
    /// without systemd.
    package let unit: String?

    fileprivate init(pid: Int32, executable: String?, file: FileIdentity?, unit: String?) {
        self.pid = pid
        self.executable = executable
        self.file = file
        self.unit = unit
        let path = executable.flatMap(FileIdentity.path(behind:))
        let isSame = file != nil && path.flatMap(FileIdentity.init(path:)) == file
        self.path = isSame ? path : nil
    }
}

extension PeerProcess {
    /// The name of a process as the kernel shows it, at most 15 bytes of any kind; nil if it has ended. Does not block.
    ///
    /// A process chooses its name itself. It is for people only.
    package static func name(of pid: Int32) -> String? {
        SmallFile.text("/proc/\(pid)/comm").map { String($0.prefix { $0 != "\n" }) }
    }
}

/// The process that connected a socket, pinned by a descriptor. Even if its number is reused, we can tell whether it is
/// still the same process.
package final class HeldProcess: Sendable {
    package let pid: Int32
    private let handle: Int32

    /// Pins the process that connected `socket`. Does not block.
    ///
    /// - Parameters:
    ///   - pid: the process id from `SO_PEERCRED`.
    ///   - connectedAt: when the connection was accepted, on the `BootClock`.
    /// - Returns: nil if that process has ended.
    package init?(socket: Int32, pid: Int32, connectedAt: Int64) {
        guard pid > 0, let handle = Self.handle(on: socket, pid: pid, connectedAt: connectedAt) else { return nil }
        self.pid = pid
        self.handle = handle
    }

    deinit { close(handle) }

    /// Reads the executable and the unit; nil if the process has ended.
    ///
    /// It may block as long as the file system of the executable does.
    package func look() -> PeerProcess? {
        let folder = "/proc/\(pid)"
        let process = PeerProcess(
            pid: pid,
            executable: Self.link(folder + "/exe"),
            file: FileIdentity(path: folder + "/exe"),
            unit: Self.unit(of: pid)
        )
        // These values belong to the pinned process only if it is still alive. Otherwise its id may be another's now.
        return isAlive ? process : nil
    }

    /// Whether the process is still running. A pidfd becomes readable when its process ends.
    package var isAlive: Bool {
        var interest = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&interest, 1, 0) == 0
    }

    private static func handle(on socket: Int32, pid: Int32, connectedAt: Int64) -> Int32? {
        // SO_PEERPIDFD exists since Linux 6.5; the headers of Debian 12 do not define it.
        let peerDescriptor: Int32 = 77
        var handle: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        if unsafe getsockopt(socket, SOL_SOCKET, peerDescriptor, &handle, &length) == 0 { return handle }
        // An older kernel. 1. Pin the process that has the number now. 2. If it was started after the connection was
        // accepted, it is another process. 3. We cannot notice that the first process ended between its connect() and
        // our accept().
        guard errno == ENOPROTOOPT else { return nil }
        handle = pidfd_open(pid, 0)
        guard handle >= 0 else { return nil }
        guard let start = startTime(of: pid), start <= connectedAt else {
            close(handle)
            return nil
        }
        return handle
    }

    /// When the process was started, on the `BootClock`, rounded down to a tick.
    private static func startTime(of pid: Int32) -> Int64? {
        guard let text = SmallFile.text("/proc/\(pid)/stat") else { return nil }
        return startTime(in: text, ticksPerSecond: Int64(sysconf(Int32(_SC_CLK_TCK))))
    }

    /// proc_pid_stat(5): the second field is a name in parentheses that may contain anything. The 22nd field is the
    /// start time in ticks.
    static func startTime(in text: String, ticksPerSecond: Int64) -> Int64? {
        guard let name = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: name)...].split(separator: " ")
        guard fields.count > 19, ticksPerSecond > 0, let ticks = Int64(fields[19]) else { return nil }
        let (microseconds, isTooMuch) = ticks.multipliedReportingOverflow(by: 1_000_000)
        return isTooMuch ? nil : microseconds / ticksPerSecond
    }

    private static func link(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func unit(of pid: Int32) -> String? {
        var name: UnsafeMutablePointer<CChar>?
        guard unsafe sd_pid_get_user_unit(pid, &name) >= 0 || sd_pid_get_unit(pid, &name) >= 0 else { return nil }
        defer { unsafe free(name) }
        return unsafe name.map { unsafe String(cString: $0) }
    }
}

/// Identifies a file, whatever path leads to it.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// The file that `path` leads to, following symbolic links; nil if there is none, or if it cannot be accessed.
    ///
    /// It may block as long as the file system does.
    package init?(path: String) {
        self.init(path: path) { _ in true }
    }

    /// The executable file that `path` leads to, following symbolic links; nil if there is none, or if it cannot be
    /// accessed.
    ///
    /// It may block as long as the file system does.
    package init?(executable path: String) {
        // Somebody may execute it. Only the kernel knows whether the caller may.
        self.init(path: path) { mode in mode & S_IFMT == S_IFREG && mode & 0o111 != 0 }
    }

    private init?(path: String, _ isWanted: (mode_t) -> Bool) {
        var (device, inode, mode) = (UInt64(0), UInt64(0), mode_t(0))
        guard unsafe authrefresh_file_identity(path, &device, &inode, &mode) == 0, isWanted(mode) else { return nil }
        self.device = device
        self.inode = inode
    }

    /// The path of the file that `path` leads to, without symbolic links; nil if there is none, or if it cannot be
    /// accessed.
    ///
    /// It may block as long as the file system does.
    package static func path(behind path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }
}

enum SmallFile {
    /// The first kilobyte of a file; nil if it cannot be read.
    static func text(_ path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
