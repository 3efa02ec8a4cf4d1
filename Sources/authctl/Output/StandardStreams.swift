internal import Basics
internal import Glibc
internal import TextEncodings
internal import AuthRefreshInterface

/// Standard input.
enum StandardInput {
    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// The most bytes that a tool may write to its credential helper. git and docker write a few hundred, plus one or
    /// two tokens.
    static let inputBytesMax = 65_536

    /// All that a tool writes to its helper.
    ///
    /// - Parameter endsWithEmptyLine: whether an empty line ends the input. git may keep the pipe open after that line,
    ///   while it waits for the answer.
    /// - Throws: `document` if it is too long, or not text.
    static func toolText(endsWithEmptyLine: Bool = false) throws(Report) -> String {
        let bytes = try FileDescriptor.readAll(STDIN_FILENO, atMost: inputBytesMax) { bytes in
            endsWithEmptyLine && hasEmptyLine(bytes)
        } orReport: { number in
            .toolInput(number.map { "cannot be read: \(systemText($0))" } ?? "is longer than \(inputBytesMax) bytes")
        }
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            throw .toolInput("is not text: it contains a NUL byte, or is not UTF-8")
        }
        return text
    }

    /// Whether one of the lines is empty. It may end with LF or CR LF.
    static func hasEmptyLine(_ bytes: [UInt8]) -> Bool {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        return lines.contains { $0.isEmpty || $0.elementsEqual([UInt8(ascii: "\r")]) }
    }
}

extension String {
    /// The text for people as it leaves this program: without control characters that are not ours, in the characters of
    /// the locale.
    var shown: String { Charset.current.rendered(PlainText.lines(self, keeping: [QRCode.blackOnWhite])) }
}

/// Standard output, which scripts and mail clients read.
enum StandardOutput {
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Writes text for people, in the characters of their locale.
    static func show(_ text: String) throws(Report) {
        try write(text.shown)
    }

    /// Writes the whole text unchanged.
    ///
    /// - Parameter loss: what the person has to know if the text cannot be written.
    /// - Throws: why it cannot be written. If the pipe is closed, the process ends by SIGPIPE, like other filters.
    static func write(_ text: String, orNote loss: Hint? = nil) throws(Report) {
        let number = FileDescriptor.write(text, to: STDOUT_FILENO)
        guard number != 0 else { return }
        if let loss { StandardError.note(loss) }
        if number == EPIPE { endByPipe() }
        throw cannotWrite(number)
    }

    /// Waits until a descriptor is readable, or its peer has closed it.
    ///
    /// If nobody can read our output any more, the process ends by SIGPIPE, because the next output may be hours away.
    ///
    /// - Parameter milliseconds: how long it waits at most; -1 for ever.
    static func wait(forInputOn descriptors: [Int32], milliseconds: Int32 = -1) {
        var interest = [pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)]
        interest += descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while unsafe poll(&interest, nfds_t(interest.count), milliseconds) < 0, errno == EINTR {}
        // poll(2): errors and hang-ups are always reported, and a pipe without a reader is an error.
        if interest[0].revents != 0 { endByPipe() }
    }

    static func cannotWrite(_ number: Int32) -> Report {
        Report(
            status: .tryAgainLater,
            name: "authctl.CannotWriteOutput",
            message: "cannot write to standard output: \(systemText(number))",
            hints: [Report.room(number)].compactMap(\.self)
        )
    }

    private static func endByPipe() {
        // This also works if the parent process has blocked SIGPIPE. Otherwise `wait` would return at once, again and
        // again.
        CaughtSignals.passOn(SIGPIPE)
    }
}

/// Standard error: everything except the result, as lines for people or, with `--json`, one object per line.
enum StandardError {
    /// Whether this process has the option `--json`. It searches the raw arguments, because the parser's own errors
    /// need it, too.
    static let isJSON = asksForJSON(CommandLine.arguments)

    static func asksForJSON(_ arguments: [String]) -> Bool {
        let options = arguments.prefix { $0 != "--" }
        return options.contains("--json") || options.contains("--format=json")
            || zip(options, options.dropFirst()).contains { $0 == "--format" && $1 == "json" }
    }

    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Reports a failure with its hints, and with more hints.
    static func tell(_ error: Report, adding hints: [Hint] = []) {
        var report = error
        report.hints += hints
        write(isJSON ? report.json : report.text(.standardError))
    }

    /// Says what should be looked at, although the command went on.
    static func warn(_ text: Hint) {
        say("warning", text)
    }

    /// Says what is good to know, although nothing is wrong.
    static func note(_ text: Hint) {
        say("note", text)
    }

    /// Says what the command waits for, and for how many seconds at most.
    static func noteWait(for subject: String, atMost seconds: Int32) {
        note("waiting for \(subject), at most \(seconds) s")
    }

    /// Shows lines to people while they wait. With `--json` it does nothing, because programs get the same as JSON
    /// elsewhere.
    static func show(_ text: String) {
        guard !isJSON else { return }
        write(WrappedText.text(text.shown, width: TerminalStyle.standardError.width))
    }

    private static func say(_ kind: String, _ text: Hint) {
        guard isJSON else { return write(WrappedText.report(kind, text, by: .here, .standardError)) }
        write(JSONText.object([(kind, JSONText.quote(PlainText.line(text.text(by: .here))))]) + "\n")
    }

    private static func write(_ text: String) {
        _ = FileDescriptor.write(text, to: STDERR_FILENO)
    }
}

/// Complete reads and writes on descriptors.
enum FileDescriptor {
    /// Writes the whole text; returns 0 or the error number.
    static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { bytes in
            unsafe write(UnsafeRawBufferPointer(bytes), to: descriptor)
        }
    }

    /// Writes all bytes; returns 0 or the error number.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var rest = unsafe bytes
        while unsafe !rest.isEmpty {
            let count = unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 {
                // Whoever gave us the descriptor may have made it non-blocking. A part of a result is useless, so wait.
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

    /// Reads to the end, but at most `most` bytes.
    ///
    /// - Parameters:
    ///   - isEnd: gets all bytes after each piece, and returns whether reading ends with this piece, without the end of
    ///     the input.
    ///   - report: what to say if the system refuses, with its error number, or if there are more bytes (nil).
    static func readAll(
        _ descriptor: Int32,
        atMost most: Int,
        until isEnd: ([UInt8]) -> Bool = { _ in false },
        orReport report: (Int32?) -> Report
    ) throws(Report) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count < 0 {
                guard errno == EINTR else { throw report(errno) }
                continue
            }
            bytes += chunk[..<count]
            guard bytes.count <= most else { throw report(nil) }
            if isEnd(bytes) { return bytes }
        }
    }

    private static func waitForRoom(in descriptor: Int32) {
        var interest = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        unsafe poll(&interest, 1, -1)
    }
}
