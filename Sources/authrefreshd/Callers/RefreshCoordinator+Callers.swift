internal import AccountStorage
internal import RefreshCore

/// Answers to waiting callers, and news for everybody.
extension RefreshCoordinator {
    /// Lets a caller wait for what `event` causes, and calls `answer` when its result is known.
    ///
    /// - Parameter accessToken: what the caller gets if the wait fails; nil if there is nothing.
    /// - Returns: the waiter's number, for `forget`.
    func wait(
        for purpose: Waiter.Purpose,
        of account: AccountID,
        after event: Event,
        holding accessToken: AccessTokenTimes? = nil,
        answer: @escaping @Sendable (WaitOutcome) -> Void
    ) -> Int {
        wake()
        let now = timebase.now()
        return callers.add(purpose, of: account, after: event, holding: accessToken, at: now, answer: answer)
    }

    /// Answers the callers of an account whose wait is over, successful or not.
    ///
    /// - Parameter event: the event that was decided.
    func settleWaiters(of record: Record, after event: Event, at now: Moment) {
        let id = record.account.id
        guard callers.isAwaited(id) else { return }
        var targets: [TokenTarget: AccessTokenTimes] = [:]
        for target in callers.targets(of: id) {
            targets[target] = records.accessTokenTimes(of: record, for: target)
        }
        let (told, haveMore) = callers.settle(
            Callers.Standing(
                snapshot: snapshot(of: record, at: now),
                event: event,
                isOverdue: scheduler.requests.isOverdue(id),
                targets: targets
            )
        )
        for (waiter, outcome) in told { waiter.answer(outcome) }
        if haveMore { wake() }
    }

    /// Gives the same answer to all callers that wait for an account.
    func answerWaiters(of account: AccountID, with outcome: WaitOutcome) {
        for waiter in callers.takeAll(of: account) { waiter.answer(outcome) }
    }

    /// Reports an event of an account to subscribers and the journal.
    func announce(_ announcement: Announcement, of record: Record, at now: Moment, correlationID: String? = nil) {
        announceLater(announcement, of: record, at: now, correlationID: correlationID)
        subscribers.send()
    }

    /// Reports an event to the journal, and to subscribers at the next `subscribers.send`.
    func announceLater(_ announcement: Announcement, of record: Record, at now: Moment, correlationID: String?) {
        let snapshot = snapshot(of: record, at: now)
        let (news, line) = announcement.told(of: snapshot)
        if let line, let leftOut = linesLeftOut(before: announcement, of: record) {
            changeLog.write(line.after(leftOut: leftOut), about: snapshot, news, correlationID: correlationID)
        }
        guard let news else { return }
        subscribers.publish(news, of: snapshot, previousName: announcement.previousName)
        noteForChangeCommand(news, of: snapshot, previousName: announcement.previousName)
    }

    /// How many lines the journal lacks before that of `announcement`; nil if it gets none.
    private func linesLeftOut(before announcement: Announcement, of record: Record) -> Int? {
        guard case .changed(let change) = announcement else { return 0 }
        return outages.note(change, at: record.account.issuer)
    }
}
