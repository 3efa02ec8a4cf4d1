import RefreshCore
import Testing

@testable import authrefreshd

/// One sign-in, from its beginning to each possible end.
@Suite struct SignInAttemptTests {
    private typealias Samples = SignInSamples

    private let start = SignInSamples.start
    private let id = SignInSamples.id
    private let good = "code=x&state=\(SignInSamples.state)"

    private func waiting(_ storedSubject: String? = nil, replaces: Bool = false) -> SignInAttempt {
        var attempt = Samples.attempt(storedSubject: storedSubject, replaces: replaces)
        #expect(attempt.handle(.prepared(Samples.expectation()), at: start) == [.tell(.started, of: id)])
        return attempt
    }

    private func exchanging(_ storedSubject: String? = nil, replaces: Bool = false) throws -> SignInAttempt {
        var attempt = waiting(storedSubject, replaces: replaces)
        let effects = attempt.handle(.responseArrived(try Samples.response(good)), at: start)
        let code = AuthorizationCode(Secret("x"))
        #expect(effects == [.tell(.callbackReceived, of: id), .tell(.exchanging, of: id), .exchange(code, of: id)])
        return attempt
    }

    @Test func `a sign-in goes from the browser through the exchange to the disk`() throws {
        var attempt = try exchanging()
        #expect(attempt.handle(.grantArrived(subject: "alice"), at: start) == [.store(id)])
        #expect(attempt.handle(.stored, at: start) == [.finish(.completed, of: id)])
        #expect(attempt.phase == .ended(.completed))
    }

    @Test func `an opened browser is reported when the person has something to do`() {
        var attempt = Samples.attempt()
        #expect(attempt.handle(.opened, at: start) == [])
        _ = attempt.handle(.prepared(Samples.expectation()), at: start)
        #expect(attempt.handle(.opened, at: start) == [.tell(.opened, of: id)])
    }

    // MARK: attacks

    @Test(arguments: [
        "code=x", "code=x&state=wrong", "error=access_denied&state=wrong", "state=\(SignInSamples.state)",
    ])
    func `a response that is not an answer changes nothing`(form: String) throws {
        var attempt = waiting()
        let before = attempt.phase
        let effects = attempt.handle(.responseArrived(try Samples.response(form)), at: start)
        guard case .refuse? = effects.first, effects.count == 1 else {
            Issue.record("\(effects)")
            return
        }
        #expect(attempt.phase == before)
    }

    @Test func `the state is valid once, also during the exchange and after the end`() throws {
        var attempt = try exchanging()
        let again = SignInEvent.responseArrived(try Samples.response("code=injected&state=\(Samples.state)"))
        #expect(attempt.handle(again, at: start) == [.refuse(.alreadyAnswered)])
        _ = attempt.handle(.grantArrived(subject: nil), at: start)
        #expect(attempt.handle(again, at: start) == [.refuse(.alreadyAnswered)])
        _ = attempt.handle(.stored, at: start)
        #expect(attempt.handle(again, at: start) == [.refuse(.alreadyAnswered)])
    }

    @Test func `an answer before the request, or for a device, is not expected`() throws {
        var attempt = Samples.attempt()
        let answer = SignInEvent.responseArrived(try Samples.response(good))
        #expect(attempt.handle(answer, at: start) == [.refuse(.notAwaited)])
        var device = polling()
        #expect(device.handle(answer, at: start) == [.refuse(.notAwaited)])
    }

    @Test func `an answer of another issuer ends the sign-in without sending the code`() throws {
        var attempt = waiting()
        let answer = try Samples.response(good + "&iss=https://evil.example")
        let effects = attempt.handle(.responseArrived(answer), at: start)
        #expect(effects.first == .tell(.callbackReceived, of: id) && effects.count == 2)
        guard case .finish(.failed(let failure), of: _)? = effects.last else {
            Issue.record("\(effects)")
            return
        }
        #expect(failure.kind == .refused)
    }

    // MARK: policies

