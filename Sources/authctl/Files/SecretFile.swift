internal import Basics
internal import Glibc

/// Reads secrets from a file, from standard input, or from a terminal without echo.
struct SecretFile {
    /// The largest secret, in bytes. Refresh tokens of real servers are below 8 KiB; an export document also contains
    /// settings.
    static let largestSize = 64 * 1024

    /// The user's argument: a path, or `-`.
    let name: String
    let purpose: SecretPurpose

    /// Reads the content, without a byte order mark and trailing line breaks.
    ///
    /// - Parameter prompt: the prompt if it has to be typed on a terminal; nil if it cannot be typed.
    /// - Throws: why it cannot be read; `cancelled`.
    func read(prompt: String?) throws(Report) -> SecretText {
        guard name == "-" else { return try readFile() }
        if isatty(STDIN_FILENO) == 1 {
            guard let prompt else {
                throw .unusableSecret(
                    "the \(purpose.rawValue) cannot be typed on a terminal",
                    status: .usage,
                    hint: "name a file"
                )
            }
            return try Question.askHidden(prompt, purpose)
        }
        return try contents(of: STDIN_FILENO)
    }

    /// Reads the content, which must be one line of printable text.
    func readLine(prompt: String) throws(Report) -> SecretText {
        let secret = try read(prompt: prompt)
        guard secret.reveal().unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) })
        else { throw .notOneLine(purpose) }
        return secret
    }

    private func readFile() throws(Report) -> SecretText {
        let descriptor = unsafe open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            let isMissing = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG
            guard isMissing else { throw .unreadable(purpose, errno: errno) }
            // Its name is not repeated, because it may be the secret itself.
            throw .unusableSecret(
                "the file named for the \(purpose.rawValue) does not exist",
                status: .usage,
                hint: "name a file, or '-' for standard input; never type the secret itself"
            )
        }
        defer { close(descriptor) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else {
            throw .unreadable(purpose, errno: errno)
        }
        let kind = facts.st_mode & S_IFMT
        guard kind != S_IFDIR else {
            throw .unusableSecret(
                "the file named for the \(purpose.rawValue) is a directory",
                status: .usage,
                hint: "name a file, or '-' for standard input"
            )
        }
        // A pipe of the shell's <(…) also has a mode, but nobody else can open it.
        if kind == S_IFREG, facts.st_mode & (S_IRWXG | S_IRWXO) != 0 {
            StandardError.warn(
                "others can read '\(name)'; to change that: \(Command(program: "chmod", "600", path: name))"
            )
        }
        return try contents(of: descriptor)
    }

    private func contents(of descriptor: Int32) throws(Report) -> SecretText {
        var bytes = try FileDescriptor.readAll(
            descriptor,
            atMost: Self.largestSize,
            orReport: { number in number.map { .unreadable(purpose, errno: $0) } ?? .tooLong(purpose) }
        )
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        while let last = bytes.last, [UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(last) { bytes.removeLast() }
        guard !bytes.isEmpty else { throw .empty(purpose) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .notOneLine(purpose)
        }
        return SecretText(text)
    }
}

/// The kind of secret, for prompts and messages.
enum SecretPurpose: String, Sendable {
    case refreshToken = "refresh token"
    case clientSecret = "client secret"
    case clientKey = "client key"
    case initialAccessToken = "initial access token"
    case document = "document"
    case redirect = "redirected address"
    case page = "page's address"
    case headers = "answer's headers"
}

/// Why a secret could not be read.
extension Report {
    static func unusableSecret(_ message: String, status: ExitStatus = .badData, hint: Hint = "") -> Report {
        Report(status: status, name: "authctl.UnusableSecret", message: message, hints: [hint])
    }

    static func unreadable(_ purpose: SecretPurpose, errno number: Int32) -> Report {
        .unusableSecret(
            "cannot read the file with the \(purpose.rawValue): \(systemText(number))",
            status: number == EACCES ? .notPermitted : .badData
        )
    }

    static func empty(_ purpose: SecretPurpose) -> Report {
        .unusableSecret("the \(purpose.rawValue) is empty")
    }

    static func tooLong(_ purpose: SecretPurpose) -> Report {
        .unusableSecret("the \(purpose.rawValue) is longer than \(SecretFile.largestSize / 1024) KiB")
    }

    /// The content has several lines or control characters.
    static func notOneLine(_ purpose: SecretPurpose) -> Report {
        guard purpose == .clientKey else {
            return .unusableSecret(
                "the \(purpose.rawValue) is not one line of printable text",
                hint: "the file must contain only the \(purpose.rawValue)"
            )
        }
        let convert = Command(program: "openssl", "pkey", "-inform", "DER", "-in", "FILE", "-out", "key.pem")
        return .unusableSecret("the client key is not text", hint: "expected: PEM; to convert DER: \(convert)")
    }

    /// There is no terminal to ask on.
    static func noTerminal(_ purpose: SecretPurpose) -> Report {
        .unusableSecret(
            "there is no terminal to ask for the \(purpose.rawValue)",
            status: .usage,
            hint: "name a file, or give it on standard input"
        )
    }
}
