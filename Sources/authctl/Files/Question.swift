internal import Glibc
internal import Terminal

/// Asks on the terminal, with echo.
enum Question {
    /// Whether a person can see the question and answer it.
    static var canBeAsked: Bool { StandardInput.isTerminal && isatty(STDERR_FILENO) == 1 && !StandardError.isJSON }

    /// Asks for one line, and removes white space around it; it may be empty.
    ///
    /// - Throws: `cancelled` if the input has ended.
    static func ask(_ prompt: String) throws(AuthctlError) -> String {
        StandardError.show(prompt)
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while byte != UInt8(ascii: "\n") {
            let count = unsafe read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                // This line break keeps the shell's next line from beginning after the question.
                StandardError.show("\n")
                throw .cancelled
            }
            bytes.append(byte)
        }
        let isSpace = { (byte: UInt8) in [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n")].contains(byte) }
        let line = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return String(decoding: line, as: UTF8.self)
    }

    /// Whether the person says yes. An empty line means `byDefault`, and anything else means no.
    static func confirm(_ question: String, byDefault: Bool = false) throws(AuthctlError) -> Bool {
        let answer = try ask("\(question) \(byDefault ? "[Y/n]" : "[y/N]") ").lowercased()
        return answer.isEmpty ? byDefault : ["y", "yes"].contains(answer)
    }
}

/// A line being typed key by key, with the editing keys of the user's terminal.
struct TypedLine {
    private let settings: termios
    /// The bytes typed so far, without the end of the line.
    private(set) var bytes: [UInt8] = []
    /// Whether the user ended the input at the beginning of a line.
    private(set) var hasEnded = false

    /// Creates an empty line.
    ///
    /// - Parameter settings: the user's terminal settings.
    init(_ settings: termios) {
        self.settings = settings
    }

    /// Makes reads from a non-canonical terminal wait for one byte without a time limit.
    static func waitForEachByte(_ settings: inout termios) {
        set(VMIN, 1, in: &settings)
        set(VTIME, 0, in: &settings)
    }

    /// Handles one byte; returns whether it ends the line.
    mutating func take(_ byte: UInt8) -> Bool {
        // The terminal itself still handles Ctrl-C and similar keys, which arrive as signals.
        switch byte {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return true
        case key(VEOF):
            hasEnded = bytes.isEmpty
            return true
        // Terminals disagree on what backspace sends, so all variants are accepted.
        case key(VERASE), 0x08, 0x7F: removeCharacter()
        // The words of a secret are invisible, so both keys clear the line.
        case key(VKILL), key(VWERASE): bytes = []
        default: bytes.append(byte)
        }
        return false
    }

    /// Removes the last UTF-8 character, which may have several bytes.
    private mutating func removeCharacter() {
        while let byte = bytes.popLast(), byte & 0xC0 == 0x80 {}
    }

    /// The byte of an editing key; nil if the user has disabled it.
    private func key(_ index: Int32) -> UInt8? {
        let byte = unsafe withUnsafeBytes(of: settings.c_cc) { unsafe $0[Int(index)] }
        // _POSIX_VDISABLE
        return byte == 0 ? nil : byte
    }

    private static func set(_ index: Int32, _ value: UInt8, in settings: inout termios) {
        unsafe withUnsafeMutableBytes(of: &settings.c_cc) { unsafe $0[Int(index)] = value }
    }
}

/// Asks on the terminal without echo.
enum HiddenPrompt {
    private static let caught = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// Asks for a secret.
    ///
    /// - Throws: `cancelled` after Ctrl-C or another ending signal, with the terminal restored; `secretFile` if there
    ///   is not a terminal, or if nothing was typed.
    static func ask(_ prompt: String, _ purpose: SecretPurpose) throws(AuthctlError) -> SecretText {
        let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { throw .secretFile(.noTerminal(purpose: purpose)) }
        defer { close(terminal) }
        var before = termios()
        guard unsafe tcgetattr(terminal, &before) == 0 else { throw .secretFile(.noTerminal(purpose: purpose)) }

        let line = withSignalsHeld { waitMask in
            var silent = before
            // Non-canonical, because a canonical terminal silently cuts lines after 4095 bytes (termios(3)).
            silent.c_lflag &= ~tcflag_t(ECHO | ICANON)
            TypedLine.waitForEachByte(&silent)
            // TCSAFLUSH: what was typed before the prompt is not part of the secret.
            guard unsafe tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { return [UInt8]?.none }
            defer { unsafe tcsetattr(terminal, TCSAFLUSH, &before) }
            let width = TerminalStyle.size(of: terminal)?.columns
            _ = FileDescriptor.write(WrappedText.text(ShownText.text(prompt), width: width), to: terminal)
            return readLine(from: terminal, before, waitMask)
        }
        _ = FileDescriptor.write("\n", to: terminal)
        guard let line else { throw .cancelled }
        guard !line.isEmpty else { throw .secretFile(.empty(purpose: purpose)) }
        guard line.count <= SecretFile.largestSize else { throw .secretFile(.tooLong(purpose: purpose)) }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw .secretFile(.notOneLine(purpose: purpose))
        }
        return SecretText(text)
    }

    /// Runs `body` so that signals arrive only while it waits with the given mask, and only interrupt that wait. If
    /// they ended the process, the terminal would stay without echo.
    private static func withSignalsHeld<Result>(_ body: (sigset_t) -> Result) -> Result {
        var held = sigset_t()
        var maskBefore = sigset_t()
        unsafe sigemptyset(&held)
        for number in caught + [SIGTSTP] { unsafe sigaddset(&held, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &held, &maskBefore)

        var breakOff = sigaction()
        unsafe breakOff.__sigaction_handler.sa_handler = { _ in }
        var handlersBefore = Array(repeating: sigaction(), count: caught.count)
        for (index, number) in caught.enumerated() { unsafe sigaction(number, &breakOff, &handlersBefore[index]) }
        defer {
            for (index, number) in caught.enumerated() { unsafe sigaction(number, &handlersBefore[index], nil) }
            unsafe pthread_sigmask(SIG_SETMASK, &maskBefore, nil)
        }
        // Stop signals stay blocked even during the wait. Otherwise the shell would get a terminal without echo.
        var waitMask = maskBefore
        unsafe sigaddset(&waitMask, SIGTSTP)
        return body(waitMask)
    }

    /// Reads the line without its end, or one byte more than the largest secret; nil if a signal came first, if the
    /// user typed Ctrl-D at the beginning, or if the terminal was closed.
    private static func readLine(from terminal: Int32, _ settings: termios, _ waitMask: sigset_t) -> [UInt8]? {
        var line = TypedLine(settings)
        var mask = waitMask
        var chunk = [UInt8](repeating: 0, count: 4096)
        while line.bytes.count <= SecretFile.largestSize {
            var wanted = DescriptorSet([terminal])
            guard unsafe pselect(terminal + 1, &wanted.set, nil, nil, nil, &mask) > 0 else { return nil }
            let count = unsafe read(terminal, &chunk, chunk.count)
            guard count > 0 else { return nil }
            for byte in chunk[..<count] where line.take(byte) { return line.hasEnded ? nil : line.bytes }
        }
        return line.bytes
    }
}
