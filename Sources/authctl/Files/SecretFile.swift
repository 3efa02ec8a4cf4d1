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

    /// Reads the content, without one trailing line break.
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
            StandardError.warn("'\(name)' can be read by others; chmod 600 it")
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
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw .secretFile(.empty(purpose: purpose)) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .secretFile(.notOneLine(purpose: purpose))
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
enum SecretFileError: Error, Hashable, Sendable {
    /// There is no such file. Its name is not repeated, because it may be the secret itself.
    case noSuchFile(purpose: SecretPurpose)
    case unreadable(purpose: SecretPurpose, errno: Int32)
    case isDirectory(purpose: SecretPurpose)
    case empty(purpose: SecretPurpose)
    case tooLong(purpose: SecretPurpose)
    /// The content has several lines or control characters.
    case notOneLine(purpose: SecretPurpose)
    /// It would have to be typed, but has many lines.
    case notForTerminal(purpose: SecretPurpose)
    /// There is no terminal to ask on.
    case noTerminal(purpose: SecretPurpose)
}

extension SecretFileError {
    /// The exit status and the lines for the user.
    var report: Report {
        switch self {
        case .noSuchFile(let purpose):
            Report(
                status: .usage,
                message: "the file named for the \(purpose.rawValue) does not exist",
                hints: ["name a file, or '-' for standard input; never type the secret itself"]
            )
        case .unreadable(let purpose, let number):
            Report(
                status: number == EACCES ? .notPermitted : .badData,
                message: "cannot read the file with the \(purpose.rawValue): \(systemText(number))"
            )
        case .isDirectory(let purpose):
            Report(status: .usage, message: "the file named for the \(purpose.rawValue) is a directory")
        case .empty(let purpose):
            Report(status: .badData, message: "the \(purpose.rawValue) is empty")
        case .tooLong(let purpose):
            Report(
                status: .badData,
                message: "the \(purpose.rawValue) is longer than \(SecretFile.largestSize / 1024) KiB"
            )
        case .notOneLine(.clientKey):
            Report(
                status: .badData,
                message: "the client key is no text",
                hints: ["PEM is expected: openssl pkey -inform DER -in FILE -out key.pem makes it of DER"]
            )
        case .notOneLine(let purpose):
            Report(
                status: .badData,
                message: "the \(purpose.rawValue) is not one line of printable text",
                hints: ["the file must hold the \(purpose.rawValue) and nothing else"]
            )
        case .notForTerminal(let purpose):
            Report(
                status: .usage,
                message: "a \(purpose.rawValue) cannot be typed on a terminal",
                hints: ["name a file"]
            )
        case .noTerminal(let purpose):
            Report(
                status: .usage,
                message: "there is no terminal to ask for the \(purpose.rawValue)",
                hints: ["name a file, or give it on standard input"]
            )
        }
    }
}

/// A new file with mode 0600. It is removed again unless `keep` is called.
struct NewFile: ~Copyable {
    private let path: String
    private let descriptor: Int32
    private var isKept = false

    /// Creates the file.
    ///
    /// - Throws: `cannotCreateFile`, also if the file exists, because existing files are never replaced.
    init(path: String) throws(AuthctlError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .cannotCreateFile(path: path, errno: errno) }
        // Set this only now: a throw after the last property is set would run deinit, and remove a file that is not
        // ours.
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
        if !isKept { unsafe unlink(path) }
    }

    /// Appends text.
    ///
    /// - Throws: `cannotCreateFile`.
    func write(_ text: String) throws(AuthctlError) {
        try check(FileDescriptor.write(text, to: descriptor))
    }

    /// Appends the rest of `source`.
    ///
    /// - Throws: `cannotCreateFile`, `cannotReadBackup`.
    func copy(from source: Int32) throws(AuthctlError) -> Int {
        var chunk = [UInt8](repeating: 0, count: 1 << 17)
        var total = 0
        while true {
            let count = unsafe read(source, &chunk, chunk.count)
            if count == 0 { return total }
            if count < 0 {
                guard errno == EINTR else { throw .cannotReadBackup(errno: errno) }
                continue
            }
            let number = unsafe chunk.withUnsafeBytes { bytes in
                unsafe FileDescriptor.write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), to: descriptor)
            }
            try check(number)
            total += count
        }
    }

    /// Keeps the file, and syncs it to disk.
    ///
    /// - Throws: `cannotCreateFile`; the file is then removed.
    mutating func keep() throws(AuthctlError) {
        try check(fsync(descriptor) == 0 ? 0 : errno)
        isKept = true
    }

    private func check(_ number: Int32) throws(AuthctlError) {
        guard number == 0 else { throw .cannotCreateFile(path: path, errno: number) }
    }
}
