internal import Glibc

/// The answer: what scripts and mail clients read.
enum StandardOutput {
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Writes all of the text.
    ///
    /// - Throws: `cannotWriteOutput`; with a closed pipe the process ends by SIGPIPE instead, as other filters do.
    static func write(_ text: String) throws(AuthctlError) {
        let number = FileDescriptor.write(text, to: STDOUT_FILENO)
        guard number != 0 else { return }
        if number == EPIPE {
            _ = signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        }
        throw .cannotWriteOutput(errno: number)
    }
}

/// Everything that is not the answer.
enum StandardError {
    static func write(_ text: String) {
        _ = FileDescriptor.write(text, to: STDERR_FILENO)
    }

    static func warn(_ message: String) {
        write("authctl: warning: \(PlainText.line(message))\n")
    }

    static func note(_ message: String) {
        write("authctl: note: \(PlainText.line(message))\n")
    }
}

/// Whole reads and writes on descriptors.
enum FileDescriptor {
    /// Writes all of the text; 0 or the error number.
    static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { bytes in
            unsafe write(UnsafeRawBufferPointer(bytes), to: descriptor)
        }
    }

    /// Writes all of the bytes; 0 or the error number.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var rest = unsafe bytes
        while unsafe !rest.isEmpty {
            let count = unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 {
                guard errno == EINTR else { return errno }
                continue
            }
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
        return 0
    }
}
