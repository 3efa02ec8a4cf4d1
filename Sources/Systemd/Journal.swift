internal import CSystemd
internal import Glibc

/// The system's journal, written to by its native protocol (sd_journal_sendv(3)).
package enum Journal {
    /// Whether standard error goes to the journal, so that writing to the journal directly takes nothing from anyone.
    ///
    /// A variable alone proves nothing: it is inherited by children whose standard error was redirected.
    package static var isConnected: Bool {
        guard let stream = unsafe getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard unsafe fstat(STDERR_FILENO, &status) == 0 else { return false }
        return unsafe String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }

    /// Writes one entry; where no journald runs it goes nowhere, without an error.
    ///
    /// libsystemd length-prefixes values that hold a line break, and passes an entry too large for a datagram as a sealed
    /// memory file, so a value may be any bytes of any length.
    ///
    /// - Throws: `journalRefused`. The entry is lost; standard error is the place to say so.
    package static func send(_ fields: [JournalField]) throws(SystemdError) {
        guard !fields.isEmpty else { return }
        let assignments = fields.map(\.assignment)
        var entry = assignments.flatMap { $0 }
        let result = unsafe entry.withUnsafeMutableBytes { bytes in
            var offset = 0
            let vectors = unsafe assignments.map { assignment in
                defer { offset += assignment.count }
                return unsafe iovec(iov_base: bytes.baseAddress?.advanced(by: offset), iov_len: assignment.count)
            }
            return unsafe sd_journal_sendv(vectors, Int32(clamping: vectors.count))
        }
        guard result >= 0 else { throw .journalRefused(errno: -result) }
    }
}
