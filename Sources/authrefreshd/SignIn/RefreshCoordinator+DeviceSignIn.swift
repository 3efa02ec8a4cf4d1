internal import Dispatch
internal import OAuthClient
internal import RefreshCore
internal import SignIn

/// Signing in with a device code (RFC 8628): what is shown, and how the server is asked about it.
extension RefreshCoordinator {
    /// Has the server give out a code for the person to type.
    func prepareDevice(_ running: RunningSignIn) {
        let request = DeviceAuthorizationRequest(
            client: requestingClient(of: running),
            scopes: running.request.scopes
        )
        Task { [client] in
            switch await client.authorizeDevice(request) {
            case .failure(let failure): self.tell(.preparationFailed(failure), toAttempt: running.id)
            case .success(let device): self.invite(running, device)
            }
        }
    }

    private func invite(_ running: RunningSignIn, _ device: DeviceAuthorization) {
        let host = Self.host(of: device.verificationURI)
        signIns[running.account.id]?.invitation = RunningSignIn.Invitation(
            url: device.verificationURI,
            host: host,
            device: device
        )
        tell(.deviceAuthorized(interval: device.interval, lifetime: device.expiresIn), toAttempt: running.id)
    }

    /// Asks once whether the person has approved.
    func poll(_ running: RunningSignIn) {
        guard let device = running.invitation?.device else { return }
        let sentAt = timebase.now()
        let request = DevicePoll(
            client: requestingClient(of: running),
            deviceCode: device.deviceCode,
            scopes: running.request.scopes
        )
        Task { [client] in
            let answer: DevicePollAnswer
            switch await client.pollDevice(request) {
            case .pending: answer = .pending
            case .slowDown: answer = .slowDown
            case .expired: answer = .expired
            case .denied(let failure):
                let refusal = ServerRefusal(
                    error: failure.detail.oauthError ?? "access_denied",
                    description: failure.detail.oauthErrorDescription
                )
                answer = .denied(refusal)
            case .failed(let failure): answer = .failed(failure)
            case .obtained(let outcome): return self.obtained(outcome, of: running, sentAt: sentAt)
            }
            self.tell(.pollEnded(answer), toAttempt: running.id)
        }
    }

    /// What a browser will show of `url` in its address bar; the whole of it if there is no host to be seen.
    private static func host(of url: String) -> String {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3 else { return url }
        return String(parts[2].split(separator: "?").first ?? parts[2])
    }
}
