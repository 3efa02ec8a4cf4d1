import CCurl
import CLinux
import Glibc

/// libcurl's transfers, with the descriptors and the timer that they wait for.
///
/// A turn costs what happens in it, however many transfers are under way. It lives on the thread of the exchanges.
@safe final class Transfers {
    /// The most events that one turn takes. The next turn takes the rest.
    private static let eventsMax = 64

    /// An epoll(7) instance. It waits for the bell, and for what libcurl names.
    private let descriptors: Int32
    private let bell: Int32
    /// Nil as long as there is nothing to transfer.
    private var multi: UnsafeMutableRawPointer?
    /// The TLS sessions that the next connections to the same servers resume.
    private var sessions: UnsafeMutableRawPointer?
    /// When libcurl wants to be called although nothing has happened; nil for never.
    private var timer: SuspendingClock.Instant?

    /// - Parameter bell: an eventfd(2) that ends each wait. The caller reads it.
    init(bell: Int32) {
        self.bell = bell
        descriptors = epoll_create1(Int32(EPOLL_CLOEXEC))
        let status = Self.watch(bell, EPOLLIN.rawValue, in: descriptors)
        precondition(status == 0, "the exchanges can wait for events")
    }

    deinit {
        release()
        close(descriptors)
    }

    /// Begins an exchange. Returns false if there is no memory for it.
    func begin(_ exchange: Exchange) -> Bool {
        if unsafe multi == nil { prepare() }
        unsafe exchange.share(sessions)
        return unsafe curl_multi_add_handle(multi, exchange.handle) == CURLM_OK
    }

    /// Ends an exchange, whether or not it has begun.
    func end(_ exchange: Exchange) {
        unsafe _ = curl_multi_remove_handle(multi, exchange.handle)
    }

    /// Waits until something happens, the bell rings or the time has come. Does what has become possible.
    ///
    /// - Parameters:
    ///   - limit: when to return at the latest; nil for never.
    ///   - onEnd: called for each exchange that is over, with its key and libcurl's result.
    func turn(until limit: SuspendingClock.Instant?, _ onEnd: (UInt, CURLcode) -> Void) {
        let wake = [limit, timer].compactMap(\.self).min()
        unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.eventsMax) { events in
            let timeout = Self.milliseconds(until: wake)
            let count = unsafe epoll_wait(descriptors, events.baseAddress, Int32(Self.eventsMax), timeout)
            for index in 0..<max(0, Int(count)) { unsafe perform(events[index]) }
        }
        if let due = timer, due <= .now {
            timer = nil
            act(CURL_SOCKET_TIMEOUT, 0)
        }
        takeEnded(onEnd)
    }

    /// Gives everything back that only transfers need. None may be under way.
    func release() {
        unsafe curl_multi_cleanup(multi)
        unsafe curl_share_cleanup(sessions)
        unsafe (multi, sessions, timer) = (nil, nil, nil)
    }

    // MARK: Events

    private func perform(_ event: epoll_event) {
        let (socket, events) = unsafe (event.data.fd, event.events)
        guard socket != bell else { return }
        var ready: Int32 = 0
        // As libcurl's own poll(2): what has arrived before an error is read first.
        if events & (EPOLLIN.rawValue | EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { ready |= CURL_CSELECT_IN }
        if events & EPOLLOUT.rawValue != 0 { ready |= CURL_CSELECT_OUT }
        act(socket, ready)
    }

    private func act(_ socket: Int32, _ ready: Int32) {
        guard let multi = unsafe multi else { return }
        var count: Int32 = 0
        unsafe _ = curl_multi_socket_action(multi, socket, ready, &count)
    }

    private func takeEnded(_ onEnd: (UInt, CURLcode) -> Void) {
        var rest: Int32 = 0
        while let multi = unsafe multi, let message = unsafe curl_multi_info_read(multi, &rest) {
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            onEnd(UInt(bitPattern: unsafe message.pointee.easy_handle), unsafe message.pointee.data.result)
        }
    }

    /// The time limit of epoll_wait(2), rounded up, so that the time has come when the thread wakes.
    private static func milliseconds(until limit: SuspendingClock.Instant?) -> Int32 {
        guard let limit else { return -1 }
        let wait = SuspendingClock.now.duration(to: limit) + .microseconds(999)
        return Int32(clamping: max(0, Int64(wait / .milliseconds(1))))
    }

    // MARK: Calls of libcurl

    private func prepare() {
        unsafe sessions = curl_share_init()
        unsafe authrefresh_curl_share_sessions(sessions)
        unsafe multi = curl_multi_init()
        unsafe authrefresh_curl_watch(
            multi,
            Unmanaged.passUnretained(self).toOpaque(),
            { _, socket, wanted, context, _ in unsafe Transfers.of(context).watch(socket, wanted) },
            { _, milliseconds, context in unsafe Transfers.of(context).setTimer(milliseconds) }
        )
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> Transfers {
        guard let context = unsafe context else { preconditionFailure("each call has its transfers") }
        return unsafe Unmanaged<Transfers>.fromOpaque(context).takeUnretainedValue()
    }

    private func watch(_ socket: Int32, _ wanted: Int32) -> Int32 {
        guard wanted != CURL_POLL_REMOVE else {
            return epoll_ctl(descriptors, EPOLL_CTL_DEL, socket, nil)
        }
        var events: UInt32 = 0
        if wanted & CURL_POLL_IN != 0 { events |= EPOLLIN.rawValue }
        if wanted & CURL_POLL_OUT != 0 { events |= EPOLLOUT.rawValue }
        return Self.watch(socket, events, in: descriptors)
    }

    /// Waits for these events of a descriptor from now on.
    ///
    /// - Returns: 0, or -1 if the kernel has no memory for it.
    private static func watch(_ descriptor: Int32, _ events: UInt32, in descriptors: Int32) -> Int32 {
        var wanted = unsafe epoll_event(events: events, data: epoll_data(fd: descriptor))
        let status = unsafe epoll_ctl(descriptors, EPOLL_CTL_ADD, descriptor, &wanted)
        guard status != 0, errno == EEXIST else { return status }
        return unsafe epoll_ctl(descriptors, EPOLL_CTL_MOD, descriptor, &wanted)
    }

    private func setTimer(_ milliseconds: Int) -> Int32 {
        timer = milliseconds < 0 ? nil : .now + .milliseconds(milliseconds)
        return 0
    }
}
