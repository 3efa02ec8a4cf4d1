internal import Glibc

/// The clock that runs from boot, through suspends, and that nobody can step.
package enum BootClock {
    static let bootIDPath = "/proc/sys/kernel/random/boot_id"

    /// µs since boot, time asleep included.
    package static func now() -> Int64 {
        microseconds(of: CLOCK_BOOTTIME)
    }

    /// The first 64 bits of the kernel's random id of this boot: readings of this clock compare only under the same id.
    ///
    /// - Throws: `bootIDUnreadable`, `malformedBootID`; the caller should judge by the wall clock alone.
    package static func bootID() throws(SystemdError) -> Int64 {
        let descriptor = unsafe open(bootIDPath, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .bootIDUnreadable(errno: errno) }
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(descriptor, &text, text.count)
        guard count >= 0 else { throw .bootIDUnreadable(errno: errno) }
        guard let id = bootID(in: String(decoding: text.prefix(count), as: UTF8.self)) else { throw .malformedBootID }
        return id
    }

    /// The first 64 bits of the UUID that `text` holds; nil if it holds none.
    static func bootID(in text: String) -> Int64? {
        let digits = text.filter { $0 != "-" && $0 != "\n" }
        return MessageID(text: digits).map { Int64(bitPattern: $0.high) }
    }
}
