import Glibc
import Synchronization

/// What a sanitizer has to report, and what it must not: without this, one that sees nothing would look like programs without a fault.
enum Deed: String {
    /// Tasks that write to the same memory: a race.
    case race
    /// The same, each with the Mutex in its hand: none.
    case turns
    /// A read of memory that was given back.
    case freed
    /// Undefined behaviour of C.
    case shift
}

let mutex = Mutex(0)
/// The tasks that have begun. Relaxed, for it is not to bring them into an order.
let begun = Atomic<Int>(0)

/// Has two tasks write to the same memory, at the same time.
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
