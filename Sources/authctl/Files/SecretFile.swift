internal import CommandLineProgram
internal import Glibc

/// Reads secrets from a file, from standard input, or from a terminal without echo.
struct SecretFile {
    /// The largest secret, in bytes. Refresh tokens of real servers are below 8 KiB; an export document also contains
    /// settings.
    static let largestSize = 64 * 1024

    /// The user's argument: a path, or `-`.
    let name: String
    let purpose: SecretPurpose

    /// Reads the content, without a byte order mark and without one trailing line break.
    ///
    /// - Parameter prompt: the prompt if it has to be typed on a terminal; nil if it cannot be typed.
    /// - Throws: `secretFile`, `cancelled`.
    func read(prompt: String?) throws(AuthctlError) -> SecretText {
        guard name == "-" else { return try readFile() }
        if isatty(STDIN_FILENO) == 1 {
            guard let prompt else { throw .secretFile(.notForTerminal(purpose: purpose)) }
            return try HiddenPrompt.ask(prompt, purpose)
        }
        return try contents(of: STDIN_FILENO)
    }

    /// Reads the content, which must be one line of printable text.
    func readLine(prompt: String) throws(AuthctlError) -> SecretText {
        let secret = try read(prompt: prompt)
        guard secret.reveal().unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) })
        else { throw .secretFile(.notOneLine(purpose: purpose)) }
        return secret
    }

    private func readFile() throws(AuthctlError) -> SecretText {
        let descriptor = unsafe open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            let isMissing = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG
            throw .secretFile(
                isMissing ? .noSuchFile(purpose: purpose) : .unreadable(purpose: purpose, errno: errno)
            )
        }
        defer { close(descriptor) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else {
            throw .secretFile(.unreadable(purpose: purpose, errno: errno))
        }
        let kind = facts.st_mode & S_IFMT
        guard kind != S_IFDIR else { throw .secretFile(.isDirectory(purpose: purpose)) }
        // A pipe of the shell's <(…) also has a mode, but nobody else can open it.
        if kind == S_IFREG, facts.st_mode & (S_IRWXG | S_IRWXO) != 0 {
            StandardError.warn(
                "others can read '\(name)'; to change that: \(Command(program: "chmod", "600", path: name))"
            )
        }
        return try contents(of: descriptor)
    }

    private func contents(of descriptor: Int32) throws(AuthctlError) -> SecretText {
        var bytes: [UInt8]
        do throws(FileDescriptor.ReadFailure) {
            bytes = try FileDescriptor.readAll(descriptor, atMost: Self.largestSize)
        } catch {
            switch error {
            case .failed(let number): throw .secretFile(.unreadable(purpose: purpose, errno: number))
            case .tooLong: throw .secretFile(.tooLong(purpose: purpose))
            }
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw .secretFile(.empty(purpose: purpose)) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .secretFile(.notOneLine(purpose: purpose))
        }
        return SecretText(text)
    }
}
