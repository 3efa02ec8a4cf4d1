internal import Glibc

/// Reads the line that a person pastes, while other work continues.
///
/// A terminal does not show it, and unread input is discarded at the end. Otherwise, half of a pasted address would
/// become the shell's next command, and stay in its history.
struct PasteInput: ~Copyable {
    /// The progress of the line.
    enum Progress: Equatable {
        case line(String)
        /// A line without words: the person has only pressed Enter.
        case blank
        /// The line is not complete yet.
        case more
        /// The input ended at the beginning of a line.
        case ended
        /// The line is longer than any address, or is not text.
        case unusable
    }

    private let isTerminal: Bool
    private var settingsBefore = termios()
    private var line: TypedLine
    private(set) var isOpen = false

    /// Takes over standard input.
    ///
    /// - Returns: nil if standard input is a terminal that belongs to another job of the shell.
    static func standardInput() -> PasteInput? {
        let isTerminal = isatty(STDIN_FILENO) == 1
        guard !isTerminal || tcgetpgrp(STDIN_FILENO) == getpgrp() else { return nil }
        return PasteInput(isTerminal: isTerminal)
    }

    private init(isTerminal: Bool) {
        self.isTerminal = isTerminal
        if isTerminal { unsafe tcgetattr(STDIN_FILENO, &settingsBefore) }
        line = TypedLine(settingsBefore)
    }

    deinit {
        if isOpen, isTerminal {
            var settings = settingsBefore
            unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        }
    }

    /// The descriptors to watch with poll(2); empty while it is closed.
    var descriptors: [Int32] { isOpen ? [STDIN_FILENO] : [] }

    /// Begins to read lines, also after `close`.
    mutating func open() {
        isOpen = true
        guard isTerminal else { return }
        var settings = settingsBefore
        // Non-canonical, because a canonical terminal cuts lines after 4095 bytes (termios(3)), and addresses are
        // longer.
        settings.c_lflag &= ~tcflag_t(ECHO | ICANON)
        TypedLine.waitForEachByte(&settings)
        unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
    }

    /// Restores the terminal.
    mutating func close() {
        guard isOpen else { return }
        isOpen = false
        line = TypedLine(settingsBefore)
        if isTerminal { unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settingsBefore) }
    }

    /// Reads what has arrived.
    mutating func take() -> Progress {
        var chunk = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(STDIN_FILENO, &chunk, chunk.count)
        guard count > 0 else {
            if count < 0, errno == EINTR || errno == EAGAIN { return .more }
            return line.bytes.isEmpty ? .ended : finish()
        }
        for byte in chunk[..<count] where line.take(byte) { return line.hasEnded ? .ended : finish() }
        guard line.bytes.count <= SecretFile.largestSize else {
            line = TypedLine(settingsBefore)
            return .unusable
        }
        return .more
    }

    private mutating func finish() -> Progress {
        let bytes = line.bytes
        line = TypedLine(settingsBefore)
        guard bytes.count <= SecretFile.largestSize, let text = String(validating: bytes, as: UTF8.self) else {
            return .unusable
        }
        let words = text.split { $0 == " " || $0 == "\t" }
        // A terminal's window may have added white space to the copied text.
        return words.isEmpty ? .blank : .line(words.joined())
    }
}
