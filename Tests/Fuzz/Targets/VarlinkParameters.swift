internal import AccountStorage
@testable internal import AuthRefreshInterface
internal import OAuthMessages
internal import RefreshCore
@testable internal import TextEncodings
@testable internal import Varlink
@testable internal import authrefreshd

/// The parameters of every method of `io.authrefresh`, and the settings of an account in them.
///
/// The first byte of an input says which method.
enum VarlinkParameters {
    private static let profiles = ProviderProfiles([ProviderProfile(name: "sample")])

    static func run(_ input: [UInt8]) {
        var text = input
        let method = Method.allCases[text.takeByte() % Method.allCases.count]
        let limits = ServerLimits()
        guard let call = VarlinkCall(message: message(method, text), limits: limits), call.method == method.rawValue
        else { return }
        check(call, of: method)
    }

    private static func message(_ method: Method, _ parameters: [UInt8]) -> [UInt8] {
        Array(#"{"method":"\#(method.rawValue)","parameters":"#.utf8) + parameters + [UInt8(ascii: "}")]
    }

    private static func check(_ call: VarlinkCall, of method: Method) {
        let parameters = reread(call, method.parameters)
        if let added = parameters as? AddAccount.Parameters { checkSettings(added) }
        if method == .acquireToken { checkTokenQuestion(call, parameters as? AcquireToken.Parameters) }
    }

    /// A value that is parsed, written and parsed again stays the same.
    private static func reread<T: Codable & Equatable>(_ call: VarlinkCall, _ type: T.Type) -> T? {
        let value: T
        do {
            value = try call.decodeParameters(as: type)
        } catch {
            require(
                error.name.hasPrefix("org.varlink.service."),
                "parameters that are refused are refused in Varlink's words"
            )
            return nil
        }
        let limits = ServerLimits()
        let written = WireJSON.encode(value)
        guard let document = JSONValue(written[...], nestingMax: limits.nestingMax, valuesMax: limits.valuesMax),
            let again = try? ParameterDecoder.decode(type, from: document)
        else {
            require(false, "parameters that were taken are taken again when they are written")
            return nil
        }
        require(again == value, "parameters stay the same when they are written and read again")
        return value
    }

    /// The hot path must parse each call in the same way as the coordinator.
    private static func checkTokenQuestion(_ call: VarlinkCall, _ parameters: AcquireToken.Parameters?) {
        guard let question = PlainAcquireToken(call) else { return }
        guard let parameters else { return require(false, "the hot path takes no call that is refused elsewhere") }
        require(question.account == parameters.account, "the hot path asks for the same account")
        require(
            question.minimumValidity == parameters.minimumValiditySec.map { .seconds($0) },
            "the hot path asks for the same validity"
        )
    }

    /// Accepted settings make an account that has the same settings.
    private static func checkSettings(_ parameters: AddAccount.Parameters) {
        let reader = SettingsReader(profiles: profiles)
        guard
            let draft = try? reader.draft(
                parameters.settings,
                clientSecret: parameters.clientSecret,
                clientKey: parameters.clientKey
            )
        else { return }
        let shown = AccountSettings(draft.account)
        guard
            let again = try? reader.draft(
                shown,
                clientSecret: parameters.clientSecret,
                clientKey: parameters.clientKey,
                dpopKey: draft.registration.dpopKey
            )
        else { return require(false, "the settings of an account that was added can be given again") }
        require(again.name == draft.name && again.issuer == draft.issuer, "an account keeps its name and issuer")
        require(again.policy == draft.policy, "an account keeps its policy")
        require(again.allowedCallers == draft.allowedCallers, "an account keeps its allow list")
        require(again.registration == draft.registration, "an account keeps its registration")
    }
}
