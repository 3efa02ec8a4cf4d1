internal import Glibc

/// Takes the line that a person pastes while other things go on.
///
/// On a terminal it is not shown, and what has not been taken at the end is thrown away: half a pasted address would otherwise be
/// the shell's next command, and stay in its history.
struct PasteInput: ~Copyable {
    /// What has come of the line.
    enum Progress: Equatable {
        case line(String)
        /// The line is not done yet.
        case more
        /// The user, or the file, ended the input where no line had begun.
        case ended
        /// Longer than any address, or no text.
        case unusable
    }

    private let isTerminal: Bool
    private var settingsBefore = termios()
    private var line: TypedLine
    private(set) var isOpen = false

    /// - Returns: nil if standard input is a terminal that another job of the shell has.
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

    /// What poll(2) is to watch; none while it is closed.
    var descriptors: [Int32] { isOpen ? [STDIN_FILENO] : [] }

    /// Begins to take lines, also after `close`.
    mutating func open() {
        isOpen = true
        guard isTerminal else { return }
        var settings = settingsBefore
        // Not canonical: a line that the terminal gathers ends after 4095 bytes (termios(3)), and addresses are longer.
        settings.c_lflag &= ~tcflag_t(ECHO | ICANON)
        TypedLine.waitForEachByte(&settings)
        unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
    }

    /// Gives the terminal back as it was.
    mutating func close() {
        guard isOpen else { return }
        isOpen = false
        line = TypedLine(settingsBefore)
        if isTerminal { unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settingsBefore) }
    }

    /// Takes what there is to read.
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
        // A terminal's window may have put white space around what was copied from it.
        return words.isEmpty ? .more : .line(words.joined())
    }
}
