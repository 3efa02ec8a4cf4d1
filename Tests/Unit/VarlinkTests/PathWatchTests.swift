import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Varlink

/// A path for which inotify has no instance at first.
struct PathWatchTests {
    private enum Event: Equatable {
        case changed
        /// Nothing can call the watch's closure any more.
        case freed
    }

    private final class Owner: Sendable {
        let events: EventLog<Event>

        init(_ events: EventLog<Event>) { self.events = events }

        func noteChange() { events.append(.changed) }

        deinit { events.append(.freed) }
    }

    /// Instances of inotify, of which there are none until the test says so.
    private final class Instances: Sendable {
        let made = EventLog<Int32>()
        private let isFree = Mutex(false)

        func free() { isFree.withLock { $0 = true } }

        func make() -> Int32 {
            guard isFree.withLock(\.self) else {
                errno = EMFILE
                return -1
            }
            let descriptor = PathWatch.instance()
            made.append(descriptor)
            return descriptor
        }
    }

    private func watch(_ path: String, by instances: Instances, _ events: EventLog<Event>) -> PathWatch {
        let owner = Owner(events)
        return PathWatch(path, every: .milliseconds(10), instance: instances.make) { owner.noteChange() }
    }

    @Test func `a path that a timer checks is watched by inotify as soon as an instance is free`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/file"
        try Data().write(to: URL(filePath: path))
        let (instances, events) = (Instances(), EventLog<Event>())
        let watch = watch(path, by: instances, events)
        #expect(watch.failure == .cannotWatch(path: path, errno: EMFILE))
        instances.free()
        try await instances.made.first("an instance") { $0 >= 0 }
        #expect(unsafe unlink(path) == 0)
        try await events.first("the removal") { $0 == .changed }
        #expect(instances.made.count == 1)
        watch.cancel()
        try await events.first("the end of timer and watch") { $0 == .freed }
    }

    @Test func `while no instance is free, a change is still noticed`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/file"
        try Data().write(to: URL(filePath: path))
        let (instances, events) = (Instances(), EventLog<Event>())
        let watch = watch(path, by: instances, events)
        #expect(unsafe unlink(path) == 0)
        try await events.first("the removal") { $0 == .changed }
        watch.cancel()
        try await events.first("the end of the timer") { $0 == .freed }
    }
}
