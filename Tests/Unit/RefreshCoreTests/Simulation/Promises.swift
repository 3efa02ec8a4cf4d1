@testable import RefreshCore

/// The facts that the checks need and the machine cannot see.
struct Promises {
    /// The number of the account's grant. Each sign-in and sign-out increases it.
    private(set) var epoch = 0
    /// Whether an answer for the present grant was lost, or the process died before storing it. Only then may a spent
    /// token be sent.
    var isAmbiguous = false
    /// When the last trouble ended.
    private(set) var wellSince: Int64 = 0
    /// When the wall clock was set without anything noticing. Until the next success, the age of a token is uncertain.
    private(set) var doubtSince: Int64?
    /// Whether the boot-time clock was stopped since the last success.
    private(set) var wasPaused = false
    /// Whether the machine was rebooted since the last success.
    private(set) var wasRebooted = false
    /// Whether the grant was lost by a request that reached the server after everybody had stopped waiting for it.
    var isSpoilt = false
    /// Whether the end of the present refresh token was announced.
    var isEndAnnounced = false
    /// How often the server said that the grant has ended, since the last answer that was lost or brought tokens.
    var refusals = 0
    /// Whether the user was called for the present grant.
    var isUserCalled = false
    /// The true time before which no request may be sent; nil if there is none.
    private(set) var notBefore: Int64?
    private(set) var tokensExpected: ModelTokens?
    /// When the person last signed in, in true time, and how far the wall clock was from it.
    private(set) var signedInAt: Int64 = 0
    private(set) var offsetAtSignIn: Int64 = 0
    private(set) var bootAtSignIn: Int64 = 0
    /// Token targets whose tokens were issued after the last time that a clock differed from true time.
    private(set) var exactTargets: Set<TokenTarget> = []
    private var clockTroubleAt: Int64 = .min

    private(set) var spentGeneration = Generation(0)
    private var spentAt: Int64 = 0
    private var pausedAt: Int64 = 0
    private var offsetAtSuccess: Int64 = 0
    private var offsetAtFailure: Int64 = 0
    private var stepsAtOnce = 0
    private var hour: Int64 = 0
    private var sentThisHour = 0

    mutating func trouble(at time: Int64) {
        wellSince = max(wellSince, time)
    }

    mutating func newGrant(at time: Int64) {
        epoch += 1
        (isAmbiguous, notBefore, isSpoilt, isUserCalled) = (false, nil, false, false)
        (isEndAnnounced, refusals) = (false, 0)
        (signedInAt, tokensExpected) = (time, nil)
        trouble(at: time)
    }

    mutating func signIn(_ clock: VirtualClock) {
        (offsetAtSignIn, bootAtSignIn) = (clock.wallOffset, clock.now.boot.bootID)
    }

    mutating func deliver(_ tokens: ModelTokens, of exchange: Exchange) {
        tokensExpected = exchange.epoch == epoch ? tokens : nil
        (spentAt, spentGeneration) = (exchange.sentAt, exchange.lease.generation)
    }

    mutating func succeed(offset: Int64) {
        (isAmbiguous, notBefore, refusals) = (false, nil, 0)
        (wasRebooted, isUserCalled) = (false, false)
        // Events during the request still count.
        if let time = doubtSince, time < spentAt { doubtSince = nil }
        wasPaused = wasPaused && pausedAt >= spentAt
        (tokensExpected, offsetAtSuccess) = (nil, offset)
    }

    /// The tokens of a sign-in were stored.
    mutating func obtain(at time: Int64, offset: Int64) {
        spentAt = time
        succeed(offset: offset)
    }

    /// The tokens of a target came. They prove the grant, but say nothing about the age of the account's own access
    /// token.
    mutating func succeed(_ target: TokenTarget) {
        (isAmbiguous, notBefore, refusals) = (false, nil, 0)
        (isUserCalled, tokensExpected) = (false, nil)
        if clockTroubleAt < spentAt { exactTargets.insert(target) } else { exactTargets.remove(target) }
    }

    private mutating func doubtTargets(at time: Int64) {
        clockTroubleAt = time
        exactTargets = []
    }

    /// A failure of an exchange of the present grant came.
    mutating func fail(_ failure: RefreshFailure, at time: Int64) {
        trouble(at: time)
        if failure.failureClass == .unanswered { (isAmbiguous, refusals) = (true, 0) }
    }

    /// The server's `Retry-After` was stored.
    mutating func wait(for retryAfter: Duration?, _ clock: VirtualClock) {
        guard let retryAfter else { return }
        notBefore = clock.trueTime + min(retryAfter, BackOffRule.longestRetryAfter).microseconds
        offsetAtFailure = clock.wallOffset
    }

    mutating func step(isSeen: Bool, at time: Int64) {
        doubtTargets(at: time)
        // The age of a token from before a reboot or a pause is known only by the wall clock.
        if !isSeen || wasRebooted || wasPaused { doubtSince = time }
        if wasRebooted { notBefore = nil }
    }

    /// Across a reboot only the wall clock counts. If it was stepped, times from before the step are forgotten.
    mutating func reboot(offset: Int64, at time: Int64) {
        doubtTargets(at: time)
        wasRebooted = true
        if offset != offsetAtSuccess { doubtSince = time }
        if offset != offsetAtFailure { notBefore = nil }
    }

    mutating func pause(offset: Int64, at time: Int64) {
        doubtTargets(at: time)
        wasPaused = true
        pausedAt = time
        if offset != offsetAtSuccess { doubtSince = time }
    }

    mutating func countStep(isNow: Bool) throws(Violation) {
        stepsAtOnce = isNow ? stepsAtOnce + 1 : 0
        guard stepsAtOnce < 100 else { throw Violation(text: "it spins: 100 steps without any time passing") }
    }

    mutating func countSending(at time: Int64, bound: Int) throws(Violation) {
        if time / 3_600_000_000 != hour { (hour, sentThisHour) = (time / 3_600_000_000, 0) }
        sentThisHour += 1
        guard sentThisHour <= bound else { throw Violation(text: "more than \(bound) requests in one hour") }
    }
}
