internal import AuthRefreshInterface
internal import Basics
internal import OAuthMessages
internal import RefreshCore
internal import Varlink

/// The options of a requested sign-in.
struct SignInRequest: Equatable, Sendable {
    /// The process of the caller; 0 if it is unknown.
    var process: Int32 = 0
    /// The flow; nil lets the provider decide.
    var flow: SignInFlow?
    var restarts = false
    /// Whether another person may take over the account.
    var replacesSubject = false
    var prompt: String?
    var loginHint: String?
    var acrValues: [String] = []
    var maxAge: Duration?
    /// The scopes; nil for the account's.
    var scopes: [String]?
    /// The claims, a JSON object.
    var claims: String?
    var responseType = ResponseType.code
    /// The nonce to send; nil for the daemon's own.
    var nonce: Secret?
    /// The policy to run instead of the account's own; nil for its own. With a policy, no tokens are requested.
    var policy: String?
    /// The account whose settings a new one gets; nil if the account exists.
    var source: AccountID?
}

extension SignInRequest {
    /// Reads the options of a call.
    ///
    /// - Throws: `InvalidParameter` for values that cannot be sent to any server.
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

    /// Browsers and servers limit the length of addresses. Real values have a few hundred bytes.
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
    /// Whether a caller with these options may follow a sign-in with the options `other`: they are empty or the same.
    /// The flow is not compared, because `authctl` chooses it depending on where it runs.
    func adds(nothingTo other: SignInRequest) -> Bool {
        var (mine, its) = (self, other)
        (mine.flow, its.flow) = (nil, nil)
        (mine.restarts, its.restarts) = (false, false)
        (mine.process, its.process) = (0, 0)
        guard mine.source == its.source else { return false }
        (mine.source, its.source) = (nil, nil)
        // Another policy does not end in a sign-in.
        return mine == its || mine == SignInRequest() && its.policy == nil
    }

    /// Refuses options that are impossible with a device code, for which RFC 8628 §3.1 has no parameters.
    func checkForDevice() throws(SignInFailure) {
        let hint: Hint = "--flow browser, or --flow paste"
        if !acrValues.isEmpty || maxAge != nil || claims != nil {
            throw SignInFailure(
                .misconfigured,
                "a device code cannot ask for a stronger or newer sign-in",
                hint: hint
            )
        }
        if demandsIDToken {
            throw SignInFailure(
                .misconfigured,
                "a device code does not support a nonce or a response type",
                hint: hint
            )
        }
        guard policy == nil else {
            throw SignInFailure(.misconfigured, "a device code cannot run another policy", hint: hint)
        }
    }

    /// Whether an ID token is required, whatever the scopes are.
    var demandsIDToken: Bool { nonce != nil || responseType.hasIDToken }

    /// Adds what `stepUp` requires, except where the caller has chosen something else.
    ///
    /// - Returns: the scopes that neither the account nor the caller asks for by itself.
    mutating func satisfy(_ stepUp: StepUp) -> [String] {
        if acrValues.isEmpty { acrValues = stepUp.acrValues }
        maxAge = maxAge ?? stepUp.maxAge
        claims = claims ?? stepUp.claims
        guard scopes == nil else { return [] }
        scopes = stepUp.scopes
        return stepUp.demandedScopes
    }
}
