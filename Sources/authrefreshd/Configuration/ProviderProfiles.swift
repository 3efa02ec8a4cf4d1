internal import AccountStorage
internal import Foundation
internal import OAuthClient
internal import RefreshCore
internal import TextEncodings
internal import Yams

/// The provider profiles that are installed, by name.
struct ProviderProfiles: Equatable, Sendable {
    private var byName: [String: ProviderProfile] = [:]
    private var byIssuer: [Issuer: ProviderProfile] = [:]
    private var paths: [String: String] = [:]
    /// The profiles as their files have them: an account's own settings go into these.
    private var texts: [String: String] = [:]

    init(_ profiles: [ProviderProfile] = []) {
        for profile in profiles { add(profile) }
    }

    /// Reads the `*.yaml` files of `folders`; a profile of a later folder replaces one of the same name. Folders that are not
    /// there hold nothing.
    init(folders: [String]) throws(ConfigurationError) {
        for folder in folders {
            var names: Set<String> = []
            for file in ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
            where file.hasSuffix(".yaml") {
                let path = folder + "/" + file
                let text = try ConfigurationFile.text(at: path)
                let profile = try ConfigurationFile.decode(ProviderProfile.self, from: text, path: path)
                guard names.insert(profile.name).inserted else {
                    throw .duplicateProfile(name: profile.name, path: path)
                }
                add(profile)
                paths[profile.name] = path
                texts[profile.name] = text
            }
        }
    }

    var names: [String] { byName.keys.sorted() }

    func named(_ name: String) -> ProviderProfile? {
        byName[name]
    }

    /// The file that a profile was read from; empty if it came from none.
    func path(of name: String) -> String {
        paths[name] ?? ""
    }

    /// The first profile whose issuer is of the same host as `issuer`; nil if there is none.
    func nameForHost(of issuer: Issuer) -> String? {
        let host = ShownHost.of(issuer.url).lowercased()
        return names.first { byName[$0]?.issuerText.map { ShownHost.of($0).lowercased() } == host }
    }

    /// The first profile whose issuer differs from `issuer` by the slash at its end only; nil if there is none.
    func profileBesideSlash(of issuer: Issuer) -> ProviderProfile? {
        let url = issuer.url
        let other = url.hasSuffix("/") ? String(url.dropLast()) : url + "/"
        return names.lazy.compactMap { byName[$0] }.first { $0.issuerText == other }
    }

    /// The profile that an account names, or else the one for its issuer.
    func profile(provider: String?, issuer: Issuer) -> ProviderProfile? {
        provider.map { byName[$0] } ?? byIssuer[issuer]
    }

    /// `profile` with what an account says instead; nil is a profile that says nothing.
    ///
    /// - Throws: the first of `settings` that no profile's file could say.
    func profile(
        _ profile: ProviderProfile?,
        with settings: [String: String]
    ) throws(ProviderSettingFault) -> ProviderProfile? {
        guard !settings.isEmpty else { return profile }
        return try ProviderSettings.profile(settings, over: profile.flatMap { texts[$0.name] } ?? "{name: account}")
    }

    private mutating func add(_ profile: ProviderProfile) {
        // The one it replaces speaks for its issuer no more.
        if let issuer = byName[profile.name]?.issuer, byIssuer[issuer]?.name == profile.name { byIssuer[issuer] = nil }
        byName[profile.name] = profile
        if let issuer = profile.issuer { byIssuer[issuer] = profile }
    }
}

/// What an account says instead of its provider's profile: keys of a profile's file, with their values as they stand there.
enum ProviderSettings {
    /// Keys that are no account's to say: they are about the profile itself, or accounts have a setting of their own for it.
    static let excluded: Set = [
        "name", "issuer", "variables", "documentation", "client_id_hint", "notes", "scopes_for",
    ]

    /// The profile that the file's `text` makes with `settings` in it; the same reader reads both.
    ///
    /// - Throws: the first of the settings that cannot be used.
    static func profile(
        _ settings: [String: String],
        over text: String
    ) throws(ProviderSettingFault) -> ProviderProfile {
        guard let root = try? Yams.compose(yaml: text), var mapping = root.mapping else {
            preconditionFailure("the text of a profile was read before, and is a mapping")
        }
        for (key, value) in settings.sorted(by: { $0.key < $1.key }) {
            guard !excluded.contains(key) else {
                throw ProviderSettingFault(key: key, reason: "\"\(key)\" is not said by accounts")
            }
            mapping[key] = value.isEmpty ? nil : try node(value, for: key)
        }
        do {
            return try YAMLDecoder().decode(ProviderProfile.self, from: Node.mapping(mapping))
        } catch {
            let place = (error as? DecodingError)?.place
            let key = place?.path.first?.stringValue ?? ""
            throw ProviderSettingFault(key: key, reason: place?.reason ?? "cannot be used")
        }
    }

    private static let unfit =
        "has brackets that do not close or are too deep, or texts with & * ! # ? ' \" in them and no quotes around them"

    /// A text stands for itself, whatever YAML would make of its characters: a comma is a comma. Lists and mappings have brackets.
    private static func node(_ value: String, for key: String) throws(ProviderSettingFault) -> Node {
        guard value.first == "[" || value.first == "{" else { return Node(value, Tag(.str)) }
        guard PlainFlowText.isPlain(value) else {
            throw ProviderSettingFault(key: key, reason: "\"\(key)\" \(unfit)")
        }
        guard let node = try? Yams.compose(yaml: value) else {
            throw ProviderSettingFault(key: key, reason: "\"\(key)\" has brackets, and is neither a list nor a mapping")
        }
        return node
    }
}

/// Why an account cannot say so instead of its provider's profile.
struct ProviderSettingFault: Error, Hashable {
    /// The profile's key; empty if it is not one alone.
    let key: String
    /// What is wrong, as of a profile's file.
    let reason: String
}

/// Which profile an account goes by, and what it says about it.
struct ProfileChoice: Hashable, Sendable {
    /// Nil leaves it to the issuer.
    let provider: String?
    let issuer: Issuer
    let variables: [String: String]
    /// What it says instead of the profile.
    let settings: [String: String]
}

extension ProfileChoice {
    init(_ account: Account) {
        provider = account.provider
        issuer = account.issuer
        variables = account.providerVariables
        settings = account.providerSettings
    }

    /// Whether it leads to other addresses: who chooses so must not take along what the ones before gave or were told.
    func isElsewhere(than other: ProfileChoice) -> Bool {
        issuer != other.issuer || provider != other.provider || variables != other.variables
            || settings.filter(Self.isAddress) != other.settings.filter(Self.isAddress)
    }

    /// Whether a key of a profile says where something is.
    private static func isAddress(_ key: String, _: String) -> Bool {
        key.hasSuffix("_endpoint") || key == "jwks_uri"
    }
}
