internal import CSwiftRuntime
internal import Glibc

/// A file in the state folder, into which a daemon that crashes writes its signal.
///
/// Only signals that tell of an error in the daemon itself count. After a power cut, or when the kernel or a person
/// kills the daemon, the file says nothing.
final class CrashMark: Sendable {
    static let fileName = "crash"

    /// Open until the process ends.
    private let descriptor: Int32
    /// The signal of the last daemon, if it crashed; nil if it did not.
    let signal: Int32?

    /// Opens the mark; nil if that is not possible. The daemon works without it.
    ///
    /// - Parameter folder: the state folder. This process has locked the store in it.
    init?(in folder: String) {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let file = unsafe open(folder + "/" + Self.fileName, flags, 0o600)
        guard file >= 0 else { return nil }
        var byte: UInt8 = 0
        let count = unsafe pread(file, &byte, 1, 0)
        descriptor = file
        signal = count == 1 && byte > 0 ? Int32(byte) : nil
    }

    /// Forgets the last daemon's crash, and records that of this one from now on.
    func begin() {
        // The byte takes its place on the disk now, because the disk may be full when it is needed.
        var none: UInt8 = 0
        _ = unsafe pwrite(descriptor, &none, 1, 0)
        authrefresh_mark_crashes(descriptor)
    }
}
