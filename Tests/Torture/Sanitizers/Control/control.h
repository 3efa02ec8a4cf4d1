// In C this is undefined for a distance of 32 and more.
static inline int shifted(int number, int distance) { return number << distance; }
