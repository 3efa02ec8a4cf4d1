internal import CLinux
internal import Glibc
internal import Synchronization

/// The signals that have arrived and were not handled yet, one bit each. A signal handler may touch nothing else.
private let arrived = Atomic<UInt64>(0)

/// Blocks signals except while the program waits, and reports which one interrupted a wait. There may be only one
/// instance at a time.
///
/// It needs no descriptor, so it also works when the process has none left.
struct CaughtSignals: ~Copyable {
    /// The signals with which a person, a shell or a service manager ends a program.
    static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    private let numbers: [Int32]
    private var actionsBefore: [sigaction]
    /// The signals that were blocked before, for a program that must not inherit the others.
    private(set) var maskBefore = sigset_t()

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

    /// Whether whoever has started this program wants the signal to be without effect, as nohup(1) does.
    static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        unsafe sigaction(number, nil, &action)
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// The signals since the last call.
    func take() -> [Int32] {
        let bits = arrived.exchange(0, ordering: .relaxed)
        return numbers.filter { bits & 1 << UInt64($0) != 0 }
    }

    /// Waits until a descriptor is readable, a signal arrives, or the time is over.
    ///
    /// - Parameter microseconds: how long it waits at most; nil for ever.
    /// - Returns: the readable descriptors; empty after a signal.
    func wait(for descriptors: [Int32], microseconds: Int64?) -> [Int32] {
        var interests = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard wait(for: &interests, microseconds: microseconds) > 0 else { return [] }
        return interests.filter { $0.revents != 0 }.map(\.fd)
    }

    /// Waits like poll(2), and until a signal arrives.
    ///
    /// - Parameter microseconds: how long it waits at most; nil for ever.
    /// - Returns: how many have a result; 0 if the time is over; below 0 after a signal.
    func wait(for interests: inout [pollfd], microseconds: Int64?) -> Int32 {
        var mask = maskBefore
        let count = nfds_t(interests.count)
        guard let microseconds else { return unsafe ppoll(&interests, count, nil, &mask) }
        var time = timespec(tv_sec: Int(microseconds / 1_000_000), tv_nsec: Int(microseconds % 1_000_000 * 1000))
        return unsafe ppoll(&interests, count, &time, &mask)
    }

    /// Waits until a person has typed something at `terminal`.
    ///
    /// - Returns: false if a signal came first. A stop signal does not count: whoever catches it wants it to be without
    ///   effect.
    func waitForKeys(on terminal: Int32) -> Bool {
        while wait(for: [terminal], microseconds: nil).isEmpty {
            guard take().allSatisfy({ $0 == SIGTSTP }) else { return false }
        }
        return true
    }

    /// Applies the signal's usual effect to this process; returns if the process survives it.
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
        // The signal is delivered here.
        unsafe pthread_sigmask(SIG_UNBLOCK, &only, &maskBefore)
        unsafe pthread_sigmask(SIG_SETMASK, &maskBefore, nil)
        unsafe sigaction(number, &before, nil)
    }
}
