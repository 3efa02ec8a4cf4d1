internal import Basics
internal import Glibc

/// The prompt for pasting an address, together with the other lines that are shown while the program waits for a
/// browser.
///
/// A terminal does not show the pasted line, and unread input is discarded at the end. Otherwise, half of a pasted
/// address would become the shell's next command, and stay in its history.
struct PastePrompt: ~Copyable {
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

    private let isTerminal = StandardInput.isTerminal
    /// Whether an address can be pasted: not on a terminal that belongs to another job of the shell.
    let takesPaste: Bool
    private var settingsBefore = termios()
    private var line: TypedLine
    /// Whether lines are read.
    private var isOpen = false
    private var prompt: String?
    /// Whether the cursor is after the prompt.
    private var isShown = false

    /// Creates the prompt.
    ///
    /// - Parameter takesPaste: whether standard input is read.
    init(takesPaste: Bool) {
        self.takesPaste = takesPaste && (!isTerminal || tcgetpgrp(STDIN_FILENO) == getpgrp())
        if isTerminal { unsafe tcgetattr(STDIN_FILENO, &settingsBefore) }
        line = TypedLine(settingsBefore)
    }

    deinit {
        if isOpen, isTerminal {
            var settings = settingsBefore
            unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        }
    }

    /// The descriptors to watch with poll(2) for `take`; empty while no line is read.
    var descriptors: [Int32] { isOpen ? [STDIN_FILENO] : [] }

    /// Begins to read lines, and shows the prompt.
    mutating func open(_ prompt: String) {
        self.prompt = prompt
        openInput()
        show()
    }

    private mutating func openInput() {
        guard takesPaste else { return }
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
        closeInput()
        end()
    }

    private mutating func closeInput() {
        guard isOpen else { return }
        isOpen = false
        line = TypedLine(settingsBefore)
        if isTerminal { unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settingsBefore) }
    }

    /// Reads what has arrived; nil if nothing is read here.
    mutating func take() -> Progress? {
        guard takesPaste else { return nil }
        let progress = read()
        // After the address, the end of a file does not mean that the user cancels.
        if case .line = progress, !isTerminal { closeInput() }
        return progress
    }

    private mutating func read() -> Progress {
        var chunk = [UInt8](repeating: 0, count: 4096)
        let count = unsafe Glibc.read(STDIN_FILENO, &chunk, chunk.count)
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

    /// Applies a signal's usual effect, with the terminal restored meanwhile; returns if this process survives it.
    mutating func pass(_ signal: Int32) {
        let wasOpen = isOpen
        closeInput()
        CaughtSignals.passOn(signal)
        guard signal == SIGTSTP else { return }
        if wasOpen { openInput() }
        show()
    }

    /// Shows lines to people. Programs that read JSON already have the reply.
    mutating func tell(_ text: String) {
        end()
        StandardError.show(text)
    }

    /// Says what should be looked at, then asks again.
    mutating func warn(_ text: Hint) {
        end()
        StandardError.warn(text)
        show()
    }

    /// Shows the prompt again.
    mutating func show() {
        guard let prompt, isOpen else { return }
        StandardError.show(prompt)
        isShown = true
    }

    /// Continues on a new line.
    mutating func end() {
        if isShown { StandardError.show("\n") }
        isShown = false
    }
}
