/// The times and lengths of time that columns may hold.
enum PlausibleTime {
    /// µs; 36,000 years, so that sums of two of them fit 64 bits.
    static let range: ClosedRange<Int64> = -(1 << 60)...(1 << 60)
}
