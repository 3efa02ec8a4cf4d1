internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore

extension SettingsReader {
    /// The reader that the daemon uses: the HTTP client's TLS says what a certificate is.
    ///
    /// It is in a separate file, so that the fuzzers can read settings without the HTTP client.
    init(
        profiles: ProviderProfiles,
        isRegistering: Bool = false,
        newDPoPKey: @escaping @Sendable () -> Secret = ClientKeys.newDPoPKey
    ) {
        self.init(
            profiles: profiles,
            isRegistering: isRegistering,
            newDPoPKey: newDPoPKey,
            isCertified: ClientKeys.isCertified
        )
    }
}
