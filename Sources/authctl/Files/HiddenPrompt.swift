internal import Glibc

/// Asks on the terminal without showing what is typed.
enum HiddenPrompt {
    private static let caught = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// - Throws: `cancelled` after Ctrl-C or another signal that would end the program, with the terminal as it was;
    ///   `secretFile` if there is no terminal or nothing was typed.
    static func ask(_ prompt: String, _ purpose: SecretPurpose) throws(AuthctlError) -> SecretText {
        let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { throw .secretFile(.noTerminal(purpose: purpose)) }
        defer { close(terminal) }
        var before = termios()
        guard unsafe tcgetattr(terminal, &before) == 0 else { throw .secretFile(.noTerminal(purpose: purpose)) }

        let line = withSignalsHeld { waitMask in
            var silent = before
            // Not canonical: a line that the terminal gathers ends after 4095 bytes (termios(3)), and the rest is lost without a word.
            silent.c_lflag &= ~tcflag_t(ECHO | ICANON)
            TypedLine.waitForEachByte(&silent)
            // TCSAFLUSH: what was typed before the prompt is shown is not part of the secret.
            guard unsafe tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { return [UInt8]?.none }
            defer { unsafe tcsetattr(terminal, TCSAFLUSH, &before) }
            _ = FileDescriptor.write(prompt, to: terminal)
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

    /// Runs `body` so that signals come only while it waits with the mask it is given, and only break off that wait: were
    /// they to end the process, the terminal would stay silent.
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
        // Stopping stays held back even while we wait: the shell would get a terminal without echo.
        var waitMask = maskBefore
        unsafe sigaddset(&waitMask, SIGTSTP)
        return body(waitMask)
    }

    /// The line without its end, or a byte more than the largest secret; nil if a signal came first, if the user typed Ctrl-D at
    /// the beginning, or if the terminal was closed.
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
