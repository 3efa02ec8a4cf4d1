internal import CSystemd
package import Dispatch
internal import Glibc

/// Tells when the network comes and goes: whether some route leads off this machine and this link.
///
/// Inclusive on purpose. A machine without a default route may reach its authorization server, and a needless attempt
/// costs one failed connection, while a missed network costs a token.
///
/// What the kernel reports is not read, only that it reports: then all routes are asked for anew. So lost reports
/// (`ENOBUFS`) need no care of their own, and no copy of the table can go stale.
package final class RouteWatch {
    /// Whether there was a route when the watch began; `onChange` tells each change from then on.
    package let hadRouteAtStart: Bool

    private let table: RouteTable
    private let source: any DispatchSourceRead
    private let settling: any DispatchSourceTimer
    private let onChange: @Sendable (Bool) -> Void
    // The rest is touched on the queue only.
    private var hasRoute: Bool
    private var isSettling = false

    /// How long reports are gathered before the routes are read. One cable gives a dozen reports within some ms, and a
    /// routing daemon thousands; 100 ms makes one reading of them, and nobody notices that a refresh starts so much later.
    private static let settlingTime = DispatchTimeInterval.milliseconds(100)
    private static let groups = [RTNLGRP_LINK, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE]

    /// Reads the routes, then watches them and calls `onChange` on `queue`, with true when the network is up.
    ///
    /// - Throws: `routesUnavailable`; the caller should take the network for up.
    package init(queue: DispatchQueue, onChange: @escaping @Sendable (Bool) -> Void) throws(SystemdError) {
        let mask = Self.groups.reduce(UInt32(0)) { $0 | 1 << ($1.rawValue - 1) }
        table = try RouteTable()
        // Listening comes before reading, so that no change falls between.
        let descriptor = try NetlinkSocket.open(groups: mask)
        do throws(SystemdError) {
            hadRouteAtStart = try table.hasUsableRoute()
        } catch {
            close(descriptor)
            throw error
        }
        hasRoute = hadRouteAtStart
        self.onChange = onChange
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        settling = DispatchSource.makeTimerSource(queue: queue)

        settling.setEventHandler { [weak self] in self?.readRoutes() }
        settling.schedule(deadline: .distantFuture)
        settling.activate()
        source.setEventHandler { [weak self] in
            Self.drain(descriptor)
            self?.settle()
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
    }

    deinit { cancel() }

    /// Ends the watch; may be called twice. On the watch's queue no call of `onChange` follows.
    package func cancel() {
        source.cancel()
        settling.cancel()
    }

    /// Throws away the reports at hand. `ENOBUFS`, which says that some were lost, is one report more: it ends this
    /// drain, and the source is ready again for what is left.
    private static func drain(_ descriptor: Int32) {
        var byte: UInt8 = 0
        // One byte is enough to take a datagram off the queue; the rest of it is dropped.
        while unsafe recv(descriptor, &byte, 1, 0) >= 0 {}
    }

    private func settle() {
        guard !isSettling else { return }
        isSettling = true
        settling.schedule(deadline: .now() + Self.settlingTime)
    }

    private func readRoutes() {
        isSettling = false
        // Unreadable routes are no reason to stop refreshing: then the network counts as up.
        let hasRoute = (try? table.hasUsableRoute()) ?? true
        guard hasRoute != self.hasRoute else { return }
        self.hasRoute = hasRoute
        onChange(hasRoute)
    }
}
