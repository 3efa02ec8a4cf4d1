internal import AuthRefreshInterface
internal import OAuthClient
internal import RefreshCore
internal import SignIn
internal import Varlink

/// What somebody asks a sign-in to be.
struct SignInRequest: Equatable, Sendable {
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
    var responseType = ResponseType.code
    /// What is sent; nil: the daemon's own.
    var nonce: Secret?
    /// The policy that is run in place of the account's own; nil: that one. No tokens are asked for then.
    var policy: String?
    /// The account that a new one is made like; nil: the account is there.
    var source: AccountID?
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
        if let name = asked.responseType {
            guard let known = ResponseType(rawValue: name) else { throw .invalidParameter("responseType") }
            responseType = known
        }
        if let text = try Self.line(asked.nonce, "nonce").map({ Secret($0) }) {
            nonce = asked.hashesNonce ?? false ? AuthorizationRequest.hashedNonce(text) : text
        } else if asked.hashesNonce ?? false {
            throw .invalidParameter("nonce")
        }
        policy = try Self.line(asked.policy, "policy")
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

extension SignInRequest {
    /// Whether whoever asks for this may follow a sign-in that was asked for as `other`: it says nothing, or the same. How to sign in is
    /// not compared, because `authctl` chooses that by where it runs.
    func adds(nothingTo other: SignInRequest) -> Bool {
        var (mine, its) = (self, other)
        (mine.flow, its.flow) = (nil, nil)
        (mine.restarts, its.restarts) = (false, false)
        guard mine.source == its.source else { return false }
        (mine.source, its.source) = (nil, nil)
        // What another policy ends with is no sign-in.
        return mine == its || mine == SignInRequest() && its.policy == nil
    }

    /// Why a device's code cannot ask for this, for which RFC 8628 §3.1 has no words; nil if it can.
    var obstacleOnDevice: SignInObstacle? {
        if !acrValues.isEmpty || maxAge != nil || claims != nil { return .strongerOnDevice }
        if demandsIDToken { return .idTokenOnDevice }
        return policy == nil ? nil : .policyOnDevice
    }

    /// Whether somebody wants an ID token, whatever the scopes say.
    var demandsIDToken: Bool { nonce != nil || responseType.hasIDToken }

    /// Asks for what `stepUp` wants, as far as the caller has not said it otherwise.
    mutating func satisfy(_ stepUp: StepUp) {
        if acrValues.isEmpty { acrValues = stepUp.acrValues }
        maxAge = maxAge ?? stepUp.maxAge
        scopes = scopes ?? stepUp.scopes
        claims = claims ?? stepUp.claims
    }
}
