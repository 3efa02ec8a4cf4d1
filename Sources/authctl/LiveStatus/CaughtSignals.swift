internal import Glibc
internal import Synchronization

/// The signals that have come and were not looked at yet, a bit each; all that a signal handler may touch.
private let arrived = Atomic<UInt64>(0)

/// Holds signals back until the program waits, and tells which one broke off its wait. At most one at a time.
struct CaughtSignals: ~Copyable {
    private let numbers: [Int32]
    private var actionsBefore: [sigaction]
    private var maskBefore = sigset_t()

    init(_ numbers: [Int32]) {
        self.numbers = numbers
        arrived.store(0, ordering: .relaxed)
        var held = sigset_t()
        unsafe sigemptyset(&held)
        for number in numbers { unsafe sigaddset(&held, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &held, &maskBefore)

        var note = sigaction()
        unsafe note.__sigaction_handler.sa_handler = { arrived.bitwiseOr(1 << UInt64($0), ordering: .relaxed) }
        actionsBefore = Array(repeating: sigaction(), count: numbers.count)
        for (index, number) in numbers.enumerated() { unsafe sigaction(number, &note, &actionsBefore[index]) }
    }

    deinit {
        var mask = maskBefore
        for (index, number) in numbers.enumerated() {
            var action = actionsBefore[index]
            unsafe sigaction(number, &action, nil)
        }
        unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
    }

    /// The signals that came since the last call.
    func take() -> [Int32] {
        let bits = arrived.exchange(0, ordering: .relaxed)
        return numbers.filter { bits & 1 << UInt64($0) != 0 }
    }

    /// Waits until one of the descriptors has something to read, a signal comes, or the time is over.
    ///
    /// - Returns: the descriptors with something to read; none after a signal.
    func wait(for descriptors: [Int32], microseconds: Int64) -> [Int32] {
        var wanted = DescriptorSet(descriptors)
        var time = timespec(tv_sec: Int(microseconds / 1_000_000), tv_nsec: Int(microseconds % 1_000_000 * 1000))
        var mask = maskBefore
        let highest = descriptors.max() ?? -1
        let count = unsafe pselect(highest + 1, &wanted.set, nil, nil, &time, &mask)
        return count > 0 ? descriptors.filter(wanted.contains) : []
    }

    /// Does to this process what the signal would have done, and returns if it lives on.
    static func passOn(_ number: Int32) {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = SIG_DFL
        var before = sigaction()
        unsafe sigaction(number, &action, &before)
        raise(number)
        var only = sigset_t()
        var maskBefore = sigset_t()
        unsafe sigemptyset(&only)
        unsafe sigaddset(&only, number)
        // It is taken here.
        unsafe pthread_sigmask(SIG_UNBLOCK, &only, &maskBefore)
        unsafe pthread_sigmask(SIG_SETMASK, &maskBefore, nil)
        unsafe sigaction(number, &before, nil)
    }
}
