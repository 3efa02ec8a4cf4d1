import Glibc
import Synchronization

/// Faults that a sanitizer has to report, and one correct case that it must not report. Without this control, we could
/// not distinguish a sanitizer that sees nothing from programs without a fault.
enum Deed: String {
    /// Two tasks write to the same memory at once: a race.
    case race
    /// The same two tasks, but each holds the Mutex while it writes: no race.
    case turns
    /// A read of memory that was already freed.
    case freed
    /// Undefined behaviour of C.
    case shift
}

let mutex = Mutex(0)
/// How many tasks have begun. Its accesses are relaxed, because others would order the tasks and so prevent the race.
let begun = Atomic<Int>(0)

/// Lets two tasks write to the same memory at the same time.
func writeTogether(_ write: @escaping @Sendable (_ address: UInt) -> Void) async {
    let number = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    number.initialize(to: 0)
    let address = UInt(bitPattern: number)
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<2 {
            group.addTask {
                begun.add(1, ordering: .relaxed)
                while begun.load(ordering: .relaxed) < 2 { sched_yield() }
                for _ in 0..<100_000 { write(address) }
            }
        }
    }
    number.deallocate()
}

@Sendable func increase(_ address: UInt) {
    UnsafeMutablePointer<Int>(bitPattern: address)?.pointee += 1
}

switch CommandLine.arguments.last.flatMap(Deed.init(rawValue:)) {
case .race: await writeTogether(increase)
case .turns: await writeTogether { address in mutex.withLock { _ in increase(address) } }
case .freed:
    let number = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    number.initialize(to: 1)
    number.deallocate()
    print(number.pointee)
case .shift: print(shifted(1, Int32(CommandLine.arguments.count) + 32))
case nil: print("usage: control race|turns|freed|shift")
}
