internal import Glibc
internal import StrictJSON
internal import Terminal
internal import VarlinkClient

/// What this program is given.
enum StandardInput {
    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }
}

/// The answer: what scripts and mail clients read.
enum StandardOutput {
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Writes text for people, in characters that their locale has.
    static func show(_ text: String) throws(AuthctlError) {
        try write(Charset.current.rendered(CalledName.inText(text)))
    }

    /// Writes all of the text as it is.
    ///
    /// - Throws: `cannotWriteOutput`; with a closed pipe the process ends by SIGPIPE instead, as other filters do.
    static func write(_ text: String) throws(AuthctlError) {
        let number = FileDescriptor.write(text, to: STDOUT_FILENO)
        guard number != 0 else { return }
        if number == EPIPE { endByPipe() }
        throw .cannotWriteOutput(errno: number)
    }

    /// Waits until one of the descriptors has something to read, or its peer has closed it.
    ///
    /// Once nobody can read what is written here the process ends by SIGPIPE: the next answer may be hours away.
    static func wait(forInputOn descriptors: [Int32]) {
        var interest = [pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)]
        interest += descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while unsafe poll(&interest, nfds_t(interest.count), -1) < 0, errno == EINTR {}
        // poll(2): errors and hang-ups are told whatever is asked for; a pipe's closed reading end is an error.
        if interest[0].revents != 0 { endByPipe() }
    }

    private static func endByPipe() {
        _ = signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
    }
}

/// Everything that is not the answer: lines for people, or with `--json` an object a line.
enum StandardError {
    /// Whether this process was asked for JSON. Looked up in the raw arguments, because the parser's own errors count too.
    static let isJSON = asksForJSON(CommandLine.arguments)

    static func asksForJSON(_ arguments: [String]) -> Bool {
        let options = arguments.prefix { $0 != "--" }
        return options.contains("--json") || options.contains("--format=json")
            || zip(options, options.dropFirst()).contains { $0 == "--format" && $1 == "json" }
    }

    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Tells a failure, with what to do about it.
    static func tell(_ error: AuthctlError) {
        write(isJSON ? error.json : Charset.current.rendered(error.report.text))
    }

    static func warn(_ message: String) {
        say("warning", message)
    }

    static func note(_ message: String) {
        say("note", message)
    }

    /// Shows lines for people to read while they wait; those who asked for JSON get them as JSON, elsewhere.
    static func show(_ text: String) {
        if !isJSON { write(Charset.current.rendered(text)) }
    }

    private static func say(_ kind: String, _ message: String) {
        let line = PlainText.line(message)
        let text = "authctl: \(kind): \(line)\n"
        write(isJSON ? JSONText.object([(kind, JSONText.quote(line))]) + "\n" : Charset.current.rendered(text))
    }

    private static func write(_ text: String) {
        _ = FileDescriptor.write(CalledName.inText(text), to: STDERR_FILENO)
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
                // Whoever gave us the descriptor may have it not block; part of an answer is none.
                switch errno {
                case EINTR: continue
                case EAGAIN: waitForRoom(in: descriptor)
                case let failure: return failure
                }
                continue
            }
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
        return 0
    }

    /// Why a descriptor was not read to its end.
    enum ReadFailure: Error {
        case failed(errno: Int32)
        case tooLong
    }

    /// Reads to the end; no more than `most` bytes are taken.
    ///
    /// - Parameter isWhole: whether what has come is all that will be said, though the end has not come.
    static func readAll(
        _ descriptor: Int32,
        atMost most: Int,
        until isWhole: ([UInt8]) -> Bool = { _ in false }
    ) throws(ReadFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count < 0 {
                guard errno == EINTR else { throw .failed(errno: errno) }
                continue
            }
            bytes += chunk[..<count]
            guard bytes.count <= most else { throw .tooLong }
            if isWhole(bytes) { return bytes }
        }
    }

    private static func waitForRoom(in descriptor: Int32) {
        var interest = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        unsafe poll(&interest, 1, -1)
    }
}
