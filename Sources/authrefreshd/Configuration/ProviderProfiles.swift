internal import Foundation
internal import OAuthClient
internal import RefreshCore

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
