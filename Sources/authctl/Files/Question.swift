internal import Basics
internal import Glibc

/// Asks on the terminal.
enum Question {
    /// Whether a person can see the question and answer it.
    static var canBeAsked: Bool { StandardInput.isTerminal && isatty(STDERR_FILENO) == 1 && !StandardError.isJSON }

    /// Asks for one line with echo, and removes white space around it; it may be empty.
    ///
    /// - Throws: `cancelled` if the input has ended, or after Ctrl-C or another ending signal.
    static func ask(_ prompt: String) throws(Report) -> String {
        // Before the question is shown, so that no signal comes between the two.
        let signals = CaughtSignals(CaughtSignals.ending)
        StandardError.show(prompt)
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while byte != UInt8(ascii: "\n") {
            guard signals.waitForKeys(on: STDIN_FILENO), unsafe Glibc.read(STDIN_FILENO, &byte, 1) > 0 else {
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

    /// The names with their numbers, as many per line as fit, each line with a newline.
    static func list(_ names: [String], width: Int) -> String {
        let digits = String(names.count).count
        let cells = names.enumerated().map { index, name in
            let number = String(index + 1)
            return String(repeating: " ", count: digits - number.count) + number + " " + PlainText.line(name)
        }
        let cell = (cells.map(\.count).max() ?? 0) + 2
        let columns = max(1, width / cell)
        return stride(from: 0, to: cells.count, by: columns).reduce(into: "") { text, start in
            let row = cells[start..<min(start + columns, cells.count)]
            let padded = row.dropLast().map { $0 + String(repeating: " ", count: cell - $0.count) }
            text += padded.joined() + (row.last ?? "") + "\n"
        }
    }

    /// The one of the listed names whose number the person typed; nil if it is no number of the list.
    static func choice(_ answer: String, from names: [String]) -> String? {
        guard let number = Int(answer), number > 0, number <= names.count else { return nil }
        return names[number - 1]
    }

    /// Whether the person says yes. An empty line means `byDefault`, and anything else means no.
    static func confirm(_ question: String, byDefault: Bool = false) throws(Report) -> Bool {
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
extension Question {
    /// Asks for a secret.
    ///
    /// - Throws: `cancelled` after Ctrl-C or another ending signal, with the terminal restored; an error if there is
    ///   no terminal, or if nothing was typed.
    static func askHidden(_ prompt: String, _ purpose: SecretPurpose) throws(Report) -> SecretText {
        let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { throw .noTerminal(purpose) }
        defer { close(terminal) }
        var before = termios()
        guard unsafe tcgetattr(terminal, &before) == 0 else { throw .noTerminal(purpose) }

        let line = read(from: terminal, before, prompt)
        _ = FileDescriptor.write("\n", to: terminal)
        guard let line else { throw .cancelled }
        guard !line.isEmpty else { throw .empty(purpose) }
        guard line.count <= SecretFile.largestSize else { throw .tooLong(purpose) }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw .notOneLine(purpose)
        }
        return SecretText(text)
    }

    /// Shows the prompt, and reads the line without its end, or one byte more than the largest secret; nil if a signal
    /// came first, if the user typed Ctrl-D at the beginning, or if the terminal was closed.
    private static func read(from terminal: Int32, _ settings: termios, _ prompt: String) -> [UInt8]? {
        // If a signal ended the process now, the terminal would stay without echo; if it stopped the process, the shell
        // would get it so.
        let signals = CaughtSignals(CaughtSignals.ending + [SIGTSTP])
        var (before, silent) = (settings, settings)
        // Non-canonical, because a canonical terminal silently cuts lines after 4095 bytes (termios(3)).
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON)
        TypedLine.waitForEachByte(&silent)
        // TCSAFLUSH: what was typed before the prompt is not part of the secret.
        guard unsafe tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { return nil }
        defer { unsafe tcsetattr(terminal, TCSAFLUSH, &before) }
        let width = TerminalStyle.size(of: terminal)?.columns
        _ = FileDescriptor.write(WrappedText.text(prompt.shown, width: width), to: terminal)
        var line = TypedLine(settings)
        var chunk = [UInt8](repeating: 0, count: 4096)
        while line.bytes.count <= SecretFile.largestSize {
            guard signals.waitForKeys(on: terminal) else { return nil }
            let count = unsafe Glibc.read(terminal, &chunk, chunk.count)
            guard count > 0 else { return nil }
            for byte in chunk[..<count] where line.take(byte) { return line.hasEnded ? nil : line.bytes }
        }
        return line.bytes
    }
}
