import Dispatch
import Glibc
import Testing

@testable import Systemd

/// Whether this process can make network namespaces, and pairs of virtual interfaces in them.
private let canMakeNetworks =
    getuid() == 0
    && (try? ChildProcess.run("unshare", "--net", "ip", "link", "add", "lan0", "type", "veth")) != nil

// On a thread of another process, with a network of its own.
@Suite(.enabled(if: canMakeNetworks, "needs root, iproute2 and a kernel with veth interfaces"))
struct RouteWatchTests {
    @Test func `the network comes and goes with the routes of real interfaces`() async {
        await #expect(processExitsWith: .success) {
            try LinuxCalls.unshare(LinuxCalls.newNetworkNamespace)
            try ChildProcess.run("ip", "link", "set", "lo", "up")
            let queue = DispatchQueue(label: "route-watch")
            let events = try EventPipe()
            let watch = try RouteWatch(queue: queue) { hasRoute in
                dispatchPrecondition(condition: .onQueue(queue))
                events.send(hasRoute ? 1 : 0)
            }
            #expect(!watch.hadRouteAtStart, "loopback is no network")

            // With link-local addresses only, the network is not up. A route, even if it is not a default route, makes
            // it up.
            try addCable()
            try ChildProcess.run("ip", "address", "add", "169.254.3.4/16", "dev", "lan0")
            try ChildProcess.run("ip", "link", "set", "lan0", "up")
            try ChildProcess.run("ip", "address", "add", "192.0.2.5/24", "dev", "lan0")
            #expect(try events.next() == 1)
            #expect(try RouteWatch(queue: queue) { _ in }.hadRouteAtStart)

            try ChildProcess.run("ip", "link", "set", "lan0", "down")
            #expect(try events.next() == 0)
            try ChildProcess.run("ip", "link", "set", "lan0", "up")
            try ChildProcess.run("ip", "-6", "address", "add", "2001:db8::5/64", "dev", "lan0", "nodad")
            #expect(try events.next() == 1)
            try ChildProcess.run("ip", "link", "delete", "lan0")
            #expect(try events.next() == 0)
            #expect(events.pending() == nil)
            watch.cancel()
            watch.cancel()
        }
    }

    @Test func `a pulled cable is noticed even though the routes stay`() async {
        await #expect(processExitsWith: .success) {
            try LinuxCalls.unshare(LinuxCalls.newNetworkNamespace)
            try addCable()
            // IPv6 reports its own routes at each change of the cable. Without IPv6, only the report of the link is
            // left.
            try ChildProcess.run("sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/lan0/disable_ipv6")
            try ChildProcess.run("sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/far0/disable_ipv6")
            try ChildProcess.run("ip", "address", "add", "192.0.2.5/24", "dev", "lan0")
            try ChildProcess.run("ip", "link", "set", "lan0", "up")
            let events = try EventPipe()
            let watch = try RouteWatch(queue: DispatchQueue(label: "route-watch")) { events.send($0 ? 1 : 0) }
            #expect(watch.hadRouteAtStart)
            for _ in 0..<3 {
                try ChildProcess.run("ip", "link", "set", "far0", "down")
                #expect(try events.next() == 0)
                try ChildProcess.run("ip", "link", "set", "far0", "up")
                #expect(try events.next() == 1)
            }
            watch.cancel()
        }
    }

    @Test func `other default routes are another network, and a route that goes or stays is not`() async {
        await #expect(processExitsWith: .success) {
            try LinuxCalls.unshare(LinuxCalls.newNetworkNamespace)
            try addCable()
            try ChildProcess.run("ip", "link", "set", "lan0", "up")
            try ChildProcess.run("ip", "address", "add", "192.0.2.5/24", "dev", "lan0")
            let events = try EventPipe()
            let queue = DispatchQueue(label: "route-watch")
            let watch = try RouteWatch(queue: queue, onOtherNetwork: { events.send(2) }, onChange: { _ in })
            try ChildProcess.run("ip", "route", "add", "default", "via", "192.0.2.1")
            #expect(try events.next() == 2)
            // A metric is not a place. A VPN lays its own routes over the default route.
            try ChildProcess.run("ip", "route", "add", "default", "via", "192.0.2.1", "metric", "7")
            try ChildProcess.run("ip", "route", "del", "default", "metric", "7")
            try ChildProcess.run("ip", "route", "add", "203.0.113.0/24", "via", "192.0.2.1")
            try ChildProcess.run("ip", "route", "add", "128.0.0.0/1", "via", "192.0.2.9")
            #expect(try events.next() == 2)
            #expect(events.pending() == nil)
            watch.cancel()
        }
    }

    @Test func `link-local routes and blackholes do not count as a network`() async {
        await #expect(processExitsWith: .success) {
            try LinuxCalls.unshare(LinuxCalls.newNetworkNamespace)
            try addCable()
            try ChildProcess.run("ip", "address", "add", "169.254.3.4/16", "dev", "lan0")
            try ChildProcess.run("ip", "link", "set", "lan0", "up")
            try ChildProcess.run("ip", "route", "add", "blackhole", "10.0.0.0/8")
            try ChildProcess.run("ip", "route", "add", "unreachable", "default")
            #expect(try !RouteTable().routes().hasUsableRoute)
            try ChildProcess.run("ip", "route", "add", "198.51.100.0/24", "dev", "lan0", "table", "51820")
            #expect(try RouteTable().routes().hasUsableRoute, "a VPN's own table")
        }
    }

    @Test func `a flood of reports that overflows the socket loses no change`() async {
        await #expect(processExitsWith: .success) {
            try LinuxCalls.unshare(LinuxCalls.newNetworkNamespace)
            try addCable()
            try ChildProcess.run("ip", "link", "set", "lan0", "up")
            let queue = DispatchQueue(label: "route-watch")
            let events = try EventPipe()
            let watch = try RouteWatch(queue: queue) { events.send($0 ? 1 : 0) }
            #expect(!watch.hadRouteAtStart)
            // The queue is blocked until the reports of 6000 routes, some MB, have overflowed the socket's buffer of
            // 208 KiB.
            try queue.sync {
                let routes = "for i in $(seq 0 5999); do echo route add 10.$((i/256)).$((i%256)).0/24 dev lan0; done"
                try ChildProcess.run("sh", "-c", "(\(routes)) | ip -batch -")
            }
            #expect(try events.next() == 1)
            // Reading 6000 routes takes many datagrams. One route more or less makes no difference.
            #expect(try RouteTable().routes().hasUsableRoute)
            try ChildProcess.run("ip", "link", "delete", "lan0")
            #expect(try events.next() == 0)
        }
    }
}

/// A cable between `lan0`, which is down, and `far0`, which represents the switch at the other end.
private func addCable() throws {
    try ChildProcess.run("ip", "link", "add", "lan0", "type", "veth", "peer", "name", "far0")
    try ChildProcess.run("ip", "link", "set", "far0", "up")
}
