internal import AuthRefreshInterface
internal import OAuthClient
internal import RedirectListener
internal import RefreshCore
internal import SignIn
internal import Varlink

/// The sign-ins that are under way: at most one for each account.
struct SignIns {
    private var running: [AccountID: RunningSignIn] = [:]
    private var lastFollower = 0

    var isEmpty: Bool { running.isEmpty }
    var isFull: Bool { running.count >= CallerLimits.signInsMax }
    var accounts: [AccountID] { running.keys.sorted() }

    subscript(_ account: AccountID) -> RunningSignIn? {
        get { running[account] }
        set { running[account] = newValue }
    }

    /// The sign-in that is called so; nil if it is over.
    func named(_ id: String) -> RunningSignIn? {
        running.values.first { $0.id == id }
    }

    /// The sign-in whose request had this `state`; nil if none has.
    func expecting(_ state: Secret) -> RunningSignIn? {
        running.values.first { $0.secrets.state == state }
    }

    /// A number that no follower has.
    mutating func nextFollower() -> Int {
        lastFollower += 1
        return lastFollower
    }

    /// How long until one of them has to be told that time has passed; nil if none has.
    func remaining(at now: Moment) -> Duration? {
        running.values.compactMap { $0.attempt.remaining(at: now) }.min()
    }
}

/// A sign-in that is under way. It is kept in memory only: its secrets are worth nothing after a restart.
struct RunningSignIn {
    /// What somebody who follows is told.
    enum Report: Sendable {
        case news(StartSignIn.Reply)
        /// The last, with where the account stands.
        case completed(StartSignIn.Reply)
        /// The last, if there are no tokens.
        case ended(SignInEnd)
    }

    typealias Follower = @Sendable (Report) -> Void

    /// Names it on the wire: 128 random bits, and not the `state`, so that it may be seen.
    let id = RandomText.text(characters: 22)
    /// As it was at the beginning; a change of what matters ends the sign-in.
    let account: Account
    let request: SignInRequest
    var attempt: SignInAttempt
    let secrets = SignInSecrets()
    let correlationID = RefreshCoordinator.newCorrelationID()

    /// Everything that was told, for those who come later: at most one of each kind.
    var news: [StartSignIn.Reply] = []
    var followers: [Int: Follower] = [:]
    /// Browsers that wait for their page; no more than the listener has connections.
    var pages: [@Sendable (RedirectPage) -> Void] = []
    var listener: RedirectListener?
    /// Where the server sends the browser back to; nil until that is known, and with a device.
    var redirectURI: String?
    var invitation: Invitation?
    /// What came with the code.
    var keptFields: [String: String] = [:]
    /// The tokens, until they are stored.
    var grant: Arrival?

    /// What the person is shown.
    struct Invitation {
        var url: String
        var host: String
        var device: DeviceAuthorization?
    }

    var flow: SignInFlow { attempt.plan.flow }

    /// What is told of `news` at `now`.
    func reply(_ news: SignInNews, at now: Moment) -> StartSignIn.Reply {
        var reply = StartSignIn.Reply(
            event: news.rawValue,
            attempt: id,
            flow: flow.rawValue,
            atUSec: now.wall.microseconds,
            expiresAtUSec: attempt.expiresAt(at: now).microseconds
        )
        guard news == .started else { return reply }
        reply.url = invitation?.url
        reply.host = invitation?.host
        reply.redirectUri = redirectURI
        reply.userCode = invitation?.device?.userCode
        reply.verificationUriComplete = invitation?.device?.verificationURIComplete
        return reply
    }
}

/// What binds the answer of a sign-in to its request; drawn anew for each.
struct SignInSecrets: Sendable {
    /// `state` (RFC 6749 §4.1.1).
    let state = RandomText.secret(characters: 43)
    /// `nonce` of the ID token (OpenID Connect Core §3.1.2.1).
    let nonce = RandomText.secret(characters: 43)
    /// `code_verifier` (RFC 7636 §4.1).
    let codeVerifier = RandomText.secret(characters: 43)
}

/// Text that nobody can guess, made of the 64 characters of base64url: six bits each, so that 43 hold 256 bits, and 22 hold 128.
enum RandomText {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func secret(characters: Int) -> Secret {
        Secret(bytes(characters))
    }

    static func text(characters: Int) -> String {
        String(decoding: bytes(characters), as: UTF8.self)
    }

    private static func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in alphabet[Int(generator.next() & 63)] }
    }
}

/// What somebody asks a sign-in to be.
struct SignInRequest: Sendable {
    /// Nil leaves it to what the provider takes.
    var flow: SignInFlow?
    var restarts = false
    /// Whether another person may take the account over.
    var replacesSubject = false
    var prompt: String?
    var loginHint: String?
    var acrValues: [String] = []
    var maxAge: Duration?
    /// Nil: the account's.
    var scopes: [String]?
    /// A JSON object.
    var claims: String?
}

extension SignInRequest {
    /// - Throws: `InvalidParameter` for what no server could be asked for.
    init(_ asked: StartSignIn.Parameters) throws(VarlinkError) {
        if let name = asked.flow {
            guard let known = SignInFlow(rawValue: name) else { throw .invalidParameter("flow") }
            flow = known
        }
        restarts = asked.restart ?? false
        replacesSubject = asked.replace ?? false
        prompt = try Self.line(asked.prompt, "prompt")
        loginHint = try Self.line(asked.loginHint, "loginHint")
        acrValues = try Self.words(asked.acrValues, "acrValues")
        if let seconds = asked.maxAgeSec {
            guard (0...31_557_600).contains(seconds) else { throw .invalidParameter("maxAgeSec") }
            maxAge = .seconds(seconds)
        }
        let words = try Self.words(asked.scopes, "scopes")
        scopes = words.isEmpty ? nil : words
        claims = try Self.line(asked.claims, "claims")
    }

    /// What goes into an address has a limit that browsers and servers set: real ones have a few hundred bytes.
    private static let bytesMax = 4096

    private static func line(_ text: String?, _ name: String) throws(VarlinkError) -> String? {
        guard let text, !text.isEmpty else { return nil }
        let isLine = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard text.utf8.count <= bytesMax, isLine else { throw .invalidParameter(name) }
        return text
    }

    private static func words(_ list: [String]?, _ name: String) throws(VarlinkError) -> [String] {
        let words = list ?? []
        let isFine = words.allSatisfy { word in !word.isEmpty && word.utf8.allSatisfy { (0x21...0x7e).contains($0) } }
        guard isFine, words.reduce(0, { $0 + $1.utf8.count + 1 }) <= bytesMax else { throw .invalidParameter(name) }
        return words
    }
}
