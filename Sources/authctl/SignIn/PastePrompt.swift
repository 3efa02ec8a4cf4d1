internal import Glibc

/// Where an address can be pasted on the terminal, among the lines that are shown while a browser is waited for.
struct PastePrompt: ~Copyable {
    private var input: PasteInput?
    private var prompt: String?
    /// Whether the cursor stands behind the prompt.
    private var isShown = false

    /// - Parameter takesPaste: whether standard input is read.
    init(takesPaste: Bool) {
        input = takesPaste ? PasteInput.standardInput() : nil
    }

    /// Whether anything can be pasted.
    var takesPaste: Bool { input != nil }

    /// What poll(2) is to watch for `take`.
    var descriptors: [Int32] {
        switch input {
        case .some(let input): input.descriptors
        case nil: []
        }
    }

    /// Begins to take lines, and asks for one.
    mutating func open(_ prompt: String) {
        self.prompt = prompt
        input?.open()
        show()
    }

    /// Gives the terminal back as it was.
    mutating func close() {
        input?.close()
        end()
    }

    /// Takes what there is to read; nil if nothing is taken here.
    mutating func take() -> PasteInput.Progress? {
        let progress = input?.take()
        // The end of a file, after the address that it holds, is no wish to cancel.
        if case .line = progress, !StandardInput.isTerminal { input?.close() }
        return progress
    }

    /// Has a signal do what it does, with the terminal as it was meanwhile; returns if this process lives on.
    mutating func pass(_ signal: Int32) {
        let wasOpen = input?.isOpen ?? false
        input?.close()
        CaughtSignals.passOn(signal)
        guard signal == SIGTSTP else { return }
        if wasOpen { input?.open() }
        show()
    }

    /// Shows lines for people; those who read JSON have had the reply.
    mutating func tell(_ text: String) {
        end()
        StandardError.show(text)
    }

    /// Says what should be looked at, then asks again.
    mutating func warn(_ warning: Warning) {
        end()
        StandardError.warn(warning)
        show()
    }

    /// Asks again.
    mutating func show() {
        guard let prompt, input?.isOpen ?? false else { return }
        StandardError.show(prompt)
        isShown = true
    }

    /// Goes on on a line of its own.
    mutating func end() {
        if isShown { StandardError.show("\n") }
        isShown = false
    }
}