    private let forgotten =
        "error=access_denied&error_description=AADB2C90118%3A+Forgotten.&state=\(SignInSamples.state)"
    private let turnedBack = "error=access_denied&error_description=AADB2C90091%3A+Back.&state=\(SignInSamples.state)"

    /// An attempt at a server whose errors ask for another policy.
    private func atPolicy(_ leg: SignInLeg = .grant, resets: Bool = true) -> SignInAttempt {
        var attempt = SignInAttempt(
            id: id,
            plan: SignInPlan(
                flow: .browser,
                leg: leg,
                resetsPasswords: resets,
                storedSubject: nil,
                replacesSubject: false,
                startedAt: start
            )
        )
        #expect(attempt.handle(.prepared(policyExpectation), at: start) == [.tell(.started, of: id)])
        return attempt
    }

    private var policyExpectation: AuthorizationExpectation {
        var expectation = Samples.expectation()
        expectation.passwordResetCodes = ["AADB2C90118"]
        expectation.cancellationCodes = ["AADB2C90091"]
        return expectation
    }

    @Test func `a forgotten password is reset once, and the sign-in continues with another code`() throws {
        var attempt = atPolicy()
        let later = start.later(.seconds(500))
        #expect(attempt.handle(.responseArrived(try Samples.response(forgotten)), at: later) == [.prepare(id)])
        #expect(attempt.leg == .passwordReset && attempt.phase == .preparing)
        #expect(attempt.remaining(at: later) == .seconds(600))
        #expect(attempt.handle(.prepared(policyExpectation), at: later) == [.tell(.passwordReset, of: id)])
        #expect(attempt.handle(.responseArrived(try Samples.response(good)), at: later) == [.prepare(id)])
        #expect(attempt.handle(.prepared(policyExpectation), at: later) == [.tell(.signInAgain, of: id)])
        #expect(attempt.leg == .grant)
        var forgetful = attempt
        #expect(
            forgetful.handle(.responseArrived(try Samples.response(forgotten)), at: later)
                == [.tell(.callbackReceived, of: id), .finish(.passwordForgotten(isResettable: true), of: id)]
        )
        let effects = attempt.handle(.responseArrived(try Samples.response(good)), at: later)
        #expect(effects.last == .exchange(AuthorizationCode(Secret("x")), of: id))
    }

    @Test func `a forgotten password without a policy to reset it ends the sign-in`() throws {
        var attempt = atPolicy(resets: false)
        #expect(
            attempt.handle(.responseArrived(try Samples.response(forgotten)), at: start)
                == [.tell(.callbackReceived, of: id), .finish(.passwordForgotten(isResettable: false), of: id)]
        )
    }

    @Test(arguments: [SignInLeg.grant, .passwordReset, .otherPolicy])
    func `a person who goes back has cancelled, in any policy`(leg: SignInLeg) throws {
        var attempt = atPolicy(leg == .otherPolicy ? leg : .grant)
        if leg == .passwordReset {
            _ = attempt.handle(.responseArrived(try Samples.response(forgotten)), at: start)
            _ = attempt.handle(.prepared(policyExpectation), at: start)
        }
        #expect(
            attempt.handle(.responseArrived(try Samples.response(turnedBack)), at: start)
                == [.tell(.callbackReceived, of: id), .finish(.cancelled(by: .user), of: id)]
        )
    }

    @Test func `a code of another policy is not exchanged`() throws {
        var attempt = atPolicy(.otherPolicy)
        #expect(
            attempt.handle(.responseArrived(try Samples.response(good)), at: start)
                == [.tell(.callbackReceived, of: id), .finish(.policyCompleted, of: id)]
        )
    }

    @Test(arguments: [
        "error=access_denied&error_description=AADB2C901180", "error=access_denied&error_description=The+AADB2C90118",
        "error=server_error&error_description=AADB2C90118%3A", "error=access_denied",
    ])
    func `an error that only resembles a policy's is not one`(form: String) throws {
        var attempt = atPolicy()
        let answer = try Samples.response(form + "&state=\(Samples.state)")
        let effects = attempt.handle(.responseArrived(answer), at: start)
        guard case .finish(let end, of: _)? = effects.last else {
            Issue.record("\(effects)")
            return
        }
        switch end {
        case .denied, .failed: break
        default: Issue.record("\(end)")
        }
    }

    // MARK: other ends

    @Test func `a person who refuses has denied the sign-in`() throws {
        var attempt = waiting()
        let answer = try Samples.response("error=access_denied&state=\(Samples.state)")
        let denied = SignInEnd.denied(ErrorResponse(error: "access_denied"))
        #expect(
            attempt.handle(.responseArrived(answer), at: start) == [
                .tell(.callbackReceived, of: id), .finish(denied, of: id),
            ]
        )
    }

    /// The failure by which the effects end the sign-in; nil if they do not.
    private static func end(_ effects: [SignInEffect]) -> SignInFailure? {
        guard case .finish(.failed(let failure), of: _)? = effects.first, effects.count == 1 else { return nil }
        return failure
    }

    @Test(arguments: [
        (FailureClass.unreachable, SignInFailure.Kind.unavailable), (.unanswered, .unavailable),
        (.unavailable, .unavailable), (.misconfigured, .misconfigured), (.rejected, .refused), (.grantEnded, .refused),
        (.userRequired, .refused),
    ])
    func `a request that fails ends the sign-in by its class`(
        failureClass: FailureClass,
        kind: SignInFailure.Kind
    ) throws {
        let failure = Samples.failure(failureClass)
        var attempt = try exchanging()
        let ended = try #require(Self.end(attempt.handle(.exchangeFailed(failure), at: start)))
        #expect(ended.kind == kind && ended.detail == failure.detail)
        // A refused code says nothing about the previous grant.
        let isRefused = failureClass == .grantEnded
        let reason = isRefused ? "the authorization server refuses the code" : "what failed"
        #expect(ended.reason == reason)
        var preparing = Samples.attempt()
        let told = try #require(Self.end(preparing.handle(.preparationFailed(SignInFailure(failure)), at: start)))
        #expect(told.kind == kind && told.reason == reason && told.detail == failure.detail)
    }

    @Test func `a sign-in waits ten minutes at most, whatever the wall clock says`() {
        var attempt = waiting()
        #expect(attempt.remaining(at: start) == .seconds(600))
        #expect(attempt.expiresAt(at: start) == start.wall + .seconds(600))
        let stepped = Moment(wall: start.wall + .seconds(86_400), boot: start.later(.seconds(599)).boot)
        #expect(attempt.handle(.timePassed, at: stepped) == [])
        #expect(attempt.handle(.timePassed, at: start.later(.seconds(600))) == [.finish(.timedOut, of: id)])
        #expect(attempt.remaining(at: start) == nil)
    }

    @Test func `the exchange of a code is awaited`() throws {
        var attempt = try exchanging()
        #expect(attempt.remaining(at: start) == nil)
        #expect(attempt.handle(.timePassed, at: start.later(.seconds(3600))) == [])
        #expect(attempt.handle(.cancelled(by: .stopping), at: start) == [])
    }

    @Test func `a person can cancel until the tokens have arrived`() throws {
        var preparing = Samples.attempt()
        #expect(preparing.handle(.cancelled(by: .user), at: start) == [.finish(.cancelled(by: .user), of: id)])
        var attempt = try exchanging()
        #expect(
            attempt.handle(.cancelled(by: .superseded), at: start) == [.finish(.cancelled(by: .superseded), of: id)]
        )
        #expect(attempt.handle(.grantArrived(subject: nil), at: start) == [])
        var storing = try exchanging()
        _ = storing.handle(.grantArrived(subject: nil), at: start)
        #expect(storing.handle(.cancelled(by: .user), at: start) == [])
        #expect(storing.handle(.cancelled(by: .removed), at: start) == [.finish(.cancelled(by: .removed), of: id)])
    }

    @Test func `another person than the stored one is refused, unless requested`() throws {
        var attempt = try exchanging("alice")
        let end = SignInEnd.otherSubject(signedIn: "bob", owner: "alice")
        #expect(attempt.handle(.grantArrived(subject: "bob"), at: start) == [.finish(end, of: id)])
        var same = try exchanging("alice")
        #expect(same.handle(.grantArrived(subject: "alice"), at: start) == [.store(id)])
        var wanted = try exchanging("alice", replaces: true)
        #expect(wanted.handle(.grantArrived(subject: "bob"), at: start) == [.store(id)])
        var unnamed = try exchanging("alice")
        guard case .finish(.failed(let failure), of: _)? = unnamed.handle(.grantArrived(subject: nil), at: start).first
        else {
            Issue.record("an account was given to somebody without a name")
            return
        }
        #expect(failure.kind == .refused && failure.reason.hasSuffix("the account belongs to 'alice'"))
        var wantedUnnamed = try exchanging("alice", replaces: true)
        #expect(wantedUnnamed.handle(.grantArrived(subject: nil), at: start) == [.store(id)])
    }

    @Test(arguments: [
        (["bob@example.org"], false), (["bob@example.org", "Alice@Example.org"], true), ([], true),
    ])
    func `a first sign-in to an account for one mailbox is refused if the server names only others`(
        _ addresses: [String],
        isStored: Bool
    ) throws {
        for replaces in [false, true] {
            var attempt = SignInAttempt(
                id: id,
                plan: SignInPlan(
                    flow: .device,
                    storedSubject: nil,
                    mailbox: "alice@example.org",
                    replacesSubject: replaces,
                    startedAt: start
                )
            )
            _ = attempt.handle(.deviceAuthorized(interval: nil, lifetime: .seconds(900)), at: start)
            let event = SignInEvent.grantArrived(subject: "bob", name: addresses.first, addresses: addresses)
            let refused = SignInEffect.finish(
                .otherSubject(signedIn: "bob@example.org", owner: "alice@example.org"),
                of: id
            )
            #expect(attempt.handle(event, at: start) == [isStored || replaces ? .store(id) : refused])
        }
    }

    @Test func `if the server cannot say who signed in, nobody takes over the account`() throws {
        var attempt = try exchanging("alice")
        let effects = attempt.handle(.grantArrived(subject: nil, isUnavailable: true), at: start)
        guard case .finish(.failed(let failure), of: _)? = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(failure.kind == .unavailable)
        #expect(failure.reason.contains("'alice'"))
        var fresh = try exchanging()
        #expect(fresh.handle(.grantArrived(subject: nil, isUnavailable: true), at: start) == [.store(id)])
        var wanted = try exchanging("alice", replaces: true)
        #expect(wanted.handle(.grantArrived(subject: nil, isUnavailable: true), at: start) == [.store(id)])
    }

    @Test func `tokens that cannot be stored end the sign-in, after a while`() throws {
        var attempt = try exchanging()
        _ = attempt.handle(.grantArrived(subject: nil), at: start)
        #expect(attempt.remaining(at: start) == SignInAttempt.storingMax)
        let effects = attempt.handle(.timePassed, at: start.later(.seconds(60)))
        guard case .finish(.failed(let failure), of: _)? = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(failure.kind == .unavailable)
        var refused = try exchanging()
        _ = refused.handle(.grantArrived(subject: nil), at: start)
        let why = SignInFailure(.unavailable, "the store cannot be written")
        #expect(refused.handle(.notStored(why), at: start) == [.finish(.failed(why), of: id)])
    }

    // MARK: devices

    private func polling(interval: Duration? = .seconds(5), lifetime: Duration = .seconds(900)) -> SignInAttempt {
        var attempt = Samples.attempt(.device)
        let event = SignInEvent.deviceAuthorized(interval: interval, lifetime: lifetime)
        #expect(attempt.handle(event, at: start) == [.tell(.started, of: id)])
        return attempt
    }

    @Test func `a device polls at the server's interval, one request at a time`() {
        var attempt = polling(interval: .seconds(7))
        #expect(attempt.handle(.timePassed, at: start.later(.seconds(6))) == [])
        #expect(attempt.handle(.timePassed, at: start.later(.seconds(7))) == [.poll(id)])
        #expect(attempt.handle(.timePassed, at: start.later(.seconds(30))) == [])
        #expect(attempt.handle(.pollEnded(.pending), at: start.later(.seconds(31))) == [])
        #expect(attempt.remaining(at: start.later(.seconds(31))) == .seconds(7))
        _ = attempt.handle(.timePassed, at: start.later(.seconds(38)))
        #expect(attempt.handle(.grantArrived(subject: "alice"), at: start.later(.seconds(39))) == [.store(id)])
    }

    @Test func `without an interval a device polls every five seconds, and never more than once a second`() {
        #expect(polling(interval: nil).remaining(at: start) == .seconds(5))
        #expect(polling(interval: .zero).remaining(at: start) == .seconds(1))
    }

    @Test func `each slow_down adds five seconds permanently`() {
        var attempt = polling()
        for (answer, wait) in [(DevicePollAnswer.slowDown, 10), (.slowDown, 15), (.pending, 15)] {
            _ = attempt.handle(.timePassed, at: start.later(.seconds(60)))
            _ = attempt.handle(.pollEnded(answer), at: start.later(.seconds(60)))
            #expect(attempt.remaining(at: start.later(.seconds(60))) == .seconds(wait))
        }
    }

    @Test func `lost answers double the wait up to a minute, and an answer ends that`() {
        var attempt = polling()
        let lost = DevicePollAnswer.failed(Samples.failure(.unanswered))
        for (answer, wait) in [(lost, 10), (lost, 20), (lost, 40), (lost, 60), (lost, 60), (.pending, 5)] {
            _ = attempt.handle(.timePassed, at: start.later(.seconds(60)))
            _ = attempt.handle(.pollEnded(answer), at: start.later(.seconds(60)))
            #expect(attempt.remaining(at: start.later(.seconds(60))) == .seconds(wait))
        }
    }

    @Test func `a busy server that says when to come back is left alone until then, five minutes at most`() {
        var attempt = polling(lifetime: .seconds(1800))
        for (asked, wait) in [(Duration.seconds(120), 120), (.seconds(1), 20), (.seconds(86_400), 300)] {
            var failure = Samples.failure(.unavailable)
            failure.retryAfter = asked
            _ = attempt.handle(.timePassed, at: start.later(.seconds(60)))
            _ = attempt.handle(.pollEnded(.failed(failure)), at: start.later(.seconds(60)))
            #expect(attempt.remaining(at: start.later(.seconds(60))) == .seconds(wait))
        }
        _ = attempt.handle(.timePassed, at: start.later(.seconds(360)))
        _ = attempt.handle(.pollEnded(.pending), at: start.later(.seconds(360)))
        #expect(attempt.remaining(at: start.later(.seconds(360))) == .seconds(5))
    }

    @Test func `a device code is awaited while it is valid, for half an hour at most`() {
        var attempt = polling(lifetime: .seconds(30))
        _ = attempt.handle(.timePassed, at: start.later(.seconds(29)))
        #expect(attempt.handle(.timePassed, at: start.later(.seconds(30))) == [.finish(.timedOut, of: id)])
        #expect(polling(lifetime: .seconds(86_400)).expiresAt(at: start) == start.wall + .seconds(1800))
    }

    @Test func `a refused device code ends with the reason`() {
        let denied = ErrorResponse(error: "access_denied")
        for (answer, end) in [
            (DevicePollAnswer.denied(denied), SignInEnd.denied(denied)), (.expired, .timedOut),
        ] {
            var attempt = polling()
            _ = attempt.handle(.timePassed, at: start.later(.seconds(5)))
            #expect(attempt.handle(.pollEnded(answer), at: start.later(.seconds(6))) == [.finish(end, of: id)])
        }
        var misconfigured = polling()
        _ = misconfigured.handle(.timePassed, at: start.later(.seconds(5)))
        let failure = Samples.failure(.misconfigured)
        let end = SignInEnd.failed(SignInFailure(failure))
        #expect(
            misconfigured.handle(.pollEnded(.failed(failure)), at: start.later(.seconds(6))) == [.finish(end, of: id)]
        )
    }
}
