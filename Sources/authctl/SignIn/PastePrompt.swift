internal import Basics
internal import Glibc

/// The prompt for pasting an address, together with the other lines that are shown while the program waits for a
/// browser.
struct PastePrompt: ~Copyable {
    private var input: PasteInput?
    private var prompt: String?
    /// Whether the cursor is after the prompt.
    private var isShown = false

    /// Creates the prompt.
    ///
    /// - Parameter takesPaste: whether standard input is read.
    init(takesPaste: Bool) {
        input = takesPaste ? PasteInput.standardInput() : nil
    }

    /// Whether an address can be pasted.
    var takesPaste: Bool { input != nil }

    /// The descriptors to watch with poll(2) for `take`.
    var descriptors: [Int32] {
        switch input {
        case .some(let input): input.descriptors
        case nil: []
        }
    }

    /// Begins to read lines, and shows the prompt.
    mutating func open(_ prompt: String) {
        self.prompt = prompt
        input?.open()
        show()
    }

    /// Restores the terminal.
    mutating func close() {
        input?.close()
        end()
    }

    /// Reads what has arrived; nil if nothing is read here.
    mutating func take() -> PasteInput.Progress? {
        let progress = input?.take()
        // After the address, the end of a file does not mean that the user cancels.
        if case .line = progress, !StandardInput.isTerminal { input?.close() }
        return progress
    }

    /// Applies a signal's usual effect, with the terminal restored meanwhile; returns if this process survives it.
    mutating func pass(_ signal: Int32) {
        let wasOpen = input?.isOpen ?? false
        input?.close()
        CaughtSignals.passOn(signal)
        guard signal == SIGTSTP else { return }
        if wasOpen { input?.open() }
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

    /// Asks again after something else was pasted.
    mutating func warnOfNoAddress() {
        warn("this is not an address")
    }

    /// Shows the prompt again.
    mutating func show() {
        guard let prompt, input?.isOpen ?? false else { return }
        StandardError.show(prompt)
        isShown = true
    }

    /// Continues on a new line.
    mutating func end() {
        if isShown { StandardError.show("\n") }
        isShown = false
    }
}
