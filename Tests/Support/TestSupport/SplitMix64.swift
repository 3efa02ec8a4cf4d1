/// A small seeded generator (Steele, Lea, Flood 2014): the same seed gives the same numbers on every machine.
package struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A random number in 0..<1.
    package mutating func fraction() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// True in `probability` (0...1) of all cases.
    package mutating func chance(_ probability: Double) -> Bool {
        fraction() < probability
    }

    /// A random time between `shortest` and `longest`, which are in seconds. The result is in microseconds.
    package mutating func microseconds(_ shortest: Double, _ longest: Double) -> Int64 {
        Int64((shortest + (longest - shortest) * fraction()) * 1e6)
    }

    package mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(next() % UInt64(elements.count))]
    }
}
