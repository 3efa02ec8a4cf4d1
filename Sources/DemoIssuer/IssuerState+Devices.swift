internal import NIOHTTP1
internal import TextEncodings

// Devices without a browser (RFC 8628).
extension IssuerState {
    /// The device authorization endpoint (§3.1).
    mutating func deviceAuthorization(_ admission: Admission, at now: Duration) -> Answer {
        guard let form = admission.form, let client = form["client_id"].flatMap(client) else {
            note(admission.draft, .clientRefused, at: now)
            return Self.clientRefused
        }
        var draft = admission.draft
        draft.clientID = client.id
        let code = randomText("demo-device-")
        let device = SignInDesk.Device(
            clientID: client.id,
            scope: form["scope"] ?? "demo",
            userCode: userCode(),
            issuedAt: now,
            interval: ledger.policy.deviceInterval
        )
        desk.devices[code] = device
        note(draft, .asked, at: now)
        return .json([
            ("device_code", JSONText.quote(code)),
            ("user_code", JSONText.quote(device.userCode)),
            ("verification_uri", JSONText.quote(issuer + "/device")),
            ("verification_uri_complete", JSONText.quote(issuer + "/device?user_code=" + device.userCode)),
            ("expires_in", "\(SignInDesk.deviceCodeLifetime.wholeSeconds)"),
            ("interval", "\(device.interval.wholeSeconds)"),
        ])
    }

    /// The page on which the person enters the code and decides.
    mutating func devicePage(_ admission: Admission, at now: Duration) -> Answer {
        guard admission.request.method == .POST else {
            let form = FormFields(admission.request.query.utf8)
            return DemoPages.device(userCode: form?["user_code"] ?? "")
        }
        guard let form = admission.form, let code = form["user_code"].flatMap(desk.deviceCode) else {
            note(admission.draft, .malformed, at: now)
            return DemoPages.refusal("There is no device with this code.")
        }
        let isAllowed = form["decision"] == "allow"
        desk.devices[code]?.decision = isAllowed ? .approved(subject: form["subject"] ?? "alice") : .denied
        note(admission.draft, isAllowed ? .approved : .denied, at: now)
        return DemoPages.notice(isAllowed ? "The device is signed in." : "The device was refused.")
    }

    /// Answers a poll (§3.4). A device code brings tokens only once.
    mutating func pollDevice(_ form: FormFields, _ client: DemoClient, _ draft: RequestLog.Draft, at now: Duration)
        -> Answer
    {
        guard let code = form["device_code"], var device = desk.devices[code], device.clientID == client.id else {
            note(draft, .unknownCode, at: now)
            return .oauthError("invalid_grant", "the device code is unknown, or another client's")
        }
        guard now < device.issuedAt + SignInDesk.deviceCodeLifetime else {
            note(draft, .unknownCode, at: now)
            return .oauthError("expired_token", "the device code has ended")
        }
        let isEarly = device.lastPoll.map { now < $0 + device.interval } ?? false
        device.lastPoll = now
        if isEarly { device.interval += .seconds(5) }
        desk.devices[code] = device
        switch device.decision {
        case nil:
            note(draft, .pending, at: now)
            return .oauthError(isEarly ? "slow_down" : "authorization_pending", "nobody has decided yet")
        case .denied:
            note(draft, .denied, at: now)
            return .oauthError("access_denied", "The person said no.")
        case .approved(let subject):
            desk.devices[code] = nil
            let tokens = openGrant(clientID: client.id, subject: subject, scope: device.scope, at: now)
            note(draft, .opened, at: now)
            return answer(with: tokens, subject: subject, nonce: nil, to: client, at: now)
        }
    }

    /// §6.1: eight consonants, so that they form no words.
    private func userCode() -> String {
        let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
        let word = (0..<8).map { _ in letters[Int.random(in: 0..<letters.count)] }
        return String(word[..<4]) + "-" + String(word[4...])
    }
}
